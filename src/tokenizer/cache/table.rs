//! Slots that are found by a hash.

use std::ops::{Index, IndexMut};

/// A fixed number of slots, a power of two. A hash's upper bits choose one.
pub(super) struct Table<T> {
    slots: Vec<T>,
    /// What shifts a hash down to an index.
    shift: u32,
}

impl<T: Clone> Table<T> {
    /// Slots that all hold `empty`. If that is all zeros, the system provides the memory as it is written to.
    pub(super) fn new(slots: usize, empty: T) -> Self {
        debug_assert!(slots.is_power_of_two(), "the upper bits of a hash choose a slot");
        Self { slots: vec![empty; slots], shift: u64::BITS - slots.trailing_zeros() }
    }
}

impl<T> Table<T> {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "it is below the number of slots")]
    fn index_of(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize
    }
}

impl<T> Index<u64> for Table<T> {
    type Output = T;

    #[inline]
    fn index(&self, hash: u64) -> &T {
        &self.slots[self.index_of(hash)]
    }
}

impl<T> IndexMut<u64> for Table<T> {
    #[inline]
    fn index_mut(&mut self, hash: u64) -> &mut T {
        let index = self.index_of(hash);
        &mut self.slots[index]
    }
}
