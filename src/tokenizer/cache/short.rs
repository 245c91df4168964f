//! Pieces of up to 15 bytes that are a few tokens: rare words, names, numbers in hexadecimal.

use super::key::Key;
use super::packed::{self, Packed};
use super::table::Table;
use crate::tokenizer::vocabulary::TokenId;

/// Most tokens of a piece that is cached.
const MOST_TOKENS: usize = 6;

/// Pieces with their tokens, the newest first. The key of an empty slot is 0.
type Set = [Slot; WAYS];
type Slot = ([u64; 2], Packed<MOST_TOKENS>);
const WAYS: usize = 4;

/// A new piece takes the slot of the oldest in its set.
pub(super) struct ShortCache {
    sets: Table<Set>,
}

impl ShortCache {
    pub(super) const BYTES_PER_SLOT: usize = size_of::<Slot>();

    /// Memory for that many pieces.
    pub(super) fn new(slots: usize) -> Self {
        Self { sets: Table::new(slots / WAYS, [([0; 2], [0; MOST_TOKENS]); WAYS]) }
    }

    /// The tokens of a piece if it is cached.
    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<&Packed<MOST_TOKENS>> {
        let set = &self.sets[key.hash()];
        let [(newest, tokens), ..] = set;
        if *newest == key.words {
            return Some(tokens);
        }
        // Which of the others it is cannot be predicted, so no branch depends on it. A key is in a set once at
        // most, so the sum has one term that is not 0.
        let index_if_found =
            |(index, (piece, _)): (usize, &Slot)| if *piece == key.words { index } else { 0 };
        let index: usize = set.iter().enumerate().map(index_if_found).sum();
        let (piece, tokens) = &set[index % WAYS];
        (*piece == key.words).then_some(tokens)
    }

    /// Caches a piece, if it has few tokens.
    pub(super) fn insert(&mut self, key: Key, tokens: &[TokenId]) {
        if let Some(tokens) = packed::pack(tokens) {
            let set = &mut self.sets[key.hash()];
            set.rotate_right(1);
            set[0] = (key.words, tokens);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, MOST_TOKENS, ShortCache, WAYS};

    fn key(number: usize) -> Key {
        let piece = format!("piece {number}");
        Key::of(piece.as_bytes(), 0, piece.len()).unwrap_or_else(|| unreachable!("it is short"))
    }

    #[test]
    fn a_set_holds_the_newest_pieces() {
        let mut cache = ShortCache::new(2 * WAYS);
        // Those that share a set with the first.
        let same_set: Vec<usize> =
            (0..200).filter(|&n| (key(n).hash() ^ key(0).hash()) >> 63 == 0).collect();
        for (count, &number) in same_set.iter().enumerate() {
            cache.insert(key(number), &[7, 8, u32::try_from(number).unwrap_or_default()]);
            for (age, &piece) in same_set[..=count].iter().rev().enumerate() {
                let held =
                    cache.get(key(piece)).is_some_and(|tokens| tokens[2] as usize == piece + 1);
                assert_eq!(held, age < WAYS, "{piece} after {number}");
            }
        }
        assert!(same_set.len() > 3 * WAYS);
    }

    #[test]
    fn pieces_of_many_tokens_are_not_cached() {
        let mut cache = ShortCache::new(2 * WAYS);
        cache.insert(key(1), &[1; MOST_TOKENS + 1]);
        assert_eq!(cache.get(key(1)), None);
        cache.insert(key(1), &[1; MOST_TOKENS]);
        assert!(cache.get(key(1)).is_some());
    }
}
