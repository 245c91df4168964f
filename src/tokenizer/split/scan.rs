//! The piece starts in sixty-four bytes, found all at once.
//!
//! Each rule of the pattern decides whether a piece starts at a byte by the classes of the bytes around it. With a bit
//! for each byte, this takes a few operations for all of them, and hardly a branch.
//!
//! Why the result is right: a window begins with a piece, so nothing before it matters. A rule looks at the
//! bytes before the one that it decides, and at one after it at most; a contraction's letters are read past
//! the sixty-four bytes if need be. Two functions know where that is not enough: `uppercase_after_caseless` and
//! `decided`. What they cannot decide is undecided, and only bits before the first undecided byte are returned.

use super::classes::{Classes, Recognised, portable};
#[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
use super::classes::{avx2, avx2_characters};
use super::contraction;
use super::window::Window;
use crate::tokenizer::bits;

/// Where pieces start in a window that begins with a piece, and of which `len` bytes are text: a bit for each of the
/// sixty-four bytes. The first byte is left out, and so are all undecided ones.
#[inline]
pub(super) fn piece_starts(window: &Window, len: usize) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
    // The standard library caches the answer: this is a load and a branch.
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { piece_starts_by_avx2(window, len) };
    }
    piece_starts_portably(window, len)
}

/// The same on any processor.
pub(super) fn piece_starts_portably(window: &Window, len: usize) -> u64 {
    let classes = portable::classes(window);
    if classes.non_ascii == 0 {
        return starts_in_ascii(window, len, &classes);
    }
    let continuation = portable::continuation(window);
    starts_in_unicode(window, len, Classes { continuation, ..classes }, &Recognised::default())
}

/// The classes by AVX2: 400 bytes of code or prose take 0.6 of the time.
#[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
#[target_feature(enable = "avx2")]
fn piece_starts_by_avx2(window: &Window, len: usize) -> u64 {
    let classes = avx2::classes(window);
    if classes.non_ascii == 0 {
        return starts_in_ascii(window, len, &classes);
    }
    let classes = Classes { continuation: avx2::continuation(window), ..classes };
    let recognised = avx2_characters::recognised(window, classes.first_bytes());
    starts_in_unicode(window, len, classes, &recognised)
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "else it stays outside of the function with vectors")]
fn starts_in_ascii(window: &Window, len: usize, classes: &Classes) -> u64 {
    // The compiler removes the work for other characters, a tenth of all.
    let classes = Classes { caseless: 0, continuation: 0, undecided: past_text(len), ..*classes };
    starts(window, &classes) & decided(&classes) & !1
}

#[inline(never)]
fn starts_in_unicode(
    window: &Window,
    len: usize,
    mut classes: Classes,
    recognised: &Recognised,
) -> u64 {
    classes.undecided = past_text(len);
    classes.add_characters(window, recognised);
    if classes.undecided & 1 != 0 {
        return 0;
    }
    let (uppercase, undecided) = uppercase_after_caseless(&classes, len);
    classes.undecided |= undecided;
    (starts(window, &classes) | uppercase) & decided(&classes) & !1
}

/// The bytes of a window past the end of the text.
fn past_text(len: usize) -> u64 {
    u64::MAX.unbounded_shl(u32::try_from(len).unwrap_or(u32::MAX))
}

/// Where pieces start by the rules, including the first byte and undecided ones.
#[inline(always)]
#[expect(clippy::inline_always, reason = "else it stays outside of the function with vectors")]
fn starts(window: &Window, classes: &Classes) -> u64 {
    let starts = words(classes) | numbers(classes) | punctuation(classes) | spaces(classes);
    without_contractions(starts, window, classes)
}

/// The bytes right after these.
fn after(these: u64) -> u64 {
    these << 1
}

/// The bytes right after the characters that begin with these.
fn after_chars(firsts: u64, classes: &Classes) -> u64 {
    let seconds = after(firsts);
    seconds & !classes.continuation
        | after_runs(seconds & classes.continuation, classes.continuation)
}

/// The bytes right after those runs of `class` that begin with one of `firsts`.
fn after_runs(firsts: u64, class: u64) -> u64 {
    // Adding to the first one carries through the run.
    class.wrapping_add(firsts) & !class
}

/// Letters that begin a piece: the first of a run of letters, unless the character before it belongs to
/// the word, and uppercase after lowercase.
fn words(classes: &Classes) -> u64 {
    let letter = classes.letter();
    // A word takes in one character before its letters: white space but newlines, or punctuation that
    // begins a piece. If such a character directly precedes a letter, its run has length one: in `!!a` the
    // second `!` begins nothing, so `a` does.
    let after_prefix = after(classes.inline_space) | after_chars(punctuation(classes), classes);
    letter & !after(letter) & !after_prefix | classes.uppercase & after(classes.lowercase)
}

