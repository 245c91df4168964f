//! The pattern where it only meets ASCII.
//!
//! ASCII has no marks and no letters without case. So a word, by either alternative, is capitals
//! and then small letters, at least one of the two; each function below is that of `unicode` with
//! this in mind. Each ends with `None` if the byte that ended its run is not ASCII, since that
//! character could have belonged to the run.

use super::chars::ascii_flags;
use super::classes::portable::letters;
use super::contraction;
use super::flags::{LETTER, NEWLINE, NUMBER, SPACE};
use crate::tokenizer::bits::TOP;

/// The end of the piece that begins at `start`, if only ASCII decides it.
pub(super) fn piece_end(text: &[u8], start: usize) -> Option<usize> {
    let first = text[start];
    if !first.is_ascii() {
        return None;
    }
    let flags = ascii_flags(first);
    if flags & LETTER != 0 {
        return word_end(text, start);
    }
    let second = text.get(start + 1).copied().unwrap_or(b'\n');
    if flags & (NUMBER | NEWLINE) == 0 {
        if second.is_ascii_alphabetic() {
            return word_end(text, start + 1);
        }
        if !second.is_ascii() {
            return None;
        }
    }
    if flags & NUMBER != 0 {
        return number_end(text, start);
    }
    if flags & SPACE == 0 {
        return punctuation_end(text, start);
    }
    if first == b' ' && ascii_flags(second) & (SPACE | NUMBER) == 0 {
        return punctuation_end(text, start + 1);
    }
    white_space_end(text, start)
}

/// Words from their first letter on: capitals, small letters, a contraction.
fn word_end(text: &[u8], start: usize) -> Option<usize> {
    let end = letters_end(text, start);
    match text.get(end) {
        Some(b'\'') => Some(contraction::end(text, end)),
        Some(next) if !next.is_ascii() => None,
        _ => Some(end),
    }
}

/// The end of the letters of one word, `[A-Z]*[a-z]*`.
fn letters_end(text: &[u8], start: usize) -> usize {
    let (mut end, mut small_before) = (start, 0);
    loop {
        let (stops, small) = word_stops(eight_bytes(text, end), small_before);
        if stops != 0 {
            return end + stops.trailing_zeros() as usize / 8;
        }
        small_before = small >> 56;
        end += 8;
    }
}

/// Eight bytes at a time: those that end a word's letters, and those that are small letters.
///
/// A word's letters end where a byte is no letter, or a capital behind a small letter. Each byte of
/// the results tells with its top bit. `small_before` tells it of the byte before the block, in
/// its lowest byte.
#[inline]
fn word_stops(block: u64, small_before: u64) -> (u64, u64) {
    let (letter, small) = letters(block);
    let capital_behind_small = letter & !small & (small << 8 | small_before);
    (letter ^ TOP | capital_behind_small, small)
}

/// Eight bytes from `at` on, zeros behind the end of the text.
fn eight_bytes(text: &[u8], at: usize) -> u64 {
    match text.get(at..at + 8).and_then(<[u8]>::first_chunk) {
        Some(block) => u64::from_le_bytes(*block),
        None => text.iter().skip(at).rev().fold(0, |block, &byte| block << 8 | u64::from(byte)),
    }
}

/// Numbers: three digits at most.
fn number_end(text: &[u8], start: usize) -> Option<usize> {
    let mut end = start + 1;
    while end < start + 3 {
        match text.get(end) {
            Some(next) if next.is_ascii_digit() => end += 1,
            Some(next) if !next.is_ascii() => return None,
            _ => break,
        }
    }
    Some(end)
}

/// Punctuation from behind the space on.
fn punctuation_end(text: &[u8], start: usize) -> Option<usize> {
    let mut end = start + 1;
    while let Some(&next) = text.get(end) {
        if !next.is_ascii() {
            return None;
        }
        if ascii_flags(next) & (SPACE | LETTER | NUMBER) != 0 {
            break;
        }
        end += 1;
    }
    while matches!(text.get(end), Some(b'\r' | b'\n' | b'/')) {
        end += 1;
    }
    Some(end)
}

/// White space: up to its last line break if it has one, else all but the last character.
fn white_space_end(text: &[u8], start: usize) -> Option<usize> {
    // Indentation is long: eight spaces at a time.
    let mut end = start;
    while eight_bytes(text, end) == u64::from_le_bytes([b' '; 8]) {
        end += 8;
    }
    let mut after_line_break = None;
    while let Some(&next) = text.get(end) {
        if !next.is_ascii() {
            return None;
        }
        let flags = ascii_flags(next);
        if flags & SPACE == 0 {
            break;
        }
        end += 1;
        if flags & NEWLINE != 0 {
            after_line_break = Some(end);
        }
    }
    if after_line_break.is_some() {
        return after_line_break;
    }
    let alone = end == start + 1 || end == text.len();
    Some(if alone { end } else { end - 1 })
}
