//! The piece starts in sixty-four bytes, found all at once.
//!
//! Each rule of the pattern says whether a piece starts at a byte by the classes of the bytes around it. With a bit
//! for each byte that is a few operations for all of them, and hardly a branch.

use super::classes::{Classes, Recognised, portable};
#[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
use super::classes::{avx2, avx2_characters};
use super::contraction;
use super::window::Window;
use crate::tokenizer::bits;

/// Where pieces start in a window that begins with a piece, and of which so many bytes are text: a bit for
/// each of the sixty-four bytes. The first byte is left out, and so are all that these bytes do not decide.
#[inline]
pub(super) fn piece_starts(window: &Window, len: usize) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
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
    // The compiler leaves out what is done for other characters, a tenth of all.
    let classes = Classes { caseless: 0, continuation: 0, undecided: behind_text(len), ..*classes };
    starts(window, &classes) & decided(&classes) & !1
}

#[inline(never)]
fn starts_in_unicode(
    window: &Window,
    len: usize,
    mut classes: Classes,
    recognised: &Recognised,
) -> u64 {
    classes.undecided = behind_text(len);
    classes.add_characters(window, recognised);
    if classes.undecided & 1 != 0 {
        return 0;
    }
    let capitals = capitals_behind_caseless(&mut classes, len);
    (starts(window, &classes) | capitals) & decided(&classes) & !1
}

fn behind_text(len: usize) -> u64 {
    u64::MAX.unbounded_shl(u32::try_from(len).unwrap_or(u32::MAX))
}

/// Where pieces start by the rules, the first byte and what is not decided included.
#[inline(always)]
#[expect(clippy::inline_always, reason = "else it stays outside of the function with vectors")]
fn starts(window: &Window, classes: &Classes) -> u64 {
    let starts = words(classes) | numbers(classes) | punctuation(classes) | spaces(classes);
    without_contractions(starts, window, classes)
}

/// What stands right behind one of these.
fn behind(these: u64) -> u64 {
    these << 1
}

/// What stands right behind the characters that begin here.
fn behind_chars(firsts: u64, classes: &Classes) -> u64 {
    let seconds = behind(firsts);
    seconds & !classes.continuation
        | behind_runs(seconds & classes.continuation, classes.continuation)
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
    // What becomes the first character of the word behind it: white space but newlines, and punctuation
    // that begins a piece. Such a one right before a letter is all there is of it: of `!!a` the second
    // begins nothing, so `a` does.
    let behind_prefix = behind(classes.indent) | behind_chars(punctuation(classes), classes);
    letter & !behind(letter) & !behind_prefix | classes.capital & behind(classes.small)
}

