//! Words without a marker or `to=`: a content type, a field that lost its marker, content, or noise.

use std::ops::Range;

use super::super::name_run::NameRun;
use super::super::tools::is_tool_name;
use super::super::words::Word;
use super::super::{CONSTRAIN, TO};
use super::rules::{CHANNEL, CONTENT_TYPE, RECIPIENT};
use super::spelling::{channel_at_start, is_content_type, is_nobody, value_at};
use super::{Draft, FieldValue, HeaderEnd, is_channel};
use crate::chat::{COMMENTARY, Role};
use crate::repair::RepairKind;

/// Where they are.
impl Draft<'_> {
    /// A word after one that is content.
    pub(super) fn read_content(&mut self, word: &Word, text: &str) -> bool {
        !self.content.is_empty() && self.begin_content(word, text)
    }

    pub(super) fn begin_content(&mut self, word: &Word, _: &str) -> bool {
        self.content.push(word.text.clone());
        true
    }

    /// `to=functions.f`.
    pub(super) fn read_addressee(&mut self, word: &Word, text: &str) -> bool {
        let Some(name) = text.strip_prefix(TO) else { return false };
        self.read_recipient(word, name, TO.len());
        true
    }

    /// A token that does not belong in a header: an unknown id, or a marker without meaning here.
    pub(super) fn read_noise(&mut self, word: &Word, text: &str) -> bool {
        let is_unknown = text == "\u{FFFD}";
        let is_text = !self.content.is_empty() || self.setting.stray && self.setting.end.is_cut();
        if is_text {
            self.content.push(word.text.clone());
        }
        if is_unknown {
            self.report(RepairKind::UnknownToken, &word.tokens);
        } else if !is_text {
            self.report(RepairKind::HeaderNoise, &word.tokens);
        }
        true
    }

    /// `to = functions.f` or `to =functions.f`.
    pub(super) fn read_spaced_recipient(&mut self, word: &Word, text: &str) -> bool {
        let is_equals = |next: &&Word| text == "to" && self.text(next).starts_with('=');
        let Some(equals) = self.peek_plain().filter(is_equals) else { return false };
        self.next();
        let tokens = word.tokens.start..equals.tokens.end;
        let name = self.text(equals).split_off(1);
        if !name.is_empty() {
            self.report(RepairKind::HeaderOrder, &tokens);
        }
        let word = Word { tokens, ..equals.clone() };
        self.read_recipient(&word, &name, 1);
        true
    }

    /// `finalThe answer`.
    pub(super) fn read_channel_with_text(&mut self, word: &Word, text: &str) -> bool {
        let glued = channel_at_start(text).filter(|_| !self.has_field());
        let Some(glued) = glued else { return false };
        self.report(RepairKind::MissingChannel, &word.tokens);
        self.read_glued_channel(word, text, glued)
    }

    /// `analysis I must` where a header should begin.
    pub(super) fn read_channel_without_marker(&mut self, word: &Word, text: &str) -> bool {
        let is_header = !self.setting.stray || self.has_recipient_word();
        let is_read = !self.has_field() && is_header && is_channel(text);
        if is_read {
            self.report(RepairKind::MissingChannel, &word.tokens);
            self.settle(&CHANNEL, text, &word.tokens);
        }
        is_read
    }

    fn has_field(&self) -> bool {
        self.fields.channel.is_some() || self.fields.recipient.is_some()
    }

    /// `json` of `json{"a":1}` and of `json={"a":1}`, or of `json` before a value or after the recipient.
    pub(super) fn read_bare_type(&mut self, word: &Word, text: &str) -> bool {
        let (length, is_before_value) = self.end_of_name(text);
        let is_behind_recipient = self.fields.recipient.is_some();
        let may_follow = is_before_value || is_behind_recipient;
        let name = &text[..length];
        let name = name.strip_suffix('=').filter(|_| is_before_value).unwrap_or(name);
        if self.fields.content_type.is_some() || !may_follow || !self.is_type(name) {
            return false;
        }
        if !is_behind_recipient || name.len() < length {
            self.report(RepairKind::BareWord, &word.tokens);
        }
        self.settle(&CONTENT_TYPE, name, &word.tokens);
        self.keep_rest(word, length);
        true
    }

    /// A long word that may be the content type of a header that has not ended.
    pub(super) fn read_long_type(&mut self, word: &Word, text: &str) -> bool {
        let may_be_type = self.setting.end == HeaderEnd::Open
            && self.fields.recipient.is_some()
            && self.fields.content_type.is_none()
            && self.ahead.is_empty()
            && value_at(text, HeaderEnd::Open) != Some(0);
        if may_be_type {
            self.settle(&CONTENT_TYPE, text, &word.tokens);
        }
        may_be_type
    }

    /// A tool's name with a value after it.
    pub(super) fn read_bare_tool(&mut self, word: &Word, text: &str) -> bool {
        let (length, is_before_value) = self.end_of_name(text);
        if !is_before_value || self.fields.recipient.is_some() || self.setting.stray {
            return false;
        }
        let name = &text[..length];
        let of_unknown = || is_tool_name(name).then(|| (name.to_owned(), length));
        let called = self.setting.tools.misplaced(name).or_else(of_unknown);
        let Some((name, length)) = called else { return false };
        self.report(RepairKind::BareWord, &word.tokens);
        self.settle(&RECIPIENT, name, &word.tokens);
        self.keep_rest(word, length);
        true
    }

    /// Whether a bare word is a content type. Without a channel strict parsing reads it as the recipient, and
    /// so it is here if a tool of that name was offered.
    fn is_type(&self, word: &str) -> bool {
        let may_be_recipient = !self.has_field() && !self.setting.stray;
        is_content_type(word) && !(may_be_recipient && self.setting.tools.misplaced(word).is_some())
    }

    /// How many bytes of a word come before a value in it, and whether a value follows, in the word
    /// or in the next one.
    fn end_of_name(&self, text: &str) -> (usize, bool) {
        let begins_next = |next| value_at(&self.text(next), self.setting.end) == Some(0);
        match value_at(text, self.setting.end) {
            Some(length) => (length, true),
            None => (text.len(), self.peek_plain().is_some_and(begins_next)),
        }
    }
}

