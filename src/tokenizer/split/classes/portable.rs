//! Classes by eight bytes at a time, on any processor.

use super::Classes;
use crate::tokenizer::bits::{self, TOP};
use crate::tokenizer::split::window::{SCANNED_LEN, Window};

const EACH: u64 = 0x0101_0101_0101_0101;
/// The bit by which lowercase letters differ from uppercase ones in ASCII.
const CASE: u64 = 0x20 * EACH;

/// Of eight bytes, those that are letters of ASCII, and of these the lowercase ones, by their top bits.
#[inline]
fn letters(block: u64) -> (u64, u64) {
    let lower_case = (block | CASE) & !TOP;
    // 0x1f lifts a to 0x80, 0x05 what is above z; no sum of numbers below 0x80 carries over.
    let from_a = lower_case + 0x1f * EACH;
    let above_z = lower_case + 0x05 * EACH;
    let letter = from_a & !above_z & !block & TOP;
    // The case bit, moved to the top.
    (letter, letter & block << 2)
}

/// The classes of the bytes of a window that are scanned.
pub(in super::super) fn classes(window: &Window) -> Classes {
    let mut all = Classes::default();
    let (blocks, _) = window[..SCANNED_LEN].as_chunks();
    for (block, first) in blocks.iter().zip((0..).step_by(8)) {
        add(&mut all, u64::from_le_bytes(*block), first);
    }
    all
}

/// The bytes of characters after the first, among those of a window that are scanned.
pub(in super::super) fn continuation(window: &Window) -> u64 {
    let bytes = window.first_chunk();
    bytes.map_or(0, |bytes| bits::of_bytes(bytes, |block| block & !(block << 1)))
}

/// Adds the classes of eight bytes, the first of which has the bit `first`.
fn add(all: &mut Classes, block: u64, first: u32) {
    let low = block & !TOP;
    // The top bit of a byte shows whether it is this one or one above it; no sum of numbers below
    // 0x80 carries over.
    let from = |byte: u8| low + (0x80 - u64::from(byte)) * EACH;
    let (letter, lowercase) = letters(block);
    let range = |low: u8, high: u8| from(low) & !from(high + 1);
    let one = |byte: u8| range(byte, byte);
    let newline = one(b'\n') | one(b'\r');
    let space = one(b' ');

    let ascii = |found: u64| bits::of_eight(found & !block) << first;
    all.uppercase |= ascii(letter & !lowercase);
    all.lowercase |= ascii(lowercase);
    all.digit |= ascii(range(b'0', b'9'));
    all.newline |= ascii(newline);
    all.inline_space |= ascii(range(b'\t', b'\r') & !newline | space);
    all.space |= ascii(space);
    all.apostrophe |= ascii(one(b'\''));
    all.slash |= ascii(one(b'/'));
    all.non_ascii |= bits::of_eight(block) << first;
}
