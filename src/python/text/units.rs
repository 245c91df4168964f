//! Python's characters, in one, two or four bytes each, to UTF-8.

use std::hint::select_unpredictable;

#[cfg(target_arch = "x86_64")]
use super::vectors;

/// The text of characters, with surrogates as [`utf8`](super::utf8) has them.
pub(super) fn joined<T: Copy + Into<u32>>(units: &[T]) -> String {
    whole(units).unwrap_or_else(|| mended(units))
}

/// Characters that are made UTF-8 together: in other languages' code and prose most stretches of
/// this length are ASCII.
const BLOCK: usize = 32;

/// Bytes of a block's text, and so many as writing it may spoil behind.
const ROOM: usize = 4 * BLOCK + 16;

/// The text of characters; `None` if there is a surrogate among them.
fn whole<T: Copy + Into<u32>>(units: &[T]) -> Option<String> {
    let mut out = Vec::with_capacity(units.len() + units.len() / 4);
    let mut text = [0; ROOM];
    for block in units.chunks(BLOCK) {
        if block.iter().fold(0, |all, &unit| all | unit.into()) < 0x80 {
            out.extend(block.iter().map(|&unit| unit.into().to_le_bytes()[0]));
            continue;
        }
        let len = write(block, &mut text)?;
        out.extend_from_slice(&text[..len]);
    }
    // SAFETY: these are the bytes of whole characters as `encoded` gives them, none of them a
    // surrogate, and none above U+10FFFF, as Python has no such characters. Having them checked
    // takes a third of the time of making them.
    Some(unsafe { String::from_utf8_unchecked(out) })
}

/// Writes a block's text and returns its length; `None` if there is a surrogate in it.
fn write<T: Copy + Into<u32>>(block: &[T], text: &mut [u8; ROOM]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("ssse3") {
        // SAFETY: the processor has what the function needs.
        return unsafe { vectors::write(block, text) };
    }
    write_each(block, text, 0)
}

/// Writes characters one by one, from `len` on, and returns where they end; `None` if there is a
/// surrogate among them.
///
/// No branch depends on the characters: text that is not ASCII alternates between it and something
/// else, nobody can foresee where.
#[inline]
pub(super) fn write_each<T: Copy + Into<u32>>(
    units: &[T],
    text: &mut [u8],
    mut len: usize,
) -> Option<usize> {
    let mut has_surrogate = false;
    for &unit in units {
        let (bytes, count) = encoded(unit.into());
        text[len..len + 4].copy_from_slice(&bytes.to_le_bytes());
        len += count;
        has_surrogate |= (0xd800..0xe000).contains(&unit.into());
    }
    (!has_surrogate).then_some(len)
}

/// The UTF-8 of a character, the first byte lowest, and how many bytes it has.
#[inline]
fn encoded(char: u32) -> (u32, usize) {
    let tail = |shift: u32| 0x80 | (char >> shift & 0x3f);
    let two = 0xc0 | char >> 6 | tail(0) << 8;
    let three = 0xe0 | char >> 12 | tail(6) << 8 | tail(0) << 16;
    let four = 0xf0 | char >> 18 | tail(12) << 8 | tail(6) << 16 | tail(0) << 24;
    let bytes = select_unpredictable(char < 0x1_0000, three, four);
    let bytes = select_unpredictable(char < 0x800, two, bytes);
    let bytes = select_unpredictable(char < 0x80, char, bytes);
    let more = u8::from(char >= 0x80) + u8::from(char >= 0x800) + u8::from(char >= 0x1_0000);
    (bytes, 1 + usize::from(more))
}

/// The text of characters of which some are surrogates.
#[cold]
fn mended<T: Copy + Into<u32>>(units: &[T]) -> String {
    let mut units = units.iter().map(|&unit| unit.into()).peekable();
    let mut text = String::new();
    while let Some(unit) = units.next() {
        let low = |next: &u32| (0xd800..0xdc00).contains(&unit) && (0xdc00..0xe000).contains(next);
        let code_point = match units.next_if(low) {
            Some(low) => 0x1_0000 + ((unit & 0x3ff) << 10 | low & 0x3ff),
            None => unit,
        };
        text.push(char::from_u32(code_point).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    text
}
