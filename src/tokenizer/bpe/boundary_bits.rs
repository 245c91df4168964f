//! The bits that encode what is around an offset. Shared with build/boundaries.rs, which sets those of all
//! merges, so it depends on nothing.

/// Bytes that are looked at before an offset, and as many after it.
pub(crate) const SIDE: usize = 3;

/// The first byte of characters of three bytes or more. Only before them boundaries are looked
/// for: shorter ones are letters of alphabets, and nearly any two are adjacent in some token.
pub(crate) const LONG_CHAR: u8 = 0xe0;

/// Bits for one byte on either side: each pair of bytes has its own. One in 45 is set.
pub(crate) const ONE: usize = 1 << 13;
/// Bits for two bytes on either side, hashed: one in 110 is set.
pub(crate) const TWO: usize = 1 << 14;
/// Bits for three bytes on either side, hashed: one in 24 is set.
const THREE: usize = 1 << 18;
/// Number of bits in all.
pub(crate) const COUNT: usize = ONE + TWO + THREE;

/// The bits of an offset, by how many bytes the shorter operand of a merge there has: one, two, or
/// more. `around` has the bytes before the offset and then those after it, the first one lowest;
/// what is above them does not matter.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "all numbers are below `COUNT`")]
pub(crate) fn of(around: u64) -> [usize; 3] {
    // Any odd factor with bits all over: the upper bits of its product depend on all others.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    // Bytes that must not matter are shifted out at the top.
    let hashed = |bytes: u64, count: usize| {
        (bytes.wrapping_mul(FACTOR) >> (64 - count.trailing_zeros())) as usize
    };
    // Of the byte after the offset five bits are enough: it begins a long character.
    [
        (around >> 16 & 0x1fff) as usize,
        ONE + hashed(around >> 8 << 32, TWO),
        ONE + TWO + hashed(around << 16, THREE),
    ]
}
