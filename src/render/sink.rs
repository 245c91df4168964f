//! Where rendering writes: one growing list of tokens.

use super::literals;
use crate::chat::Role;
use crate::header::HeaderSink;
use crate::tokenizer::{Tokenizer, special};
use crate::typescript::Budget;

/// The tokens written so far, and how to add to them.
pub(super) struct Sink<'a> {
    tokenizer: Tokenizer,
    tokens: &'a mut Vec<u32>,
    /// What is left for the text of tools, all messages together.
    tool_budget: Budget,
}

impl<'a> Sink<'a> {
    pub(super) fn new(tokenizer: Tokenizer, tokens: &'a mut Vec<u32>) -> Self {
        Self { tokenizer, tokens, tool_budget: Budget::default() }
    }

    /// What is left for the text of tools.
    pub(super) fn tool_budget(&mut self) -> &mut Budget {
        &mut self.tool_budget
    }

    /// How many tokens there are.
    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The beginning of a message of this role.
    pub(super) fn next_turn(&mut self, role: Role) {
        self.special(special::START);
        self.role(role);
    }

    /// Replaces the last token, if there is one, by a special token.
    pub(super) fn replace_last(&mut self, token: u32) {
        if let Some(last) = self.tokens.last_mut() {
            *last = token;
        }
    }
}

impl HeaderSink for Sink<'_> {
    fn special(&mut self, token: u32) {
        self.tokens.push(token);
    }

    fn role(&mut self, role: Role) {
        self.tokens.extend_from_slice(literals::role(role));
    }

    fn channel(&mut self, channel: &str) {
        match literals::channel(channel) {
            Some(tokens) => self.tokens.extend_from_slice(tokens),
            None => self.text(channel),
        }
    }

    fn text(&mut self, piece: &str) {
        self.tokenizer.encode_ordinary_into(piece, self.tokens);
    }
}
