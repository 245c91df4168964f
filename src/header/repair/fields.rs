//! The fields that begin with a marker or `to=`.

use super::super::groups::channel_value;
use super::super::read::is_spaced_pair;
use super::super::tools::Lookup;
use super::super::words::{Word, WordKind};
use super::super::{CONSTRAIN, TO};
use super::rules::{CHANNEL, CONTENT_TYPE, RECIPIENT};
use super::spelling::{GluedChannel, is_content_type, is_nobody, value_at};
use super::{Draft, HeaderEnd, is_channel};
use crate::chat::CHANNELS;
use crate::repair::RepairKind;

/// Channels.
impl Draft<'_> {
    /// `<|channel|> final`.
    pub(super) fn read_spaced_channel(&mut self, word: &Word, text: &str) -> bool {
        if !text.is_empty() {
            return false;
        }
        if let Some(next) = self.peek_plain().filter(|next| is_channel(&self.text(next))) {
            self.next();
            let tokens = word.tokens.start..next.tokens.end;
            self.report(RepairKind::HeaderOrder, &tokens);
            self.settle(&CHANNEL, self.text(next), &tokens);
        } else {
            self.report(RepairKind::EmptyChannel, &word.tokens);
        }
        true
    }

    pub(super) fn read_recipient_in_channel(&mut self, word: &Word, text: &str) -> bool {
        let Some(name) = text.strip_prefix(TO) else { return false };
        self.report(RepairKind::HeaderOrder, &word.tokens);
        self.read_recipient(word, name, TO.len());
        true
    }

    pub(super) fn read_known_channel(&mut self, word: &Word, text: &str) -> bool {
        let is_known = is_channel(text);
        if is_known {
            self.settle(&CHANNEL, text, &word.tokens);
        }
        is_known
    }

    pub(super) fn read_channel_with_more(&mut self, word: &Word, text: &str) -> bool {
        let glued = GluedChannel::find(text, self.setting.end);
        glued.is_some_and(|glued| self.read_glued_channel(word, text, glued))
    }

    /// A known tool where a channel should be is called, unless the header calls another one.
    pub(super) fn read_tool_in_channel(&mut self, word: &Word, text: &str) -> bool {
        let Some((name, rest)) = self.setting.tools.misplaced(text) else { return false };
        self.report(RepairKind::MisplacedRecipient, &word.tokens);
        self.keep_rest(word, rest);
        if !self.has_recipient_word() {
            self.settle(&RECIPIENT, name, &word.tokens);
        }
        true
    }

    pub(super) fn read_content_in_channel(&mut self, word: &Word, text: &str) -> bool {
        let is_content = self.setting.end.is_cut()
            && !self.is_followed_by_field()
            && !self.is_cut_off_name(text);
        if is_content {
            let marker = word.tokens.start;
            self.report(RepairKind::EmptyChannel, &(marker..marker + 1));
            self.content.push(word.text.clone());
        }
        is_content
    }

    /// White space that ends no word ends a channel, as in strict parsing.
    pub(super) fn read_any_channel(&mut self, word: &Word, text: &str) -> bool {
        let end = Some(channel_value(text).len()).filter(|end| *end > 0).unwrap_or(text.len());
        if end < text.len() {
            self.report(RepairKind::GluedChannel, &word.tokens);
            self.keep_rest(word, end);
        }
        self.settle(&CHANNEL, &text[..end], &word.tokens);
        true
    }

    /// Whether a recipient or another marker follows the word, so that it is not text.
    fn is_followed_by_field(&self) -> bool {
        // The last word of a header that has not ended may be the first half of `to=`.
        let may_be_half = self.setting.end == HeaderEnd::Open && self.ahead.len() == 1;
        self.ahead.first().is_some_and(|next| match next.kind {
            WordKind::Channel | WordKind::Constrain => true,
            WordKind::Plain => {
                let text = self.text(next);
                text.starts_with(TO) || may_be_half && TO.starts_with(&text)
            }
            WordKind::Noise => false,
        })
    }

    /// Whether a header that is incomplete stops within or directly after a channel's name.
    fn is_cut_off_name(&self, text: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        match self.setting.end {
            HeaderEnd::Tokens => self.ahead.is_empty() && text.chars().all(is_part),
            // A content type may follow it, if there is a recipient.
            HeaderEnd::Open => {
                self.ahead.len() <= usize::from(self.fields.recipient.is_some())
                    && value_at(text, HeaderEnd::Open) != Some(0)
            }
            _ => false,
        }
    }

    /// Reads text glued to a channel: a recipient, a content type, or other words.
    pub(super) fn read_glued_channel(
        &mut self,
        word: &Word,
        text: &str,
        glued: GluedChannel,
    ) -> bool {
        self.report(RepairKind::GluedChannel, &word.tokens);
        let rest = &text[glued.to..];
        if let Some(name) = rest.strip_prefix(TO) {
            self.read_recipient(word, name, glued.to + TO.len());
        } else if is_content_type(rest) && !self.setting.end.is_cut() {
            self.settle(&CONTENT_TYPE, rest, &word.tokens);
        } else {
            self.keep_rest(word, glued.to);
        }
        self.settle(&CHANNEL, glued.channel, &word.tokens);
        true
    }
}

