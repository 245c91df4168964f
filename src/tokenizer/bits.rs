//! Masks: bit `i` of a u64 describes byte `i`. And the low parts of numbers.

/// The top bit of each of eight bytes.
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

/// Gathers the top bits of eight bytes into eight bits, as the instruction `movemask` does.
#[inline]
pub(super) fn of_eight(block: u64) -> u64 {
    // The factor has the bits 7, 14, ..., 56: one of them takes the bit of byte i from 8 i to 56 + i. No
    // two products share a bit, so nothing carries.
    ((block & TOP) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// The mask of those of sixty-four bytes that `select` selects: it takes eight at a time, and sets the top bit
/// of each that it selects.
#[inline]
pub(super) fn of_bytes(bytes: &[u8; 64], select: impl Fn(u64) -> u64) -> u64 {
    let (blocks, _) = bytes.as_chunks();
    let selected = |block: &[u8; 8]| of_eight(select(u64::from_le_bytes(*block)));
    blocks.iter().rev().fold(0, |all, block| all << 8 | selected(block))
}

/// The lower 64 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the upper half is dropped on purpose")]
pub(super) const fn low_64(number: u128) -> u64 {
    number as u64
}

/// The lower 32 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the upper half is dropped on purpose")]
pub(super) const fn low_32(number: u64) -> u32 {
    number as u32
}
