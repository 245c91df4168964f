//! Who uses which cache, and how much memory all of them have.
//!
//! The pool has slots for 64 encoders, each made when it is first needed. ("A cache" is here, and for users, all that
//! one encoder has.) An encoding locks one while it runs, the one that its thread had the last time if that is
//! free. So there are as many caches as encodings ever ran at once, and not one per thread; a thread that ends
//! leaves a filled one to others. No encoding waits for a lock: after a fork one may stay locked for ever. Where
//! all are taken, an encoding makes itself a small cache for as long as it runs.

use std::cell::Cell;
use std::sync::{Mutex, TryLockError};

use super::{PieceEncoder, SLOTS, Slots};

/// Bytes of one cache once it is full: 4.63 MiB.
pub const BYTES_PER_CACHE: usize = SLOTS.bytes();
/// Bytes of all caches at the most, once they are full: 296 MiB.
pub const MAX_BYTES: usize = CACHES * BYTES_PER_CACHE;

/// Most caches.
const CACHES: usize = 64;
/// A cache for one encoding more than that: 74 KiB.
const SMALL: Slots =
    Slots { words: SLOTS.words / 64, long: SLOTS.long / 64, pairs: SLOTS.pairs / 64 };

/// A slot of the pool. Locks of different slots are on different cache lines of the processor.
#[repr(align(64))]
struct Slot(Mutex<Option<PieceEncoder>>);

static POOL: [Slot; CACHES] = [const { Slot(Mutex::new(None)) }; CACHES];

thread_local! {
    /// The slot that this thread had the last time.
    static LAST: Cell<usize> = const { Cell::new(0) };
}

/// Runs an encoding with an encoder of its own.
pub(in crate::tokenizer) fn with<R>(encode: impl FnOnce(&mut PieceEncoder) -> R) -> R {
    let last = LAST.get();
    for index in (last..CACHES).chain(0..last) {
        if let Ok(mut encoder) = POOL[index].0.try_lock() {
            LAST.set(index);
            return encode(encoder.get_or_insert_with(|| PieceEncoder::new(SLOTS)));
        }
    }
    encode(&mut PieceEncoder::new(SMALL))
}

/// How much memory the caches have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheUsage {
    /// How many caches there are: as many as encodings ran at once since the last [`clear`].
    pub caches: usize,
    /// Their memory in bytes once they are full; at most [`MAX_BYTES`].
    pub bytes: usize,
}

/// How much memory the tokenizer's caches have, of all threads together.
///
/// ```
/// use openai_harmony::tokenizer::{Tokenizer, cache};
///
/// Tokenizer::o200k_harmony().encode_ordinary("some words");
/// assert!(cache::usage().caches >= 1);
/// assert!(cache::usage().bytes <= cache::MAX_BYTES);
/// ```
pub fn usage() -> CacheUsage {
    let exists = |slot: &&Slot| match slot.0.try_lock() {
        Ok(encoder) => encoder.is_some(),
        // In use, so it exists.
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Poisoned(_)) => false,
    };
    let caches = POOL.iter().filter(exists).count();
    CacheUsage { caches, bytes: caches * BYTES_PER_CACHE }
}

/// Gives the memory of the caches back, but for those that an encoding in another thread is using.
///
/// Later encodings make new ones, and take longer until these have filled. Their results do not
/// change.
///
/// ```
/// use openai_harmony::tokenizer::cache;
///
/// cache::clear();
/// ```
pub fn clear() {
    for slot in &POOL {
        if let Ok(mut encoder) = slot.0.try_lock() {
            *encoder = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodings within encodings, each with a cache of its own.
    fn nest(depth: usize) -> Vec<u32> {
        with(|encoder| {
            let mut out = vec![];
            let (pieces, block) = encoder.parts();
            block.encode(b"encodings", pieces.with_ends([9]), &mut out);
            if depth > 0 {
                assert_eq!(nest(depth - 1), out);
            } else {
                assert_eq!(usage(), CacheUsage { caches: CACHES, bytes: MAX_BYTES });
            }
            out
        })
    }

    /// As the comments here and src/tokenizer/README.md state it.
    #[test]
    fn caches_have_the_stated_memory() {
        const KIB: usize = 1 << 10;
        assert_eq!((BYTES_PER_CACHE / KIB, MAX_BYTES / KIB), (4744, 296 * KIB + 512));
        assert_eq!(SMALL.bytes() / KIB, 74);
    }

    #[test]
    fn encodings_that_find_no_cache_give_the_same() {
        assert!(!nest(CACHES + 3).is_empty());
    }
}
