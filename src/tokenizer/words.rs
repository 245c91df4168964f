//! Whole pieces that are tokens: most words are, and need no merging.
//!
//! A perfect hash over the tokens of at most twelve bytes (93 in 100 of them). A slot holds the bytes
//! themselves beside the rank, so one cache line answers. The words in use are in `lately`.

use super::key::Key;
use super::tables::{low_32, low_64, table};
use super::{Rank, perfect_hash};

/// Longest token in the table; build/words.rs says the same.
const LONGEST: usize = 12;

table!(
    /// Per slot: the token's bytes, padded with zeros to 12, then u32: its rank and, from bit 18
    /// on, its length.
    SLOTS, 16, "word_slots.bin"
);
table!(
    /// u16: the pilot of each bucket.
    PILOTS, 2, "word_pilots.bin"
);

/// A piece that is a token, in two halves as a slot has it.
pub(super) type Word = [u64; 2];

/// What the word of a key is but for its rank; `None` if it is too long to be in the table.
#[inline]
pub(super) fn unranked(key: Key) -> Option<Word> {
    (key.len <= LONGEST).then_some([key.low, key.high | (key.len as u64) << LEN_SHIFT])
}

/// The rank of `word` if it is that of the unranked one.
#[inline]
pub(super) fn rank([low, high]: Word, unranked: Word) -> Option<Rank> {
    let same = [low, high & !RANK] == unranked;
    same.then_some(low_32((high & RANK) >> RANK_SHIFT))
}

/// The word in the slot where the piece is if it is a token.
pub(super) fn find([low, high]: Word) -> Word {
    let hash = perfect_hash::hash(low, high);
    let pilot = u16::from_le_bytes(PILOTS[perfect_hash::bucket(hash, PILOTS.len())]);
    let slot = u128::from_le_bytes(SLOTS[perfect_hash::slot(hash, pilot, SLOTS.len())]);
    [low_64(slot), low_64(slot >> 64)]
}

/// Where the rank and the length are in the upper half of a slot, behind four bytes of the token.
const RANK_SHIFT: u32 = 32;
const LEN_SHIFT: u32 = 32 + 18;
const RANK: u64 = 0x3_ffff << RANK_SHIFT;
