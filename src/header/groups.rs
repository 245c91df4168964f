//! A header's words as 0.0.8 counts them.
//!
//! 0.0.8 reads a header as decoded text, in three steps:
//!
//! 1. The first `<|channel|>` is taken out with its value, which ends at white space or `<`; what stands on both sides
//!    of them is joined.
//! 2. Before each `<|constrain|>` comes a space.
//! 3. The rest is trimmed, of white space of all kinds, and split at that of ASCII.
//!
//! Any other marker is part of the word that it touches. Strict parsing may refuse only what 0.0.8 refused, so these
//! steps are imitated to count words, and for nothing else: a group is such a word, but its value ends before the
//! first misplaced marker in it, and what a group means is decided in `read`. 0.0.8 finds markers in the text,
//! so it finds those that ordinary tokens spell as well; only if a header cannot be read otherwise, so does this.

use std::ops::Range;

use super::words::{Kind, Offset, Words};
use super::{CONSTRAIN, TO};
use crate::chat::CHANNELS;
use crate::error::{ErrorKind, Result};

/// A word as 0.0.8 counts words.
#[derive(Debug)]
pub(super) struct Group<'t> {
    /// [`Kind::Noise`] if it has no value, [`Kind::Constrain`] if it begins with that marker, else [`Kind::Plain`].
    pub(super) kind: Kind,
    /// Its text without its marker, up to a misplaced one.
    pub(super) value: &'t str,
    /// All of it, as an error shows it.
    pub(super) text: &'t str,
    /// Where it stands in the header's text.
    range: Range<usize>,
}

impl<'t> Group<'t> {
    fn trim(&mut self, trim: impl FnOnce(&'t str) -> &'t str) {
        self.value = trim(self.value);
        if self.value.is_empty() && self.kind == Kind::Plain {
            self.kind = Kind::Noise;
        }
    }
}

/// How to read a marker that ordinary tokens spell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelled {
    /// As ordinary text.
    Text,
    /// As a misplaced marker.
    Misplaced,
}

/// The markers that 0.0.8 searches a header's text for.
const SEARCHED: [&str; 2] = [CHANNEL, CONSTRAIN];
const CHANNEL: &str = "<|channel|>";

/// Whether ordinary tokens of a header spell a marker that 0.0.8 searches for.
pub(super) fn spells_marker(words: &Words) -> bool {
    let is_marked = |text: &str| until_spelled(text) < text.len();
    words.list().iter().any(|word| is_marked(&words.lossy(word.text.clone())))
}

/// Where the first spelled marker begins, or the text ends.
pub(super) fn until_spelled(text: &str) -> usize {
    SEARCHED.iter().filter_map(|marker| text.find(marker)).min().unwrap_or(text.len())
}

/// A header's text before the third step.
#[derive(Debug, Default)]
pub(super) struct HeaderText<'a> {
    text: String,
    /// Where values end: before misplaced markers, and where the channel was taken out.
    cuts: Vec<usize>,
    /// Where the tokens `<|constrain|>` stand.
    constrained: Vec<usize>,
    /// The channel that counts; empty if `<|channel|>` has no value.
    pub(super) channel: Option<&'a str>,
    /// What followed the channel that was taken out, in its word; and what of that is a value.
    behind_channel: Option<(Range<usize>, &'a str)>,
}

impl<'a> HeaderText<'a> {
    /// The text of a header's words.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidUtf8`].
    pub(super) fn of(words: &'a Words, spelled: Spelled) -> Result<Self> {
        let mut header = Self::default();
        let mut end = Offset::ZERO;
        for word in words.list() {
            header.text.push_str(utf8(words.bytes(end..word.text.start))?);
            end = word.text.end;
            let text = utf8(words.bytes(word.text.clone()))?;
            match word.kind {
                Kind::Channel if header.behind_channel.is_none() => {
                    let value = channel_value(text);
                    header.channel = Some(value);
                    let cut = text.find(ends_channel).unwrap_or(text.len());
                    header.take_channel(&text[cut..], &text[value.len()..]);
                    header.push(&text[cut..], spelled);
                    continue;
                }
                Kind::Channel => {
                    header.settle_channel(channel_value(text));
                    header.misplaced(CHANNEL);
                }
                Kind::Constrain => {
                    header.text.push(' ');
                    header.constrained.push(header.text.len());
                    header.text.push_str(CONSTRAIN);
                }
                Kind::Noise => header.misplaced(""),
                Kind::Plain => {}
            }
            header.push(text, spelled);
        }
        Ok(header)
    }

