//! A header's words, grouped as 0.0.8 groups them.
//!
//! 0.0.8 searches a header's decoded text: it takes out the first `<|channel|>` with its value,
//! puts a space before each `<|constrain|>`, and splits the rest at white space. To it, any other
//! marker is letters of the word that it touches. Strict parsing may refuse only what 0.0.8
//! refused, so it has to count words as 0.0.8 counts them. A part is such a word; its value is
//! what stands before the first marker that has no place in it.

use std::ops::Range;

use super::CONSTRAIN;
use super::words::{Kind, Word, Words};
use crate::chat::CHANNELS;
use crate::error::{ErrorKind, Result};

/// A word as 0.0.8 counts them.
#[derive(Debug)]
pub(super) struct Part {
    /// [`Kind::Noise`] for one that begins with a marker that has no place, and has no value.
    pub(super) kind: Kind,
    /// Where its value stands in the header's text, without its marker.
    pub(super) value: Range<usize>,
    /// Which of the header's words it takes up.
    words: Range<usize>,
}

impl Part {
    /// Whether nothing is glued to the value.
    pub(super) fn is_whole(&self) -> bool {
        self.words.len() == 1
    }

    pub(super) fn first<'a>(&self, words: &'a Words) -> &'a Word {
        &words.list()[self.words.start]
    }

    /// Whether anything is left of it at all. Without a value, it is but a marker.
    fn is_left(&mut self) -> bool {
        if self.kind == Kind::Plain && self.value.is_empty() && !self.is_whole() {
            self.kind = Kind::Noise;
        }
        self.kind != Kind::Plain || !self.value.is_empty()
    }
}

/// What a marker is that ordinary tokens spell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelled {
    /// Text like any other.
    Text,
    /// A marker that has no place where it stands.
    Misplaced,
}

/// The markers that 0.0.8 searches a header's text for.
const SEARCHED: [&str; 2] = [CHANNEL, CONSTRAIN];
const CHANNEL: &str = "<|channel|>";

/// Whether ordinary tokens of a header spell a marker that 0.0.8 searches for.
pub(super) fn spells_marker(words: &Words) -> bool {
    let plain = words.list().iter().filter(|word| word.kind == Kind::Plain);
    plain.map(|word| words.lossy(word.text.clone())).any(|text| until_spelled(&text) < text.len())
}

/// Where the first spelled marker begins, or the text ends.
fn until_spelled(text: &str) -> usize {
    SEARCHED.iter().filter_map(|marker| text.find(marker)).min().unwrap_or(text.len())
}

/// The channel, and the parts beside it.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) list: Vec<Part>,
    /// The value that counts; empty if `<|channel|>` stands alone.
    pub(super) channel: Option<Range<usize>>,
    /// Which of the header's words is its first channel, and where the value of that one ends.
    first_channel: Option<(usize, usize)>,
    /// Where the text ends that the next word is glued to, if it begins there.
    glue: Option<usize>,
}

impl Parts {
    /// Groups the words of a header.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidUtf8`].
    pub(super) fn group(words: &Words, spelled: Spelled) -> Result<Self> {
        let mut parts = Self::default();
        for (index, word) in words.list().iter().enumerate() {
            let text = utf8(words.bytes(word.text.clone()))?;
            match word.kind {
                Kind::Channel if parts.first_channel.is_none() => {
                    parts.take_channel(index, word, text);
                    continue;
                }
                Kind::Channel => {
                    parts.settle_channel(word, text);
                    parts.misplaced(index, word);
                }
                Kind::Noise => parts.misplaced(index, word),
                Kind::Plain if parts.is_glued(word) => parts.extend(index),
                Kind::Plain if spelled == Spelled::Misplaced => {
                    parts.until_spelled(index, word, text);
                }
                Kind::Plain | Kind::Constrain => parts.begin(word.kind, word.text.clone(), index),
            }
            parts.glue = Some(word.text.end);
        }
        parts.trim(words)?;
        Ok(parts)
    }

    fn is_glued(&self, word: &Word) -> bool {
        self.glue == Some(word.text.start)
    }

    fn begin(&mut self, kind: Kind, value: Range<usize>, index: usize) {
        self.list.push(Part { kind, value, words: index..index + 1 });
    }

