//! Code shared by the writers of the dialects.

use crate::options::choices;
use std::fmt::Debug;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json::write_json;
use super::logprobs::{LogprobEntry, Logprobs};
use super::segment::{Delta, PastSegments, Segment};
use super::sink::Sink;
use crate::tokenizer::TokenId;

/// Why the tokens end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FinishReason {
    /// The model stopped, or the engine did at a stop string.
    Stop,
    /// The limit of tokens was reached.
    Length,
    /// The engine gave up, or the server shuts down: the answer fails.
    Abort,
}

/// The field of a chat completion's message that holds thoughts. The API itself has none; servers use two names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ReasoningField {
    /// `reasoning_content`, which most clients read.
    #[default]
    ReasoningContent,
    /// `reasoning`.
    Reasoning,
    /// Both, with the same text.
    Both,
    /// Thoughts are not in the answer.
    Omitted,
}

choices! {
    ReasoningField, "'reasoning_content', 'reasoning', 'both' or None":
        "reasoning_content" ReasoningContent,
        "reasoning" Reasoning,
        "both" Both else Omitted;
    FinishReason, "'stop', 'length' or 'abort'": "stop" Stop, "length" Length, "abort" Abort;
}

/// How many tokens a turn took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: usize,
    /// Prompt tokens that the engine had cached.
    pub cached_tokens: usize,
    /// Sampled tokens, markers and headers included.
    pub completion_tokens: usize,
    /// Sampled tokens that are the content of thoughts.
    pub reasoning_tokens: usize,
}

impl Usage {
    /// Tokens of prompt and answer.
    pub fn total_tokens(&self) -> usize {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }
}

/// Writes an answer in a dialect. Segments are given with their indices.
pub(in crate::interop) trait Writer: Debug + Send + Sync {
    /// Sends what opens the stream.
    fn open(&mut self, _usage: Usage, _sink: &mut Sink<'_>) {}
    /// Continues after these segments, all of which have ended.
    fn resume(&mut self, _past: PastSegments) {}
    /// Tokens were sampled, with the entries of all of them if the body asks for those. What they become follows, then
    /// [`Self::flush`].
    fn sampled(&mut self, _tokens: &[TokenId], _logprobs: Vec<LogprobEntry>) {}
    /// Sends tokens that no chunk has sent.
    fn flush(&mut self, _sink: &mut Sink<'_>) {}
    /// Sends that a segment begins.
    fn begin(&mut self, _index: usize, _segment: &Segment, _sink: &mut Sink<'_>) {}
    /// Sends more of a segment's text or arguments.
    fn delta(&mut self, index: usize, segment: &Segment, new: Delta<'_>, sink: &mut Sink<'_>);
    /// Sends that a segment ends.
    fn end(&mut self, _index: usize, _segment: &Segment, _sink: &mut Sink<'_>) {}
    /// Sends what ends the stream.
    fn close(&mut self, state: &AnswerState<'_>, sink: &mut Sink<'_>);
    /// Ends a failed stream with an error in the dialect's form, so that no client takes it for an answer.
    fn fail(&mut self, _state: &AnswerState<'_>, error: &Value, sink: &mut Sink<'_>) {
        sink.chunk("error", |bytes| write_json(error, bytes));
    }
    /// Writes the whole answer as JSON.
    fn response(&self, state: &AnswerState<'_>, bytes: &mut Vec<u8>);
}

/// What every chunk repeats about the answer.
#[derive(Debug, Clone)]
pub(in crate::interop) struct Head {
    pub(in crate::interop) id: String,
    /// In seconds since 1970.
    pub(in crate::interop) created: u64,
    pub(in crate::interop) model: String,
    pub(in crate::interop) index: usize,
    pub(in crate::interop) reasoning_field: ReasoningField,
    /// The prompt's tokens, if the answer has them.
    pub(in crate::interop) prompt_token_ids: Option<Vec<TokenId>>,
}

/// The answer so far.
#[derive(Debug, Clone, Copy)]
pub(in crate::interop) struct AnswerState<'a> {
    /// Counts of the segments before a checkpoint.
    pub(in crate::interop) past: PastSegments,
    pub(in crate::interop) segments: &'a [Segment],
    /// The sampled tokens, and the log-probabilities that the body asks for.
    pub(in crate::interop) tokens: &'a [TokenId],
    pub(in crate::interop) logprobs: Option<&'a Logprobs>,
    pub(in crate::interop) usage: Usage,
    /// `None` while it is under way.
    pub(in crate::interop) outcome: Option<&'a Outcome>,
}

impl AnswerState<'_> {
    /// The state of an answer that begins.
    pub(in crate::interop) fn opening(usage: Usage) -> Self {
        let past = PastSegments::default();
        Self { past, segments: &[], tokens: &[], logprobs: None, usage, outcome: None }
    }

    /// Whether it has a complete call.
    pub(in crate::interop) fn has_whole_call(&self) -> bool {
        self.past.whole_calls > 0 || self.segments.iter().any(Segment::is_whole_call)
    }
}

/// How an answer ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::interop) struct Outcome {
    pub(in crate::interop) reason: FinishReason,
    pub(in crate::interop) stop_sequence: Option<String>,
    /// How long the prompt took, and the answer.
    pub(in crate::interop) durations: [Duration; 2],
    /// What went wrong, if the answer was aborted.
    pub(in crate::interop) failure: String,
}

/// The prefixes of a dialect's ids; `None` where it has no ids.
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
    /// The prefixes of a dialect without ids of items.
    pub(in crate::interop) const fn new(reply: &'static str, call: &'static str) -> Self {
        Self { reply, call, thought: None, message: None, function: None, custom: None }
    }
}