/// Capitals behind letters without case that begin a piece. Where the window does not tell, they become
/// undecided.
///
/// Such a capital begins a piece if a small letter came before in its word. If not, all of the word so
/// far is capitals and letters without case, in any order; it goes on if more letters follow, and else
/// it ends behind the last letter without case.
fn capitals_behind_caseless(classes: &mut Classes, len: usize) -> u64 {
    let mut starts = 0;
    for at in bits::set_bits(classes.capital & behind(classes.caseless)) {
        let this = 1 << at;
        // None if the capitals go on behind the window.
        let behind_capitals = behind_runs(this, classes.capital);
        let caseless = (classes.caseless << (64 - at)).leading_ones() as usize;
        let before = (at - caseless).checked_sub(1).map_or(0, |before| 1 << before);
        // A contraction ends a word, and a small letter before it belongs to another one.
        let unknown = behind_capitals & classes.undecided & !behind_text(len) != 0
            || behind_capitals == 0
            || classes.apostrophe != 0;
        if unknown {
            classes.undecided |= this;
        } else if before & classes.small != 0 || behind_capitals & classes.letter() == 0 {
            starts |= this;
        }
    }
    starts
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

/// The bytes of which the window tells whether a piece starts there.
fn decided(classes: &Classes) -> u64 {
    // A later line break takes in the white space behind an earlier one, `\n  \n`, and slashes behind
    // the line breaks of punctuation belong to it, `!\n/`. The rules above do not know. Both are
    // rare, and the byte that may be wrong is then behind the first character of white space.
    let last_line_breaks = behind_runs(classes.line_indent(), classes.indent) & classes.newline;
    let slashes =
        behind_runs(classes.first_newline_of_punctuation(), classes.newline) & classes.slash;
    // Not the first byte: the last two have something before them.
    debug_assert!(classes.undecided & 1 == 0, "a window begins with what the rules know");
    let end = (classes.undecided | last_line_breaks | slashes).trailing_zeros();
    let before = u64::MAX >> (64 - end);
    // Of white space that may go on behind the end only its beginning is sure.
    let solid_end = 64 - (!classes.space() & before).leading_zeros();
    if solid_end == end { before } else { u64::MAX >> (63 - solid_end) }
}

/// Contractions belong to the word before them.
fn without_contractions(mut starts: u64, window: &Window, classes: &Classes) -> u64 {
    let mut last_end = 0;
    for at in bits::set_bits(classes.apostrophe & behind(classes.letter())) {
        // A contraction has none of its own: `it's't` is `it's` and `'t`.
        if at == last_end {
            continue;
        }
        let end = contraction::end(window, at);
        let its = ((1 << (end - at)) - 1) << at;
        // Adding to its first byte carries to the one behind it, which may be behind the window. Of none
        // the apostrophe stays the start that it is.
        starts = starts & !its | its.wrapping_add(1 << at);
        last_end = end;
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::{piece_starts, piece_starts_portably};
    use crate::tokenizer::split::window::{WINDOW_LEN, Window};

    /// A text with `|` where a piece starts, as far as its first window tells, and what else is in it.
    type Row<'a> = (&'a str, &'a str);

    fn check(rows: &[Row], scan: impl Fn(&Window, usize) -> u64) {
        for &(marked, rest) in rows {
            let text = marked.replace('|', "") + rest;
            let mut window: Window = [0; WINDOW_LEN + 16];
            for (place, byte) in window.iter_mut().zip(text.bytes()) {
                *place = byte;
            }
            let starts = scan(&window, text.len().min(WINDOW_LEN));
            let pieces: Vec<&str> = marked.split('|').collect();
            let (mut start, mut told) = (0, 0_u64);
            for piece in &pieces[..pieces.len() - 1] {
                start += piece.len();
                told |= 1 << start;
            }
            assert_eq!(starts, told, "{marked:?} {rest:?} {starts:b}");
        }
    }

    fn check_both(rows: &[Row]) {
        check(rows, piece_starts);
        check(rows, piece_starts_portably);
    }

    #[test]
    fn words() {
        check_both(&[
            ("the| cat| sat| on| the| mat", ""),
            ("camel|Case| HTTPServer|Name| x|A| AB", ""),
            ("École| où| straße|ÉTÉ", ""),
            // A letter without case ends a word before a capital, unless small letters follow.
            ("中|A| 中Ab| a中|B", ""),
            ("A中B中|C| Aʰb| AB中|C|1", ""),
            ("x| 中", &"A".repeat(70)),
        ]);
    }

    #[test]
    fn contractions() {
        check_both(&[
            ("I'm| sure| it's|'t| we'll|x| I'D|!", ""),
            ("a|'| b|''|s| c|'x| they'RE", ""),
            ("is'ſ|s| é's|É's", ""),
            // Whether a capital behind letters without case begins a piece is not told beside one.
            ("x| a's| 中", "A b"),
        ]);
    }

    #[test]
    fn numbers_and_white_space() {
        check_both(&[
            ("123|456|78|a| |1|.|5|-|123|4| |12", ""),
            ("1|a|12|b|123|c|123|4|d|123|456|789|012|345", ""),
            ("a|  | b|\t|\tc|  | |1", ""),
            ("a|\n|b| \n|  | c|\r\n\n|d", ""),
            // White space may go on, and a later line break takes it in.
            ("a| cat|  ", ""),
            ("a|\n", "  \n  b"),
            // Numbers and white space other than ASCII are left to the pattern.
            ("x| abc| ab", "² c d"),
            ("x| abc| ab", "\u{3000}c d"),
            ("", "\u{a0}a b c d e f g"),
        ]);
    }

    #[test]
    fn punctuation() {
        check_both(&[
            ("a|...| (|b|)| !!|c|,d| -|e|\0", ""),
            ("a|/b|//|c| //|d", ""),
            ("a|!\n\n|b|.\r\n| c|;\n|  | d", ""),
            ("a|!\n", "/b"),
            ("a|¡Hola|!| ¿|Qué| «|tal|»", ""),
        ]);
    }

    /// Several characters of punctuation take in marks, but no letter; a single one goes to the word behind it,
    /// which a mark begins as any letter does.
    #[test]
    fn marks() {
        check_both(&[
            ("x|!!\u{301}|a| !\u{301}|b|!\u{301}c", ""),
            ("x|!!\u{301}\u{301}|a|!!|中\u{301}b", ""),
            ("x|!!|ʰb| !|中| ¡¡\u{301}|é", ""),
            ("x|¡\u{301}b|!¡\u{301}|b", ""),
            ("I| ❤️| it|!❤️| a|❤️b", ""),
            ("a\u{301}b| \u{301}c|\t\u{301}d", ""),
            ("\u{301}a|!!\u{20dd}|中|!!\u{e0100}|b", ""),
        ]);
    }

    #[test]
    fn only_six_characters_are_looked_up() {
        check_both(&[
            ("aaaaʰ| aaaʰ| aaaʰ| aaaʰ| aaaʰ| aaaʰ| aaa", "ʰ b"),
            ("", "ʰʰʰʰʰʰʰ aaa aaa aaa aaa aaa aaa"),
        ]);
    }

    #[test]
    fn nothing_behind_the_window_is_told() {
        let sixty_four_bytes = format!("a{}", "| bc".repeat(21));
        check_both(&[
            (&sixty_four_bytes, "d e f"),
            (&sixty_four_bytes, " e"),
            (&sixty_four_bytes, ""),
        ]);
    }

    /// Where there are many, the usual letters need no look.
    #[test]
    #[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
    fn vectors_recognise_many_characters() {
        if !is_x86_feature_detected!("avx2") {
            return;
        }
        let rows = [
            ("Привет|,| как| дела|?| Ёж| ещё|Яма", ""),
            ("Καλη|Μέρα| κόσμε|,ώ", ""),
            ("ÀÉÞ| éàß|×öÿ|÷ÿ", ""),
            ("ÀÁÂÃÄÅÀÁÂÃ| Áä|,", ""),
            ("שלום| עולם|!| مرحبا| بك", ""),
            ("中文|，你好|。“|再见|”| ひら|・カナ| 한국", ""),
        ];
        check(&rows, piece_starts);
    }
}
