//! Whole pieces that are tokens: most words are, and need no merging.
//!
//! A perfect hash over the tokens of at most twelve bytes (93 in 100 of them). A slot holds the bytes
//! themselves beside the rank, so one cache line answers. The words in use are in `lately`.

use super::key::Key;
use super::tables::{low_32, low_64, table};
use super::{Rank, perfect_hash};

table!(
    /// Per slot: the token's bytes, padded with zeros to 12, then u32: its rank and, in the last
    /// byte, its length.
    SLOTS, 16, "word_slots.bin"
);
table!(
    /// u16: the pilot of each bucket.
    PILOTS, 2, "word_pilots.bin"
);

/// A slot: the halves of a token's key, with its rank behind the twelfth byte, where the key of so
/// short a token has zeros.
pub(super) type Word = [u64; 2];

const RANK_SHIFT: u32 = 32;
const RANK: u64 = 0x3_ffff << RANK_SHIFT;

/// The rank of `word` if it is that of the key. A longer piece is no word: the length is part of its
/// key.
#[inline]
pub(super) fn rank([low, high]: Word, key: Key) -> Option<Rank> {
    let same = [low, high & !RANK] == key.halves();
    same.then_some(low_32((high & RANK) >> RANK_SHIFT))
}

/// The word in the slot where the piece is if it is a token.
pub(super) fn find(key: Key) -> Word {
    let hash = key.hash();
    let pilot = u16::from_le_bytes(PILOTS[perfect_hash::bucket(hash, PILOTS.len())]);
    let slot = u128::from_le_bytes(SLOTS[perfect_hash::slot(hash, pilot, SLOTS.len())]);
    [low_64(slot), low_64(slot >> 64)]
}
