//! JSON text -> tape.
//!
//! It accepts JSON as clients write it: an escaped half of a surrogate pair, which JavaScript writes for a text cut
//! inside an emoji, becomes U+FFFD; `NaN` and `Infinity`, which Python writes, are numbers if the caller allows them.
//! Numbers keep their text.

use std::fmt;

use super::tape::Tape;
use super::{MAX_DEPTH, TOO_DEEP};

/// Why a text is not JSON, and from which byte on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotJson {
    fault: Fault,
    at: usize,
}

/// What is wrong, in the words of `serde_json`, at the lexer's position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Fault {
    #[error("EOF while parsing a value")]
    EofInValue,
    #[error("EOF while parsing an object")]
    EofInObject,
    #[error("EOF while parsing a list")]
    EofInList,
    #[error("EOF while parsing a string")]
    EofInString,
    #[error("trailing characters")]
    Trailing,
    #[error("expected value")]
    ExpectedValue,
    #[error("expected ident")]
    ExpectedWord,
    #[error("key must be a string")]
    ExpectedKey,
    #[error("expected `:`")]
    ExpectedColon,
    #[error("expected `,` or `]`")]
    ExpectedEndOfList,
    #[error("expected `,` or `}}`")]
    ExpectedEndOfObject,
    #[error("invalid number")]
    InvalidNumber,
    #[error("number out of range")]
    NumberOutOfRange,
    #[error("control character while parsing a string")]
    ControlCharacter,
    #[error("invalid escape")]
    InvalidEscape,
    #[error("{TOO_DEEP}")]
    TooDeep,
    #[error("too many values")]
    TooManyValues,
}

impl NotJson {
    /// The message in the form of `serde_json`, with lines and columns from 1.
    pub(crate) fn in_text(self, text: &str) -> impl fmt::Display {
        let before = &text.as_bytes()[..self.at.min(text.len())];
        let line = before.split(|&byte| byte == b'\n').count();
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count();
        let column = column + usize::from(self.at < text.len());
        format!("{} at line {line} column {column}", self.fault)
    }
}

type Lexed<T = ()> = Result<T, Fault>;

/// Whether `NaN`, `Infinity` and `-Infinity` are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotNumbers {
    Refused,
    Taken,
}

impl Tape {
    /// Writes the value of a JSON text, and returns the index of the value. After an error the tape holds part of it.
    pub(crate) fn parse(&mut self, text: &str, not_numbers: NotNumbers) -> Result<usize, NotJson> {
        self.parse_within(text, not_numbers, MAX_DEPTH, usize::MAX)
    }

    /// The same for a text with at most this many values, including keys.
    pub(crate) fn parse_some(&mut self, text: &str, values: usize) -> Result<usize, NotJson> {
        self.parse_within(text, NotNumbers::Refused, MAX_DEPTH, values)
    }

    /// Writes the value of JSON text that this library wrote around foreign values.
    pub(crate) fn parse_written(&mut self, text: &str) {
        // This library's text is valid, and no API nests its input a hundred levels deeper.
        let _never = self.parse_within(text, NotNumbers::Refused, 2 * MAX_DEPTH, usize::MAX);
    }

