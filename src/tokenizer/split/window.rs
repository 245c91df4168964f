//! The pieces in sixty-four bytes, found all at once where they are ASCII.
//!
//! Each rule of the pattern says whether a piece begins at a byte by the classes of the bytes around
//! it. With a bit for each byte that is a few operations for all of them, and hardly a branch. Code is
//! encoded in half the time that going from piece to piece takes, prose in two thirds.

use super::classes::{self, Classes};
use super::contraction;
use crate::tokenizer::tables::low_64;

/// The bytes that are looked at, and sixteen more, so that sixteen can be read from each of them on.
pub(in crate::tokenizer) type Window = [u8; WINDOW_LEN + 16];

/// How many bytes of a window are looked at.
pub(in crate::tokenizer) const WINDOW_LEN: usize = 64;

/// Where pieces begin in a window, at the beginning of which one does: a bit for each of its
/// sixty-four bytes. The first byte is ASCII.
///
/// It is left out, and so are all places that these bytes do not decide, or that characters other
/// than ASCII might.
#[inline]
pub(super) fn starts(window: &Window) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { starts_by_vectors(window) };
    }
    starts_of(window, &classes::portable::classes(window))
}

/// With classes by vectors encoding 400 bytes of code or prose takes 0.6 of the time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn starts_by_vectors(window: &Window) -> u64 {
    starts_of(window, &classes::vectors::classes(window))
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "else it stays outside of the function with vectors")]
fn starts_of(window: &Window, classes: &Classes) -> u64 {
    let starts = words(classes) | numbers(classes) | punctuation(classes) | spaces(classes);
    without_contractions(starts, window, classes) & decided(classes) & !1
}

/// What stands right behind one of these.
fn behind(these: u64) -> u64 {
    these << 1
}

/// What stands behind those runs of `class` that begin with one of `firsts`.
fn behind_runs(firsts: u64, class: u64) -> u64 {
    // Adding to the first one carries through the run.
    class.wrapping_add(firsts) & !class
}

/// Letters that begin a piece: the first one of a word, unless the character before it belongs to
/// the word, and capitals behind small letters.
fn words(classes: &Classes) -> u64 {
    let letter = classes.letter();
    // What goes to the word behind it: white space, and punctuation that begins a piece. If a letter
    // follows that, it is one character; the last one of several begins none: `!!a` is `!!` and `a`.
    let prefix = classes.indent | punctuation(classes);
    letter & !behind(letter) & !behind(prefix) | classes.capital & behind(classes.small)
}

/// Every third digit.
fn numbers(classes: &Classes) -> u64 {
    let digit = classes.digit;
    let mut starts = digit & !behind(digit);
    let behind_three = digit & digit << 1 & digit << 2 & digit << 3;
    let mut next = starts << 3 & behind_three;
    while next != 0 {
        starts |= next;
        next = next << 3 & behind_three;
    }
    starts
}

/// Punctuation begins a piece, unless a space does so before it.
fn punctuation(classes: &Classes) -> u64 {
    let punctuation = classes.punctuation();
    punctuation & !behind(punctuation | classes.blank)
}

/// White space begins a piece where it begins, unless that is a line break behind punctuation; behind
/// its last line break; and with its last character, which goes to what follows.
fn spaces(classes: &Classes) -> u64 {
    let space = classes.space();
    let first = space & !behind(space) & !classes.first_newline_of_punctuation();
    first | classes.line_indent() | classes.indent & !(space >> 1)
}

/// The places of which the window tells whether a piece begins there.
fn decided(classes: &Classes) -> u64 {
    // A later line break takes in the white space behind an earlier one, `\n  \n`, and slashes behind
    // the line breaks of punctuation belong to it, `!\n/`. The rules above do not know. Both are
    // rare, and the place that may be wrong is then behind the first character of white space.
    let last_line_breaks = behind_runs(classes.line_indent(), classes.indent) & classes.newline;
    let slashes =
        behind_runs(classes.first_newline_of_punctuation(), classes.newline) & classes.slash;
    // Not the first byte: it is ASCII, and the other two have something before them.
    debug_assert!(classes.non_ascii & 1 == 0, "a window begins with ASCII");
    let end = (classes.non_ascii | last_line_breaks | slashes).trailing_zeros();
    let before = u64::MAX >> (64 - end);
    // Of white space that may go on behind the end only its beginning is sure.
    let solid_end = 64 - (!classes.space() & before).leading_zeros();
    if solid_end == end { before } else { u64::MAX >> (63 - solid_end) }
}

/// Contractions belong to the word before them.
fn without_contractions(mut starts: u64, window: &Window, classes: &Classes) -> u64 {
    let mut apostrophes = classes.apostrophe & behind(classes.letter());
    let mut last_end = 0;
    while apostrophes != 0 {
        let at = apostrophes.trailing_zeros() as usize;
        apostrophes &= apostrophes - 1;
        // A contraction has none of its own: `it's't` is `it's` and `'t`.
        if at == last_end {
            continue;
        }
        let end = contraction::end(window, at);
        if end > at {
            let its = u128::MAX >> (128 - (end - at)) << at;
            starts = low_64((u128::from(starts) & !its) | 1 << end);
            last_end = end;
        }
    }
    starts
}
