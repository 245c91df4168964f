//! A header's words, grouped as 0.0.8 groups them.
//!
//! 0.0.8 reads a header as decoded text, in three steps:
//!
//! 1. The first `<|channel|>` is taken out with its value, which ends at white space or `<`; the text on both sides
//!    of them is joined.
//! 2. Before each `<|constrain|>` comes a space.
//! 3. The rest is trimmed, of white space of all kinds, and split at that of ASCII.
//!
//! Any other marker is part of the word that it touches. Strict parsing may refuse only what 0.0.8 refused, so these
//! steps are imitated, but only to count words: a group is such a word, but its value is what comes before the first
//! misplaced marker in it, and what a group means is decided in `read`. 0.0.8 finds markers in the text, so it finds
//! those that ordinary tokens spell as well; only if a header cannot be read otherwise, so does this.
//!
//! The steps are taken on words, not on a text put together for them, which made strict parsing a quarter slower.

use std::ops::Range;

use super::CONSTRAIN;
use super::words::{Offset, Word, WordKind, Words};
use crate::chat::CHANNELS;
use crate::error::{ErrorKind, Result};

/// A word as 0.0.8 counts words.
#[derive(Debug)]
pub(super) struct Group<'a> {
    /// [`WordKind::Noise`] if it begins with a misplaced marker, and so has no value.
    pub(super) kind: WordKind,
    /// Its text without its marker.
    pub(super) value: &'a str,
    /// The header's words that it consists of.
    words: Range<usize>,
}

impl Group<'_> {
    /// Whether it is a single word with nothing glued to its value.
    pub(super) fn is_whole(&self) -> bool {
        self.words.len() == 1
    }

    /// Whether this group is directly after another one that is a single word.
    pub(super) fn follows(&self, other: &Self) -> bool {
        other.is_whole() && other.words.end == self.words.start
    }

    /// Its first word.
    pub(super) fn first<'a>(&self, words: &'a Words) -> &'a Word {
        &words.list()[self.words.start]
    }

    /// Whether anything is left of it: a value, or at least a glued marker.
    fn is_left(&mut self) -> bool {
        if self.kind != WordKind::Plain || !self.value.is_empty() {
            return true;
        }
        self.kind = WordKind::Noise;
        !self.is_whole()
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
    ordinary(words).any(|(_, text)| until_spelled(&text) < text.len())
}

/// Whether 0.0.8 takes a spelled `<|channel|>` for the header's first, and finds a value after it.
fn spells_first_channel(words: &Words) -> bool {
    let before = ordinary(words).take_while(|(kind, _)| *kind != WordKind::Channel);
    let mut after = before.filter_map(|(_, text)| Some(text.split_once(CHANNEL)?.1.to_owned()));
    let has_value = |text: String| !text.is_empty() && !text.starts_with(ends_channel);
    after.next().is_some_and(has_value)
}

/// The text after a spelled `<|channel|>`, its value and white space that ends no word, up to the next spelled marker.
fn after_channel(text: &str) -> &str {
    let after = text.split_once(CHANNEL).and_then(|(_, after)| {
        let (end, char) = after.char_indices().find(|(_, char)| ends_channel(*char))?;
        char.is_whitespace().then(|| after[end..].trim_start())
    });
    after.map_or("", |after| &after[..until_spelled(after)])
}

/// Whether 0.0.8 counts several words where markers are spelled in one.
fn is_several(text: &str) -> bool {
    let (before, after) = text.split_once(CHANNEL).unwrap_or((text, ""));
    let after = after.find(ends_channel).map_or("", |end| &after[end..]);
    let split = [before, after].concat().replace(CONSTRAIN, &[" ", CONSTRAIN].concat());
    split.trim().split_ascii_whitespace().nth(1).is_some()
}

/// The text of ordinary tokens in each word.
fn ordinary(words: &Words) -> impl Iterator<Item = (WordKind, String)> {
    let list = words.list().iter().filter(|word| word.kind != WordKind::Noise);
    list.map(|word| (word.kind, words.lossy(word.text.clone())))
}

/// Where the first spelled marker begins, or the text ends.
pub(super) fn until_spelled(text: &str) -> usize {
    SEARCHED.iter().filter_map(|marker| text.find(marker)).min().unwrap_or(text.len())
}

/// The channel, and the groups around it.
#[derive(Debug, Default)]
pub(super) struct Groups<'a> {
    pub(super) list: Vec<Group<'a>>,
    /// The value that counts; empty if `<|channel|>` has no value.
    pub(super) channel: Option<&'a str>,
    /// The index of the header's first channel among its words, and what follows its value in 0.0.8.
    first_channel: Option<(usize, &'a str)>,
    /// The end of the last group's text. The next word is glued to it if it begins there.
    glue: Option<Offset>,
}