    /// The same for a text with so many levels of lists and objects, and so many values.
    fn parse_within(
        &mut self,
        text: &str,
        not_numbers: NotNumbers,
        depth: usize,
        values: usize,
    ) -> Result<usize, NotJson> {
        let index = self.end();
        let start = self.push_text(text);
        let last = index.saturating_add(values);
        let mut lexer = Lexer { text, at: 0, start, depth, last, not_numbers, tape: self };
        match lexer.document() {
            Ok(()) => Ok(index),
            Err(fault) => Err(NotJson { fault, at: lexer.at }),
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    /// How far the text has been read, in bytes.
    at: usize,
    /// Where the text begins on the tape.
    start: usize,
    /// How many more lists and objects may be nested.
    depth: usize,
    /// The tape's length once it has the most values that the text may have.
    last: usize,
    not_numbers: NotNumbers,
    tape: &'t mut Tape,
}

impl Lexer<'_> {
    fn document(&mut self) -> Lexed {
        self.value()?;
        match self.next_token() {
            None => Ok(()),
            Some(_) => Err(Fault::Trailing),
        }
    }

    /// The byte here.
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The first byte of the next token.
    fn next_token(&mut self) -> Option<u8> {
        while let Some(byte) = self.peek() {
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    fn value(&mut self) -> Lexed {
        if self.tape.end() >= self.last {
            return Err(Fault::TooManyValues);
        }
        match self.next_token().ok_or(Fault::EofInValue)? {
            b'"' => self.string(),
            b'{' => self.object(),
            b'[' => self.array(),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", |tape| tape.bool(true)),
            b'f' => self.word("false", |tape| tape.bool(false)),
            b'n' => self.word("null", Tape::null),
            b'N' => self.not_number("NaN"),
            b'I' => self.not_number("Infinity"),
            _ => Err(Fault::ExpectedValue),
        }
    }

    fn word(&mut self, word: &str, write: impl FnOnce(&mut Tape)) -> Lexed {
        for byte in word.bytes() {
            if self.peek().ok_or(Fault::EofInValue)? != byte {
                return Err(Fault::ExpectedWord);
            }
            self.at += 1;
        }
        write(self.tape);
        Ok(())
    }

    fn not_number(&mut self, spelling: &str) -> Lexed {
        if self.not_numbers == NotNumbers::Refused {
            return Err(Fault::ExpectedValue);
        }
        self.word(spelling, |tape| tape.not_number(spelling))
    }

    fn array(&mut self) -> Lexed {
        let opened = self.tape.open();
        self.nested(b']', Self::value, Fault::EofInList, Fault::ExpectedEndOfList)?;
        self.tape.close_array(opened);
        Ok(())
    }

    fn object(&mut self) -> Lexed {
        let opened = self.tape.open();
        self.nested(b'}', Self::member, Fault::EofInObject, Fault::ExpectedEndOfObject)?;
        self.tape.close_object(opened);
        Ok(())
    }

    /// A key and its value.
    fn member(&mut self) -> Lexed {
        match self.next_token() {
            Some(b'"') => self.string()?,
            Some(_) => return Err(Fault::ExpectedKey),
            None => return Err(Fault::EofInObject),
        }
        match self.next_token() {
            Some(b':') => self.at += 1,
            Some(_) => return Err(Fault::ExpectedColon),
            None => return Err(Fault::EofInObject),
        }
        self.value()
    }

    /// The items between brackets, with commas between them. The lexer is at the opening bracket.
    fn nested(
        &mut self,
        end: u8,
        item: fn(&mut Self) -> Lexed,
        eof: Fault,
        expected: Fault,
    ) -> Lexed {
        self.depth = self.depth.checked_sub(1).ok_or(Fault::TooDeep)?;
        self.at += 1;
        if self.next_token() != Some(end) {
            item(self)?;
            while self.next_token().ok_or(eof)? != end {
                if self.peek() != Some(b',') {
                    return Err(expected);
                }
                self.at += 1;
                item(self)?;
            }
        }
        self.at += 1;
        self.depth += 1;
        Ok(())
    }

    fn number(&mut self) -> Lexed {
        let begin = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
            if self.peek() == Some(b'I') && self.not_numbers == NotNumbers::Taken {
                self.at = begin;
                return self.not_number("-Infinity");
            }
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(Fault::InvalidNumber),
        }
        let mut is_short = self.at - begin <= super::number::SURELY_FINITE;
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            is_short = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits()?;
        }
        if !is_short && !super::number::is_finite(&self.text[begin..self.at]) {
            // At its last digit, as `serde_json`.
            self.at -= 1;
            return Err(Fault::NumberOutOfRange);
        }
        self.tape.number_within(self.start + begin..self.start + self.at);
        Ok(())
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Lexed {
        let begin = self.at;
        self.digits();
        if self.at > begin { Ok(()) } else { Err(Fault::InvalidNumber) }
    }

    fn string(&mut self) -> Lexed {
        self.at += 1;
        let begin = self.at;
        self.skip_plain();
        if self.peek() == Some(b'"') {
            self.tape.string_within(self.start + begin..self.start + self.at);
            self.at += 1;
            return Ok(());
        }
        self.escaped_string(begin)
    }

    /// Goes to the next quote, backslash or control character.
    fn skip_plain(&mut self) {
        const ONES: u64 = u64::MAX / 255;
        const TOPS: u64 = ONES << 7;
        let bytes = self.text.as_bytes();
        // Eight bytes at a time; a byte that ends the run gets its top bit set. If a subtraction borrows from a byte
        // above, an earlier byte has already ended the run.
        while let Some(eight) = bytes[self.at..].first_chunk::<8>() {
            let word = u64::from_le_bytes(*eight);
            let is_below =
                |limit: u8, word: u64| word.wrapping_sub(ONES * u64::from(limit)) & !word;
            let is = |byte: u8| is_below(1, word ^ (ONES * u64::from(byte)));
            let ends = (is_below(b' ', word) | is(b'"') | is(b'\\')) & TOPS;
            if ends != 0 {
                self.at += (ends.trailing_zeros() / 8) as usize;
                return;
            }
            self.at += 8;
        }
        while self.peek().is_some_and(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
            self.at += 1;
        }
    }

    /// The rest of a string that has escapes: the lexer is at the first of them.
    fn escaped_string(&mut self, begin: usize) -> Lexed {
        let start = self.tape.push_text(&self.text[begin..self.at]);
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(Fault::ControlCharacter),
                None => return Err(Fault::EofInString),
            }
            let escaped = self.at;
            self.skip_plain();
            self.tape.push_text(&self.text[escaped..self.at]);
        }
        self.at += 1;
        self.tape.end_text(start);
        Ok(())
    }

    fn escape(&mut self) -> Lexed {
        self.at += 1;
        let character = match self.peek().ok_or(Fault::EofInString)? {
            byte @ (b'"' | b'\\' | b'/') => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{C}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                let character = self.code_unit()?;
                self.tape.push_char(character);
                return Ok(());
            }
            _ => return Err(Fault::InvalidEscape),
        };
        self.at += 1;
        self.tape.push_char(character);
        Ok(())
    }

    /// The character of these digits, and of a second escape if that is the other half of a pair.
    fn code_unit(&mut self) -> Lexed<char> {
        let first = self.four_digits()?;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        let after = self.at;
        if first < 0xDC00 && self.text.as_bytes()[after..].starts_with(b"\\u") {
            self.at += 2;
            let second = self.four_digits()?;
            if (0xDC00..=0xDFFF).contains(&second) {
                let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return char::from_u32(code).ok_or(Fault::InvalidEscape);
            }
            self.at = after;
        }
        self.tape.replaced_half_pair();
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn four_digits(&mut self) -> Lexed<u32> {
        let digits =
            self.text.as_bytes()[self.at..].first_chunk::<4>().ok_or(Fault::EofInString)?;
        let mut code = 0;
        for digit in digits {
            let value = char::from(*digit).to_digit(16).ok_or(Fault::InvalidEscape)?;
            code = code << 4 | value;
        }
        self.at += 4;
        Ok(code)
    }
}