/// Recipients.
impl Draft<'_> {
    /// Whether some word of the header, before or after the current one, is a recipient.
    pub(super) fn has_recipient_word(&self) -> bool {
        let is_recipient =
            |word: &Word| word.kind != WordKind::Constrain && self.text(word).starts_with(TO);
        self.fields.recipient.is_some() || self.words.list().iter().any(is_recipient)
    }

    /// A name after `to=`, which begins `offset` bytes into the word.
    pub(super) fn read_recipient(&mut self, word: &Word, name: &str, offset: usize) {
        let mut tokens = word.tokens.clone();
        let (mut holder, mut offset, mut name) = (word, offset, name.to_owned());
        let mut is_out_of_order = self.fields.content_type.is_some();
        if name.is_empty() {
            let Some(next) = self.peek_plain() else {
                return self.report(RepairKind::HeaderNoise, &tokens);
            };
            self.next();
            tokens.end = next.tokens.end;
            is_out_of_order = true;
            (holder, offset, name) = (next, 0, self.text(next));
        }
        if is_out_of_order {
            self.report(RepairKind::HeaderOrder, &tokens);
        }
        let is_cut = self.setting.end.is_cut();
        let value = value_at(&name, self.setting.end).filter(|_| is_cut);
        let named = &name[..value.unwrap_or(name.len())];
        if self.setting.tools.look_up(named) == Lookup::Unknown && is_nobody(named) {
            if is_cut {
                return self.content.push(word.text.start..holder.text.end);
            }
            return self.report(RepairKind::HeaderNoise, &tokens);
        }
        if let Some(end) = value {
            self.keep_rest(holder, offset + end);
            name.truncate(end);
        }
        if name.is_empty() {
            return self.report(RepairKind::HeaderNoise, &tokens);
        }
        let value = self.respell(holder, offset, &name);
        self.settle(&RECIPIENT, value, &tokens);
    }

    /// The known recipient that a name means. Text glued to its end becomes a field or content.
    fn respell(&mut self, word: &Word, offset: usize, name: &str) -> String {
        let tools = self.setting.tools;
        let Lookup::Respelled { name: known, rest } = tools.look_up(name) else {
            return name.to_owned();
        };
        self.report(RepairKind::GluedRecipient, &word.tokens);
        let mut glued = &name[rest..];
        if let Some(channel) = CHANNELS.into_iter().find(|channel| glued.starts_with(channel)) {
            if self.fields.channel.is_none() {
                self.settle(&CHANNEL, channel, &word.tokens);
            }
            glued = &glued[channel.len()..];
        }
        if is_content_type(glued) {
            self.settle(&CONTENT_TYPE, glued, &word.tokens);
        } else if !glued.is_empty() && self.content.is_empty() {
            self.keep_rest(word, offset + name.len() - glued.len());
        }
        known.to_owned()
    }
}