impl<'a> Groups<'a> {
    /// Groups the words of a header.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidUtf8`].
    pub(super) fn of(words: &'a Words, spelled: Spelled) -> Result<Self> {
        let mut groups = Self::default();
        let is_first_spelled = spelled == Spelled::Misplaced && spells_first_channel(words);
        for (index, word) in words.list().iter().enumerate() {
            let text = utf8(words.bytes(word.text.clone()))?;
            match word.kind {
                WordKind::Channel if groups.first_channel.is_none() && !is_first_spelled => {
                    groups.take_channel(index, word, text);
                    continue;
                }
                WordKind::Channel => {
                    groups.settle_channel(text);
                    groups.misplaced(index, word);
                }
                WordKind::Noise => groups.misplaced(index, word),
                WordKind::Plain if groups.is_glued(word) => groups.extend(index),
                WordKind::Plain if spelled == Spelled::Misplaced => {
                    if !groups.begin_spelled(text, index) {
                        continue;
                    }
                }
                WordKind::Plain | WordKind::Constrain => groups.begin(word.kind, text, index),
            }
            groups.glue = Some(word.text.end);
        }
        if is_first_spelled {
            // 0.0.8 does not see the others as channels, so they may be empty.
            groups.channel = groups.channel.filter(|value| !value.is_empty());
        }
        groups.trim();
        Ok(groups)
    }

    fn is_glued(&self, word: &Word) -> bool {
        self.glue == Some(word.text.start)
    }

    fn begin(&mut self, kind: WordKind, value: &'a str, index: usize) {
        self.list.push(Group { kind, value, words: index..index + 1 });
    }

    /// A word up to the marker that it spells; `false` if nothing is left of it.
    fn begin_spelled(&mut self, text: &'a str, index: usize) -> bool {
        let before = &text[..until_spelled(text)];
        let value = if before.trim_start().is_empty() { after_channel(text) } else { before };
        if !value.is_empty() {
            self.begin(WordKind::Plain, value, index);
        } else if is_several(text) {
            self.begin(WordKind::Noise, "", index);
        } else {
            return false;
        }
        true
    }

    /// Adds a word to the group that it is glued to, without a change of its value.
    fn extend(&mut self, index: usize) {
        if let Some(group) = self.list.last_mut() {
            group.words.end = index + 1;
        }
    }

    /// A misplaced marker.
    fn misplaced(&mut self, index: usize, word: &Word) {
        if self.is_glued(word) {
            self.extend(index);
        } else {
            self.begin(WordKind::Noise, "", index);
        }
    }

    /// The first channel. 0.0.8 joins what follows its value to the word before the marker.
    fn take_channel(&mut self, index: usize, word: &Word, text: &'a str) {
        let value = channel_value(text);
        let after = &text[value.len()..];
        self.channel = Some(value);
        self.first_channel = Some((index, text.find(ends_channel).map_or("", |end| &text[end..])));
        if self.is_glued(word) && !self.is_blank() {
            self.glue = Some(word.text.end);
            let is_space = |group: &Group<'_>| group.value.trim_start().is_empty();
            // What 0.0.8 takes for a word counts as one, even if it belongs to the channel.
            let is_word = text.contains('<') && self.list.last().is_some_and(is_space);
            if is_word || !after.trim_start().is_empty() {
                self.extend(index);
            }
            return;
        }
        self.glue = None;
        let rest = after.trim_start();
        if rest.len() < after.len() && !rest.is_empty() {
            self.begin(WordKind::Plain, rest, index);
        } else if text.contains('<') {
            // 0.0.8 counts it as a word, even if it belongs to the channel.
            self.begin(WordKind::Noise, "", index);
        } else {
            return;
        }
        self.glue = Some(word.text.end);
    }

    /// Whether there is only white space so far, which is removed.
    fn is_blank(&self) -> bool {
        let is_blank = |group: &Group<'_>| {
            group.kind == WordKind::Plain && group.value.trim_start().is_empty()
        };
        self.list.iter().all(is_blank)
    }

    /// Of several channels the last known one counts, otherwise the first that has a value.
    fn settle_channel(&mut self, text: &'a str) {
        let value = channel_value(text);
        if CHANNELS.contains(&value) || self.channel.is_none_or(str::is_empty) {
            self.channel = Some(value);
        }
    }

    /// 0.0.8 removes white space of all kinds from both ends of the header.
    fn trim(&mut self) {
        let is_word = |group: &Group<'_>| group.kind != WordKind::Noise;
        while let Some(at) = self.list.iter().position(is_word) {
            let first = &mut self.list[at];
            if first.kind == WordKind::Plain {
                first.value = first.value.trim_start();
            }
            if first.is_left() {
                break;
            }
            self.list.remove(at);
        }
        while let Some(at) = self.list.iter().rposition(is_word) {
            let last = &mut self.list[at];
            last.value = last.value.trim_end();
            if last.is_left() {
                break;
            }
            self.list.remove(at);
        }
    }

    /// A group as shown in errors: all its words, with their markers.
    pub(super) fn shown(&self, words: &Words, group: &Group<'_>) -> String {
        if group.is_whole() && group.kind != WordKind::Noise {
            let marker = if group.kind == WordKind::Constrain { CONSTRAIN } else { "" };
            return [marker, group.value].concat();
        }
        let mut shown = String::new();
        for index in group.words.clone() {
            let word = &words.list()[index];
            match (word.kind, self.first_channel) {
                (WordKind::Channel, Some((first, after))) if first == index => {
                    shown.push_str(after);
                    continue;
                }
                (WordKind::Channel, _) => shown.push_str(CHANNEL),
                (WordKind::Constrain, _) => shown.push_str(CONSTRAIN),
                (WordKind::Plain | WordKind::Noise, _) => {}
            }
            shown.push_str(&words.lossy(word.text.clone()));
        }
        shown.trim().to_owned()
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

pub(super) fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes)
        .map_err(|error| ErrorKind::InvalidUtf8 { valid_up_to: error.valid_up_to() }.into())
}
