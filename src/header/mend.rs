//! Reading a header that strict reading refuses, or that its message's end cut short.
//!
//! Damage is taken away until fields and other words are told apart. Every field that can be
//! told is kept, and what cannot be told is reported, never dropped. The table of docs/parsing.md
//! is the contract; each of its rows has its place here or in `parse/recover.rs`.

use std::ops::Range;

use super::read::{author_of, is_spaced_pair, names_a_tool, read};
use super::words::{Kind, Word, Words};
use super::{CONSTRAIN, Header, TO};
use crate::chat::{Author, CHANNELS, Role};
use crate::repair::RepairKind;

/// How a header came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By `<|message|>`: words that are no fields are noise.
    Message,
    /// By anything else: words that are no fields are the message's content.
    Cut,
}

/// What could be made of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mended {
    pub(crate) header: Header,
    /// What was mended, by the header's tokens that it concerns, in their order.
    pub(crate) repairs: Vec<(RepairKind, Range<usize>)>,
    /// Of a header cut short, the words that are no fields.
    pub(crate) content: String,
    /// The first token that belongs to the content, or the end of the header.
    pub(crate) content_from: usize,
    /// Whether anything was read beyond the author.
    pub(crate) says_something: bool,
}

/// Makes the best of a header. `given` and `named` are as for [`read`].
pub(crate) fn mend(words: &Words, given: Option<Role>, named: bool, ending: Ending) -> Mended {
    if ending == Ending::Message
        && !words.list().iter().any(|word| is_damaged(words, word))
        && let Ok(header) = read(words, given, named)
    {
        let repairs = Vec::new();
        let content_from = words.token_at(words.len());
        return Mended {
            header,
            repairs,
            content: String::new(),
            content_from,
            says_something: true,
        };
    }
    let mut draft = Draft::new(words, ending);
    draft.read_author(given, named);
    while let Some(word) = draft.next() {
        match word.kind {
            Kind::Channel => draft.read_channel(&word),
            Kind::Constrain => draft.read_constrained(&word),
            Kind::Noise => draft.read_noise(&word),
            Kind::Plain => draft.read_plain(&word),
        }
    }
    draft.finish()
}

/// Damage that strict reading lets through, since it has a reading of its own for it.
fn is_damaged(words: &Words, word: &Word) -> bool {
    let text = words.bytes(word.text.clone());
    match word.kind {
        Kind::Channel => glued(&String::from_utf8_lossy(text)).is_some(),
        Kind::Plain => text == TO.as_bytes(),
        Kind::Constrain | Kind::Noise => false,
    }
}

/// The known channel that a word begins with, if something else is glued to it.
fn glued(word: &str) -> Option<&'static str> {
    CHANNELS.into_iter().find(|channel| {
        word.strip_prefix(channel).is_some_and(|rest| {
            rest.chars().next().is_some_and(|c| !c.is_alphanumeric() && c != '-')
                || CHANNELS.iter().any(|next| rest.starts_with(next))
        })
    })
}

/// A field and its tokens, which a repair tells of if another takes its place.
struct Field {
    value: String,
    tokens: Range<usize>,
}

/// The fields of a header as far as they have been told.
struct Draft<'a> {
    words: &'a Words,
    ending: Ending,
    at: usize,
    author: Author,
    channel: Option<Field>,
    recipient: Option<Field>,
    content_type: Option<String>,
    /// Words that are no fields.
    others: Vec<Word>,
    /// Stretches of the text that are content or noise; fields lie between them.
    rest: Vec<Range<usize>>,
    repairs: Vec<(RepairKind, Range<usize>)>,
}

