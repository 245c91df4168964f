//! Where rendering writes: one growing list of tokens, and where each message is in it.

use std::borrow::Cow;

use super::{Rendered, Speaker, literals};
use crate::chat::{CHANNELS, HeaderFields, Role};
use crate::header::Piece;
use crate::span::MessageSpan;
use crate::tokenizer::{Tokenizer, special};
use crate::typescript::Budget;

/// What was written so far, and how to add to it.
pub(super) struct TokenSink {
    tokenizer: Tokenizer,
    pub(super) rendered: Rendered,
    /// The remaining budget for the text of tools in all messages.
    tool_budget: Budget,
}

impl TokenSink {
    /// Writes after these tokens.
    pub(super) fn new(tokenizer: Tokenizer, tokens: Vec<u32>) -> Self {
        let rendered = Rendered { tokens, ..Rendered::default() };
        Self { tokenizer, rendered, tool_budget: Budget::default() }
    }

    /// Makes room for this many spans.
    pub(super) fn reserve(&mut self, messages: usize) {
        self.rendered.spans.reserve(messages);
        self.rendered.speakers.reserve(messages);
    }

    /// Records where a message was written, and whose it is.
    pub(super) fn record(&mut self, span: MessageSpan, header: HeaderFields<'_>) {
        self.rendered.spans.push(span);
        let known = |name: &str| CHANNELS.into_iter().find(|known| *known == name);
        let channel = header
            .channel
            .map(|name| known(name).map_or_else(|| name.to_owned().into(), Cow::from));
        self.rendered.speakers.push(Speaker { role: header.role, channel });
    }

    /// What is left for the text of tools.
    pub(super) fn tool_budget(&mut self) -> &mut Budget {
        &mut self.tool_budget
    }

    /// How many tokens there are.
    pub(super) fn len(&self) -> usize {
        self.rendered.tokens.len()
    }

    /// The beginning of a message of this role.
    pub(super) fn next_turn(&mut self, role: Role) {
        self.special(special::START);
        self.role(role);
    }

    /// Replaces the last token, if there is one, by a special token.
    pub(super) fn replace_last(&mut self, token: u32) {
        if let Some(last) = self.rendered.tokens.last_mut() {
            *last = token;
        }
    }

    /// Writes a header.
    pub(super) fn pieces<'a>(&mut self, pieces: impl Iterator<Item = Piece<'a>>) {
        for piece in pieces {
            match piece {
                Piece::Special(token) => self.special(token),
                Piece::Role(role) => self.role(role),
                Piece::Channel(channel) => self.channel(channel),
                Piece::Text("", text) => self.text(text),
                Piece::Text(before, text) => self.text(&[before, text].concat()),
            }
        }
    }

    /// One special token.
    pub(super) fn special(&mut self, token: u32) {
        self.rendered.tokens.push(token);
    }

    /// The name of a role.
    fn role(&mut self, role: Role) {
        self.rendered.tokens.extend_from_slice(literals::role(role));
    }

    fn channel(&mut self, channel: &str) {
        match literals::channel(channel) {
            Some(tokens) => self.rendered.tokens.extend_from_slice(tokens),
            None => self.text(channel),
        }
    }

    /// A piece of text, encoded on its own, as ordinary text.
    pub(super) fn text(&mut self, piece: &str) {
        self.tokenizer.encode_ordinary_into(piece, &mut self.rendered.tokens);
    }
}
