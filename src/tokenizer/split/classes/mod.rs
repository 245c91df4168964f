//! The classes of sixty-four bytes at once, a bit for each byte.
//!
//! Those of ASCII are found for all bytes at once. With AVX2 so are, where there are many, the letters of
//! the most usual scripts and the punctuation of Chinese and Japanese. Other characters are looked up
//! one by one.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx2_characters;
pub(super) mod portable;

use super::chars::Char;
use super::flags::{LETTER, LOWER, NUMBER, SPACE, UPPER};
use super::window::{LEAST_GAIN, Window};
use crate::tokenizer::bits;

/// How many characters of a window are looked up. The window ends before any more: where there are many,
/// going from piece to piece is as fast.
const LOOK_UPS: u32 = 6;

/// Whether there are so many of these characters that looking them up one by one takes longer than
/// asking all bytes for all classes.
pub(super) fn are_many(firsts: u64) -> bool {
    without_first(firsts, 4) != 0
}

/// All bits but the first so many. Old processors have no instruction that counts bits.
fn without_first(mut bits: u64, count: u32) -> u64 {
    for _ in 0..count {
        bits &= bits.wrapping_sub(1);
    }
    bits
}

/// Which bytes are in which class of the pattern, or are what one of its rules asks for. The lowest
/// bit is that of the first byte. All bytes of a character have its class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Classes {
    /// `[\p{Lu}\p{Lt}]`.
    pub(super) capital: u64,
    /// `\p{Ll}`.
    pub(super) small: u64,
    /// `[\p{Lm}\p{Lo}\p{M}]`: letters without case, and marks.
    pub(super) caseless: u64,
    /// `[0-9]`.
    pub(super) digit: u64,
    /// `[\r\n]`.
    pub(super) newline: u64,
    /// ASCII white space other than newlines.
    pub(super) indent: u64,
    /// The space character.
    pub(super) blank: u64,
    pub(super) apostrophe: u64,
    pub(super) slash: u64,
    /// What is not ASCII.
    pub(super) non_ascii: u64,
    /// The bytes of characters behind the first.
    pub(super) continuation: u64,
    /// Where the rules stop: numbers and white space other than ASCII, characters that were not looked up,
    /// what is behind the text. Not all bytes of a character, but the first at least.
    pub(super) undecided: u64,
}

/// Characters other than ASCII, as far as vectors tell them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Recognised {
    pub(super) capital: u64,
    pub(super) small: u64,
    pub(super) caseless: u64,
    /// The first bytes of them.
    pub(super) punctuation: u64,
}

impl Classes {
    /// Letters, and the marks among them.
    pub(super) fn letter(&self) -> u64 {
        self.capital | self.small | self.caseless
    }

    pub(super) fn space(&self) -> u64 {
        self.newline | self.indent
    }

    /// All that is neither letter, number nor white space, control characters too.
    pub(super) fn punctuation(&self) -> u64 {
        !(self.letter() | self.digit | self.space() | self.undecided)
    }

    /// Newlines right behind punctuation, which they belong to with those that follow.
    pub(super) fn first_newline_of_punctuation(&self) -> u64 {
        self.newline & self.punctuation() << 1
    }

    /// White space that begins a line.
    pub(super) fn line_indent(&self) -> u64 {
        self.indent & self.newline << 1
    }

    /// The first bytes of characters other than ASCII.
    pub(super) fn first_bytes(&self) -> u64 {
        self.non_ascii & !self.continuation
    }

    /// Adds the classes of characters other than ASCII: of those `known`, and what is found for the others.
    ///
    /// Numbers and white space among them are undecided, and all characters behind the first few that
    /// have to be looked up.
    #[inline]
    pub(super) fn add_characters(&mut self, window: &Window, recognised: &Recognised) {
        self.capital |= recognised.capital;
        self.small |= recognised.small;
        self.caseless |= recognised.caseless;
        let unknown = self.first_bytes() & !(self.letter() | recognised.punctuation);
        let too_many = without_first(unknown, LOOK_UPS);
        if (too_many.trailing_zeros() as usize) < LEAST_GAIN {
            self.undecided = u64::MAX;
            return;
        }
        self.undecided |= too_many;
        let mut marks = 0;
        for at in bits::set_bits(unknown & !too_many) {
            let Some(char) = Char::at(window, at) else { break };
            let bytes = ((1 << char.len) - 1) << at;
            let if_in = |flags: u8| if char.is_all(flags) { bytes } else { 0 };
            let (upper, lower) = (if_in(UPPER), if_in(LOWER));
            self.capital |= upper & !lower;
            self.small |= lower & !upper;
            self.caseless |= upper & lower;
            marks |= upper & !if_in(LETTER);
            self.undecided |= if_in(NUMBER) | if_in(SPACE);
        }
        if marks != 0 {
            self.take_marks_from_letters(marks);
        }
    }

