//! The memory of the tokenizer's caches: nothing else runs in this process, so it can be counted.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::sync::Barrier;
use std::thread;

use openai_harmony::tokenizer::{Tokenizer, cache};

/// One test, since the caches are those of the process.
#[test]
fn caches_are_counted_bounded_and_given_back() {
    let text = "Some words that come again, and a_long_name_that_does_too. ".repeat(200_000);
    let encode = || Tokenizer::o200k_harmony().encode_ordinary(&text);
    assert_eq!((cache::usage().caches, cache::usage().bytes), (0, 0));

    let expected = encode();
    assert_eq!(cache::usage().caches, 1);
    assert_eq!(cache::usage().bytes, cache::BYTES_PER_CACHE);

    // A thread that runs alone takes over what another one left.
    thread::scope(|scope| assert!(scope.spawn(encode).join().unwrap() == expected));
    assert_eq!(cache::usage().caches, 1);

    // Threads that run at once have one each.
    let barrier = Barrier::new(4);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                barrier.wait();
                assert!(encode() == expected);
            });
        }
    });
    assert!((2..=4).contains(&cache::usage().caches), "{:?}", cache::usage());
    assert!(cache::usage().bytes <= cache::MAX_BYTES);

    cache::clear();
    assert_eq!(cache::usage().caches, 0);
    assert!(encode() == expected);
    assert_eq!(cache::usage().caches, 1);
}