    /// Adds a word to the part that it is glued to, which it leaves as it is.
    fn extend(&mut self, index: usize) {
        if let Some(part) = self.list.last_mut() {
            part.words.end = index + 1;
        }
    }

    /// A word up to the marker that it spells; none if it begins with one.
    fn until_spelled(&mut self, index: usize, word: &Word, text: &str) {
        let length = until_spelled(text);
        if length > 0 {
            self.begin(Kind::Plain, word.text.start..word.text.start + length, index);
        }
    }

    /// A marker that has no place here.
    fn misplaced(&mut self, index: usize, word: &Word) {
        if self.is_glued(word) {
            self.extend(index);
        } else {
            self.begin(Kind::Noise, word.text.start..word.text.start, index);
        }
    }

    /// The first channel. What stands behind its value touches the word before the marker.
    fn take_channel(&mut self, index: usize, word: &Word, text: &str) {
        let value = channel_value(text);
        let end = word.text.start + value.len();
        self.channel = Some(word.text.start..end);
        self.first_channel = Some((index, end));
        let behind = &text[value.len()..];
        let rest = behind.trim_start();
        if self.is_glued(word) {
            self.glue = Some(word.text.end);
            if !behind.is_empty() {
                self.extend(index);
            }
            return;
        }
        self.glue = None;
        let from = word.text.end - rest.len();
        if rest.len() < behind.len() && !rest.is_empty() {
            self.begin(Kind::Plain, from..word.text.end, index);
        } else if text.contains('<') {
            // 0.0.8 counts it as a word, even where it belongs to the channel.
            self.begin(Kind::Noise, from..from, index);
        } else {
            return;
        }
        self.glue = Some(word.text.end);
    }

    /// Of several channels the last known one counts, else the first that has a value.
    fn settle_channel(&mut self, word: &Word, text: &str) {
        let value = channel_value(text);
        if CHANNELS.contains(&value) || self.channel.as_ref().is_some_and(Range::is_empty) {
            self.channel = Some(word.text.start..word.text.start + value.len());
        }
    }

    /// 0.0.8 takes white space of all kinds off both ends of the header.
    fn trim(&mut self, words: &Words) -> Result<()> {
        while let Some(first) = self.list.first_mut().filter(|part| part.kind == Kind::Plain) {
            let text = utf8(words.bytes(first.value.clone()))?;
            let blank = text.len() - text.trim_start().len();
            first.value.start += blank;
            if first.is_left() {
                break;
            }
            self.list.remove(0);
        }
        while let Some(last) = self.list.last_mut().filter(|part| part.kind != Kind::Noise) {
            let text = utf8(words.bytes(last.value.clone()))?;
            let blank = text.len() - text.trim_end().len();
            last.value.end -= blank;
            if last.is_left() {
                break;
            }
            self.list.pop();
        }
        Ok(())
    }

    /// A part as an error shows it: all its words, with their markers.
    pub(super) fn shown(&self, words: &Words, part: &Part) -> Result<String> {
        let mut shown = String::new();
        if part.is_whole() && part.kind != Kind::Noise {
            if part.kind == Kind::Constrain {
                shown.push_str(CONSTRAIN);
            }
            shown.push_str(utf8(words.bytes(part.value.clone()))?);
            return Ok(shown);
        }
        for index in part.words.clone() {
            let word = &words.list()[index];
            let (marker, from) = match (word.kind, self.first_channel) {
                (Kind::Channel, Some((first, end))) if first == index => ("", end),
                (Kind::Channel, _) => (CHANNEL, word.text.start),
                (Kind::Constrain, _) => (CONSTRAIN, word.text.start),
                (Kind::Plain | Kind::Noise, _) => ("", word.text.start),
            };
            shown.push_str(marker);
            shown.push_str(utf8(words.bytes(from..word.text.end))?);
        }
        Ok(shown)
    }
}

/// The channel that the text behind `<|channel|>` begins with. It ends at white space of any
/// kind; at `<`, where 0.0.8 ends it, only behind a known one, so that `a<b` is a name.
pub(super) fn channel_value(text: &str) -> &str {
    let value = text.split(char::is_whitespace).next().unwrap_or_default();
    match value.split_once('<') {
        Some((known, _)) if CHANNELS.contains(&known) => known,
        _ => value,
    }
}

pub(super) fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes)
        .map_err(|error| ErrorKind::InvalidUtf8 { valid_up_to: error.valid_up_to() }.into())
}
