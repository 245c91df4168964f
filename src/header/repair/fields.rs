//! The fields that begin with a marker or `to=`.

use std::ops::Range;

use super::super::groups::channel_value;
use super::super::read::is_spaced_pair;
use super::super::tools::Lookup;
use super::super::words::{Kind, Word};
use super::super::{CONSTRAIN, TO};
use super::spelling::{GluedChannel, is_content_type, is_nobody, value_at};
use super::{Draft, FoundField, HeaderEnd, is_channel};
use crate::chat::Role;
use crate::repair::RepairKind;

/// Channels.
impl Draft<'_> {
    /// `<|channel|> final`.
    pub(super) fn read_spaced_channel(&mut self, word: &Word, text: &str) -> bool {
        if !text.is_empty() {
            return false;
        }
        let mut tokens = word.tokens.clone();
        if let Some(next) = self.peek_plain().filter(|next| is_channel(&self.text(next))) {
            tokens.end = next.tokens.end;
            self.at += 1;
            self.report(RepairKind::HeaderOrder, tokens.clone());
            self.settle_channel(FoundField { value: self.text(next), tokens });
        } else {
            self.report(RepairKind::EmptyChannel, tokens);
        }
        true
    }

    pub(super) fn read_recipient_in_channel(&mut self, word: &Word, text: &str) -> bool {
        let Some(name) = text.strip_prefix(TO) else { return false };
        self.report(RepairKind::HeaderOrder, word.tokens.clone());
        self.read_recipient(word, name, TO.len());
        true
    }

    pub(super) fn read_known_channel(&mut self, word: &Word, text: &str) -> bool {
        let is_known = is_channel(text);
        if is_known {
            self.settle_channel(FoundField { value: text.to_owned(), tokens: word.tokens.clone() });
        }
        is_known
    }

    pub(super) fn read_channel_with_more(&mut self, word: &Word, text: &str) -> bool {
        let glued = GluedChannel::find(text, self.ending);
        glued.is_some_and(|glued| self.read_glued_channel(word, text, glued))
    }

    /// A known tool where a channel should be is called, unless the header calls another one.
    pub(super) fn read_tool_in_channel(&mut self, word: &Word, text: &str) -> bool {
        let Some((name, rest)) = self.setting.tools.misplaced(text) else { return false };
        self.report(RepairKind::MisplacedRecipient, word.tokens.clone());
        self.keep_rest(word, rest);
        if !self.has_recipient_word() {
            self.settle_recipient(FoundField { value: name, tokens: word.tokens.clone() });
        }
        true
    }

    pub(super) fn read_content_in_channel(&mut self, word: &Word, text: &str) -> bool {
        let is_content =
            self.ending.is_cut() && !self.is_followed_by_field() && !self.is_cut_off_name(text);
        if is_content {
            self.report(RepairKind::EmptyChannel, word.tokens.start..word.tokens.start + 1);
            self.rest.push(word.text.clone());
        }
        is_content
    }

    /// White space that ends no word ends a channel, as in strict parsing.
    pub(super) fn read_any_channel(&mut self, word: &Word, text: &str) -> bool {
        let end = Some(channel_value(text).len()).filter(|end| *end > 0).unwrap_or(text.len());
        if end < text.len() {
            self.report(RepairKind::GluedChannel, word.tokens.clone());
            self.keep_rest(word, end);
        }
        self.settle_channel(FoundField {
            value: text[..end].to_owned(),
            tokens: word.tokens.clone(),
        });
        true
    }

    /// Whether a recipient or another marker follows the word, so that it is not text.
    fn is_followed_by_field(&self) -> bool {
        let behind = self.words.list().get(self.at..).unwrap_or_default();
        // The last word of a header that has not ended may be the first half of `to=`.
        let is_half = |text: &str| {
            self.ending == HeaderEnd::Open && behind.len() == 1 && TO.starts_with(text)
        };
        behind.first().is_some_and(|next| match next.kind {
            Kind::Channel | Kind::Constrain => true,
            Kind::Plain => self.text(next).starts_with(TO) || is_half(&self.text(next)),
            Kind::Noise => false,
        })
    }

    /// Whether a header that is incomplete stops within or directly after a channel's name.
    fn is_cut_off_name(&self, text: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let behind = self.words.list().len() - self.at;
        match self.ending {
            HeaderEnd::Tokens => behind == 0 && text.chars().all(is_part),
            // A content type may follow it, if there is a recipient.
            HeaderEnd::Open => {
                behind <= usize::from(self.recipient.is_some())
                    && value_at(text, self.ending) != Some(0)
            }
            _ => false,
        }
    }

    /// What is glued to a channel: a recipient, a content type, or other words.
    pub(super) fn read_glued_channel(
        &mut self,
        word: &Word,
        text: &str,
        glued: GluedChannel,
    ) -> bool {
        let tokens = word.tokens.clone();
        self.report(RepairKind::GluedChannel, tokens.clone());
        let rest = &text[glued.to..];
        if let Some(name) = rest.strip_prefix(TO) {
            self.read_recipient(word, name, glued.to + TO.len());
        } else if is_content_type(rest) && !self.ending.is_cut() {
            self.settle_content_type(FoundField { value: rest.to_owned(), tokens: tokens.clone() });
        } else {
            self.keep_rest(word, glued.to);
        }
        self.settle_channel(FoundField { value: glued.channel.to_owned(), tokens });
        true
    }

    /// Of several channels the last known one counts.
    fn settle_channel(&mut self, next: FoundField) {
        let loser = match self.channel.take() {
            Some(first) if is_channel(&first.value) && !is_channel(&next.value) => {
                self.channel = Some(first);
                Some(next)
            }
            first => {
                self.channel = Some(next);
                first
            }
        };
        if let Some(FoundField { tokens, .. }) = loser {
            self.report(RepairKind::DuplicateChannel, tokens);
        }
    }
}

