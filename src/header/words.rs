//! A header's tokens as words.

use std::ops::Range;

use crate::tokenizer::{Tokenizer, special};

/// What kind of word it is, by its first token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordKind {
    /// Ordinary text.
    Plain,
    /// The text directly after `<|channel|>`, which may be empty.
    Channel,
    /// The text directly after `<|constrain|>`, which may be empty.
    Constrain,
    /// A token that does not belong in a header; the word is its name, U+FFFD for an unknown id.
    Noise,
}

/// An offset in the bytes of a header's text. It is not an offset in a `str`: a byte that is not UTF-8 takes three
/// bytes in a [lossy](Words::lossy) text. [`Words::offset_of`] converts offsets of lossy text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Offset(usize);

impl Offset {
    /// Where the text begins.
    pub(super) const ZERO: Self = Self(0);
}

/// A word: the position of its text in the header's text, and its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) kind: WordKind,
    /// Its place in the header's text.
    pub(super) text: Range<Offset>,
    /// Indices into the header's tokens.
    pub(super) tokens: Range<usize>,
}

/// The words of one header. The memory is reused for the next header.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    /// The text of the tokens without the markers.
    text: Vec<u8>,
    list: Vec<Word>,
    /// For each token, where its text begins in `text`, and one more entry for the end.
    starts: Vec<Offset>,
}

impl Words {
    /// Splits a header's tokens, given without `<|start|>` and `<|message|>`.
    pub(crate) fn split(&mut self, tokenizer: Tokenizer, tokens: &[u32]) {
        self.text.clear();
        self.list.clear();
        self.starts.clear();
        let mut open = false;
        for (index, &token) in tokens.iter().enumerate() {
            self.starts.push(self.end());
            open = match token {
                special::CHANNEL => self.begin(WordKind::Channel, index),
                special::CONSTRAIN => self.begin(WordKind::Constrain, index),
                _ if tokenizer.is_special_token(token) => self.noise(tokenizer, token, index),
                _ => match tokenizer.token_bytes(token) {
                    Some(bytes) => self.plain(bytes, index, open),
                    None => self.noise(tokenizer, token, index),
                },
            };
        }
        self.starts.push(self.end());
    }

    /// Begins a word, which the next text continues.
    fn begin(&mut self, kind: WordKind, index: usize) -> bool {
        let at = self.end();
        self.list.push(Word { kind, text: at..at, tokens: index..index + 1 });
        true
    }

    /// A token that is a word of its own.
    fn noise(&mut self, tokenizer: Tokenizer, token: u32, index: usize) -> bool {
        self.begin(WordKind::Noise, index);
        self.text.extend_from_slice(tokenizer.token_bytes(token).unwrap_or("\u{FFFD}".as_bytes()));
        if let Some(word) = self.list.last_mut() {
            word.text.end = Offset(self.text.len());
        }
        false
    }

    /// Ordinary text: white space ends a word, anything else continues or begins one.
    fn plain(&mut self, bytes: &[u8], index: usize, mut open: bool) -> bool {
        for &byte in bytes {
            if byte.is_ascii_whitespace() {
                open = false;
                self.text.push(byte);
                continue;
            }
            if !open {
                open = self.begin(WordKind::Plain, index);
            }
            self.text.push(byte);
            if let Some(word) = self.list.last_mut() {
                word.text.end = Offset(self.text.len());
                word.tokens.end = index + 1;
            }
        }
        open
    }

    /// Removes white space beyond ASCII at both ends, as 0.0.8 does after it takes out the channel. Between two fields
    /// such white space is part of a word.
    pub(crate) fn trim(&mut self) {
        let is_other = |word: &Word| word.kind != WordKind::Channel;
        while let Some(at) = self.list.iter().position(is_other) {
            let first = &self.list[at];
            if first.kind != WordKind::Plain {
                break;
            }
            let text = self.lossy(first.text.clone());
            let start = self.offset_of(first, text.len() - text.trim_start().len());
            if start < first.text.end {
                self.list[at].text.start = start;
                break;
            }
            self.list.remove(at);
        }
        while let Some(at) = self.list.iter().rposition(is_other) {
            let end = self.trimmed_end(at);
            let last = &mut self.list[at];
            if last.kind != WordKind::Plain || last.text.start < end {
                last.text.end = end;
                break;
            }
            self.list.remove(at);
        }
        if let Some(at) = self.list.len().checked_sub(1) {
            self.list[at].text.end = self.trimmed_end(at);
        }
    }

    /// Where a word's text ends without white space.
    fn trimmed_end(&self, at: usize) -> Offset {
        let word = &self.list[at];
        self.offset_of(word, self.lossy(word.text.clone()).trim_end().len())
    }

    /// Whether there are no words, only white space.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn list(&self) -> &[Word] {
        &self.list
    }

    /// The bytes of a range of the header's text.
    pub(super) fn bytes(&self, range: Range<Offset>) -> &[u8] {
        &self.text[range.start.0..range.end.0]
    }

    /// A range of the header's text, with U+FFFD for bytes that are not UTF-8.
    pub(super) fn lossy(&self, range: Range<Offset>) -> String {
        String::from_utf8_lossy(self.bytes(range)).into_owned()
    }

    /// The offset in the header's text of a byte offset in a word's [lossy](Self::lossy) text.
    pub(super) fn offset_of(&self, word: &Word, lossy: usize) -> Offset {
        let (Offset(mut offset), mut left) = (word.text.start, lossy);
        for chunk in self.bytes(word.text.clone()).utf8_chunks() {
            if left <= chunk.valid().len() {
                return Offset(offset + left);
            }
            offset += chunk.valid().len() + chunk.invalid().len();
            left -= chunk.valid().len();
            left = left.saturating_sub(char::REPLACEMENT_CHARACTER.len_utf8());
        }
        Offset(offset)
    }

    /// Where the header's text ends.
    pub(super) fn end(&self) -> Offset {
        Offset(self.text.len())
    }

    /// The first token with text that begins at or after this byte offset, apart from white space.
    pub(super) fn token_at(&self, offset: Offset) -> usize {
        let token = self.starts.partition_point(|&start| start <= offset).saturating_sub(1);
        let before = self.bytes(self.starts[token]..offset);
        let is_shared = !before.iter().all(u8::is_ascii_whitespace);
        token + usize::from(is_shared)
    }
}
