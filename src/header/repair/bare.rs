//! Words without a marker or `to=`: a content type, a field that lost its marker, content, or noise.

use std::ops::Range;

use super::super::tools::is_tool_name;
use super::super::words::Word;
use super::super::{CONSTRAIN, TO};
use super::spelling::{NameRun, channel_at_start, is_content_type, is_nobody, value_at};
use super::{Draft, FoundField, HeaderEnd, is_channel};
use crate::chat::{COMMENTARY, Role};
use crate::repair::RepairKind;

impl Draft<'_> {
    /// A word behind one that is content.
    pub(super) fn read_content(&mut self, word: &Word, text: &str) -> bool {
        self.in_content() && self.begin_content(word, text)
    }

    /// What is no field begins the content.
    pub(super) fn begin_content(&mut self, word: &Word, _: &str) -> bool {
        self.rest.push(word.text.clone());
        true
    }

    /// `to=functions.f`.
    pub(super) fn read_addressee(&mut self, word: &Word, text: &str) -> bool {
        let Some(name) = text.strip_prefix(TO) else { return false };
        self.read_recipient(word, name, TO.len());
        true
    }

    /// A word without a marker and `to=`. Where `<|message|>` follows, the fields with markers are read first.
    pub(super) fn read_other(&mut self, word: &Word, _: &str) -> bool {
        if self.ending.is_cut() {
            return self.apply(&Self::BARE_OF_CUT, word);
        }
        self.others.push((word.clone(), self.recipient.is_some()));
        true
    }

    /// A token that does not belong in a header: an unknown id, or a marker without meaning here.
    pub(super) fn read_noise(&mut self, word: &Word) {
        let is_unknown = self.text(word) == "\u{FFFD}";
        let kind = if is_unknown { RepairKind::UnknownToken } else { RepairKind::HeaderNoise };
        let is_text = self.in_content() || (self.setting.stray && self.ending.is_cut());
        if is_text {
            self.rest.push(word.text.clone());
        }
        if is_unknown || !is_text {
            self.report(kind, word.tokens.clone());
        }
    }

    /// `to = functions.f` or `to =functions.f`.
    pub(super) fn read_spaced_recipient(&mut self, word: &Word, text: &str) -> bool {
        let is_equals = |next: &&Word| text == "to" && self.text(next).starts_with('=');
        let Some(equals) = self.peek_plain().filter(is_equals) else { return false };
        self.at += 1;
        let tokens = word.tokens.start..equals.tokens.end;
        let name = self.text(equals).split_off(1);
        if !name.is_empty() {
            self.report(RepairKind::HeaderOrder, tokens.clone());
        }
        let word = Word { tokens, ..equals.clone() };
        self.read_recipient(&word, &name, 1);
        true
    }

    /// `finalThe answer`.
    pub(super) fn read_channel_with_text(&mut self, word: &Word, text: &str) -> bool {
        let Some(glued) = channel_at_start(text).filter(|_| !self.has_field()) else {
            return false;
        };
        self.report(RepairKind::MissingChannel, word.tokens.clone());
        self.read_glued_channel(word, text, glued)
    }

    /// `analysis I must` where a header should begin.
    pub(super) fn read_channel_without_marker(&mut self, word: &Word, text: &str) -> bool {
        let is_header = !self.setting.stray || self.has_recipient_word();
        let is_read = !self.has_field() && is_header && is_channel(text);
        if is_read {
            self.report(RepairKind::MissingChannel, word.tokens.clone());
            self.channel = Some(FoundField { value: text.to_owned(), tokens: word.tokens.clone() });
        }
        is_read
    }

    fn has_field(&self) -> bool {
        self.channel.is_some() || self.recipient.is_some()
    }

    /// `json` of `json{"a":1}`, or of `json` before a value or after the recipient.
    pub(super) fn read_bare_type(&mut self, word: &Word, text: &str) -> bool {
        let (length, is_before_value) = self.end_of_name(text);
        let value = text.get(..length).unwrap_or_default();
        let may_follow = is_before_value || self.recipient.is_some();
        if self.content_type.is_some() || !may_follow || !self.is_type(value) {
            return false;
        }
        let tokens = word.tokens.clone();
        if self.recipient.is_none() {
            self.report(RepairKind::BareWord, tokens.clone());
        }
        self.settle_content_type(FoundField { value: value.to_owned(), tokens });
        self.keep_rest(word, length);
        true
    }

    /// A long word that may be the content type of a header that has not ended.
    pub(super) fn read_long_type(&mut self, word: &Word, text: &str) -> bool {
        let may_be_type = self.ending == HeaderEnd::Open
            && self.recipient.is_some()
            && self.content_type.is_none()
            && self.at == self.words.list().len()
            && value_at(text, self.ending) != Some(0);
        if may_be_type {
            let field = FoundField { value: text.to_owned(), tokens: word.tokens.clone() };
            self.settle_content_type(field);
        }
        may_be_type
    }

    /// A tool's name with a value after it.
    pub(super) fn read_bare_tool(&mut self, word: &Word, text: &str) -> bool {
        let is_possible = self.recipient.is_none() && !self.setting.stray;
        let Some((value, length)) = self.bare_tool_of_cut(text).filter(|_| is_possible) else {
            return false;
        };
        self.report(RepairKind::BareWord, word.tokens.clone());
        self.settle_recipient(FoundField { value, tokens: word.tokens.clone() });
        self.keep_rest(word, length);
        true
    }

    /// Whether a bare word is a content type. Without a channel strict parsing reads it as the recipient, and
    /// so it is here if a tool of that name was offered.
    fn is_type(&self, word: &str) -> bool {
        let may_be_recipient =
            self.channel.is_none() && self.recipient.is_none() && !self.setting.stray;
        is_content_type(word) && !(may_be_recipient && self.setting.tools.misplaced(word).is_some())
    }

    /// How many bytes of a word come before a value in it, and whether a value follows, in the word
    /// or in the next one.
    fn end_of_name(&self, text: &str) -> (usize, bool) {
        let begins_next =
            |next| value_at(&self.text(next), self.ending).is_some_and(|offset| offset == 0);
        match value_at(text, self.ending) {
            Some(length) => (length, true),
            None => (text.len(), self.peek_plain().is_some_and(begins_next)),
        }
    }

    /// A tool's name with a value after it.
    fn bare_tool_of_cut(&self, text: &str) -> Option<(String, usize)> {
        let (length, is_before_value) = self.end_of_name(text);
        let name = text.get(..length).filter(|_| is_before_value)?;
        match self.setting.tools.misplaced(name) {
            Some((known, end)) => Some((known, end)),
            None => is_tool_name(name).then(|| (name.to_owned(), length)),
        }
    }

    /// Finds the fields among the bare words of a header with `<|message|>`. The others are noise, one
    /// repair for each run of them.
    pub(super) fn place_others(&mut self) {
        let others = std::mem::take(&mut self.others);
        let mut noise: Vec<Range<usize>> = Vec::new();
        let last = others.len().saturating_sub(1);
        let mut has_bare_recipient = false;
        let is_alone = others.len() == 1;
        for (at, (word, is_behind_recipient)) in others.into_iter().enumerate() {
            let is_placed_behind = is_behind_recipient || has_bare_recipient;
            let had_recipient = self.recipient.is_some();
            let is_placed = is_placed_behind && at == last && self.place_last(&word)
                || self.apply(&Self::BARE, &word)
                || is_alone && self.place_call(&word);
            has_bare_recipient |= !had_recipient && self.recipient.is_some();
            if is_placed {
                continue;
            }
            match noise.last_mut() {
                Some(run) if run.end >= word.tokens.start => run.end = word.tokens.end,
                _ => noise.push(word.tokens),
            }
        }
        self.repairs.extend(noise.into_iter().map(|run| (RepairKind::HeaderNoise, run)));
    }

    /// A word where the content type should be.
    fn place_last(&mut self, word: &Word) -> bool {
        let is_placed = self.content_type.is_none();
        if is_placed {
            let value = self.text(word);
            self.content_type = Some(FoundField { value, tokens: word.tokens.clone() });
        }
        is_placed
    }

    pub(super) fn place_run_of_channels(&mut self, word: &Word, text: &str) -> bool {
        run_of_channels(text).is_some_and(|channel| self.place_channel(channel, word))
    }

    pub(super) fn place_channel_with_text(&mut self, word: &Word, text: &str) -> bool {
        let glued = channel_at_start(text).filter(|_| self.channel.is_none());
        let Some(glued) = glued else { return false };
        self.report(RepairKind::GluedChannel, word.tokens.clone());
        self.place_channel(glued.channel, word)
    }

    pub(super) fn place_type(&mut self, word: &Word, text: &str) -> bool {
        if self.content_type.is_some() || !self.is_type(text) {
            return false;
        }
        let kind = match self.recipient {
            Some(_) => RepairKind::HeaderOrder,
            None => RepairKind::BareWord,
        };
        self.report(kind, word.tokens.clone());
        self.place_last(word)
    }

    pub(super) fn place_recipient(&mut self, word: &Word, text: &str) -> bool {
        let Some(value) = self.bare_recipient(text) else { return false };
        if self.recipient.is_none() {
            self.report(RepairKind::BareWord, word.tokens.clone());
        }
        self.settle_recipient(FoundField { value, tokens: word.tokens.clone() });
        true
    }

    /// `commentary f <|constrain|>json`: a call, to 0.0.8 too. Where tools are known, an unknown one is
    /// noise.
    fn place_call(&mut self, word: &Word) -> bool {
        let (value, tokens) = (self.text(word), word.tokens.clone());
        let holds = |field: &Option<FoundField>, test: &dyn Fn(&str) -> bool| {
            field.as_ref().is_some_and(|field| test(&field.value))
        };
        let is_call = self.recipient.is_none()
            && self.setting.tools.is_empty()
            && self.author.role == Role::Assistant
            && holds(&self.channel, &|channel| channel == COMMENTARY)
            && holds(&self.content_type, &|value| value.starts_with(CONSTRAIN))
            && !is_nobody(&value);
        if is_call {
            self.report(RepairKind::BareWord, tokens.clone());
            self.recipient = Some(FoundField { value, tokens });
        }
        is_call
    }

    /// A channel's name without its marker. A channel with a marker takes precedence.
    fn place_channel(&mut self, channel: &str, word: &Word) -> bool {
        let tokens = word.tokens.clone();
        if self.channel.is_some() {
            self.report(RepairKind::DuplicateChannel, tokens);
        } else {
            self.report(RepairKind::MissingChannel, tokens.clone());
            self.channel = Some(FoundField { value: channel.to_owned(), tokens });
        }
        true
    }

    /// A bare word that can only be a recipient.
    fn bare_recipient(&self, text: &str) -> Option<String> {
        if let Some((name, _)) = self.setting.tools.misplaced(text) {
            let is_new = self.recipient.as_ref().is_none_or(|recipient| recipient.value == name);
            return is_new.then_some(name);
        }
        let is_answer = self.author.role == Role::Tool && text == Role::Assistant.as_str();
        (self.recipient.is_none() && (is_tool_name(text) || is_answer)).then(|| text.to_owned())
    }
}

/// The last of the channels that a word consists of.
fn run_of_channels(word: &str) -> Option<&'static str> {
    NameRun::read(word).filter(|run| run.role.is_none())?.channel
}
