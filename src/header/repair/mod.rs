//! Reading a header that may be malformed, or that ends before its `<|message|>`.
//!
//! Words are read in order. Every field that can be recognised is kept, and every guess is reported.
//! Nothing is dropped. A header that the renderer wrote needs no repair. The table in
//! docs/parsing.md is the contract; each of its rows is implemented here or in `parse/lenient`.

mod author;
mod bare;
mod fields;
mod rules;
mod spelling;

use std::ops::Range;

use super::tools::Tools;
use super::words::{Offset, Word, WordKind, Words};
use crate::chat::{Author, CHANNELS, FINAL, Message, Role};
use crate::repair::RepairKind;
use crate::tokenizer::special;

use rules::{CHANNEL, Once, Rule};
use spelling::is_cut_marker;
pub(crate) use spelling::{
    begins_value, is_glued_channel, is_glued_role, is_nobody, names_no_tool,
};

/// How a header ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderEnd {
    /// With `<|message|>`: words that are not fields are noise.
    Message,
    /// With a stop token: words that are not fields are the message's content, as in all variants below.
    Stop(u32),
    /// With another `<|start|>`.
    Start,
    /// With the end of the tokens.
    Tokens,
    /// It has not ended, but is too long for a header.
    Open,
}

impl HeaderEnd {
    /// Whether the header lacks its `<|message|>`.
    pub(crate) fn is_cut(self) -> bool {
        self != Self::Message
    }

    /// The stop token that ended the header.
    pub(crate) fn stop_token(self) -> Option<u32> {
        match self {
            Self::Stop(token) => Some(token),
            _ => None,
        }
    }
}

/// What is known about a header before it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting<'a> {
    /// The author's role, if the caller gave it or the position implies it.
    pub(crate) given: Option<Role>,
    /// Whether a role in the header overrides the given one.
    pub(crate) named: bool,
    /// Whether this is text between messages, which may be no header at all.
    pub(crate) stray: bool,
    /// The tools that were offered.
    pub(crate) tools: &'a Tools,
    pub(crate) end: HeaderEnd,
}

/// What was read from a header.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Repaired {
    /// A message without content.
    pub(crate) header: Message,
    /// The repairs, each with the range of the header's tokens, in order.
    pub(crate) repairs: Vec<(RepairKind, Range<usize>)>,
    /// For a header without `<|message|>`, the bytes of the words that are not fields.
    pub(crate) content: Vec<u8>,
    /// The first token that belongs to the content, or the end of the header.
    pub(crate) content_from: usize,
    /// Whether the content has no header: its channel is a guess.
    pub(crate) headerless: bool,
}

impl Repaired {
    /// Whether there is nothing beyond the author.
    pub(crate) fn is_empty(&self) -> bool {
        let Message { channel, recipient, content_type, .. } = &self.header;
        let has_field = [channel, recipient, content_type].into_iter().any(Option::is_some);
        !has_field && self.content.is_empty()
    }
}

/// Reads a header and repairs what is malformed.
pub(crate) fn repair(words: &Words, setting: Setting<'_>) -> Repaired {
    let mut draft = Draft::new(words, setting);
    draft.read_author();
    let bare = draft.read_words();
    // After all fields with markers, which come first.
    draft.place(bare);
    // Runs after the repairs, one of which sets the recipient, and before the checks of it below.
    draft.drop_own_recipient();
    // Runs before the checks of the content below.
    draft.drop_cut_marker();
    // Checked before a channel is guessed, which would hide that there was no header.
    let headerless = draft.is_headerless();
    if headerless {
        draft.take_whole_text();
    }
    if draft.is_answer() {
        draft.settle(&CHANNEL, FINAL, &(0..0));
    }
    draft.into_repaired(headerless)
}

/// A header that is being read.
struct Draft<'a> {
    words: &'a Words,
    setting: Setting<'a>,
    /// The words that are still to be read.
    ahead: &'a [Word],
    fields: Fields,
    /// For a header without `<|message|>`, the ranges of its text that are content; fields lie between them.
    content: Vec<Range<Offset>>,
    repairs: Vec<(RepairKind, Range<usize>)>,
}

/// The fields that have been found.
struct Fields {
    author: Author,
    channel: Option<FieldValue>,
    recipient: Option<FieldValue>,
    content_type: Option<FieldValue>,
}

/// A field and its tokens; a repair reports these if another field replaces it.
struct FieldValue {
    value: String,
    tokens: Range<usize>,
}

/// Words.
impl<'a> Draft<'a> {
    fn new(words: &'a Words, setting: Setting<'a>) -> Self {
        let author = setting.given.unwrap_or(Role::Assistant).into();
        let fields = Fields { author, channel: None, recipient: None, content_type: None };
        let ahead = words.list();
        Self { words, setting, ahead, fields, content: Vec::new(), repairs: Vec::new() }
    }

    fn next(&mut self) -> Option<&'a Word> {
        let (word, ahead) = self.ahead.split_first()?;
        self.ahead = ahead;
        Some(word)
    }

    /// The next word, if it is plain.
    fn peek_plain(&self) -> Option<&'a Word> {
        self.ahead.first().filter(|word| word.kind == WordKind::Plain)
    }

    /// Reads all words. Returns those that no rule could read, and whether each follows the recipient.
    fn read_words(&mut self) -> Vec<(&'a Word, bool)> {
        let mut bare = Vec::new();
        while let Some(word) = self.next() {
            if !self.apply(self.rules(word.kind), word) {
                bare.push((word, self.fields.recipient.is_some()));
            }
        }
        bare
    }

    /// Whether one of the rules could read the word.
    fn apply(&mut self, rules: &[Rule<'a>], word: &Word) -> bool {
        let text = self.text(word);
        rules.iter().any(|rule| rule(self, word, &text))
    }

    fn text(&self, word: &Word) -> String {
        self.words.lossy(word.text.clone())
    }

    fn has_channel_marker(&self) -> bool {
        self.words.list().iter().any(|word| word.kind == WordKind::Channel)
    }
}

