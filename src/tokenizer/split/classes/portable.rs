//! Classes by eight bytes at a time, on any processor.

use super::Classes;
use crate::tokenizer::bits::{self, TOP};
use crate::tokenizer::split::window::{WINDOW_LEN, Window};

const EACH: u64 = 0x0101_0101_0101_0101;
/// What tells small letters from capitals in ASCII.
const CASE: u64 = 0x20 * EACH;

/// Of eight bytes, those that are letters of ASCII, and of these the small ones, by their top bits.
#[inline]
fn letters(block: u64) -> (u64, u64) {
    let lower_case = (block | CASE) & !TOP;
    // 0x1f lifts a to 0x80, 0x05 what is behind z; no sum of numbers below 0x80 carries over.
    let from_a = lower_case + 0x1f * EACH;
    let behind_z = lower_case + 0x05 * EACH;
    let letter = from_a & !behind_z & !block & TOP;
    // The case bit, moved to the top.
    (letter, letter & block << 2)
}

/// The classes of the bytes that are looked at in a window.
pub(in super::super) fn classes(window: &Window) -> Classes {
    let mut all = Classes::default();
    let (blocks, _) = window[..WINDOW_LEN].as_chunks();
    for (block, place) in blocks.iter().zip((0..).step_by(8)) {
        add(&mut all, u64::from_le_bytes(*block), place);
    }
    all
}

/// The bytes of characters behind the first, among those that are looked at in a window.
pub(in super::super) fn continuation(window: &Window) -> u64 {
    let bytes = window.first_chunk();
    bytes.map_or(0, |bytes| bits::of_bytes(bytes, |block| block & !(block << 1)))
}

/// Adds the classes of eight bytes, the first of which has this place.
fn add(all: &mut Classes, block: u64, place: u32) {
    let low = block & !TOP;
    // The top bit of a byte tells whether it is this one or one behind it; no sum of numbers below
    // 0x80 carries over.
    let from = |first: u8| low + (0x80 - u64::from(first)) * EACH;
    let (letter, small) = letters(block);
    let range = |first: u8, last: u8| from(first) & !from(last + 1);
    let one = |byte: u8| range(byte, byte);
    let newline = one(b'\n') | one(b'\r');
    let blank = one(b' ');

    let ascii = |found: u64| bits::of_eight(found & !block) << place;
    all.capital |= ascii(letter & !small);
    all.small |= ascii(small);
    all.digit |= ascii(range(b'0', b'9'));
    all.newline |= ascii(newline);
    all.indent |= ascii(range(b'\t', b'\r') & !newline | blank);
    all.blank |= ascii(blank);
    all.apostrophe |= ascii(one(b'\''));
    all.slash |= ascii(one(b'/'));
    all.non_ascii |= bits::of_eight(block) << place;
}
