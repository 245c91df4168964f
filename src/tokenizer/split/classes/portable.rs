//! Classes by eight bytes at a time, on any processor.

use super::Classes;
use crate::tokenizer::split::window::{LEN, Window};

const EACH: u64 = 0x0101_0101_0101_0101;
const TOP: u64 = 0x80 * EACH;
/// What tells small letters from capitals in ASCII.
const CASE: u64 = 0x20 * EACH;

/// The classes of the bytes that are looked at in a window.
pub(in super::super) fn classes(window: &Window) -> Classes {
    let mut all = Classes::default();
    let (blocks, _) = window[..LEN].as_chunks();
    for (block, place) in blocks.iter().zip((0..).step_by(8)) {
        add(&mut all, u64::from_le_bytes(*block), place);
    }
    all
}

/// Adds the classes of eight bytes, the first of which has this place.
fn add(all: &mut Classes, block: u64, place: u32) {
    let low = block & !TOP;
    // The top bit of a byte tells whether it is this one or one behind it; no sum of numbers below
    // 0x80 carries over.
    let from = |first: u8| low + (0x80 - u64::from(first)) * EACH;
    let lower_case = low | CASE;
    let letter = (lower_case + 0x1f * EACH) & !(lower_case + 0x05 * EACH);
    // The case bit, moved to the top.
    let small = letter & block << 2;
    let range = |first: u8, last: u8| from(first) & !from(last + 1);
    let one = |byte: u8| range(byte, byte);
    let newline = one(b'\n') | one(b'\r');
    let blank = one(b' ');

    let ascii = |found: u64| bits(found & !block) << place;
    all.capital |= ascii(letter & !small);
    all.small |= ascii(small);
    all.digit |= ascii(range(b'0', b'9'));
    all.newline |= ascii(newline);
    all.indent |= ascii(range(b'\t', b'\r') & !newline | blank);
    all.blank |= ascii(blank);
    all.apostrophe |= ascii(one(b'\''));
    all.slash |= ascii(one(b'/'));
    all.other |= bits(block) << place;
}

/// The top bits of eight bytes, the first one's lowest.
fn bits(block: u64) -> u64 {
    ((block & TOP) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}