/// What is found.
impl Draft<'_> {
    fn report(&mut self, kind: RepairKind, tokens: &Range<usize>) {
        self.repairs.push((kind, tokens.clone()));
    }

    /// Adds a field. If the header already has it, a repair reports the one that does not count.
    fn settle(&mut self, field: &Once, value: impl Into<String>, tokens: &Range<usize>) {
        let next = FieldValue { value: value.into(), tokens: tokens.clone() };
        let slot = (field.slot)(&mut self.fields);
        let loser = match slot.take() {
            Some(first) if (field.first_counts)(&first.value, &next.value) => {
                *slot = Some(first);
                Some(next)
            }
            first => {
                *slot = Some(next);
                first
            }
        };
        if let Some(FieldValue { tokens, .. }) = loser {
            self.report(field.duplicate, &tokens);
        }
    }

    /// In a header without `<|message|>`, what follows the first `field` bytes of a word is content.
    fn keep_rest(&mut self, word: &Word, field: usize) {
        let start = self.words.offset_of(word, field);
        if self.setting.end.is_cut() && start < word.text.end {
            self.content.push(start..word.text.end);
        }
    }
}

/// What is decided when all words have been read.
impl Draft<'_> {
    /// In headers that it begins twice, the assistant writes `to=assistant` and means no recipient.
    fn drop_own_recipient(&mut self) {
        let is_own = |field: &&mut FieldValue| field.value == Role::Assistant.as_str();
        let doubled =
            self.repairs.iter_mut().find(|(kind, _)| *kind == RepairKind::DuplicateChannel);
        if self.fields.author.role == Role::Assistant
            && let Some(FieldValue { tokens, .. }) = self.fields.recipient.as_mut().filter(is_own)
            && let Some((_, doubled)) = doubled
        {
            *doubled = doubled.start.min(tokens.start)..doubled.end.max(tokens.end);
            self.fields.recipient = None;
        }
    }

    /// A marker cut off by the end of the tokens is not content.
    fn drop_cut_marker(&mut self) {
        if let [range] = &self.content[..]
            && self.setting.end == HeaderEnd::Tokens
            && is_cut_marker(&self.words.lossy(range.clone()))
        {
            let tokens = self.words.token_at(range.start)..self.words.token_at(self.words.end());
            self.report(RepairKind::HeaderNoise, &tokens);
            self.content.clear();
        }
    }

    /// Whether this is text of the assistant without any header.
    fn is_headerless(&self) -> bool {
        self.is_unplaced() && !self.has_channel_marker() && self.fields.content_type.is_none()
    }

    /// Whether this is text of the assistant without a channel and a recipient.
    fn is_unplaced(&self) -> bool {
        !self.content.is_empty()
            && self.fields.author.role == Role::Assistant
            && self.fields.channel.is_none()
            && self.fields.recipient.is_none()
    }

    /// A text without a header is content as a whole, including white space at its ends.
    fn take_whole_text(&mut self) {
        let first = self.words.list().first().map_or(Offset::ZERO, |word| word.text.start);
        let is_whole = |range: &&mut Range<Offset>| self.setting.stray && range.start == first;
        if let Some(range) = self.content.first_mut().filter(is_whole) {
            range.start = Offset::ZERO;
        }
        if let Some(range) = self.content.last_mut() {
            range.end = self.words.end();
        }
    }

    /// Whether this text of the assistant without a header is its answer: it is, unless `<|end|>` shows that more
    /// follows. Text that ends with `<|return|>` is, too. Between messages only a lost header explains a text.
    fn is_answer(&self) -> bool {
        let is_answer = match self.setting.end {
            HeaderEnd::Stop(special::RETURN) => true,
            HeaderEnd::Stop(special::END) if !self.setting.stray => false,
            _ => !self.has_channel_marker(),
        };
        self.is_unplaced() && is_answer
    }

    fn into_repaired(mut self, headerless: bool) -> Repaired {
        let end = self.words.token_at(self.words.end());
        let first = self.content.first();
        let content_from = first.map_or(end, |first| self.words.token_at(first.start));
        let content = self.content_bytes();
        self.repairs.sort_by_key(|(_, tokens)| tokens.start);
        let Fields { author, recipient, channel, content_type } = self.fields;
        let [recipient, channel, content_type] =
            [recipient, channel, content_type].map(|field| field.map(|field| field.value));
        let header = Message { author, recipient, content: Vec::new(), channel, content_type };
        Repaired { header, repairs: self.repairs, content, content_from, headerless }
    }

    /// The words that are not fields, with the white space between them. A field between two words
    /// is replaced by one space.
    fn content_bytes(&self) -> Vec<u8> {
        let mut content = Vec::new();
        let mut end = None;
        for range in &self.content {
            let gap = self.words.bytes(end.unwrap_or(range.start)..range.start);
            let is_space = gap.iter().all(u8::is_ascii_whitespace);
            content.extend_from_slice(if is_space { gap } else { b" " });
            content.extend_from_slice(self.words.bytes(range.clone()));
            end = Some(range.end);
        }
        if let Some(end) = end.filter(|_| self.setting.end == HeaderEnd::Open) {
            content.extend_from_slice(self.words.bytes(end..self.words.end()));
        }
        content
    }
}

fn is_channel(word: &str) -> bool {
    CHANNELS.contains(&word)
}
