//! What happened while parsing.

use std::ops::Range;

use serde::Serialize;

use crate::chat::Author;
use crate::repair::RepairKind;
use crate::span::as_pair;

/// One thing that happened in the stream.
///
/// The spans of the events, in order, cover every token that was fed exactly once. The exception are [`Repair`]s with
/// an index or of the kind [`RepairKind::SpelledMarker`], which lie inside other spans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A header is complete.
    #[non_exhaustive]
    MessageStart {
        /// The header's tokens, with `<|start|>` and `<|message|>`.
        #[serde(serialize_with = "as_pair")]
        span: Range<usize>,
        /// The index that the message has, or will have, among the parser's messages.
        index: usize,
        /// Whose message it is.
        author: Author,
        /// Its channel.
        channel: Option<String>,
        /// Its recipient.
        recipient: Option<String>,
        /// Its content type.
        content_type: Option<String>,
    },
    /// Content arrived: whole characters, everything that one call of `feed` added to the message.
    #[non_exhaustive]
    ContentDelta {
        /// The tokens. The last may begin a character that a later delta completes.
        #[serde(serialize_with = "as_pair")]
        span: Range<usize>,
        /// The message's index.
        index: usize,
        /// The text; all deltas of a message joined are its content.
        text: String,
    },
    /// A message is complete.
    #[non_exhaustive]
    MessageEnd {
        /// The stop token, or an empty span if there is none.
        #[serde(serialize_with = "as_pair")]
        span: Range<usize>,
        /// The message's index.
        index: usize,
        /// The token that ended the message; `None` if the stream or another message ended it.
        stop_token: Option<u32>,
    },
    /// Lenient parsing repaired something.
    Repair(Repair),
}

impl Event {
    /// The tokens of the event, as indices into the tokens that were fed.
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::MessageStart { span, .. }
            | Self::ContentDelta { span, .. }
            | Self::MessageEnd { span, .. } => span.clone(),
            Self::Repair(repair) => repair.span.clone(),
        }
    }

    /// The index of the event's message; `None` for a repair outside of messages.
    pub fn index(&self) -> Option<usize> {
        match self {
            Self::MessageStart { index, .. }
            | Self::ContentDelta { index, .. }
            | Self::MessageEnd { index, .. } => Some(*index),
            Self::Repair(repair) => repair.index,
        }
    }
}

/// What was repaired, and where: by lenient parsing, and by strict parsing ids that do not exist in content and what a
/// `<|start|>` breaks off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Repair {
    /// What was wrong.
    pub kind: RepairKind,
    /// The tokens that were repaired, as indices into the tokens that were fed.
    #[serde(serialize_with = "as_pair")]
    pub span: Range<usize>,
    /// The index of the message that the repair belongs to; `None` outside of messages.
    pub index: Option<usize>,
    /// The text of the span, with the names of special tokens, and U+FFFD for unknown ids; the id itself for
    /// [`RepairKind::UnknownToken`].
    pub text: String,
}
