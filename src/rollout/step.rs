//! What the model sampled from one prompt.

use super::calls::{self, Waiting};
use super::sampled::{self, Sampled};
use crate::chat::{ANALYSIS, FINAL, Message, Role};
use crate::error::Result;
use crate::tokenizer::{TokenId, special};
use crate::{HarmonyEncoding, MessageSpan, Repair};

/// One sample: messages with their tokens, and how they ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// The messages, in their order. The first one includes what the prompt prefilled.
    pub said: Vec<Said>,
    /// The stop token that was sampled last, wherever it is: a malformed header may end with one. `None` if sampling was
    /// cut off.
    pub stop_token: Option<TokenId>,
    /// The repairs of malformed tokens. Spans count sampled tokens.
    pub repairs: Vec<Repair>,
}

/// A sampled message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Said {
    /// The message.
    pub message: Message,
    /// The kind of message.
    pub kind: SaidKind,
    /// Its tokens, as indices into the sampled tokens.
    pub span: MessageSpan,
    /// Whether the model ended it. A call that it did not end must not run.
    pub is_complete: bool,
    /// Whether it is a pending call. It is not if the model continued without a result: with an answer, or with a
    /// result that it made up.
    pub is_waiting: bool,
}

/// What a sampled message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum SaidKind {
    /// On `analysis`, without a recipient.
    Thought,
    /// Visible text before the answer: on `commentary` or without a channel.
    Preamble,
    /// On `final`.
    Answer,
    /// To a tool, on any channel.
    Call,
    /// Written as another role: a tool's result or a question that the model made up.
    Other,
}

impl SaidKind {
    /// The kind's name in Python.
    pub fn name(self) -> &'static str {
        self.into()
    }

    fn of(message: &Message) -> Self {
        if message.author.role != Role::Assistant {
            return Self::Other;
        }
        match message.channel.as_deref() {
            _ if calls::is_call(message) => Self::Call,
            Some(ANALYSIS) => Self::Thought,
            Some(FINAL) => Self::Answer,
            _ => Self::Preamble,
        }
    }
}

impl Step {
    /// Reads tokens sampled from a prompt, however malformed, without a rollout. An empty prompt means
    /// `<|start|>assistant`. `sampled` may be empty, and tokens may follow a stop token.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidRollout`](crate::ErrorKind::InvalidRollout): the prompt does not end with an open message of
    /// the assistant. Also a tool with a name that no header can carry.
    ///
    /// ```
    /// use openai_harmony::rollout::{SaidKind, Step};
    /// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
    ///
    /// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let sampled = encoding.tokenizer().encode_with_special_tokens("<|channel|>final Hi<|return|>");
    /// let step = Step::read(encoding, &[], &sampled, &[])?;
    /// assert_eq!(step.said[0].kind, SaidKind::Answer);
    /// assert!(step.is_complete());
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn read(
        encoding: HarmonyEncoding,
        prompt: &[TokenId],
        sampled: &[TokenId],
        tools: &[String],
    ) -> Result<Self> {
        let beginning = sampled::beginning(encoding);
        let prompt = if prompt.is_empty() { &beginning } else { prompt };
        let open = &prompt[sampled::open_message(prompt, encoding)?..];
        Ok(Self::new(&sampled::read(open, sampled, tools, encoding)?, open.len()))
    }

    /// The step for tokens that were read after `open` tokens of the prompt.
    pub(super) fn new(sampled: &Sampled, open: usize) -> Self {
        let behind = |token: usize| token.saturating_sub(open);
        let waiting = Waiting::of_sampled(&sampled.messages).indices();
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
            is_waiting: waiting.contains(&index),
        });
        Self { said: said.collect(), stop_token: sampled.stop, repairs: sampled.repairs.clone() }
    }

    /// The messages of one kind.
    pub fn of_kind(&self, kind: SaidKind) -> impl Iterator<Item = &Said> {
        self.said.iter().filter(move |said| said.kind == kind)
    }

    /// Whether the model itself ended its turn, with `<|return|>` or `<|call|>`.
    pub fn is_complete(&self) -> bool {
        matches!(self.stop_token, Some(special::RETURN | special::CALL))
    }

    /// Whether no thought was cut off. True if there is none.
    pub fn thought_closed(&self) -> bool {
        self.of_kind(SaidKind::Thought).all(|thought| thought.is_complete)
    }
}
