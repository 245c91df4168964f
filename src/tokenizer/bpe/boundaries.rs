//! Where a long piece is divided into segments that are encoded separately.
//!
//! The merge that first reaches across an offset in a piece joins a part that ends there and a part that begins there.
//! There are 200,000 merges, each of a left and a right operand, and the table holds what is around where the two meet:
//! the last bytes of the left one, the first bytes of the right one. Where the bytes around an offset look like none of
//! them, no token of the piece reaches across it: it is a *merge boundary*, and the text before it and after it is
//! encoded separately. (The table is a filter: by chance some boundaries look like a merge. They are missed, which
//! costs time and changes nothing.)
//!
//! Only offsets before a character of three bytes or more are looked at, and only merges whose right operand
//! begins with one are in the table: any token has only 12,000 adjacent pairs of such characters, so this finds
//! nine in ten boundaries between tokens of Chinese, Japanese and Korean, whose sentences are pieces. What is
//! between two of them is most often one token. Without boundaries such text takes 1.7 times as long. A piece
//! of Latin letters is never cut.

use super::boundary_bits::{self, LONG_CHAR, SIDE};
use crate::tokenizer::bits;
use crate::tokenizer::tables::table;

table!(
    /// Bits as `boundary_bits` numbers them, sixty-four in a u64: 35 KiB.
    BITS, 8, "boundary_bits.bin"
);

/// Calls `encode` with the start and the end of each segment of the piece `text[start..end]`, in order.
/// A piece has a byte at least.
#[inline]
pub(in crate::tokenizer) fn for_each_segment(
    text: &[u8],
    start: usize,
    end: usize,
    mut encode: impl FnMut(usize, usize),
) {
    // Not a constant without a name: to Rust 1.88, what only such a constant uses is unused.
    const { assert!(BITS.len() * 64 == boundary_bits::COUNT) };
    let (mut begun, mut at) = (start, start + 1);
    while at <= end {
        for boundary in bits::set_bits(boundaries(text, at, end)).map(|bit| at + bit) {
            encode(begun, boundary);
            begun = boundary;
        }
        at += AT_ONCE;
    }
}

/// How many offsets are looked at together.
const AT_ONCE: usize = 64;

/// The bytes around a block of offsets: `SIDE` before the first one, and all that `may_merge` reads of the last.
type Around = [u8; SIDE + AT_ONCE + 4];

/// The boundaries among the `AT_ONCE` offsets from `from` on, a bit for each. The piece's end counts as one.
///
/// Where the next boundary is cannot be predicted, so no branch depends on that, only on where long
/// characters are: Chinese of 10 KB takes 0.93 of the time that a branch per offset takes.
#[inline]
fn boundaries(text: &[u8], from: usize, end: usize) -> u64 {
    // The bit of the piece's end. Where it is further away there is none, and all offsets are inside.
    let end = 1_u64.unbounded_shl(u32::try_from(end - from).unwrap_or(u32::MAX));
    let inside = end.wrapping_sub(1);
    match from.checked_sub(SIDE).and_then(|first| text[first..].first_chunk()) {
        Some(around) => boundaries_in(around, inside) | end,
        None => boundaries_in(&around_at_an_end(text, from), inside) | end,
    }
}

/// The boundaries among those of the offsets with their bit set.
#[inline]
fn boundaries_in(around: &Around, offsets: u64) -> u64 {
    // All bytes from `LONG_CHAR` on have its three upper bits.
    const { assert!(LONG_CHAR == 0xe0) };
    let Some(bytes) = around[SIDE..].first_chunk() else { return 0 };
    let long_chars = bits::of_bytes(bytes, |block| block & block << 1 & block << 2);
    let boundary = |bit| u64::from(!may_merge(around, bit)) << bit;
    bits::set_bits(long_chars & offsets).fold(0, |boundaries, bit| boundaries | boundary(bit))
}

/// Whether what is around an offset looks like where the operands of any merge meet.
#[inline]
fn may_merge(around: &Around, offset: usize) -> bool {
    let around = around[offset..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let bit = |bit: usize| u64::from_le_bytes(BITS[bit / 64]) >> (bit % 64);
    let [one, two, three] = boundary_bits::of(around).map(bit);
    (one | two | three) & 1 != 0
}

/// The bytes around offsets where the text begins or ends, zeros past its ends.
///
/// Such zeros, and bytes of the text outside the piece, can only hide a boundary: a merge is looked up by as
/// many bytes as its shorter operand has, up to three, and these are inside the piece.
#[cold]
fn around_at_an_end(text: &[u8], from: usize) -> Around {
    std::array::from_fn(|index| {
        let at = (from + index).checked_sub(SIDE);
        at.and_then(|at| text.get(at)).copied().unwrap_or_default()
    })
}
