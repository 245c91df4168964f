//! The pattern over all of Unicode: five functions for its seven alternatives.
//!
//! A regular expression backtracks where a choice leads nowhere. Each function explains how it gets to the same
//! result without backtracking.

use super::chars::Char;
use super::contraction;
use super::flags::{LETTER, NEWLINE, NUMBER, WHITE_SPACE, WORD_HEAD, WORD_TAIL};

/// The end of the piece that begins at `start`, where there is a character.
pub(super) fn piece_end(text: &[u8], start: usize) -> usize {
    let Some(first) = Char::at(text, start) else { return start };
    word(text, start, first)
        .or_else(|| number(text, start))
        .or_else(|| punctuation(text, start))
        .or_else(|| lines(text, start))
        .unwrap_or_else(|| spaces(text, start))
}

/// Both alternatives for words: an optional character that is neither letter, number nor
/// newline, then letters and marks, then an optional contraction.
///
/// The pattern tries in this order: lowercase word after the optional character, lowercase word without
/// it, uppercase word after it, uppercase word without it.
fn word(text: &[u8], start: usize, first: Char) -> Option<usize> {
    let end = if first.is(LETTER) {
        lowercase_word(text, start).or_else(|| uppercase_word(text, start))
    } else if first.is(NUMBER | NEWLINE) {
        None
    } else {
        let after = start + first.len;
        let lowercase = lowercase_word(text, after);
        if first.is(WORD_TAIL) {
            // A mark is the optional character if that leads to a lowercase word. If not, it begins the word itself,
            // which is then certainly a lowercase word, if only of the mark.
            lowercase.or_else(|| lowercase_word(text, start))
        } else {
            lowercase.or_else(|| uppercase_word(text, after))
        }
    }?;
    Some(contraction::end(text, end))
}

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`
///
/// The first part takes all it can. If a lowercase letter follows, the second part continues from there. If not, the
/// first part has to give back characters until the second can take one: the last caseless letter or mark that the
/// first part took. The characters given back after it are uppercase letters, which the second part cannot take.
fn lowercase_word(text: &[u8], start: usize) -> Option<usize> {
    let mut end = start;
    let mut last_without_case = None;
    while let Some(char) = Char::at(text, end).filter(|char| char.is(WORD_HEAD)) {
        end += char.len;
        if char.is(WORD_TAIL) {
            last_without_case = Some(end);
        }
    }
    let tail_end = run_end(text, end, WORD_TAIL);
    if tail_end > end { Some(tail_end) } else { last_without_case }
}

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`, where there is no lowercase word
///
/// Then no lowercase letter follows the first part: the second part stays empty.
fn uppercase_word(text: &[u8], start: usize) -> Option<usize> {
    Some(run_end(text, start, WORD_HEAD)).filter(|&end| end > start)
}

/// `\p{N}{1,3}`
///
/// Nothing follows in this alternative that could ask for a character back.
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
    while let Some(char) =
        Char::at(text, end).filter(|char| !char.is(WHITE_SPACE | LETTER | NUMBER))
    {
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
/// newline.
fn lines(text: &[u8], start: usize) -> Option<usize> {
    let end = run_end(text, start, WHITE_SPACE);
    let last = text[start..end].iter().rposition(|byte| matches!(byte, b'\r' | b'\n'))?;
    Some(start + last + 1)
}

/// `\s+(?!\S)`, then `\s+`, where there is no newline in the white space
///
/// The look-ahead asks for the end of the text or more white space after the piece. So white space gives its last
/// character back to the next piece, unless it ends the text or has only one character.
fn spaces(text: &[u8], start: usize) -> usize {
    let end = run_end(text, start, WHITE_SPACE);
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
