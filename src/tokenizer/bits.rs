//! Sets of bytes as the bits of a number, that of the first byte lowest.

/// The top bit of each of eight bytes: what marks a byte among them.
pub(super) const TOP: u64 = 0x8080_8080_8080_8080;

/// The indices of the bits that are set, in their order.
#[inline]
pub(super) fn set_bits(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        // The remainder changes nothing, and lets the compiler leave out checks.
        let first = (bits != 0).then(|| bits.trailing_zeros() as usize % 64);
        bits &= bits.wrapping_sub(1);
        first
    })
}

/// The top bits of eight bytes, a bit for each byte.
#[inline]
pub(super) fn of_eight(block: u64) -> u64 {
    ((block & TOP) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Which of sixty-four bytes are marked: `mark` takes eight at a time and marks them by their top bits.
#[inline]
pub(super) fn of_bytes(bytes: &[u8; 64], mark: impl Fn(u64) -> u64) -> u64 {
    let (blocks, _) = bytes.as_chunks();
    let marked = |block: &[u8; 8]| of_eight(mark(u64::from_le_bytes(*block)));
    blocks.iter().rev().fold(0, |all, block| all << 8 | marked(block))
}
