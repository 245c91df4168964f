//! Which token two tokens are merged into, and whether two tokens can be neighbours.

use crate::tokenizer::hash;
use crate::tokenizer::tables::{low_32, table};
use crate::tokenizer::vocabulary::TokenId;

table!(
    /// Two u32 per token, see `Side`: what it is on the left of a boundary, and what on the right. (In one
    /// table: of two neighbours the left one has just been looked up as the right one of another pair.)
    SIDES, 8, "pair_sides.bin"
);
table!(
    /// u32: a token and, from bit 18 on, the fingerprint of the hash of its halves.
    SLOTS, 4, "pair_slots.bin"
);
table!(
    /// u16: the pilot of each bucket.
    PILOTS, 2, "pair_pilots.bin"
);

/// A token beside a boundary.
#[derive(Clone, Copy)]
struct Side(u32);

impl Side {
    /// Above any id: that of a merge that never happens.
    const NEVER: TokenId = ((1 << 13) - 1) * 32;

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

    /// The one of the token's halves that touches the boundary; no token for a single byte.
    #[inline]
    fn half(self) -> TokenId {
        self.0 & 0x3_ffff
    }

    /// No merge across the boundary that the token takes part in makes a token with a lower id.
    #[inline]
    fn lowest_merge(self) -> TokenId {
        (self.0 >> 18 & 0x1fff) * 32
    }

    /// Whether any smaller part of the token could be merged across the boundary in time.
    #[inline]
    fn has_open_parts(self) -> bool {
        self.0 >> 31 == 1
    }
}

/// Whether two tokens are a valid pair: whether merging the bytes of both together makes just these two tokens.
///
/// Merging takes the possible merge with the lowest id first, of equals the leftmost. Both halves of a
/// token have lower ids than it (build.rs checks it), so the merges inside `left` and `right` happen in
/// the order of their ids. At any moment one part ends at the boundary between the two, and one begins
/// there. They are merged if they make a token whose turn comes before either of them goes into a larger
/// part of its own side. This function goes back in time, from the finished tokens to the single bytes,
/// and asks at each step.
pub(in crate::tokenizer) fn is_valid_pair(left: TokenId, right: TokenId) -> bool {
    let (mut left_part, mut right_part) = (left, right);
    // The ids of the merges that end the time of the two parts.
    let (mut left_ends, mut right_ends) = (Side::NEVER, Side::NEVER);
    loop {
        let (left_side, right_side) = (Side::left(left_part), Side::right(right_part));
        // Of equal ids the leftmost is first: that of the left side comes before a merge across the
        // boundary, that of the right side after it.
        let in_time = |merge| merge < left_ends && merge <= right_ends;
        // Three in four pairs come too late whatever they make: no need to look them up.
        let lowest = left_side.lowest_merge().max(right_side.lowest_merge());
        if in_time(lowest) && merged(left_part, right_part).is_some_and(in_time) {
            return false;
        }
        // The younger one of the two is undone. Of equal ones it can be either: what one of them makes with
        // a part of the other has a higher id than both, so it comes too late. Most often none of its
        // parts has a chance, and that is the answer; it is for single bytes.
        let younger = if left_part > right_part { left_side } else { right_side };
        if !younger.has_open_parts() {
            return true;
        }
        if left_part > right_part {
            left_ends = left_part;
            left_part = left_side.half();
        } else {
            right_ends = right_part;
            right_part = right_side.half();
        }
    }
}

/// The token that merging makes of two neighbours.
///
/// Other pairs of tokens may spell a token too, but merging never meets them: see `backtrack`, fact 1.
#[inline]
pub(super) fn merged(left: TokenId, right: TokenId) -> Option<TokenId> {
    let hash = hash::mix(left.into(), right.into());
    let pilot = u16::from_le_bytes(PILOTS[hash::bucket(hash, PILOTS.len())]);
    let slot = u32::from_le_bytes(SLOTS[hash::slot(hash, pilot, SLOTS.len())]);
    // The fingerprint refuses nearly all other pairs without a look at the halves.
    if slot >> 18 != hash::fingerprint(hash) {
        return None;
    }
    let token = slot & 0x3_ffff;
    let halves = (Side::right(token).half(), Side::left(token).half());
    (halves == (left, right)).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::is_valid_pair;
    use crate::tokenizer::bpe::merge;
    use crate::tokenizer::vocabulary::token_bytes;

    /// What the function promises, asked of merging itself: for tokens of all lengths beside themselves,
    /// their neighbours among the ids, and tokens that have nothing to do with them.
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