/// Content types.
impl Draft<'_> {
    /// The type follows its marker, directly or after white space. In a header without `<|message|>` it ends where
    /// content is glued to it, and words that are not a type are content: the marker is read as `<|message|>`.
    pub(super) fn read_constrained(&mut self, word: &Word, _: &str) -> bool {
        let mut holder = word;
        if let Some(next) = self.ahead.first()
            && is_spaced_pair(self.words, word, next)
            && (self.type_length(next) > 0 || self.setting.end.is_cut())
        {
            self.next();
            holder = next;
        }
        let length = self.type_length(holder);
        let name = self.words.lossy(holder.text.start..self.words.offset_of(holder, length));
        if self.setting.end.is_cut() && self.begins_content(holder, &name) {
            return self.begin_content(holder, &name);
        }
        let tokens = word.tokens.start..holder.tokens.end;
        self.keep_rest(holder, length);
        let called = self.tool_in_content_type(&name).filter(|_| !self.has_recipient_word());
        if let Some(name) = called {
            self.report(RepairKind::MisplacedRecipient, &tokens);
            self.settle(&RECIPIENT, name, &tokens);
        } else {
            let end = self.words.offset_of(holder, length);
            let text = self.words.lossy(word.text.start..end);
            self.settle(&CONTENT_TYPE, [CONSTRAIN, &text].concat(), &tokens);
        }
        true
    }

    /// Whether the words after a `<|constrain|>`, the first of which begins with this name, are content. They are a
    /// content type if the name is one, or in a call, if nothing but a value follows the name.
    fn begins_content(&self, word: &Word, name: &str) -> bool {
        let text = self.text(word);
        let is_alone = text.len() == name.len() && self.ahead.is_empty();
        if is_alone && self.setting.end == HeaderEnd::Open {
            // More of the header may follow: a long custom type is one word, too.
            return false;
        }
        if name.is_empty() || !name.chars().all(is_part_of_type) {
            return !text.is_empty();
        }
        let is_type = is_content_type(name);
        let has_recipient = self.has_recipient_word();
        if is_type && has_recipient {
            return false;
        }
        let is_call = has_recipient || self.tool_in_content_type(name).is_some();
        let is_ended = is_alone || self.is_before_value_or_field(&text[name.len()..]);
        !(is_ended && (is_type || is_call))
    }

    /// Whether a value or another field follows, in the same word or in the next one.
    fn is_before_value_or_field(&self, rest: &str) -> bool {
        let begins = |text: &str| value_at(text, self.setting.end) == Some(0);
        if rest.is_empty() {
            let next = |next: &Word| begins(&self.text(next));
            self.is_followed_by_field() || self.peek_plain().is_some_and(next)
        } else {
            begins(rest)
        }
    }

    /// A known tool where a content type should be. An unknown one in the namespace `functions` counts, too, if another
    /// content type follows.
    fn tool_in_content_type(&self, text: &str) -> Option<String> {
        if let Some((name, _)) = self.setting.tools.misplaced(text) {
            return Some(name);
        }
        let is_doubled = self.ahead.iter().any(|next| next.kind == WordKind::Constrain);
        let name = text.trim_end_matches(':');
        (is_doubled && name.starts_with("functions.")).then(|| name.to_owned())
    }

    /// The number of bytes of a word that belong to the content type: `json` of `json{"a":1}`.
    fn type_length(&self, word: &Word) -> usize {
        let text = self.text(word);
        let end = match self.setting.end {
            HeaderEnd::Message => None,
            HeaderEnd::Open => value_at(&text, HeaderEnd::Open),
            _ => text.find(|c| !is_part_of_type(c)),
        };
        end.unwrap_or(text.len())
    }
}

fn is_part_of_type(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_+./".contains(c)
}
