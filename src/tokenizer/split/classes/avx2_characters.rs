//! Characters other than those of ASCII, thirty-two bytes at a time: of the letters of Latin, Greek,
//! Cyrillic, Hebrew and Arabic those that are used most, nearly all of Han, Hangul syllables and kana;
//! and the punctuation that comes with the latter.
//!
//! Classes are found by ranges: for each first byte there is a range of second bytes whose characters are all of one
//! class. A range is looked up by the low nibble of the first byte, its *column*, since a shuffle looks up nibbles.

use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_andnot_si256, _mm256_cmpeq_epi8, _mm256_max_epu8,
    _mm256_min_epu8, _mm256_or_si256, _mm256_set1_epi8, _mm256_shuffle_epi8,
};

use super::avx2::{loaded, mask, shuffle_table};
use super::{Recognised, without_first};
use crate::tokenizer::split::window::Window;

/// For each column the first and the last byte of its range.
type Ranges = ([u8; 16], [u8; 16]);

/// Ranges from their columns, first and last bytes. The range of other columns is the zero byte, which
/// follows no byte that begins a character.
const fn ranges<const N: usize>(entries: [(usize, u8, u8); N]) -> Ranges {
    let (mut firsts, mut lasts) = ([0; 16], [0; 16]);
    let mut at = 0;
    while at < N {
        let (column, first, last) = entries[at];
        (firsts[column], lasts[column]) = (first, last);
        at += 1;
    }
    (firsts, lasts)
}

/// The first bytes of the recognised two-byte letters, no two in one column.
const FIRST_OF_TWO: [u8; 16] =
    [0xd0, 0xd1, 0, 0xc3, 0, 0, 0, 0xd7, 0xd8, 0xd9, 0, 0, 0, 0, 0xce, 0xcf];
/// Their second bytes.
const UPPERCASE: Ranges = ranges([
    (0x0, 0x80, 0xaf), // Ѐ to Я
    (0x3, 0x80, 0x9e), // À to Þ, but for ×
    (0xe, 0x91, 0xa1), // Α to Ρ
]);
const LOWERCASE: Ranges = ranges([
    (0x0, 0xb0, 0xbf), // а to п
    (0x1, 0x80, 0x9f), // р to џ
    (0x3, 0x9f, 0xbf), // ß to ÿ, but for ÷
    (0xe, 0xac, 0xbf), // ά to ο
    (0xf, 0x80, 0x8e), // π to ώ
]);
const CASELESS_OF_TWO: Ranges = ranges([
    (0x7, 0x90, 0xaa), // Hebrew
    (0x8, 0xa0, 0xbf), // Arabic
    (0x9, 0x81, 0x8a),
]);
/// × and ÷ are where the letters with an accent are, their second bytes apart by one bit.
const TIMES: u8 = 0x97;
const DIVIDED_BY: u8 = 0xb7;

/// The second bytes of letters of three bytes, whose first byte has the high nibble of 0xe0. The third byte
/// does not matter.
const CASELESS_OF_THREE: Ranges = ranges([
    (0x3, 0x90, 0xbf), // Han
    (0x4, 0xb8, 0xbf),
    (0x5, 0x80, 0xbf),
    (0x6, 0x80, 0xbf),
    (0x7, 0x80, 0xbf),
    (0x8, 0x80, 0xbf),
    (0x9, 0x80, 0xbf),
    (0xa, 0xb0, 0xbf), // Hangul
    (0xb, 0x80, 0xbf),
    (0xc, 0x80, 0xbf),
    (0xd, 0x80, 0x9d),
]);

/// The first byte of kana, and the range of their second one.
const KANA: u8 = 0xe3;
const SECOND_OF_KANA: (u8, u8) = (0x81, 0x83);
/// Here the column is that of the second byte: the third bytes of what may not be a letter among kana.
const NO_KANA: Ranges = ranges([(0x1, 0x80, 0x80), (0x2, 0x97, 0xa0), (0x3, 0xbb, 0xbb)]);