impl<'a> Draft<'a> {
    fn new(words: &'a Words, ending: Ending) -> Self {
        Self {
            words,
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

    /// The next word's text, if it is plain.
    fn peek_plain(&self) -> Option<String> {
        let word = self.words.list().get(self.at).filter(|word| word.kind == Kind::Plain)?;
        Some(self.text(word))
    }

    fn text(&self, word: &Word) -> String {
        self.words.lossy(word.text.clone())
    }

    fn report(&mut self, kind: RepairKind, tokens: Range<usize>) {
        self.repairs.push((kind, tokens));
    }

    /// Whether the content of a header that was cut short has begun.
    fn in_content(&self) -> bool {
        self.ending == Ending::Cut && !self.rest.is_empty()
    }

    fn read_author(&mut self, given: Option<Role>, named: bool) {
        let first = self.peek_plain().unwrap_or_default();
        let written = author_of(&first);
        match (given, written) {
            (None, Some(author)) => self.take_author(author),
            (Some(_), Some(author)) if named => self.take_author(author),
            (Some(role), _) if first == role.as_str() => self.take_author(role.into()),
            (Some(role), _) => self.author = role.into(),
            (None, None) => self.guess_author(&first),
        }
    }

    fn take_author(&mut self, author: Author) {
        self.author = author;
        self.at += 1;
    }

    /// A first word that is no role: a role glued to its channel, a tool's name, or content.
    fn guess_author(&mut self, first: &str) {
        let Some(word) = self.words.list().first().cloned() else { return };
        let tokens = word.tokens.clone();
        let channel = first.strip_prefix(Role::Assistant.as_str());
        if let Some(channel) = channel.filter(|rest| CHANNELS.contains(rest)) {
            self.report(RepairKind::GluedChannel, tokens.clone());
            self.channel = Some(Field { value: channel.to_owned(), tokens });
            return self.take_author(Role::Assistant.into());
        }
        let rest = &self.words.list()[1..];
        let has_marker = rest.iter().any(|next| next.kind == Kind::Channel)
            || rest.iter().any(|next| self.text(next).starts_with(TO));
        let is_tool = names_a_tool(first) || has_marker;
        let is_content = self.ending == Ending::Cut && !is_tool && !rest.is_empty();
        if first.is_empty() || is_content {
            return self.report(RepairKind::MissingRole, tokens);
        }
        if self.ending == Ending::Message && !is_tool && rest.is_empty() {
            self.report(RepairKind::UnknownRole, tokens);
        }
        self.take_author(Author::new(Role::Tool, first));
    }

    fn read_channel(&mut self, word: &Word) {
        let mut tokens = word.tokens.clone();
        let mut text = self.text(word);
        if text.is_empty() {
            let Some(spaced) = self.peek_plain().filter(|next| CHANNELS.contains(&&next[..]))
            else {
                return self.report(RepairKind::EmptyChannel, tokens);
            };
            tokens.end = self.words.list()[self.at].tokens.end;
            self.at += 1;
            self.report(RepairKind::HeaderOrder, tokens.clone());
            text = spaced;
        }
        if let Some(channel) = glued(&text) {
            self.report(RepairKind::GluedChannel, tokens.clone());
            self.keep_rest(word, channel.len());
            channel.clone_into(&mut text);
        }
        self.settle_channel(Field { value: text, tokens });
    }

    /// Of several channels the last known one counts.
    fn settle_channel(&mut self, next: Field) {
        let is_known = |field: &Field| CHANNELS.contains(&&field.value[..]);
        let loser = match self.channel.take() {
            Some(first) if is_known(&first) && !is_known(&next) => {
                self.channel = Some(first);
                Some(next)
            }
            first => {
                self.channel = Some(next);
                first
            }
        };
        if let Some(Field { tokens, .. }) = loser {
            self.report(RepairKind::DuplicateChannel, tokens);
        }
    }

    /// Of a header cut short, what is glued to a field belongs to the content.
    fn keep_rest(&mut self, word: &Word, field: usize) {
        if self.ending == Ending::Cut && word.text.start + field < word.text.end {
            self.rest.push(word.text.start + field..word.text.end);
        }
    }

    /// The type is directly behind its marker, or behind white space. Of a header that was cut
    /// short, it ends where the content is glued to it.
    fn read_constrained(&mut self, word: &Word) {
        let mut holder = word.clone();
        if let Some(next) = self.words.list().get(self.at)
            && is_spaced_pair(self.words, word, next)
            && self.type_length(next) > 0
        {
            holder = next.clone();
            self.at += 1;
        }
        let length = self.type_length(&holder);
        let text = word.text.start..holder.text.start + length;
        let value = format!("{CONSTRAIN}{}", self.words.lossy(text));
        self.keep_rest(&holder, length);
        if self.content_type.is_none() {
            self.content_type = Some(value);
        } else {
            self.report(RepairKind::HeaderNoise, word.tokens.start..holder.tokens.end);
        }
    }

    /// How many bytes of a word belong to the content type: `json` of `json{"a":1}`.
    fn type_length(&self, word: &Word) -> usize {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_+./".contains(byte);
        let text = self.words.bytes(word.text.clone());
        match self.ending {
            Ending::Message => text.len(),
            Ending::Cut => text.iter().take_while(|byte| is_part(byte)).count(),
        }
    }

    fn read_noise(&mut self, word: &Word) {
        let is_unknown = self.text(word) == "\u{FFFD}";
        let kind = if is_unknown { RepairKind::UnknownToken } else { RepairKind::HeaderNoise };
        if self.in_content() {
            self.rest.push(word.text.clone());
            if !is_unknown {
                return;
            }
        }
        self.report(kind, word.tokens.clone());
    }

    fn read_plain(&mut self, word: &Word) {
        let text = self.text(word);
        match text.strip_prefix(TO) {
            Some(name) if !self.in_content() => self.read_recipient(word, name),
            _ => self.read_other(word),
        }
    }

    fn read_recipient(&mut self, word: &Word, name: &str) {
        let mut tokens = word.tokens.clone();
        let mut name = name.to_owned();
        let mut out_of_order = self.content_type.is_some();
        if name.is_empty() {
            let Some(spaced) = self.peek_plain() else {
                return self.report(RepairKind::HeaderNoise, tokens);
            };
            tokens.end = self.words.list()[self.at].tokens.end;
            self.at += 1;
            out_of_order = true;
            name = spaced;
        }
        if out_of_order {
            self.report(RepairKind::HeaderOrder, tokens.clone());
        }
        self.settle_recipient(Field { value: name, tokens });
    }

    /// Of several recipients the first that is not `assistant` counts.
    fn settle_recipient(&mut self, next: Field) {
        let loser = match self.recipient.take() {
            Some(first) if first.value != Role::Assistant.as_str() => {
                self.recipient = Some(first);
                Some(next)
            }
            first => {
                self.recipient = Some(next);
                first
            }
        };
        if let Some(Field { tokens, .. }) = loser {
            self.report(RepairKind::DuplicateRecipient, tokens);
        }
    }

    /// A word that is no field. A single one behind the recipient is the content type, as in
    /// the strict grammar.
    fn read_other(&mut self, word: &Word) {
        let is_last = self.at == self.words.list().len();
        let is_type = self.ending == Ending::Message && is_last && self.others.is_empty();
        if is_type && self.recipient.is_some() && self.content_type.is_none() {
            self.content_type = Some(self.text(word));
            return;
        }
        self.rest.push(word.text.clone());
        self.others.push(word.clone());
    }

    fn finish(mut self) -> Mended {
        let end = self.words.token_at(self.words.len());
        let (mut content, mut content_from) = (String::new(), end);
        match self.ending {
            Ending::Message => self.report_noise(),
            Ending::Cut => {
                if let Some(first) = self.rest.first() {
                    content_from = self.words.token_at(first.start);
                }
                content = self.content();
            }
        }
        self.repairs.sort_by_key(|(_, tokens)| tokens.start);
        let says_something = self.channel.is_some()
            || self.recipient.is_some()
            || self.content_type.is_some()
            || !self.rest.is_empty();
        let Self { author, recipient, channel, content_type, repairs, .. } = self;
        let (recipient, channel) = (recipient.map(|to| to.value), channel.map(|on| on.value));
        let header = Header { author, recipient, channel, content_type };
        Mended { header, repairs, content, content_from, says_something }
    }

    /// Words that found no field: a tool's name is a recipient if there is none, the others
    /// are noise, one repair for each run of them.
    fn report_noise(&mut self) {
        let mut others = std::mem::take(&mut self.others);
        if self.recipient.is_none()
            && let [name] = &others[..]
            && names_a_tool(&self.text(name))
        {
            self.recipient = Some(Field { value: self.text(name), tokens: name.tokens.clone() });
            others.clear();
        }
        let mut runs: Vec<Range<usize>> = Vec::new();
        for Word { tokens, .. } in others {
            match runs.last_mut() {
                Some(run) if run.end >= tokens.start => run.end = tokens.end,
                _ => runs.push(tokens),
            }
        }
        self.repairs.extend(runs.into_iter().map(|run| (RepairKind::HeaderNoise, run)));
    }

    /// The words that are no fields with the white space between them; where a field stood
    /// between, one blank.
    fn content(&self) -> String {
        let mut content = String::new();
        let mut end = None;
        for range in &self.rest {
            let gap = end.map_or(range.start..range.start, |end| end..range.start);
            let between = self.words.bytes(gap);
            if between.iter().all(u8::is_ascii_whitespace) {
                content.push_str(&String::from_utf8_lossy(between));
            } else {
                content.push(' ');
            }
            content.push_str(&self.words.lossy(range.clone()));
            end = Some(range.end);
        }
        content
    }
}