/// Recipients.
impl Draft<'_> {
    /// Whether some word of the header, before or after the current one, is a recipient.
    pub(super) fn has_recipient_word(&self) -> bool {
        self.recipient.is_some()
            || self
                .words
                .list()
                .iter()
                .any(|word| word.kind != Kind::Constrain && self.text(word).starts_with(TO))
    }

    /// A name after `to=`, which begins `offset` bytes into the word.
    pub(super) fn read_recipient(&mut self, word: &Word, name: &str, offset: usize) {
        let mut tokens = word.tokens.clone();
        let (mut holder, mut offset, mut name) = (word, offset, name.to_owned());
        let mut is_out_of_order = self.content_type.is_some();
        if name.is_empty() {
            let Some(next) = self.peek_plain() else {
                return self.report(RepairKind::HeaderNoise, tokens);
            };
            tokens.end = next.tokens.end;
            self.at += 1;
            is_out_of_order = true;
            (holder, offset, name) = (next, 0, self.text(next));
        }
        if is_out_of_order {
            self.report(RepairKind::HeaderOrder, tokens.clone());
        }
        let value = value_at(&name, self.ending).filter(|_| self.ending.is_cut());
        let named = &name[..value.unwrap_or(name.len())];
        if self.setting.tools.look_up(named) == Lookup::Unknown && is_nobody(named) {
            if self.ending.is_cut() {
                return self.rest.push(word.text.start..holder.text.end);
            }
            return self.report(RepairKind::HeaderNoise, tokens);
        }
        if let Some(end) = value {
            self.keep_rest(holder, offset + end);
            name.truncate(end);
        }
        if name.is_empty() {
            return self.report(RepairKind::HeaderNoise, tokens);
        }
        let value = self.respell(holder, offset, &name);
        self.settle_recipient(FoundField { value, tokens });
    }

    /// The known recipient that a name means. Text glued to its end becomes a field or content.
    fn respell(&mut self, word: &Word, offset: usize, name: &str) -> String {
        let tools = self.setting.tools;
        let Lookup::Respelled { name: known, rest } = tools.look_up(name) else {
            return name.to_owned();
        };
        self.report(RepairKind::GluedRecipient, word.tokens.clone());
        let glued = &name[rest..];
        if is_content_type(glued) {
            let value = glued.to_owned();
            self.settle_content_type(FoundField { value, tokens: word.tokens.clone() });
        } else if !glued.is_empty() && !self.in_content() {
            self.keep_rest(word, offset + rest);
        }
        known.to_owned()
    }

    /// Of several recipients the first that is not `assistant` counts.
    pub(super) fn settle_recipient(&mut self, next: FoundField) {
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
        if let Some(FoundField { tokens, .. }) = loser {
            self.report(RepairKind::DuplicateRecipient, tokens);
        }
    }

    /// The assistant writes `to=assistant` in headers that it begins twice, and means no recipient.
    pub(super) fn settle_assistant_recipient(&mut self) {
        let assistant = Role::Assistant;
        let is_own = |field: &&FoundField| field.value == assistant.as_str();
        let Some(tokens) = self.recipient.as_ref().filter(is_own).map(|field| field.tokens.clone())
        else {
            return;
        };
        let is_doubled =
            |(kind, _): &&mut (RepairKind, Range<usize>)| *kind == RepairKind::DuplicateChannel;
        if self.author.role == assistant
            && let Some((_, doubled)) = self.repairs.iter_mut().find(is_doubled)
        {
            *doubled = doubled.start.min(tokens.start)..doubled.end.max(tokens.end);
            self.recipient = None;
        }
    }
}

