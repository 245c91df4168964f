//! What the writers of the dialects have in common.

use std::fmt::Debug;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::segment::{Segment, Step};
use super::shared::SharedText;
use super::usage::Usage;
use crate::interop::Dialect;

/// Why the tokens end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FinishReason {
    /// The model stopped, or the engine did at a stop string.
    Stop,
    /// The limit of tokens was reached.
    Length,
    /// The engine gave up: the client is gone, the server shuts down.
    Abort,
}

/// Takes the chunks of a dialect.
pub(in crate::interop) trait Sink<C> {
    fn push(&mut self, chunk: C);

    /// What the bytes of the chunks are written after, if bytes are all that is wanted: then a writer
    /// may write those of a chunk without making it.
    fn bytes(&mut self) -> Option<&mut Vec<u8>>;
}

/// Writes an answer in a dialect.
pub(in crate::interop) trait Writer: Debug + Send + Sync {
    /// What the dialect sends at a time.
    type Chunk;
    /// The whole answer.
    type Response;
    /// What opens the stream.
    fn open(
        &mut self,
        prompt_tokens: usize,
        cached_tokens: usize,
        chunks: &mut dyn Sink<Self::Chunk>,
    );
    /// What is sent of a step.
    fn step(&mut self, step: Step, segments: &[Segment], chunks: &mut dyn Sink<Self::Chunk>);
    /// What ends the stream.
    fn close(&mut self, state: &State<'_>, chunks: &mut dyn Sink<Self::Chunk>);
    /// The whole answer.
    fn response(&self, state: &State<'_>) -> Self::Response;
}

/// What every chunk says of the answer.
#[derive(Debug, Clone)]
pub(in crate::interop) struct Head {
    pub(in crate::interop) id: SharedText,
    /// In seconds since 1970.
    pub(in crate::interop) created: u64,
    pub(in crate::interop) model: SharedText,
    pub(in crate::interop) index: usize,
}

/// The answer as it stands.
#[derive(Debug, Clone, Copy)]
pub(in crate::interop) struct State<'a> {
    pub(in crate::interop) segments: &'a [Segment],
    pub(in crate::interop) usage: Usage,
    /// `None` while it is under way.
    pub(in crate::interop) outcome: Option<&'a Outcome>,
}

/// How it ended.
#[derive(Debug, Clone)]
pub(in crate::interop) struct Outcome {
    pub(in crate::interop) reason: FinishReason,
    pub(in crate::interop) stop_sequence: Option<String>,
    /// Of the prompt and of the answer.
    pub(in crate::interop) durations: [Duration; 2],
}

/// What the ids of a dialect begin with; `None`: it has none.
#[derive(Debug, Clone, Copy)]
pub(in crate::interop) struct Prefixes {
    pub(in crate::interop) reply: &'static str,
    pub(in crate::interop) call: &'static str,
    pub(in crate::interop) thought: Option<&'static str>,
    pub(in crate::interop) message: Option<&'static str>,
    pub(in crate::interop) function: Option<&'static str>,
    pub(in crate::interop) custom: Option<&'static str>,
}

impl Prefixes {
    pub(in crate::interop) fn of(dialect: Dialect) -> Self {
        let plain = |reply, call| Self {
            reply,
            call,
            thought: None,
            message: None,
            function: None,
            custom: None,
        };
        match dialect {
            Dialect::ChatCompletions => plain("chatcmpl-", "call_"),
            Dialect::Anthropic => plain("msg_", "toolu_"),
            Dialect::Ollama => plain("", "call_"),
            Dialect::Responses => Self {
                thought: Some("rs_"),
                message: Some("msg_"),
                function: Some("fc_"),
                custom: Some("ctc_"),
                ..plain("resp_", "call_")
            },
        }
    }
}
