//! Consecutive pieces that are encoded together.

/// The number of pieces to encode together; a window may add more.
const TOGETHER: usize = 64;

/// The most pieces of a window, one for each byte.
const MOST_OF_A_WINDOW: usize = 64;

/// The number of ends written at once; most windows have fewer.
const AT_ONCE: usize = 16;

/// Where each of some pieces begins, and where the last one ends.
pub(in crate::tokenizer) struct Pieces {
    bounds: [usize; Self::MOST + 1 + AT_ONCE],
    len: usize,
}

impl Pieces {
    /// Most pieces at a time.
    pub(in crate::tokenizer) const MOST: usize = TOGETHER + MOST_OF_A_WINDOW;

    pub(in crate::tokenizer) const fn new() -> Self {
        Self { bounds: [0; Self::MOST + 1 + AT_ONCE], len: 0 }
    }

    /// Where each piece begins, and where the last one ends: one number more than there are pieces.
    #[inline]
    pub(in crate::tokenizer) fn bounds(&self) -> &[usize] {
        &self.bounds[..=self.len.min(Self::MOST)]
    }

    /// No pieces; the next one begins at `start`.
    #[inline]
    pub(super) fn begin(&mut self, start: usize) {
        self.bounds[0] = start;
        self.len = 0;
    }

    /// Where the next piece begins.
    #[inline]
    pub(super) fn end(&self) -> usize {
        self.bounds[self.len]
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether a window may have more pieces than there is room for.
    #[inline]
    pub(super) fn are_enough(&self) -> bool {
        self.len >= TOGETHER
    }

    /// Adds the next piece.
    #[inline]
    pub(super) fn push(&mut self, end: usize) {
        self.len += 1;
        self.bounds[self.len] = end;
    }

    /// Adds the pieces that end at `from` plus each set bit; there is at least one.
    ///
    /// Their number cannot be predicted, so `AT_ONCE` are written without a branch, and others only if there are more.
    #[inline]
    pub(super) fn push_all(&mut self, from: usize, mut ends: u64) {
        let count = ends.count_ones() as usize;
        let mut first = self.len + 1;
        self.len += count;
        loop {
            let Some(bounds) = self.bounds[first..].first_chunk_mut::<AT_ONCE>() else { return };
            for bound in bounds {
                // The top bit changes nothing while others are set, and lets the compiler leave out a case.
                *bound = from + (ends | 1 << 63).trailing_zeros() as usize;
                ends &= ends.wrapping_sub(1);
            }
            if ends == 0 {
                return;
            }
            first += AT_ONCE;
        }
    }
}