/// Their places in a header with `<|message|>`.
impl Draft<'_> {
    /// Finds the fields among the bare words, each with whether it follows the recipient. The other words are noise,
    /// with one repair for each run.
    pub(super) fn place(&mut self, bare: Vec<(&Word, bool)>) {
        let mut noise: Vec<Range<usize>> = Vec::new();
        let count = bare.len();
        let mut has_bare_recipient = false;
        for (at, (word, is_behind_recipient)) in bare.into_iter().enumerate() {
            let is_behind = is_behind_recipient || has_bare_recipient;
            let had_recipient = self.fields.recipient.is_some();
            let is_placed = is_behind && at + 1 == count && self.place_last(word)
                || self.apply(&Self::BARE, word)
                || count == 1 && self.place_call(word);
            has_bare_recipient |= !had_recipient && self.fields.recipient.is_some();
            if is_placed {
                continue;
            }
            match noise.last_mut() {
                Some(run) if run.end >= word.tokens.start => run.end = word.tokens.end,
                _ => noise.push(word.tokens.clone()),
            }
        }
        self.repairs.extend(noise.into_iter().map(|run| (RepairKind::HeaderNoise, run)));
    }

    /// A word where the content type should be.
    fn place_last(&mut self, word: &Word) -> bool {
        let is_placed = self.fields.content_type.is_none();
        if is_placed {
            self.settle(&CONTENT_TYPE, self.text(word), &word.tokens);
        }
        is_placed
    }

    pub(super) fn place_run_of_channels(&mut self, word: &Word, text: &str) -> bool {
        let run = NameRun::read(text).filter(|run| run.role.is_none());
        let channel = run.and_then(|run| run.channel);
        channel.is_some_and(|channel| self.place_channel(channel, word))
    }

    pub(super) fn place_channel_with_text(&mut self, word: &Word, text: &str) -> bool {
        let glued = channel_at_start(text).filter(|_| self.fields.channel.is_none());
        let Some(glued) = glued else { return false };
        self.report(RepairKind::GluedChannel, &word.tokens);
        self.place_channel(glued.channel, word)
    }

    /// A channel's name without its marker. A channel with a marker takes precedence.
    fn place_channel(&mut self, channel: &str, word: &Word) -> bool {
        if self.fields.channel.is_some() {
            self.report(RepairKind::DuplicateChannel, &word.tokens);
        } else {
            self.report(RepairKind::MissingChannel, &word.tokens);
            self.settle(&CHANNEL, channel, &word.tokens);
        }
        true
    }

    pub(super) fn place_type(&mut self, word: &Word, text: &str) -> bool {
        if self.fields.content_type.is_some() || !self.is_type(text) {
            return false;
        }
        let is_behind_recipient = self.fields.recipient.is_some();
        let kind = if is_behind_recipient { RepairKind::HeaderOrder } else { RepairKind::BareWord };
        self.report(kind, &word.tokens);
        self.place_last(word)
    }

    /// A bare word that can only be a recipient.
    pub(super) fn place_recipient(&mut self, word: &Word, text: &str) -> bool {
        let first = self.fields.recipient.as_ref().map(|recipient| recipient.value.as_str());
        let is_answer = self.fields.author.role == Role::Tool && text == Role::Assistant.as_str();
        let name = match self.setting.tools.misplaced(text) {
            Some((name, _)) if first.is_none_or(|first| first == name) => name,
            None if first.is_none() && (is_tool_name(text) || is_answer) => text.to_owned(),
            _ => return false,
        };
        if first.is_none() {
            self.report(RepairKind::BareWord, &word.tokens);
        }
        self.settle(&RECIPIENT, name, &word.tokens);
        true
    }

    /// `commentary f <|constrain|>json`: a call, as in 0.0.8. If tools are known, an unknown one is noise.
    fn place_call(&mut self, word: &Word) -> bool {
        let name = self.text(word);
        let is_constrained = |field: &FieldValue| field.value.starts_with(CONSTRAIN);
        let is_call = self.fields.recipient.is_none()
            && self.setting.tools.is_empty()
            && self.fields.author.role == Role::Assistant
            && self.fields.channel.as_ref().is_some_and(|field| field.value == COMMENTARY)
            && self.fields.content_type.as_ref().is_some_and(is_constrained)
            && !is_nobody(&name);
        if is_call {
            self.report(RepairKind::BareWord, &word.tokens);
            self.settle(&RECIPIENT, name, &word.tokens);
        }
        is_call
    }
}
