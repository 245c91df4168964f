//! Words without a marker or `to=`: a content type, a field that lost its marker, content, or noise.

use std::ops::Range;

use super::super::tools::is_tool_name;
use super::super::words::Word;
use super::super::{CONSTRAIN, TO};
use super::spelling::{NameRun, channel_at_start, is_content_type, is_nobody, value_at};
use super::{Draft, Ending, Field, is_channel};
use crate::chat::{COMMENTARY, Role};
use crate::repair::RepairKind;

impl Draft<'_> {
    pub(super) fn read_plain(&mut self, word: &Word) {
        let text = self.text(word);
        if self.in_content() {
            self.rest.push(word.text.clone());
        } else if let Some(name) = text.strip_prefix(TO) {
            self.read_recipient(word, name, TO.len());
        } else if text == "to" && self.is_before_equals() {
            self.read_spaced_recipient(word);
        } else if self.ending.is_cut() {
            self.read_bare_of_cut(word, &text);
        } else {
            self.others.push((word.clone(), self.recipient.is_some()));
        }
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

    fn is_before_equals(&self) -> bool {
        self.peek_plain().is_some_and(|next| self.text(next).starts_with('='))
    }

    /// `to = functions.f` or `to =functions.f`.
    fn read_spaced_recipient(&mut self, word: &Word) {
        let Some(equals) = self.next() else { return };
        let tokens = word.tokens.start..equals.tokens.end;
        let name = self.text(&equals).split_off(1);
        if !name.is_empty() {
            self.report(RepairKind::HeaderOrder, tokens.clone());
        }
        let word = Word { tokens, ..equals };
        self.read_recipient(&word, &name, 1);
    }

    /// A bare word of a header without `<|message|>`. The first word that is not a field begins the
    /// content.
    fn read_bare_of_cut(&mut self, word: &Word, text: &str) {
        let tokens = word.tokens.clone();
        let has_field = self.channel.is_some() || self.recipient.is_some();
        if !has_field && self.read_channel_without_marker(word, text) {
            return;
        }
        if self.content_type.is_none()
            && let Some(length) = self.bare_type_length(text)
        {
            if self.recipient.is_none() {
                self.report(RepairKind::BareWord, tokens.clone());
            }
            let value = text[..length].to_owned();
            self.settle_content_type(Field { value, tokens });
            return self.keep_rest(word, length);
        }
        if self.may_be_type(text) {
            let value = text.to_owned();
            return self.settle_content_type(Field { value, tokens });
        }
        if self.recipient.is_none()
            && !self.setting.stray
            && let Some((name, length)) = self.bare_tool_of_cut(text)
        {
            self.report(RepairKind::BareWord, tokens.clone());
            self.settle_recipient(Field { value: name, tokens });
            return self.keep_rest(word, length);
        }
        self.rest.push(word.text.clone());
    }

    /// `analysis I must` where a header should begin, `finalThe answer` anywhere.
    fn read_channel_without_marker(&mut self, word: &Word, text: &str) -> bool {
        let tokens = word.tokens.clone();
        if let Some(glued) = channel_at_start(text) {
            self.report(RepairKind::MissingChannel, tokens);
            self.read_glued_channel(word, text, glued);
            return true;
        }
        let is_header = !self.setting.stray || self.has_recipient_word();
        if is_header && is_channel(text) {
            self.report(RepairKind::MissingChannel, tokens.clone());
            self.channel = Some(Field { value: text.to_owned(), tokens });
            return true;
        }
        false
    }

    /// Whether a long word may be the content type of a header that has not ended.
    fn may_be_type(&self, text: &str) -> bool {
        self.ending == Ending::Open
            && self.recipient.is_some()
            && self.content_type.is_none()
            && self.at == self.words.list().len()
            && value_at(text, self.ending) != Some(0)
    }

    /// `json` of `json{"a":1}`, or of `json` before a value or after the recipient.
    fn bare_type_length(&self, text: &str) -> Option<usize> {
        let (length, is_before_value) = self.end_of_name(text);
        let is_type = text.get(..length).is_some_and(|name| self.is_type(name));
        (is_type && (is_before_value || self.recipient.is_some())).then_some(length)
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
            let is_placed = self.place(&word, is_placed_behind && at == last)
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

    /// Makes a bare word a field. `in_place` says that it stands where the content type should be.
    fn place(&mut self, word: &Word, in_place: bool) -> bool {
        let (text, tokens) = (self.text(word), word.tokens.clone());
        let field = Field { value: text.clone(), tokens: tokens.clone() };
        if in_place && self.content_type.is_none() {
            self.content_type = Some(field);
        } else if let Some(channel) = run_of_channels(&text) {
            self.place_channel(Field { value: channel.to_owned(), ..field });
        } else if let Some(glued) = channel_at_start(&text).filter(|_| self.channel.is_none()) {
            self.report(RepairKind::GluedChannel, tokens);
            self.place_channel(Field { value: glued.channel.to_owned(), ..field });
        } else if self.content_type.is_none() && self.is_type(&text) {
            let kind = match self.recipient {
                Some(_) => RepairKind::HeaderOrder,
                None => RepairKind::BareWord,
            };
            self.report(kind, tokens);
            self.content_type = Some(field);
        } else if let Some(name) = self.bare_recipient(&text) {
            if self.recipient.is_none() {
                self.report(RepairKind::BareWord, tokens.clone());
            }
            self.settle_recipient(Field { value: name, tokens });
        } else {
            return false;
        }
        true
    }

    /// `commentary f <|constrain|>json`: a call, to 0.0.8 too. Where tools are known, an unknown one is
    /// noise.
    fn place_call(&mut self, word: &Word) -> bool {
        let (value, tokens) = (self.text(word), word.tokens.clone());
        let holds = |field: &Option<Field>, test: &dyn Fn(&str) -> bool| {
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
            self.recipient = Some(Field { value, tokens });
        }
        is_call
    }

    /// A channel's name without its marker. A channel with a marker takes precedence.
    fn place_channel(&mut self, field: Field) {
        if self.channel.is_some() {
            return self.report(RepairKind::DuplicateChannel, field.tokens);
        }
        self.report(RepairKind::MissingChannel, field.tokens.clone());
        self.channel = Some(field);
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
