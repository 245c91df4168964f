//! Byte pairs: which token two tokens are merged into, and whether merging would leave two
//! neighbours as they are.

use super::tables::{low_32, table};
use super::{Rank, perfect_hash};

table!(
    /// Two u32, see `Side`: what each token is before a border, and what behind one. Of two
    /// neighbours the left one has just been looked up as the right one of another.
    SIDES, 8, "sides.bin"
);
table!(
    /// u32: a rank and, from bit 18 on, the fingerprint of the hash of its halves.
    SLOTS, 4, "pair_slots.bin"
);
table!(
    /// u16: the pilot of each bucket.
    PILOTS, 2, "pair_pilots.bin"
);

/// A token at one side of a border.
#[derive(Clone, Copy)]
struct Side(u32);

impl Side {
    /// Above any rank, and the rank of a merge that never happens.
    const NEVER: Rank = ((1 << 13) - 1) * 32;

    #[inline]
    fn before(token: Rank) -> Self {
        Self(low_32(Self::both(token)))
    }

    #[inline]
    fn behind(token: Rank) -> Self {
        Self(low_32(Self::both(token) >> 32))
    }

    #[inline]
    fn both(token: Rank) -> u64 {
        SIDES.get(token as usize).map_or(u64::MAX, |sides| u64::from_le_bytes(*sides))
    }

    /// The one of the token's halves that touches the border; no token for a single byte.
    #[inline]
    fn half(self) -> Rank {
        self.0 & 0x3_ffff
    }

    /// No merge over the border that the token takes part in has a lower rank.
    #[inline]
    fn soonest_merge(self) -> Rank {
        (self.0 >> 18 & 0x1fff) * 32
    }

    /// Whether any smaller part of the token could be merged over the border in time.
    #[inline]
    fn goes_on(self) -> bool {
        self.0 >> 31 == 1
    }
}

/// Whether byte-pair merging leaves the tokens `left` and `right` apart where they are neighbours.
///
/// Merging takes the possible merge with the lowest rank first, of equals the leftmost. Both halves
/// of a token rank below it (build.rs checks it), so the merges inside `left` and `right` happen in
/// the order of their ranks. At any moment one part ends at the border between the two, and one
/// begins there: `before` and `behind`. They are merged if they make a token whose rank comes up
/// before either of them goes into a larger part of its own side. This function goes back in
/// time, from the finished tokens to the single bytes, and asks at each step.
pub(super) fn stay_apart(left: Rank, right: Rank) -> bool {
    let (mut before, mut behind) = (left, right);
    // The ranks of the merges that end the time of `before` and of `behind`.
    let (mut before_ends, mut behind_ends) = (Side::NEVER, Side::NEVER);
    loop {
        let (before_side, behind_side) = (Side::before(before), Side::behind(behind));
        // Of equal ranks the leftmost is first: that of the left side comes before a merge over
        // the border, that of the right side after it.
        let in_time = |rank| rank < before_ends && rank <= behind_ends;
        // Three in four pairs come too late whatever they make: no need to look them up.
        let soonest = before_side.soonest_merge().max(behind_side.soonest_merge());
        if in_time(soonest) && merged(before, behind).is_some_and(in_time) {
            return false;
        }
        // The younger one of the two is undone; of equal ones the right one is younger. Most often
        // none of its parts has a chance, which ends the search; so do single bytes.
        let younger = if before > behind { before_side } else { behind_side };
        if !younger.goes_on() {
            return true;
        }
        if before > behind {
            before_ends = before;
            before = before_side.half();
        } else {
            behind_ends = behind;
            behind = behind_side.half();
        }
    }
}

/// The token that merging makes of two neighbours.
///
/// Other pairs of tokens may spell a token too, but merging never meets them: see `search`.
#[inline]
pub(super) fn merged(left: Rank, right: Rank) -> Option<Rank> {
    let hash = perfect_hash::hash(left.into(), right.into());
    let pilot = u16::from_le_bytes(PILOTS[perfect_hash::bucket(hash, PILOTS.len())]);
    let slot = u32::from_le_bytes(SLOTS[perfect_hash::slot(hash, pilot, SLOTS.len())]);
    // The fingerprint tells nearly all strangers without a look at the halves.
    if slot >> 18 != perfect_hash::fingerprint(hash) {
        return None;
    }
    let rank = slot & 0x3_ffff;
    let halves = (Side::behind(rank).half(), Side::before(rank).half());
    (halves == (left, right)).then_some(rank)
}
