//! Memory for what a thread remembers, in places that lie across as few cache lines as can be.

use super::Rank;
use super::tables::low_32;

/// The least that a place consists of: four tokens, or sixteen bytes of a piece. Memory begins at a
/// multiple of its size on most systems.
pub(super) type Unit = [Rank; 4];

/// Sixteen bytes of a piece as two halves, the lower one first.
#[inline]
pub(super) fn halves([a, b, c, d]: Unit) -> [u64; 2] {
    let both = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    [both(a, b), both(c, d)]
}

/// The unit with these halves.
#[inline]
pub(super) fn unit(halves: [u64; 2]) -> Unit {
    let [[a, b], [c, d]] = halves.map(|half| [low_32(half), low_32(half >> 32)]);
    [a, b, c, d]
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// Places of so many units each.
pub(super) struct Places<const UNITS: usize> {
    units: Vec<Unit>,
    /// Index of the first unit that begins a pair of cache lines.
    first: usize,
}

impl<const UNITS: usize> Places<UNITS> {
    /// Zeroed memory, whose pages come into being as they are used.
    ///
    /// The allocator clears memory of a larger alignment by writing to it, which would touch every page;
    /// so there are some units more than are needed, and the places begin where a pair of lines does.
    /// Text of all kinds takes a twentieth less time than without.
    pub(super) fn new(count: usize) -> Self {
        let spare = 2 * LINE / size_of::<Unit>() - 1;
        let units = vec![[0; 4]; count * UNITS + spare];
        let offset = units.as_ptr().align_offset(2 * LINE);
        Self { units, first: if offset <= spare { offset } else { 0 } }
    }

    #[inline]
    pub(super) fn get(&self, place: usize) -> &[Unit; UNITS] {
        &self.units[self.first..].as_chunks().0[place]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, place: usize) -> &mut [Unit; UNITS] {
        &mut self.units[self.first..].as_chunks_mut().0[place]
    }
}
