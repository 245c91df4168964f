//! The positions of each message's parts among the tokens.

use std::ops::Range;

use serde::{Serialize, Serializer};

/// The position of a message, as token indices: its header is `start..content`, its content
/// `content..stop`, and its stop token `stop..end`.
///
/// The spans of a rendering, in order, cover every token once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct MessageSpan {
    /// The index of the message in the given conversation, counting dropped messages, or among the
    /// parsed messages. `None` for a message that only begins, at the end of a prompt or of a
    /// stream.
    pub message: Option<usize>,
    /// The first token of the header.
    pub start: usize,
    /// The first token of the content, after `<|message|>`.
    pub content: usize,
    /// The stop token; equal to `end` if there is none.
    pub stop: usize,
    /// The index after the last token.
    pub end: usize,
}

impl MessageSpan {
    /// The tokens of the header, with `<|start|>` and `<|message|>`.
    pub fn header_tokens(&self) -> Range<usize> {
        self.start..self.content
    }

    /// The tokens of the content.
    pub fn content_tokens(&self) -> Range<usize> {
        self.content..self.stop
    }

    /// The stop token; empty if there is none.
    pub fn stop_token(&self) -> Range<usize> {
        self.stop..self.end
    }

    /// The span with this many more tokens before it.
    pub(crate) fn behind(self, tokens: usize) -> Self {
        let Self { message, start, content, stop, end } = self;
        let [start, content, stop, end] = [start, content, stop, end].map(|place| place + tokens);
        Self { message, start, content, stop, end }
    }
}

/// Writes a range as `[start, end]`.
pub(crate) fn as_pair<S: Serializer>(range: &Range<usize>, to: S) -> Result<S::Ok, S::Error> {
    [range.start, range.end].serialize(to)
}
