//! Where rendering writes: one growing list of tokens.

use crate::header::HeaderSink;
use crate::tokenizer::Tokenizer;

/// The tokens written so far, and how to add to them.
pub(super) struct Sink<'a> {
    tokenizer: Tokenizer,
    tokens: &'a mut Vec<u32>,
}

impl<'a> Sink<'a> {
    pub(super) fn new(tokenizer: Tokenizer, tokens: &'a mut Vec<u32>) -> Self {
        Self { tokenizer, tokens }
    }
}

impl HeaderSink for Sink<'_> {
    fn special(&mut self, token: u32) {
        self.tokens.push(token);
    }

    fn text(&mut self, piece: &str) {
        self.tokenizer.encode_ordinary_into(piece, self.tokens);
    }
}
