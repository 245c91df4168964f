//! Pieces of 16 to 64 bytes: long names in code, long words of many languages, short sentences of Chinese.
//!
//! A conversation is rendered again with each new message, so its text recurs. But most long pieces never do, so a
//! piece is cached only when it occurs for the second time.

use crate::tokenizer::bits::{low_32, low_64};
use crate::tokenizer::bpe::hash_of_next;
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
            hash = hash.rotate_left(16) ^ hash_of_next(0, bytes);
        }
        Some(Self { words, hash })
    }
}

/// A piece and its tokens: each plus one, and 0 for none, so zeroed memory holds nothing.
type Slot = (Words, [TokenId; MOST_TOKENS]);

/// Pieces and their tokens. A new one takes the slot of an old one.
pub(super) struct LongCache {
    slots: Vec<Slot>,
    /// For each slot the tag of the last piece that hashed there, cached or not.
    last_tag: Vec<u16>,
}

impl LongCache {
    pub(super) const BYTES_PER_SLOT: usize = size_of::<Slot>() + size_of::<u16>();

    /// A power of two of slots. The system provides the memory as it is written to.
    pub(super) fn new(slots: usize) -> Self {
        debug_assert!(slots.is_power_of_two(), "bits of a hash choose a slot");
        let empty = ([[0; 2]; LONGEST / 16], [0; MOST_TOKENS]);
        Self { slots: vec![empty; slots], last_tag: vec![0; slots] }
    }

    /// The slot of a key: the sixteen upper bits of its hash, or fewer; those below are the tag.
    #[inline]
    fn index_of(&self, key: &LongKey) -> usize {
        (key.hash >> 48) as usize & (self.slots.len() - 1)
    }

    /// Appends the tokens of a piece if it is cached. Returns whether it is.
    #[inline]
    pub(super) fn append(&self, key: &LongKey, out: &mut Vec<TokenId>) -> bool {
        let index = self.index_of(key);
        if self.last_tag[index] != tag(key) {
            return false;
        }
        let (piece, tokens) = &self.slots[index];
        let found = same(piece, &key.words);
        if found {
            // Their number cannot be predicted, so no branch depends on it: all are appended, and the surplus is taken
            // back.
            let count = tokens.iter().filter(|&&token| token != 0).count();
            let end = out.len() + count;
            out.extend_from_slice(&tokens.map(|token| token.wrapping_sub(1)));
            out.truncate(end);
        }
        found
    }

    /// Caches a piece, if it has few tokens, was seen before, and its tokens are known.
    pub(super) fn insert(&mut self, key: &LongKey, tokens: Option<&[TokenId]>) {
        let index = self.index_of(key);
        let last_tag = std::mem::replace(&mut self.last_tag[index], tag(key));
        if last_tag == tag(key)
            && let Some(tokens) = tokens
            && tokens.len() <= MOST_TOKENS
        {
            let token = |at: usize| tokens.get(at).map_or(0, |token| token + 1);
            self.slots[index] = (key.words, std::array::from_fn(token));
        }
    }
}

/// Whether two keys are equal. `==` would call the system's library for arrays of this size.
fn same(one: &Words, other: &Words) -> bool {
    let pairs = one.as_flattened().iter().zip(other.as_flattened());
    pairs.fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// The sixteen bits of a key's hash below those that choose its slot.
#[expect(clippy::cast_possible_truncation, reason = "the bits above choose the slot")]
fn tag(key: &LongKey) -> u16 {
    (key.hash >> 32) as u16
}
