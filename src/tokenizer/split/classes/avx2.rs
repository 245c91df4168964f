//! Classes by thirty-two bytes at a time, where the processor has AVX2.
//!
//! The high nibble of a byte is its row of the ASCII table, the low nibble its column. A class is
//! some columns of some rows, so a byte is in it if its row and its column are.

use std::arch::x86_64::{
    __m256i, _mm_set_epi64x, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_movemask_epi8,
    _mm256_set_epi64x, _mm256_set1_epi8, _mm256_shuffle_epi8, _mm256_slli_epi16, _mm256_srli_epi16,
};

use super::Classes;
use crate::tokenizer::bits::low_64;
use crate::tokenizer::split::window::Window;

// The classes, as bits of their tables.
const A_TO_O: u8 = 1 << 7;
const P_TO_Z: u8 = 1 << 6;
const DIGIT: u8 = 1 << 5;
const NEWLINE: u8 = 1 << 4;
/// `[\t\v\f]`.
const TAB: u8 = 1 << 3;
const SPACE: u8 = 1 << 2;
const APOSTROPHE: u8 = 1 << 1;
const SLASH: u8 = 1 << 0;

/// The classes that have bytes in each row.
const ROWS: [u8; 16] = {
    let mut rows = [0; 16];
    rows[0] = NEWLINE | TAB;
    rows[2] = SPACE | APOSTROPHE | SLASH;
    rows[3] = DIGIT;
    rows[4] = A_TO_O;
    rows[5] = P_TO_Z;
    rows[6] = A_TO_O;
    rows[7] = P_TO_Z;
    rows
};

/// The classes that have bytes in each column.
const COLUMNS: [u8; 16] = [
    SPACE | DIGIT | P_TO_Z,
    DIGIT | A_TO_O | P_TO_Z,
    DIGIT | A_TO_O | P_TO_Z,
    DIGIT | A_TO_O | P_TO_Z,
    DIGIT | A_TO_O | P_TO_Z,
    DIGIT | A_TO_O | P_TO_Z,
    DIGIT | A_TO_O | P_TO_Z,
    APOSTROPHE | DIGIT | A_TO_O | P_TO_Z,
    DIGIT | A_TO_O | P_TO_Z,
    TAB | DIGIT | A_TO_O | P_TO_Z,
    NEWLINE | A_TO_O | P_TO_Z,
    TAB | A_TO_O,
    TAB | A_TO_O,
    NEWLINE | A_TO_O,
    A_TO_O,
    SLASH | A_TO_O,
];

/// The classes of the bytes of a window that are scanned.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn classes(window: &Window) -> Classes {
    let (vectors, _) = window.as_chunks();
    let bytes = [loaded(&vectors[0]), loaded(&vectors[1])];
    let found = bytes.map(|bytes| looked_up(bytes));
    let letter = mask::<A_TO_O>(found) | mask::<P_TO_Z>(found);
    let case = mask::<0x20>(bytes);
    let space = mask::<SPACE>(found);
    Classes {
        uppercase: letter & !case,
        lowercase: letter & case,
        digit: mask::<DIGIT>(found),
        newline: mask::<NEWLINE>(found),
        inline_space: mask::<TAB>(found) | space,
        space,
        apostrophe: mask::<APOSTROPHE>(found),
        slash: mask::<SLASH>(found),
        non_ascii: mask::<0x80>(bytes),
        ..Classes::default()
    }
}

/// The bytes of characters after the first.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn continuation(window: &Window) -> u64 {
    let (vectors, _) = window.as_chunks();
    let bytes = [loaded(&vectors[0]), loaded(&vectors[1])];
    mask::<0x80>(bytes) & !mask::<0x40>(bytes)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn loaded(bytes: &[u8; 32]) -> __m256i {
    let (words, _) = bytes.as_chunks();
    let word = |index: usize| i64::from_le_bytes(words[index]);
    _mm256_set_epi64x(word(3), word(2), word(1), word(0))
}

/// The bits of the classes that each byte is in.
#[inline]
#[target_feature(enable = "avx2")]
fn looked_up(bytes: __m256i) -> __m256i {
    let row = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), _mm256_set1_epi8(0x0f));
    // The shuffle looks up low nibbles, and gives 0, no class, where a byte's top bit is set: not ASCII.
    let by_column = _mm256_shuffle_epi8(shuffle_table(COLUMNS), bytes);
    _mm256_and_si256(by_column, _mm256_shuffle_epi8(shuffle_table(ROWS), row))
}

/// The entries in both lanes of a vector, for a shuffle to look up.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn shuffle_table(entries: [u8; 16]) -> __m256i {
    let entries = u128::from_le_bytes(entries);
    let (high, low) = (low_64(entries >> 64), low_64(entries));
    _mm256_broadcastsi128_si256(_mm_set_epi64x(high.cast_signed(), low.cast_signed()))
}

/// Which of sixty-four bytes have a bit.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn mask<const BIT: u8>(vectors: [__m256i; 2]) -> u64 {
    let [low, high] = vectors.map(|bytes| {
        let moved = match BIT {
            0x80 => bytes,
            0x40 => _mm256_slli_epi16::<1>(bytes),
            0x20 => _mm256_slli_epi16::<2>(bytes),
            0x10 => _mm256_slli_epi16::<3>(bytes),
            0x08 => _mm256_slli_epi16::<4>(bytes),
            0x04 => _mm256_slli_epi16::<5>(bytes),
            0x02 => _mm256_slli_epi16::<6>(bytes),
            _ => _mm256_slli_epi16::<7>(bytes),
        };
        u64::from(_mm256_movemask_epi8(moved).cast_unsigned())
    });
    low | high << 32
}