    /// Takes marks out of the letters that belong to the punctuation before them.
    ///
    /// A mark is as good as a letter but for one place: in punctuation, which takes it in. Only
    /// punctuation of a single character does not match it: that goes to the word which the mark
    /// begins. So it is in `!❤️`, but `❤️` alone is a word.
    fn take_marks_from_letters(&mut self, marks: u64) {
        for at in bits::set_bits(marks & !self.continuation) {
            let before = !self.continuation & ((1 << at) - 1);
            let Some(last) = before.checked_ilog2() else { continue };
            let punctuation = self.punctuation();
            let run = punctuation & (punctuation | self.blank) << 1;
            if run >> last & 1 == 1 {
                let behind = (self.continuation >> at >> 1).trailing_ones();
                self.caseless &= !(((2 << behind) - 1) << at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokenizer::split::window::WINDOW_LEN;

    /// By the names that the standard library has for them.
    fn expected(window: &Window) -> Classes {
        let mask = |is: fn(u8) -> bool| {
            (0..WINDOW_LEN).fold(0, |mask, at| mask | u64::from(is(window[at])) << at)
        };
        Classes {
            capital: mask(|byte| byte.is_ascii_uppercase()),
            small: mask(|byte| byte.is_ascii_lowercase()),
            digit: mask(|byte| byte.is_ascii_digit()),
            newline: mask(|byte| matches!(byte, b'\r' | b'\n')),
            indent: mask(|byte| matches!(byte, b' ' | b'\t' | 0x0b | 0x0c)),
            blank: mask(|byte| byte == b' '),
            apostrophe: mask(|byte| byte == b'\''),
            slash: mask(|byte| byte == b'/'),
            non_ascii: mask(|byte| !byte.is_ascii()),
            continuation: mask(|byte| matches!(byte, 0x80..0xc0)),
            ..Classes::default()
        }
    }

    /// Checks the window at the beginning of a text, with zeros behind a short one.
    fn check(text: &str) {
        let mut window: Window = [0; WINDOW_LEN + 16];
        for (place, byte) in window.iter_mut().zip(text.bytes()) {
            *place = byte;
        }
        let whole = |mut classes: Classes, recognised: Recognised| {
            classes.add_characters(&window, &recognised);
            classes
        };
        let expected = whole(expected(&window), Recognised::default());
        let continuation = portable::continuation(&window);
        let by_blocks = Classes { continuation, ..portable::classes(&window) };
        assert_eq!(whole(by_blocks, Recognised::default()), expected, "of {text:?}");
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            let (classes, recognised) = unsafe {
                let continuation = avx2::continuation(&window);
                let classes = Classes { continuation, ..avx2::classes(&window) };
                (classes, avx2_characters::recognised(&window, classes.first_bytes()))
            };
            // Fewer characters have to be looked up, so more may be told.
            let all_told = expected.first_bytes().count_ones() <= LOOK_UPS;
            let before_undecided = !expected.undecided & expected.undecided.wrapping_sub(1);
            let told = if all_told { u64::MAX } else { before_undecided };
            let told = |classes: &Classes| masks(classes).map(|mask| mask & told);
            assert_eq!(told(&whole(classes, recognised)), told(&expected), "of {text:?}");
        }
    }

    fn masks(classes: &Classes) -> [u64; 12] {
        let Classes { capital, small, caseless, digit, newline, indent, .. } = *classes;
        let Classes { blank, apostrophe, slash, non_ascii, continuation, undecided, .. } = *classes;
        [
            capital,
            small,
            caseless,
            digit,
            newline,
            indent,
            blank,
            apostrophe,
            slash,
            non_ascii,
            continuation,
            undecided,
        ]
    }

    #[test]
    fn every_character() {
        for char in '\0'..=char::MAX {
            check(&format!("{char}中{char}{char} a{char}{char}"));
        }
    }

    #[test]
    fn characters_at_every_place() {
        for char in ('\0'..='\x7f').chain("é中がハ한。²🙂".chars()) {
            for at in 0..WINDOW_LEN {
                check(&format!("{}{char}{}", "a".repeat(at), "a".repeat(WINDOW_LEN - at)));
            }
        }
    }

    proptest! {
        #[test]
        fn random_text(text in "[a\0中がハ한。²é\u{301}🙂 ]{0,80}|\\PC{0,80}") {
            check(&text);
        }
    }
}