    /// The channel is taken out here: in 0.0.8 `behind` followed its value, otherwise `behind_value`.
    fn take_channel(&mut self, behind: &str, behind_value: &'a str) {
        let at = self.text.len();
        self.cuts.push(at);
        let value = behind_value.trim_start();
        let value = if value.len() < behind_value.len() { value } else { "" };
        self.behind_channel = Some((at..at + behind.len(), &value[..until_spelled(value)]));
    }

    /// Of several channels the last known one counts, otherwise the first that has a value.
    fn settle_channel(&mut self, value: &'a str) {
        let is_first = self.channel.is_none_or(str::is_empty) && !value.is_empty();
        if CHANNELS.contains(&value) || is_first {
            self.channel = Some(value);
        }
    }

    fn misplaced(&mut self, marker: &str) {
        self.cuts.push(self.text.len());
        self.text.push_str(marker);
    }

    /// Adds text of ordinary tokens.
    fn push(&mut self, mut text: &'a str, spelled: Spelled) {
        if spelled == Spelled::Text {
            return self.text.push_str(text);
        }
        loop {
            let (before, marked) = text.split_at(until_spelled(text));
            self.text.push_str(before);
            if let Some(behind) = marked.strip_prefix(CONSTRAIN) {
                self.text.push(' ');
                self.misplaced(CONSTRAIN);
                text = behind;
                continue;
            }
            let Some(behind) = marked.strip_prefix(CHANNEL) else { return };
            let end = behind.find(ends_channel).unwrap_or(behind.len());
            if end > 0 && self.behind_channel.is_none() {
                text = &behind[end..];
                self.take_channel(text, text);
            } else {
                self.misplaced(CHANNEL);
                text = behind;
            }
        }
    }

    /// The words.
    pub(super) fn groups(&self) -> Vec<Group<'_>> {
        let trimmed = self.text.trim_start();
        let mut start = self.text.len() - trimmed.len();
        let mut groups = Vec::new();
        for text in trimmed.trim_end().split(|char: char| char.is_ascii_whitespace()) {
            if !text.is_empty() {
                groups.push(self.group(start..start + text.len()));
            }
            start += text.len() + 1;
        }
        // Misplaced markers at the ends keep white space before or behind them from being trimmed.
        let is_word = |group: &&mut Group<'_>| group.kind != Kind::Noise;
        if let Some(first) =
            groups.iter_mut().find(is_word).filter(|first| first.kind == Kind::Plain)
        {
            first.trim(str::trim_start);
        }
        if let Some(last) = groups.iter_mut().rfind(is_word) {
            last.trim(str::trim_end);
        }
        groups
    }

    fn group(&self, range: Range<usize>) -> Group<'_> {
        let text = &self.text[range.clone()];
        let is_constrained = self.constrained.contains(&range.start);
        let from = range.start + if is_constrained { CONSTRAIN.len() } else { 0 };
        let cut = self.cuts.iter().find(|cut| (from..range.end).contains(cut));
        let value = match &self.behind_channel {
            Some((behind, value)) if behind.contains(&range.start) => value,
            _ => &self.text[from..*cut.unwrap_or(&range.end)],
        };
        let kind = match value {
            _ if is_constrained => Kind::Constrain,
            "" => Kind::Noise,
            _ => Kind::Plain,
        };
        Group { kind, value, text: if cut.is_some() { text.trim() } else { text }, range }
    }

    /// A content type whose value stands behind its marker and white space, as in the guide's `<|constrain|> json`:
    /// the white space belongs to it, so that it reads back as it was written.
    pub(super) fn spaced_type(&self, marker: &Group<'_>, word: &Group<'_>) -> Option<&str> {
        let mut between = marker.range.end..=word.range.start;
        let is_pair = marker.kind == Kind::Constrain
            && marker.text == CONSTRAIN
            && word.kind == Kind::Plain
            && !word.value.starts_with(TO)
            && between.all(|at| !self.cuts.contains(&at))
            && self.text[marker.range.end..word.range.start].trim_ascii().is_empty();
        is_pair.then(|| &self.text[marker.range.start..word.range.start + word.value.len()])
    }
}

/// The channel at the beginning of the text after `<|channel|>`. It ends at white space of any kind.
/// At `<`, where 0.0.8 ends it, it ends only after a known channel, so that `a<b` is a name.
pub(super) fn channel_value(text: &str) -> &str {
    let value = text.split(char::is_whitespace).next().unwrap_or_default();
    match value.split_once('<') {
        Some((known, _)) if CHANNELS.contains(&known) => known,
        _ => value,
    }
}

/// Whether 0.0.8 ends a channel here.
fn ends_channel(char: char) -> bool {
    char == '<' || char.is_whitespace()
}

fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes)
        .map_err(|error| ErrorKind::InvalidUtf8 { valid_up_to: error.valid_up_to() }.into())
}
