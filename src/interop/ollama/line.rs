//! What a streamed answer of Ollama's consists of.

use serde::Serialize;

use crate::interop::{Arguments, SharedText};

/// A line of a streamed answer; as the only line, the whole answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChatLine {
    /// The model's name.
    pub model: SharedText,
    /// When the answer was created: `2025-06-28T12:00:00Z`.
    pub created_at: SharedText,
    /// What is new in the message.
    pub message: LineMessage,
    /// Whether it is the last line.
    pub done: bool,
    /// Why the answer ended: `stop` or `length`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done_reason: Option<&'static str>,
    /// What the answer took, in the last line.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Metrics>,
}

/// What is new in the message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LineMessage {
    /// `assistant`.
    pub role: &'static str,
    /// Text of the answer; may be empty.
    pub content: String,
    /// Text of the thoughts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// Whole calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<LineCall>,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LineCall {
    /// The call's id.
    pub id: String,
    /// What is called.
    pub function: LineFunction,
}

/// What is called.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LineFunction {
    /// Which of the message's calls.
    pub index: usize,
    /// The function's name.
    pub name: String,
    /// Its arguments.
    pub arguments: Arguments,
}

/// What the answer took: durations in nanoseconds, tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Metrics {
    /// All of it.
    pub total_duration: u64,
    /// Loading the model: 0.
    pub load_duration: u64,
    /// Tokens of the prompt.
    pub prompt_eval_count: usize,
    /// From the beginning of the answer to its first tokens.
    pub prompt_eval_duration: u64,
    /// Sampled tokens.
    pub eval_count: usize,
    /// From the first tokens to the end.
    pub eval_duration: u64,
}
