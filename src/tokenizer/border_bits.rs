//! The bits that stand for what is around a border between tokens. Shared with build.rs, which
//! sets those of all merges.

/// Bytes that are looked at before a border, and as many behind it.
pub(crate) const SIDE: usize = 3;

/// The first byte of characters of three bytes or more. Only before them borders are looked for:
/// shorter ones are letters of alphabets, and nearly any two are neighbours in some token.
pub(crate) const LONG_CHAR: u8 = 0xe0;

/// Bits for one byte at either side, each pair its own.
const ONE: usize = 1 << 13;
/// Bits for two bytes at either side, hashed: one in 110 is set.
const TWO: usize = 1 << 14;
/// Bits for three bytes at either side, hashed: one in 24 is set.
const THREE: usize = 1 << 18;
/// Number of bits in all.
pub(crate) const COUNT: usize = ONE + TWO + THREE;

/// The bits of a border, by how many bytes the shorter one of two merged parts has: one, two, or
/// more. `window` has the bytes before the border and then those behind it, the first one lowest;
/// what is above them does not matter.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "all numbers are below `COUNT`")]
pub(crate) fn of(window: u64) -> [usize; 3] {
    // Any odd factor with bits all over: the upper bits of its product depend on all others.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    // Bytes that are not to matter are shifted out at the top.
    let hashed = |bytes: u64, count: usize| {
        (bytes.wrapping_mul(FACTOR) >> (64 - count.trailing_zeros())) as usize
    };
    // Of the byte behind the border five bits are enough: it begins a long character.
    [
        (window >> 16 & 0x1fff) as usize,
        ONE + hashed(window >> 8 << 32, TWO),
        ONE + TWO + hashed(window << 16, THREE),
    ]
}
