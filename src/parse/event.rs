//! What happened while parsing.

use std::ops::Range;

use crate::chat::Author;
use crate::repair::RepairKind;

/// One thing that happened in the stream.
///
/// The spans of the events, in order, cover every token fed, each exactly once; only a
/// [`Repair`] with an index lies inside its message's spans and does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A header is complete.
    #[non_exhaustive]
    MessageStart {
        /// The header's tokens with `<|start|>` and `<|message|>`: first and past-last index.
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
    /// Content arrived: whole characters, all that one call of `feed` gave to the message.
    #[non_exhaustive]
    ContentDelta {
        /// The tokens; the last may have begun a character that a later delta brings.
        span: Range<usize>,
        /// The message's index.
        index: usize,
        /// The text; all deltas of a message joined are its content.
        text: String,
    },
    /// A message is complete.
    #[non_exhaustive]
    MessageEnd {
        /// The stop token, or an empty span where there is none.
        span: Range<usize>,
        /// The message's index.
        index: usize,
        /// The token that ended the message; `None` where the stream or another message did.
        stop_token: Option<u32>,
    },
    /// Lenient parsing repaired something.
    Repair(Repair),
}

impl Event {
    /// The tokens that the event tells of: first and past-last index into the tokens fed.
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::MessageStart { span, .. }
            | Self::ContentDelta { span, .. }
            | Self::MessageEnd { span, .. } => span.clone(),
            Self::Repair(repair) => repair.span.clone(),
        }
    }

    /// The index of the event's message; `None` for a repair outside of any.
    pub fn index(&self) -> Option<usize> {
        match self {
            Self::MessageStart { index, .. }
            | Self::ContentDelta { index, .. }
            | Self::MessageEnd { index, .. } => Some(*index),
            Self::Repair(repair) => repair.index,
        }
    }
}

/// What lenient parsing repaired, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// What was wrong.
    pub kind: RepairKind,
    /// The tokens concerned: first and past-last index into the tokens fed.
    pub span: Range<usize>,
    /// The index of the message that the repair belongs to; `None` outside of any.
    pub index: Option<usize>,
    /// The text of the span, special tokens by their names, U+FFFD for unknown ids.
    pub text: String,
}