/// Uppercase letters after caseless ones: which begin a piece, and which are undecided.
///
/// A word is `[uppercase caseless]*[lowercase caseless]+`, or `[uppercase caseless]+` if that does not match.
/// So such a letter begins a piece in two cases: a lowercase letter precedes the caseless ones, as in
/// `a中B`; or no letter follows the uppercase ones, and then the word ends before them, as in `aA中B`:
///
/// ```text
/// bytes             a A 中     B !
/// uppercase         0 1 0 0 0 1 0
/// caseless          0 0 1 1 1 0 0
/// at_bit            0 0 0 0 0 1 0
/// after_uppercase   0 0 0 0 0 0 1    not a letter, so `B` begins a piece: `a`, `A中`, `B`, `!`
/// char_before_run   0 1 0 0 0 0 0    not lowercase; so in `aA中Bc` it does not: `a`, `A中Bc`
/// ```
fn uppercase_after_caseless(classes: &Classes, len: usize) -> (u64, u64) {
    let (mut starts, mut undecided) = (0, 0);
    for at in bits::set_bits(classes.uppercase & after(classes.caseless)) {
        let at_bit = 1 << at;
        // 0 if the uppercase letters reach the end of the window.
        let after_uppercase = after_runs(at_bit, classes.uppercase);
        // The bytes before `at` are moved to the top, to count those that are caseless.
        let run_len = (classes.caseless << (64 - at)).leading_ones() as usize;
        let char_before_run = (at - run_len).checked_sub(1).map_or(0, |index| 1 << index);
        // Past the text there is no letter. A contraction ends a word, and a lowercase letter before it
        // belongs to another one.
        let unknown = after_uppercase & classes.undecided & !past_text(len) != 0
            || after_uppercase == 0
            || classes.apostrophe != 0;
        if unknown {
            undecided |= at_bit;
        } else if char_before_run & classes.lowercase != 0
            || after_uppercase & classes.letter() == 0
        {
            starts |= at_bit;
        }
    }
    (starts, undecided)
}

/// Every third digit.
fn numbers(classes: &Classes) -> u64 {
    let digit = classes.digit;
    let mut starts = digit & !after(digit);
    let after_three = digit & digit << 1 & digit << 2 & digit << 3;
    let mut next = starts << 3 & after_three;
    while next != 0 {
        starts |= next;
        next = next << 3 & after_three;
    }
    starts
}

/// Punctuation begins a piece, unless a space does so before it.
fn punctuation(classes: &Classes) -> u64 {
    let punctuation = classes.punctuation();
    punctuation & !after(punctuation | classes.space)
}

/// White space begins a piece with its first character, unless that is a newline after punctuation; after
/// its last newline (`decided` knows of later ones); and with its last character, which goes to what follows.
fn spaces(classes: &Classes) -> u64 {
    let space = classes.white_space();
    let first = space & !after(space) & !classes.first_newline_of_punctuation();
    first | classes.first_after_newline() | classes.inline_space & !(space >> 1)
}

/// The bytes for which the window decides whether a piece starts there: all before some end.
fn decided(classes: &Classes) -> u64 {
    // Two rules do not see what comes later, and set a wrong bit. Both cases are rare. White space and
    // newlines up to the last newline are one piece, and slashes after the newlines of punctuation belong to it:
    //
    //     bytes       \n ␣ ␣ \n          bytes         !  \n /
    //     spaces      1  1 0 0           punctuation   1  0  1
    //     end         0  0 0 1           end           0  0  1
    //     decided     1  0 0 0           decided       1  1  0
    let last_newlines =
        after_runs(classes.first_after_newline(), classes.inline_space) & classes.newline;
    let slashes =
        after_runs(classes.first_newline_of_punctuation(), classes.newline) & classes.slash;
    // The end is not the first byte: both cases have bytes before it.
    debug_assert!(classes.undecided & 1 == 0, "a window begins with what the rules know");
    let end = (classes.undecided | last_newlines | slashes).trailing_zeros();
    let before = u64::MAX >> (64 - end);
    // White space may continue past the end. Then only its first byte is decided.
    let solid_end = 64 - (!classes.white_space() & before).leading_zeros();
    if solid_end == end { before } else { u64::MAX >> (63 - solid_end) }
}

/// Contractions belong to the word before them.
fn without_contractions(mut starts: u64, window: &Window, classes: &Classes) -> u64 {
    let mut last_end = 0;
    for at in bits::set_bits(classes.apostrophe & after(classes.letter())) {
        // No contraction follows a contraction: `it's't` is `it's` and `'t`.
        if at == last_end {
            continue;
        }
        let end = contraction::end(window, at);
        let inside = ((1 << (end - at)) - 1) << at;
        // The byte after it begins a piece: the sum carries to its bit, or past the window. Without a
        // contraction the sum is the apostrophe's own bit, which stays.
        starts = starts & !inside | inside.wrapping_add(1 << at);
        last_end = end;
    }
    starts
}
