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

use super::Header;
use super::tools::Tools;
use super::words::{Kind, Offset, Word, Words};
use crate::chat::{Author, CHANNELS, FINAL, Role};
use crate::repair::RepairKind;
use crate::tokenizer::special;

use rules::Rule;
use spelling::is_cut_marker;
pub(crate) use spelling::{NameRun, begins_value, is_glued_channel, is_nobody, names_no_tool};

/// How a header ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderEnd {
    /// With `<|message|>`: words that are not fields are noise.
    Message,
    /// With a stop token: words that are not fields are the message's content. The same holds for all
    /// the following.
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
    /// Whether this is text between messages, and only its words say whether it is a header.
    pub(crate) stray: bool,
    /// The tools that were offered.
    pub(crate) tools: &'a Tools,
}

/// What was read from a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repaired {
    pub(crate) header: Header,
    /// What was repaired, and in which of the header's tokens, in order.
    pub(crate) repairs: Vec<(RepairKind, Range<usize>)>,
    /// For a header without `<|message|>`, the bytes of the words that are not fields.
    pub(crate) content: Vec<u8>,
    /// The first token that belongs to the content, or the end of the header.
    pub(crate) content_from: usize,
    /// Whether there is anything beyond the author.
    pub(crate) says_something: bool,
    /// Whether the content has no header: its channel is a guess.
    pub(crate) headerless: bool,
}

/// Reads a header and repairs what is malformed.
pub(crate) fn repair(words: &Words, setting: Setting<'_>, ending: HeaderEnd) -> Repaired {
    let mut draft = Draft::new(words, setting, ending);
    draft.read_author();
    while let Some(word) = draft.next() {
        match word.kind {
            Kind::Channel => drop(draft.apply(&Draft::CHANNEL, &word)),
            Kind::Constrain => draft.read_constrained(&word),
            Kind::Noise => draft.read_noise(&word),
            Kind::Plain => drop(draft.apply(&Draft::PLAIN, &word)),
        }
    }
    draft.finish()
}

/// A field and its tokens, which a repair reports if another field replaces it.
#[derive(Debug, Clone)]
struct FoundField {
    value: String,
    tokens: Range<usize>,
}

/// The fields of a header that have been read so far.
struct Draft<'a> {
    words: &'a Words,
    setting: Setting<'a>,
    ending: HeaderEnd,
    at: usize,
    author: Author,
    channel: Option<FoundField>,
    recipient: Option<FoundField>,
    content_type: Option<FoundField>,
    /// For a header with `<|message|>`, the words that are not fields, and whether each follows the
    /// recipient.
    others: Vec<(Word, bool)>,
    /// For a header without, the ranges of its text that are content; fields lie between them.
    rest: Vec<Range<Offset>>,
    repairs: Vec<(RepairKind, Range<usize>)>,
}

impl<'a> Draft<'a> {
    fn new(words: &'a Words, setting: Setting<'a>, ending: HeaderEnd) -> Self {
        Self {
            words,
            setting,
            ending,
            at: 0,
            author: Role::Assistant.into(),
            channel: None,
            recipient: None,
            content_type: None,
            others: Vec::new(),
            rest: Vec::new(),
            repairs: Vec::new(),
        }
    }

    fn next(&mut self) -> Option<Word> {
        let word = self.words.list().get(self.at)?.clone();
        self.at += 1;
        Some(word)
    }

    /// Whether one of the rules could read the word.
    fn apply(&mut self, rules: &[Rule<'a>], word: &Word) -> bool {
        let text = self.text(word);
        rules.iter().any(|rule| rule(self, word, &text))
    }

    /// The next word, if it is plain.
    fn peek_plain(&self) -> Option<&'a Word> {
        self.words.list().get(self.at).filter(|word| word.kind == Kind::Plain)
    }

    fn text(&self, word: &Word) -> String {
        self.words.lossy(word.text.clone())
    }

    fn report(&mut self, kind: RepairKind, tokens: Range<usize>) {
        self.repairs.push((kind, tokens));
    }

    /// Whether the content of a header without `<|message|>` has begun.
    fn in_content(&self) -> bool {
        !self.rest.is_empty()
    }