/// The first two bytes of quotation marks, dashes and dots, and the range of the third one.
const QUOTE: [u8; 2] = [0xe2, 0x80];
const THIRD_OF_QUOTE: (u8, u8) = (0x90, 0xa7);
/// The first two bytes of the stops and brackets of Chinese and Japanese, U+3001 to U+301F, the range of
/// the third one, and what is a letter or a number there.
const STOP: [u8; 2] = [0xe3, 0x80];
const THIRD_OF_STOP: (u8, u8) = (0x81, 0x9f);
const NO_STOP: (u8, u8) = (0x85, 0x87);
/// The same of the wide forms of ASCII's first signs, U+FF01 to U+FF0F.
const WIDE: [u8; 2] = [0xef, 0xbc];
const THIRD_OF_WIDE: (u8, u8) = (0x81, 0x8f);

/// The recognised characters of a window. `firsts` are the first bytes of all characters other than ASCII. Characters
/// that are not in the result may be of any class.
///
/// No mark is recognised as a letter: the ranges have none.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn recognised(window: &Window, firsts: u64) -> Recognised {
    let [first, second] = [Loaded::at(window, 0), Loaded::at(window, 1)];
    let long = mask::<0x20>([first.low, first.high]);
    let mut recognised = Recognised::default();
    if are_many(firsts & !long) {
        recognised = letters_of_two(&first, &second);
    }
    if are_many(firsts & long) {
        let third = Loaded::at(window, 2);
        let low = letter_of_three(first.low, second.low, third.low);
        let high = letter_of_three(first.high, second.high, third.high);
        let letters = mask::<0x80>([low, high]);
        recognised.caseless |= letters | letters << 1 | letters << 2;
        let low = begins_punctuation(first.low, second.low, third.low);
        let high = begins_punctuation(first.high, second.high, third.high);
        recognised.punctuation = mask::<0x80>([low, high]);
    }
    recognised
}

/// Whether looking these characters up one by one takes longer than
/// asking all bytes for all classes.
fn are_many(firsts: u64) -> bool {
    without_first(firsts, 4) != 0
}

/// Sixty-four bytes of a window from some offset on.
struct Loaded {
    low: __m256i,
    high: __m256i,
}

impl Loaded {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn at(window: &Window, offset: usize) -> Self {
        let (vectors, _) = window[offset..].as_chunks();
        Self { low: loaded(&vectors[0]), high: loaded(&vectors[1]) }
    }
}

/// For each of thirty-two bytes, what decides the class of the letter of two bytes that may begin with it.
#[derive(Clone, Copy)]
struct LetterOfTwo {
    /// Whether it begins such a letter, if the second byte is in range.
    begins: __m256i,
    column: __m256i,
    second: __m256i,
}

