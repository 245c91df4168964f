//! The states of the state machine, and what callers see of them.

use serde::{Deserialize, Serialize};

use super::utf8::Utf8Decoder;
use crate::chat::{Author, Message, Role};
use crate::header::Given;

/// Where in the grammar the parser is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamState {
    /// Between messages: `<|start|>` is expected.
    ExpectStart,
    /// In a header.
    Header,
    /// In a message's content.
    Content,
}

/// The parser's state with its data, as
/// [`StreamableParser::state_data`](crate::StreamableParser::state_data) shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state")]
#[non_exhaustive]
pub enum StateData<'a> {
    /// Between messages.
    ExpectStart,
    /// In a header.
    Header {
        /// The header's tokens so far, without `<|start|>`.
        header_tokens: &'a [u32],
    },
    /// In a message's content.
    Content {
        /// The message's header.
        header: HeaderData<'a>,
        /// The content's tokens so far.
        content_tokens: &'a [u32],
    },
}

/// A header, as [`StateData`] shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HeaderData<'a> {
    /// Whose message it is.
    pub author: &'a Author,
    /// Its recipient.
    pub recipient: Option<&'a str>,
    /// Its channel.
    pub channel: Option<&'a str>,
    /// Its content type.
    pub content_type: Option<&'a str>,
}

/// The most tokens held back because they may be a header: between messages, after a header's
/// fields, and after a `<|channel|>` inside content. A header rarely has more than ten tokens.
pub(super) const HELD_AT_MOST: usize = 32;

/// The states of the state machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum State {
    Start,
    Header(HeaderState),
    Content(Box<OpenMessage>),
    Finished,
}

/// An incomplete header.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct HeaderState {
    /// Its first token: `<|start|>` if it began with one. A checkpoint holds no token before it, apart from those
    /// that it broke off.
    pub(super) from: usize,
    pub(super) begin: Begin,
    /// The number of tokens at which lenient parsing checks whether this can still be a header.
    pub(super) next_check: usize,
    /// The header inside which this one began. Only in strict parsing.
    pub(super) broken_off: Option<BrokenOff>,
}

/// A header that a `<|start|>` broke off; of several in a row all together.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct BrokenOff {
    /// The number of its tokens, which end where the next header begins.
    pub(super) tokens: usize,
    /// What was known about its author.
    pub(super) given: Given,
    /// The role that it names.
    pub(super) role: Option<Role>,
    /// Whether it is empty or can be read, and so is no error.
    pub(super) is_readable: bool,
}

/// How a header began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Begin {
    /// After a role that the caller gave.
    Given,
    /// With `<|start|>`.
    Start,
    /// Between messages without `<|start|>`: the assistant's; only in lenient parsing.
    Unmarked,
    /// Inside the content of another message: the assistant's; only in lenient parsing.
    InContent,
    /// Between messages, with text that may be a header or a whole message; only in lenient
    /// parsing.
    Stray,
}

impl HeaderState {
    pub(super) fn new(from: usize, begin: Begin) -> Self {
        let next_check = HELD_AT_MOST + 1;
        Self { from, begin, next_check, broken_off: None }
    }

    /// Whether a role in the header overrides a given one.
    pub(super) fn names_author(&self) -> bool {
        self.begin != Begin::Given
    }

    /// The role of a header that need not name one.
    pub(super) fn implied_role(&self) -> Option<Role> {
        matches!(self.begin, Begin::Unmarked | Begin::InContent | Begin::Stray)
            .then_some(Role::Assistant)
    }

    /// Where the header's words begin.
    pub(super) fn body(&self) -> usize {
        self.from + usize::from(self.begin == Begin::Start)
    }
}

/// A message with incomplete content.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct OpenMessage {
    /// The fields of its header; its content is added at its end.
    pub(super) message: Message,
    #[serde(skip)]
    pub(super) text: String,
    pub(super) decoder: Utf8Decoder,
    /// The content's first token.
    pub(super) from: usize,
    /// How many bytes of the text are in events.
    #[serde(skip)]
    pub(super) reported: usize,
    /// The first token that no event covers.
    pub(super) uncovered: usize,
    /// The index of a `<|channel|>` that may begin the next header; only in lenient parsing.
    pub(super) held_from: Option<usize>,
    /// Whether no `<|message|>` began the content; only in lenient parsing.
    pub(super) headerless: bool,
}

/// Counts of what came before a checkpoint and is no longer held.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Past {
    /// Whether there was a checkpoint.
    pub(super) is_there: bool,
    /// How many messages.
    pub(super) messages: usize,
    /// What ended the last of them.
    pub(super) stop_token: Option<u32>,
    /// How many of the grammar's held tokens were fed before the checkpoint.
    pub(super) held: usize,
}

/// What the last token added to the content: a text from a byte offset to its end.
#[derive(Debug, Clone, Copy)]
pub(super) enum Delta {
    None,
    /// Of the open message.
    Open(usize),
    /// Of the message that the token completed.
    Complete(usize),
}

impl Delta {
    /// Text was added from this byte offset on; what was added before it counts too.
    pub(super) fn begin_at(&mut self, start: usize) {
        if !matches!(self, Self::Open(_)) {
            *self = Self::Open(start);
        }
    }
}
