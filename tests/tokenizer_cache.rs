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
    // As src/tokenizer/README.md states it.
    assert_eq!((cache::BYTES_PER_CACHE >> 10, cache::MAX_BYTES >> 10), (5136, 321 << 10));

    let expected = encode();
    assert_eq!(cache::usage().caches, 1);
    assert_eq!(cache::usage().bytes, cache::BYTES_PER_CACHE);

    // A thread that runs alone takes over what another one left.
    thread::scope(|scope| assert!(scope.spawn(encode).join().unwrap() == expected));
    assert_eq!(cache::usage().caches, 1);

    // Threads that run at once have one each, as long as there are any.
    let most = cache::MAX_BYTES / cache::BYTES_PER_CACHE;
    let text = &text[..200_000];
    let expected_of_part = Tokenizer::o200k_harmony().encode_ordinary(text);
    for threads in [4, most + 6] {
        let barrier = Barrier::new(threads);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    barrier.wait();
                    assert!(Tokenizer::o200k_harmony().encode_ordinary(text) == expected_of_part);
                });
            }
        });
        assert!((2..=most.min(threads)).contains(&cache::usage().caches), "{:?}", cache::usage());
    }

    cache::clear();
    assert_eq!(cache::usage().caches, 0);
    assert!(encode() == expected);
    assert_eq!(cache::usage().caches, 1);
}
