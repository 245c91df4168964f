//! The pair cache: which two tokens are a valid pair. Backtracking asks for the same pairs again and again.

use super::hash;
use super::table::Table;
use crate::tokenizer::bpe;
use crate::tokenizer::vocabulary::TokenId;

/// Answers of `bpe::is_valid_pair`. A new one takes the slot of an old one. A slot: the two tokens, 18 bits
/// each, whether they are a valid pair, and a bit that is set in all but empty slots.
pub(super) struct PairCache {
    slots: Table<u64>,
}

impl PairCache {
    pub(super) const BYTES_PER_SLOT: usize = size_of::<u64>();

    pub(super) fn new(slots: usize) -> Self {
        Self { slots: Table::new(slots, 0) }
    }

    /// As `bpe::is_valid_pair`.
    #[inline]
    pub(super) fn is_valid_pair(&mut self, left: TokenId, right: TokenId) -> bool {
        let pair = (u64::from(left) << 18 | u64::from(right)) << 2 | 1;
        let slot = &mut self.slots[hash::mix(left.into(), right.into())];
        if *slot & !2 != pair {
            *slot = pair | u64::from(bpe::is_valid_pair(left, right)) << 1;
        }
        *slot & 2 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::PairCache;
    use crate::tokenizer::bpe;
    use crate::tokenizer::cache::hash;

    #[test]
    fn a_pair_is_looked_up_once() {
        let mut cache = PairCache::new(2);
        // `th` `e` is the token `the`; `e` `th` are two.
        for (left, right) in [(404, 68), (68, 404), (0, 0), (199_997, 199_997)] {
            let expected = bpe::is_valid_pair(left, right);
            assert_eq!(cache.is_valid_pair(left, right), expected);
            cache.slots[hash::mix(left.into(), right.into())] ^= 2;
            assert_eq!(cache.is_valid_pair(left, right), !expected, "the slot was not read");
        }
    }
}
