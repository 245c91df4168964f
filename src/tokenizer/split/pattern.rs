//! The pattern over all of Unicode, one function per alternative.
//!
//! Regular expressions go back and try again where a choice led nowhere. Each function says how
//! it gets to the same result without that.

use super::chars::Char;
use super::contraction;
use super::flags::{LETTER, LOWER, NEWLINE, NUMBER, SPACE, UPPER};

/// The end of the piece that begins at `start`, where there is a character.
pub(super) fn piece_end(text: &[u8], start: usize) -> usize {
    let Some(first) = Char::at(text, start) else { return start };
    word(text, start, first)
        .or_else(|| number(text, start))
        .or_else(|| punctuation(text, start))
        .or_else(|| lines(text, start))
        .unwrap_or_else(|| spaces(text, start))
}

/// Both alternatives for words: an optional character that is neither letter, number nor line
/// break, then letters and marks, then an optional contraction.
///
/// The pattern tries in this order: small word behind the optional character, small word without
/// it, capital word behind it, capital word without it.
fn word(text: &[u8], start: usize, first: Char) -> Option<usize> {
    let end = if first.is(LETTER) {
        small_word(text, start).or_else(|| capital_word(text, start))
    } else if first.is(NUMBER | NEWLINE) {
        None
    } else {
        let behind = start + first.len;
        let small = small_word(text, behind);
        if first.is(LOWER) {
            // A mark is the optional character if that leads to a small word. If not it is the
            // word's first letter, and then a small word is sure, the mark alone if need be.
            small.or_else(|| small_word(text, start))
        } else {
            small.or_else(|| capital_word(text, behind))
        }
    }?;
    Some(contraction::end(text, end))
}

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`
///
/// The first part takes all it can. If a small letter follows, the second part takes on from there.
/// If not, the first part has to give back characters until the second can take one, which is
/// at the last letter without case, or mark, that it took; what it gave back behind that are
/// capitals, which the second part cannot take.
fn small_word(text: &[u8], start: usize) -> Option<usize> {
    let mut end = start;
    let mut last_without_case = None;
    while let Some(char) = Char::at(text, end).filter(|char| char.is(UPPER)) {
        end += char.len;
        if char.is(LOWER) {
            last_without_case = Some(end);
        }
    }
    let small_end = run_end(text, end, LOWER);
    if small_end > end { Some(small_end) } else { last_without_case }
}

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`, where there is no small word
///
/// Then no small letter follows the first part: the second part stays empty.
fn capital_word(text: &[u8], start: usize) -> Option<usize> {
    Some(run_end(text, start, UPPER)).filter(|&end| end > start)
}

/// `\p{N}{1,3}`
fn number(text: &[u8], start: usize) -> Option<usize> {
    let mut end = start;
    for _ in 0..3 {
        match Char::at(text, end) {
            Some(char) if char.is(NUMBER) => end += char.len,
            _ => break,
        }
    }
    (end > start).then_some(end)
}

/// ` ?[^\s\p{L}\p{N}]+[\r\n/]*`
///
/// The space is not in the class that follows, so giving it back never helps; nor does giving
/// back anything else, since the last part may be empty.
fn punctuation(text: &[u8], start: usize) -> Option<usize> {
    let after_space = start + usize::from(text[start] == b' ');
    let mut end = after_space;
    while let Some(char) = Char::at(text, end).filter(|char| !char.is(SPACE | LETTER | NUMBER)) {
        end += char.len;
    }
    if end == after_space {
        return None;
    }
    while matches!(text.get(end), Some(b'\r' | b'\n' | b'/')) {
        end += 1;
    }
    Some(end)
}

/// `\s*[\r\n]+`
///
/// The first part takes all white space, then gives back until the second can take one: the last
/// line break.
fn lines(text: &[u8], start: usize) -> Option<usize> {
    let end = run_end(text, start, SPACE);
    let last = text[start..end].iter().rposition(|byte| matches!(byte, b'\r' | b'\n'))?;
    Some(start + last + 1)
}

/// `\s+(?!\S)`, then `\s+`, where there is no line break in the white space
///
/// The look-ahead wants the end of the text or more white space behind the piece. So white space
/// gives back its last character to what follows it, unless it ends the text or has but one.
fn spaces(text: &[u8], start: usize) -> usize {
    let end = run_end(text, start, SPACE);
    if end == text.len() {
        return end;
    }
    let last = text[start..end].iter().rposition(|byte| byte & 0xc0 != 0x80).unwrap_or_default();
    if last == 0 { end } else { start + last }
}

/// The end of the characters from `start` on that are in one of the classes.
fn run_end(text: &[u8], start: usize, flags: u8) -> usize {
    let mut end = start;
    while let Some(char) = Char::at(text, end).filter(|char| char.is(flags)) {
        end += char.len;
    }
    end
}
