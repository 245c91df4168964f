//! The classes of sixty-four bytes at once, a bit for each byte.
//!
//! Three sources, in this order. ASCII: masks of all bytes at once. The letters of the most used scripts and
//! the punctuation of Chinese and Japanese: with AVX2, and where there are many, masks of all bytes at once
//! too (`Recognised`). Other characters: looked up one by one, up to six in a window (`add_characters`).

#[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
pub(super) mod avx2;
#[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
pub(super) mod avx2_characters;
pub(super) mod portable;

use super::chars::Char;
use super::flags::{LETTER, NUMBER, WHITE_SPACE, WORD_HEAD, WORD_TAIL};
use super::window::{LEAST_GAIN, Window};
use crate::tokenizer::bits;

/// The most characters of a window to look up. The window ends before the next one: if there are many, going from piece
/// to piece is as fast.
const LOOK_UPS: u32 = 6;

/// All bits but the first `count`. Old processors have no instruction that counts bits.
fn without_first(mut bits: u64, count: u32) -> u64 {
    for _ in 0..count {
        bits &= bits.wrapping_sub(1);
    }
    bits
}

/// For each class of the pattern, and each question of its rules, the bytes that belong to it. The lowest bit is the
/// first byte. All bytes of a character have its class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Classes {
    /// `[\p{Lu}\p{Lt}]`.
    pub(super) uppercase: u64,
    /// `\p{Ll}`.
    pub(super) lowercase: u64,
    /// `[\p{Lm}\p{Lo}\p{M}]`: letters without case, and marks.
    pub(super) caseless: u64,
    /// `[0-9]`.
    pub(super) digit: u64,
    /// `[\r\n]`.
    pub(super) newline: u64,
    /// ASCII white space other than newlines: `[ \t\v\f]`.
    pub(super) inline_space: u64,
    /// The space, U+0020.
    pub(super) space: u64,
    pub(super) apostrophe: u64,
    pub(super) slash: u64,
    /// What is not ASCII.
    pub(super) non_ascii: u64,
    /// The bytes of characters after the first.
    pub(super) continuation: u64,
    /// Where the rules stop: numbers and white space other than ASCII, characters that were not looked up, bytes past
    /// the text. At least the first byte of each such character is set.
    pub(super) undecided: u64,
}

/// Characters other than ASCII, as far as vectors recognise them.
///
/// No mark may be in `caseless`: `take_marks_from_letters` knows only marks that were looked up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Recognised {
    pub(super) uppercase: u64,
    pub(super) lowercase: u64,
    pub(super) caseless: u64,
    /// The first bytes of them.
    pub(super) punctuation: u64,
}

impl Classes {
    /// Letters, and the marks among them.
    pub(super) fn letter(&self) -> u64 {
        self.uppercase | self.lowercase | self.caseless
    }

    pub(super) fn white_space(&self) -> u64 {
        self.newline | self.inline_space
    }

    /// Everything that is neither letter, number nor white space, including control characters.
    pub(super) fn punctuation(&self) -> u64 {
        !(self.letter() | self.digit | self.white_space() | self.undecided)
    }

    /// Newlines right after punctuation: they and those that follow belong to it.
    pub(super) fn first_newline_of_punctuation(&self) -> u64 {
        self.newline & self.punctuation() << 1
    }

    /// The byte after a newline, if it is white space other than a newline.
    pub(super) fn first_after_newline(&self) -> u64 {
        self.inline_space & self.newline << 1
    }

    /// The first bytes of characters other than ASCII.
    pub(super) fn first_bytes(&self) -> u64 {
        self.non_ascii & !self.continuation
    }

    /// Adds the classes of characters other than ASCII: of those `recognised`, and what is found for the others.
    ///
    /// Numbers and white space among them are undecided, and all characters after the first few that
    /// have to be looked up.
    #[inline]
    pub(super) fn add_characters(&mut self, window: &Window, recognised: &Recognised) {
        self.uppercase |= recognised.uppercase;
        self.lowercase |= recognised.lowercase;
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
            let (upper, lower) = (if_in(WORD_HEAD), if_in(WORD_TAIL));
            self.uppercase |= upper & !lower;
            self.lowercase |= lower & !upper;
            self.caseless |= upper & lower;
            marks |= upper & !if_in(LETTER);
            self.undecided |= if_in(NUMBER) | if_in(WHITE_SPACE);
        }
        if marks != 0 {
            self.take_marks_from_letters(marks);
        }
    }

    /// Removes from the letters those marks that belong to the punctuation before them.
    ///
    /// The pattern treats a mark like a letter, with one exception: a mark after two or more characters of punctuation,
    /// or after a space and one, extends the punctuation. After exactly one it begins a word, which takes in that
    /// character. So the mark in `!❤️` is punctuation, and `❤️` by itself is a word.
    fn take_marks_from_letters(&mut self, marks: u64) {
        for at in bits::set_bits(marks & !self.continuation) {
            let before = !self.continuation & ((1 << at) - 1);
            let Some(last) = before.checked_ilog2() else { continue };
            let punctuation = self.punctuation();
            let run = punctuation & (punctuation | self.space) << 1;
            if run >> last & 1 == 1 {
                let more_bytes = (self.continuation >> at >> 1).trailing_ones();
                self.caseless &= !(((2 << more_bytes) - 1) << at);
            }
        }
    }
}