/// Content types.
impl Draft<'_> {
    /// The type follows its marker, directly or after white space. In a header without `<|message|>`
    /// it ends where content is glued to it.
    pub(super) fn read_constrained(&mut self, word: &Word) {
        let mut holder = word;
        if let Some(next) = self.words.list().get(self.at)
            && is_spaced_pair(self.words, word, next)
            && self.type_length(next) > 0
        {
            holder = next;
            self.at += 1;
        }
        let length = self.type_length(holder);
        let text = self.words.lossy(word.text.start..self.words.offset_of(holder, length));
        let tokens = word.tokens.start..holder.tokens.end;
        self.keep_rest(holder, length);
        if !self.has_recipient_word()
            && let Some(name) = self.tool_in_content_type(&text)
        {
            self.report(RepairKind::MisplacedRecipient, tokens.clone());
            return self.settle_recipient(FoundField { value: name, tokens });
        }
        self.settle_content_type(FoundField { value: format!("{CONSTRAIN}{text}"), tokens });
    }

    /// A known tool where a content type should be. An unknown one in the namespace of functions
    /// counts too if another content type follows.
    fn tool_in_content_type(&self, text: &str) -> Option<String> {
        if let Some((name, _)) = self.setting.tools.misplaced(text) {
            return Some(name);
        }
        let is_doubled =
            self.words.list()[self.at..].iter().any(|next| next.kind == Kind::Constrain);
        let name = text.trim_end_matches(':');
        (is_doubled && name.starts_with("functions.")).then(|| name.to_owned())
    }

    /// How many bytes of a word's text belong to the content type: `json` of `json{"a":1}`.
    fn type_length(&self, word: &Word) -> usize {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "-_+./".contains(c);
        let text = self.text(word);
        let end = match self.ending {
            HeaderEnd::Message => None,
            HeaderEnd::Open => value_at(&text, self.ending),
            _ => text.find(|c| !is_part(c)),
        };
        end.unwrap_or(text.len())
    }

    /// Of several content types the first counts.
    pub(super) fn settle_content_type(&mut self, next: FoundField) {
        if self.content_type.is_none() {
            self.content_type = Some(next);
        } else {
            self.report(RepairKind::HeaderNoise, next.tokens);
        }
    }
}
