//! What the model sampled at one prompt.

use super::sampled::{End, Sampled};
use crate::chat::{ANALYSIS, FINAL, Message, Role};
use crate::tokenizer::{TokenId, special};
use crate::{MessageSpan, Repair};

/// What was sampled at once: messages with their tokens, and how they ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// The messages, in their order. The first one includes what the prompt prefilled.
    pub said: Vec<Said>,
    /// The stop token at the end; `None` if sampling was cut off.
    pub stop: Option<TokenId>,
    /// What of the tokens was malformed. Spans are of sampled tokens.
    pub repairs: Vec<Repair>,
}

/// One message that was sampled.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Said {
    /// The message.
    pub message: Message,
    /// What it is.
    pub kind: SaidKind,
    /// Its tokens, as indices into the sampled tokens.
    pub span: MessageSpan,
    /// Whether the model ended it. A call that it did not end must not run.
    pub is_complete: bool,
}

/// What a sampled message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SaidKind {
    /// On `analysis`, to nobody.
    Thought,
    /// Visible text before the answer: on `commentary` or without a channel.
    Preamble,
    /// On `final`.
    Answer,
    /// To a tool, on any channel.
    Call,
    /// As if another role spoke: a tool's result or a question that the model made up.
    Other,
}

impl SaidKind {
    /// The kind's name in Python.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Thought => "thought",
            Self::Preamble => "preamble",
            Self::Answer => "answer",
            Self::Call => "call",
            Self::Other => "other",
        }
    }

    fn of(message: &Message) -> Self {
        if message.author.role != Role::Assistant {
            return Self::Other;
        }
        match (message.recipient.as_deref(), message.channel.as_deref()) {
            (Some(_), _) => Self::Call,
            (None, Some(ANALYSIS)) => Self::Thought,
            (None, Some(FINAL)) => Self::Answer,
            (None, _) => Self::Preamble,
        }
    }
}

impl Step {
    /// Of tokens that were read behind `open` tokens of the prompt.
    pub(super) fn new(sampled: &Sampled, open: usize) -> Self {
        let behind = |token: usize| token.saturating_sub(open);
        let messages = sampled.messages.iter().zip(&sampled.spans).enumerate();
        let said = messages.map(|(index, (message, span))| Said {
            kind: SaidKind::of(message),
            message: message.clone(),
            span: MessageSpan {
                message: Some(index),
                start: behind(span.start),
                content: behind(span.content),
                stop: behind(span.stop),
                end: behind(span.end),
            },
            is_complete: !span.stop_token().is_empty(),
        });
        Self {
            said: said.collect(),
            stop: match sampled.end {
                End::Stopped(stop) => Some(stop),
                End::CutOff(_) | End::InHeader | End::Ambiguous => None,
            },
            repairs: sampled.repairs.clone(),
        }
    }

    /// The messages of one kind.
    pub fn of_kind(&self, kind: SaidKind) -> impl Iterator<Item = &Said> {
        self.said.iter().filter(move |said| said.kind == kind)
    }

    /// Whether the model itself ended its turn, with `<|return|>` or `<|call|>`.
    pub fn is_complete(&self) -> bool {
        matches!(self.stop, Some(special::RETURN | special::CALL))
    }

    /// Whether no thought was cut off. True if there is none.
    pub fn thought_closed(&self) -> bool {
        self.of_kind(SaidKind::Thought).all(|thought| thought.is_complete)
    }
}
