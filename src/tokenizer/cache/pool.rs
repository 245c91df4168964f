//! Which encoding uses which cache, and the memory of all caches.
//!
//! The pool has slots for 64 encoders, each made when it is first needed. ("A cache" here, and for users, means
//! everything that one encoder holds.) An encoding locks a slot while it runs, preferably the one that its thread used
//! last. So there are as many caches as encodings ever ran at once, not one per thread, and a thread that ends leaves
//! its filled cache to others. No encoding waits for a lock: after a fork one may stay locked forever. If all are
//! taken, an encoding makes a small cache of its own for as long as it runs.

use std::cell::Cell;
use std::sync::{Mutex, TryLockError};

use super::{PieceEncoder, SLOTS, Slots};

/// Bytes of one cache once it is full: 5.02 MiB.
pub const BYTES_PER_CACHE: usize = SLOTS.bytes();
/// The most bytes of all caches together, once they are full: 321 MiB.
pub const MAX_BYTES: usize = CACHES * BYTES_PER_CACHE;

/// Most caches.
const CACHES: usize = 64;
/// The cache of an encoding that finds all slots taken: 80 KiB.
const SMALL: Slots = Slots { words: SLOTS.words / 64, long: SLOTS.long / 64 };

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
    /// The number of caches: the most encodings that ran at once since the last [`clear`].
    pub caches: usize,
    /// Their memory in bytes once they are full; at most [`MAX_BYTES`].
    pub bytes: usize,
}

/// The memory of the tokenizer's caches, of all threads together.
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

/// Frees the memory of all caches that no other thread is encoding with.
///
/// Later encodings make new ones, and take longer until these have filled. Results do not change.
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
