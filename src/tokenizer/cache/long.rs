//! Pieces of 16 to 64 bytes: long names in code, long words of many languages, short sentences of Chinese.
//!
//! A conversation is rendered again with each new message, so its text recurs. But most long pieces never do, so a
//! piece is cached only when it occurs for the second time.

use super::hash;
use super::packed::{self, Packed};
use super::table::Table;
use crate::tokenizer::bits::{low_32, low_64};
use crate::tokenizer::vocabulary::TokenId;

/// Longest piece that is cached, in bytes.
const LONGEST: usize = 64;
/// Most tokens of a piece that is cached.
const MOST_TOKENS: usize = 16;

/// The bytes of a piece, padded with zeros, as words.
type Words = [[u64; 2]; LONGEST / 16];

/// A piece, padded with zeros. No piece that ends in a zero is cached, so no two have the same key.
#[derive(Clone, Copy)]
pub(super) struct LongKey {
    words: Words,
    hash: u64,
}

impl LongKey {
    /// The key of a piece of 16 bytes or more, if it can be cached.
    #[inline]
    pub(super) fn of(piece: &[u8]) -> Option<Self> {
        if piece.len() > LONGEST || piece.ends_with(&[0]) {
            return None;
        }
        // The length of a piece cannot be predicted, so no branch depends on it. If fewer than sixteen bytes are left,
        // the last sixteen are read and shifted down, which brings in zeros.
        let last = piece.len().saturating_sub(16);
        let mut hash = 0_u64;
        let mut words = [[0; 2]; LONGEST / 16];
        for (pair, start) in words.iter_mut().zip((0..).step_by(16)) {
            let at = last.min(start);
            let bytes = piece[at..].first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes));
            let bytes = bytes.unbounded_shr(low_32(8 * (start - at) as u64));
            *pair = [low_64(bytes), low_64(bytes >> 64)];
            hash = hash.rotate_left(16) ^ hash::mix(pair[0], pair[1]);
        }
        Some(Self { words, hash })
    }
}

type Slot = (Words, Packed<MOST_TOKENS>);

/// Pieces and their tokens. A new one takes the slot of an old one.
pub(super) struct LongCache {
    slots: Table<Slot>,
    /// For each slot the tag of the last piece that hashed there, cached or not.
    last_tag: Table<u16>,
}

impl LongCache {
    pub(super) const BYTES_PER_SLOT: usize = size_of::<Slot>() + size_of::<u16>();

    pub(super) fn new(slots: usize) -> Self {
        Self {
            slots: Table::new(slots, ([[0; 2]; LONGEST / 16], [0; MOST_TOKENS])),
            last_tag: Table::new(slots, 0),
        }
    }

    /// Appends the tokens of a piece if it is cached. Returns whether it is.
    #[inline]
    pub(super) fn append(&self, key: &LongKey, out: &mut Vec<TokenId>) -> bool {
        if self.last_tag[key.hash] != tag(key) {
            return false;
        }
        let (piece, tokens) = &self.slots[key.hash];
        let found = same(piece, &key.words);
        if found {
            packed::append(tokens, out);
        }
        found
    }

    /// Caches a piece, if it has few tokens, was seen before, and its tokens are known.
    pub(super) fn insert(&mut self, key: &LongKey, tokens: Option<&[TokenId]>) {
        let last_tag = std::mem::replace(&mut self.last_tag[key.hash], tag(key));
        if last_tag == tag(key)
            && let Some(tokens) = tokens.and_then(packed::pack)
        {
            self.slots[key.hash] = (key.words, tokens);
        }
    }
}

/// Whether two keys are equal. `==` would call the system's library for arrays of this size.
fn same(one: &Words, other: &Words) -> bool {
    let pairs = one.as_flattened().iter().zip(other.as_flattened());
    pairs.fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// The lower 16 bits of a key's hash; the upper ones choose its slot.
fn tag(key: &LongKey) -> u16 {
    let [a, b, ..] = key.hash.to_le_bytes();
    u16::from_le_bytes([a, b])
}
