//! Pieces of up to 15 bytes that are a few tokens: rare words, names, numbers in hexadecimal.

use super::key::Key;
use super::packed::{self, Packed};
use super::table::Table;
use crate::tokenizer::vocabulary::TokenId;

/// Most tokens of a piece that is cached.
const MOST_TOKENS: usize = 4;

/// Pieces with their tokens, the newest first. The key of an empty slot is 0.
type Set = [Slot; WAYS];
type Slot = ([u64; 2], Packed<MOST_TOKENS>);
const WAYS: usize = 4;

/// A new piece takes the slot of the oldest in its set.
pub(super) struct ShortCache {
    sets: Table<Set>,
}

impl ShortCache {
    /// Memory for that many pieces.
    pub(super) fn new(slots: usize) -> Self {
        Self { sets: Table::new(slots / WAYS, [([0; 2], [0; MOST_TOKENS]); WAYS]) }
    }

    /// The tokens of a piece if it is cached.
    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<&Packed<MOST_TOKENS>> {
        let set = &self.sets[key.hash()];
        // Which one it is cannot be predicted, so no branch depends on it.
        let index_if_found =
            |(index, (piece, _)): (usize, &Slot)| if *piece == key.halves { index } else { 0 };
        let (piece, tokens) =
            &set[set.iter().enumerate().map(index_if_found).sum::<usize>() % WAYS];
        (*piece == key.halves).then_some(tokens)
    }

    /// Caches a piece, if it has few tokens.
    pub(super) fn insert(&mut self, key: Key, tokens: &[TokenId]) {
        if let Some(tokens) = packed::pack(tokens) {
            let set = &mut self.sets[key.hash()];
            set.rotate_right(1);
            set[0] = (key.halves, tokens);
        }
    }
}
