//! Which token two tokens are merged into, and whether two tokens are a valid pair.

use super::layout::{NO_TOKEN, side};
use super::trie;
use crate::tokenizer::bits::low_32;
use crate::tokenizer::tables::table;
use crate::tokenizer::vocabulary::{TokenId, token_bytes};

table!(
    /// Two u32 per token, see `Side`: what it is on the left of a boundary, and what on the right. Backtracking
    /// asks for a token on the right first, then on the left: so both are in one cache line.
    SIDES, 8, "pair_sides.bin"
);

/// A token on one side of a boundary, packed by `layout::side`.
#[derive(Clone, Copy)]
struct Side(u32);

impl Side {
    #[inline]
    fn left(token: TokenId) -> Self {
        Self(low_32(Self::both(token)))
    }

    #[inline]
    fn right(token: TokenId) -> Self {
        Self(low_32(Self::both(token) >> 32))
    }

    #[inline]
    fn both(token: TokenId) -> u64 {
        SIDES.get(token as usize).map_or(u64::MAX, |sides| u64::from_le_bytes(*sides))
    }

    /// The operand of the token's merge that touches the boundary; `NO_TOKEN` for a single byte.
    #[inline]
    fn operand(self) -> TokenId {
        self.0 & NO_TOKEN
    }

    /// No merge across the boundary that the token takes part in makes a token with a lower id.
    #[inline]
    fn lowest_merge(self) -> TokenId {
        (self.0 >> side::LOWEST_SHIFT & 0x1fff) * side::STEP
    }

    /// Whether any smaller part of the token may be merged across the boundary before it goes into a larger one.
    #[inline]
    fn parts_may_merge(self) -> bool {
        self.0 & side::PARTS_MAY_MERGE != 0
    }
}

/// Whether two tokens are a valid pair: whether merging the bytes of both together makes just these two tokens.
///
/// Merging takes the possible merge with the lowest id first, of equals the leftmost. Both operands of a merge
/// have lower ids than its token (build.rs checks it), so the merges inside `left` and `right` happen in
/// the order of their ids. At any moment one part ends at the boundary between the two, and one begins
/// there. They are merged if they make a token before the deadline of either part: the merge by which it goes
/// into a larger part of its own side. This function goes back in time, from the finished tokens to the
/// single bytes, and asks at each step. " tokenize" and "s" are not a valid pair:
///
/// | left part | its deadline | right part | the two make |
/// |---|---|---|---|
/// | `" tokenize"` 192720 | none | `"s"` 82 | nothing |
/// | `"ize"` 750, an operand of 192720 | 192720 | `"s"` 82 | nothing |
/// | `"e"` 68, an operand of 750 | 750 | `"s"` 82 | `"es"` 268: before 750, so across the boundary |
pub(in crate::tokenizer) fn is_valid_pair(left: TokenId, right: TokenId) -> bool {
    let (mut left_part, mut right_part) = (left, right);
    let (mut left_deadline, mut right_deadline) = (side::NEVER, side::NEVER);
    loop {
        let (left_side, right_side) = (Side::left(left_part), Side::right(right_part));
        // Of equal ids the leftmost is first: the merge of the left side, then that across the boundary,
        // then that of the right side.
        let may_merge_across = |merge| merge < left_deadline && merge <= right_deadline;
        // Three in four pairs come too late whatever they make, and need not be looked up.
        let lowest = left_side.lowest_merge().max(right_side.lowest_merge());
        if may_merge_across(lowest) && merged(left_part, right_part).is_some_and(may_merge_across) {
            return false;
        }
        // The part that was made later (its id is higher) is undone. Before it was made, one of its own parts touched
        // the boundary, so any earlier merge across involves such a part, whatever was on the other side. Of
        // equal ones it can be either: what one of them makes with a part of the other has a higher id than both,
        // so it comes too late. Most often none of the parts has a chance, and that is the answer.
        let later = if left_part > right_part { left_side } else { right_side };
        if !later.parts_may_merge() {
            return true;
        }
        if left_part > right_part {
            left_deadline = left_part;
            left_part = left_side.operand();
        } else {
            right_deadline = right_part;
            right_part = right_side.operand();
        }
    }
}

/// The token that merging makes of two adjacent ones.
///
/// Other pairs of tokens may spell a token too, but merging never meets them: see `backtrack`, fact 1.
pub(super) fn merged(left: TokenId, right: TokenId) -> Option<TokenId> {
    let token = trie::candidate(token_bytes(left)?, token_bytes(right)?)?;
    // With the same operands it has the same bytes.
    (operands(token) == (left, right)).then_some(token)
}

/// The two tokens that are merged into this one; of a single byte, `NO_TOKEN` twice.
fn operands(token: TokenId) -> (TokenId, TokenId) {
    (Side::right(token).operand(), Side::left(token).operand())
}

#[cfg(test)]
mod tests {
    use super::{is_valid_pair, merged, operands};
    use crate::tokenizer::bpe::{merge, trie};
    use crate::tokenizer::vocabulary::token_bytes;

    #[test]
    fn each_token_is_merged_of_its_operands_alone() {
        let token_of = |text: &[u8]| {
            trie::longest_token(text).filter(|(_, len)| *len == text.len()).map(|(token, _)| token)
        };
        let mut others = 0;
        for token in 256..199_998 {
            let bytes = token_bytes(token).unwrap_or_default();
            assert_eq!(token_of(bytes), Some(token));
            for cut in 1..bytes.len() {
                let (left, right) = bytes.split_at(cut);
                let (Some(left), Some(right)) = (token_of(left), token_of(right)) else { continue };
                let is_merged = operands(token) == (left, right);
                assert_eq!(merged(left, right), is_merged.then_some(token), "{left} {right}");
                others += usize::from(!is_merged);
            }
        }
        assert!(others > 100_000, "{others}");
    }

    /// The function against merging itself: for tokens of all lengths next to themselves, to those with ids close to
    /// theirs, and to tokens that have nothing to do with them.
    #[test]
    fn a_pair_is_valid_if_merging_makes_it() {
        let (mut valid, mut others) = (0, 0);
        for left in (0..199_998).step_by(23).chain(0..1000) {
            for right in [left, left + 1, left / 2, left * 7919 % 199_998, 220, 64] {
                let (Some(first), Some(second)) = (token_bytes(left), token_bytes(right)) else {
                    continue;
                };
                let mut tokens = Vec::new();
                merge::encode(&[first, second].concat(), &mut tokens);
                let is_made = tokens == [left, right];
                assert_eq!(is_valid_pair(left, right), is_made, "{left} {right}");
                *(if is_made { &mut valid } else { &mut others }) += 1;
            }
        }
        assert!(valid > 5000 && others > 5000, "{valid} {others}");
    }
}
