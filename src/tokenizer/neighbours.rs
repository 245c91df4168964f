//! Which neighbours were found to stay apart lately.
//!
//! Tokens meet the same neighbours again and again, and finding out anew reads tables of 3 MB
//! in all. JSON of 2 MB takes a twentieth less time with these places than with a quarter of them.

use super::tables::low_32;
use super::{Rank, pairs};

/// Places, as a number of bits.
const PLACE_BITS: u32 = 16;
/// Bits of two ranks.
const KEY_BITS: u32 = 36;
/// Bits of a key that its place does not tell.
const REST_BITS: u32 = KEY_BITS - PLACE_BITS;
/// An answer is there; `APART` tells which.
const KNOWN: u32 = 1 << REST_BITS;
const APART: u32 = 2 << REST_BITS;

/// A fixed number of answers, 256 KiB; a pair whose place is taken throws the other one out.
pub(super) struct Neighbours(Vec<u32>);

impl Neighbours {
    pub(super) fn new() -> Self {
        Self(vec![0; 1 << PLACE_BITS])
    }

    /// As `pairs::stay_apart`.
    #[inline]
    pub(super) fn stay_apart(&mut self, left: Rank, right: Rank) -> bool {
        // An odd factor keeps different keys different, and its upper bits depend on all bits.
        const FACTOR: u64 = 0x9_e377_9b97;
        let mixed = (u64::from(left) << 18 | u64::from(right)).wrapping_mul(FACTOR);
        let place = &mut self.0[(mixed >> REST_BITS) as usize & ((1 << PLACE_BITS) - 1)];
        let rest = low_32(mixed) & (KNOWN - 1) | KNOWN;
        if *place & !APART == rest {
            return *place & APART != 0;
        }
        let apart = pairs::stay_apart(left, right);
        *place = rest | if apart { APART } else { 0 };
        apart
    }
}