impl LetterOfTwo {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of(first: __m256i, second: __m256i) -> Self {
        Self { begins: begins_letter_of_two(first, second), column: column(first), second }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn letters_of_two(first: &Loaded, second: &Loaded) -> Recognised {
    let low = LetterOfTwo::of(first.low, second.low);
    let high = LetterOfTwo::of(first.high, second.high);
    Recognised {
        uppercase: in_ranges_of_two(UPPERCASE, low, high),
        lowercase: in_ranges_of_two(LOWERCASE, low, high),
        caseless: in_ranges_of_two(CASELESS_OF_TWO, low, high),
        punctuation: 0,
    }
}

/// The bytes of those letters whose second byte is in the range of its column.
#[inline]
#[target_feature(enable = "avx2")]
fn in_ranges_of_two(ranges: Ranges, low: LetterOfTwo, high: LetterOfTwo) -> u64 {
    let low = _mm256_and_si256(low.begins, in_range(low.second, ranges, low.column));
    let high = _mm256_and_si256(high.begins, in_range(high.second, ranges, high.column));
    let firsts = mask::<0x80>([low, high]);
    firsts | firsts << 1
}

/// Which bytes begin a letter of three bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn letter_of_three(first: __m256i, second: __m256i, third: __m256i) -> __m256i {
    _mm256_or_si256(begins_han_or_hangul(first, second), begins_kana(first, second, third))
}

/// Which bytes may begin a letter of two bytes, if the second one is in range.
#[inline]
#[target_feature(enable = "avx2")]
fn begins_letter_of_two(first: __m256i, second: __m256i) -> __m256i {
    let looked_for = _mm256_shuffle_epi8(shuffle_table(FIRST_OF_TWO), column(first));
    let times_or_divided_by = _mm256_and_si256(
        _mm256_cmpeq_epi8(first, splat(0xc3)),
        _mm256_cmpeq_epi8(_mm256_or_si256(second, splat(TIMES ^ DIVIDED_BY)), splat(DIVIDED_BY)),
    );
    _mm256_andnot_si256(times_or_divided_by, _mm256_cmpeq_epi8(first, looked_for))
}

#[inline]
#[target_feature(enable = "avx2")]
fn begins_han_or_hangul(first: __m256i, second: __m256i) -> __m256i {
    let of_three = _mm256_cmpeq_epi8(_mm256_and_si256(first, splat(0xf0)), splat(0xe0));
    _mm256_and_si256(of_three, in_range(second, CASELESS_OF_THREE, column(first)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn begins_kana(first: __m256i, second: __m256i, third: __m256i) -> __m256i {
    let kana =
        _mm256_and_si256(_mm256_cmpeq_epi8(first, splat(KANA)), between(second, SECOND_OF_KANA));
    _mm256_andnot_si256(in_range(third, NO_KANA, column(second)), kana)
}

#[inline]
#[target_feature(enable = "avx2")]
fn begins_punctuation(first: __m256i, second: __m256i, third: __m256i) -> __m256i {
    let stop = _mm256_andnot_si256(between(third, NO_STOP), between(third, THIRD_OF_STOP));
    let stop = _mm256_and_si256(stop, begins_with(STOP, first, second));
    let quote = between(third, THIRD_OF_QUOTE);
    let quote = _mm256_and_si256(quote, begins_with(QUOTE, first, second));
    let wide = between(third, THIRD_OF_WIDE);
    let wide = _mm256_and_si256(wide, begins_with(WIDE, first, second));
    _mm256_or_si256(stop, _mm256_or_si256(quote, wide))
}

/// Which bytes are the first of these two.
#[inline]
#[target_feature(enable = "avx2")]
fn begins_with([one, two]: [u8; 2], first: __m256i, second: __m256i) -> __m256i {
    let first = _mm256_cmpeq_epi8(first, splat(one));
    _mm256_and_si256(first, _mm256_cmpeq_epi8(second, splat(two)))
}

/// The columns of bytes: their low nibbles.
#[inline]
#[target_feature(enable = "avx2")]
fn column(bytes: __m256i) -> __m256i {
    _mm256_and_si256(bytes, splat(0x0f))
}

/// Which bytes are in the range of this column.
#[inline]
#[target_feature(enable = "avx2")]
fn in_range(bytes: __m256i, (firsts, lasts): Ranges, column: __m256i) -> __m256i {
    let first = _mm256_shuffle_epi8(shuffle_table(firsts), column);
    let last = _mm256_shuffle_epi8(shuffle_table(lasts), column);
    from_to(bytes, first, last)
}

/// Which bytes are in one range.
#[inline]
#[target_feature(enable = "avx2")]
fn between(bytes: __m256i, (first, last): (u8, u8)) -> __m256i {
    from_to(bytes, splat(first), splat(last))
}

/// Which bytes are within `first..=last`, bytewise.
#[inline]
#[target_feature(enable = "avx2")]
fn from_to(bytes: __m256i, first: __m256i, last: __m256i) -> __m256i {
    let not_below = _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, first), bytes);
    let not_above = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, last), bytes);
    _mm256_and_si256(not_below, not_above)
}

#[inline]
#[target_feature(enable = "avx2")]
fn splat(byte: u8) -> __m256i {
    _mm256_set1_epi8(byte.cast_signed())
}