    /// In a header without `<|message|>`, what follows the first `field` bytes of a word is content.
    fn keep_rest(&mut self, word: &Word, field: usize) {
        let start = self.words.offset_of(word, field);
        if self.ending.is_cut() && start < word.text.end {
            self.rest.push(start..word.text.end);
        }
    }

    fn finish(mut self) -> Repaired {
        self.place_others();
        self.settle_assistant_recipient();
        self.drop_cut_marker();
        let headerless = self.is_headerless();
        if headerless {
            self.take_whole_text();
        }
        self.choose_channel();
        let end = self.words.token_at(self.words.end());
        let content_from = self.rest.first().map_or(end, |first| self.words.token_at(first.start));
        let content = self.content();
        self.repairs.sort_by_key(|(_, tokens)| tokens.start);
        let says_something = self.channel.is_some()
            || self.recipient.is_some()
            || self.content_type.is_some()
            || !content.is_empty();
        let Self { author, recipient, channel, content_type, repairs, .. } = self;
        let value = |field: Option<FoundField>| field.map(|field| field.value);
        let header = Header {
            author,
            recipient: value(recipient),
            channel: value(channel),
            content_type: value(content_type),
        };
        Repaired { header, repairs, content, content_from, says_something, headerless }
    }

    /// A marker that the end of the tokens cut off is not content.
    fn drop_cut_marker(&mut self) {
        if let [range] = &self.rest[..]
            && self.ending == HeaderEnd::Tokens
            && is_cut_marker(&self.words.lossy(range.clone()))
        {
            let tokens = self.words.token_at(range.start)..self.words.token_at(self.words.end());
            self.report(RepairKind::HeaderNoise, tokens);
            self.rest.clear();
        }
    }

    /// Whether this is text of the assistant without any header.
    fn is_headerless(&self) -> bool {
        self.is_unplaced() && !self.has_channel_marker() && self.content_type.is_none()
    }

    /// Whether this is text of the assistant without a channel and a recipient.
    fn is_unplaced(&self) -> bool {
        self.in_content()
            && self.author.role == Role::Assistant
            && self.channel.is_none()
            && self.recipient.is_none()
    }

    fn has_channel_marker(&self) -> bool {
        self.words.list().iter().any(|word| word.kind == Kind::Channel)
    }

    /// All of a text without a header is content, including white space at its ends.
    fn take_whole_text(&mut self) {
        let first = self.words.list().first().map_or(Offset::ZERO, |word| word.text.start);
        let is_whole = |range: &&mut Range<Offset>| self.setting.stray && range.start == first;
        if let Some(range) = self.rest.first_mut().filter(is_whole) {
            range.start = Offset::ZERO;
        }
        if let Some(range) = self.rest.last_mut() {
            range.end = self.words.end();
        }
    }

    /// Text of the assistant without a header is its answer, unless `<|end|>` says that more follows, and so is text
    /// that ends with `<|return|>`. Between messages only a lost header explains a text.
    fn choose_channel(&mut self) {
        let is_answer = match self.ending {
            HeaderEnd::Stop(special::RETURN) => true,
            HeaderEnd::Stop(special::END) if !self.setting.stray => false,
            _ => !self.has_channel_marker(),
        };
        if self.is_unplaced() && is_answer {
            self.channel = Some(FoundField { value: FINAL.to_owned(), tokens: 0..0 });
        }
    }

    /// The words that are not fields, with the white space between them. A field between two words
    /// is replaced by one space.
    fn content(&self) -> Vec<u8> {
        let mut content = Vec::new();
        let mut end = None;
        for range in &self.rest {
            let gap = end.map_or(range.start..range.start, |end| end..range.start);
            let gap = self.words.bytes(gap);
            if gap.iter().all(u8::is_ascii_whitespace) {
                content.extend_from_slice(gap);
            } else {
                content.push(b' ');
            }
            content.extend_from_slice(self.words.bytes(range.clone()));
            end = Some(range.end);
        }
        if let Some(end) = end.filter(|_| self.ending == HeaderEnd::Open) {
            content.extend_from_slice(self.words.bytes(end..self.words.end()));
        }
        content
    }
}

fn is_channel(word: &str) -> bool {
    CHANNELS.contains(&word)
}
