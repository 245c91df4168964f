//! Pieces that are a token: most words are.

use super::key::Key;
use super::table::Table;
use crate::tokenizer::bits::low_32;
use crate::tokenizer::vocabulary::TokenId;

/// A key with its token in the three bytes after the twelfth, where the key of so short a piece has zeros.
type Slot = [u64; 2];

const TOKEN_SHIFT: u32 = 32;
/// The bits of a slot's second word that are not of the key.
const TOKEN: u64 = 0x3_ffff << TOKEN_SHIFT;

/// Pieces of at most twelve bytes that are a token. A new one takes the slot of an old one.
pub(super) struct TokenCache {
    slots: Table<Slot>,
}

impl TokenCache {
    pub(super) const BYTES_PER_SLOT: usize = size_of::<Slot>();

    pub(super) fn new(slots: usize) -> Self {
        Self { slots: Table::new(slots, [0; 2]) }
    }

    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<TokenId> {
        let [low, high] = self.slots[key.hash()];
        // A longer piece is never found: the length is part of its key.
        let same = [low, high & !TOKEN] == key.words;
        same.then_some(low_32((high & TOKEN) >> TOKEN_SHIFT))
    }

    /// Caches the piece, if it is short enough.
    #[inline]
    pub(super) fn insert(&mut self, key: Key, token: TokenId) {
        let [low, high] = key.words;
        if high >> 56 <= 12 {
            self.slots[key.hash()] = [low, high | u64::from(token) << TOKEN_SHIFT];
        }
    }
}
