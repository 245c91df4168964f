//! What a streamed chat completion consists of.

use serde::{Deserialize, Serialize};

use crate::interop::SharedText;
use crate::interop::answer::Usage;

/// The field of a chat completion's message in which thoughts stand. The API itself has none; servers
/// agree on two names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// A chunk of a streamed chat completion.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChatCompletionChunk {
    /// The completion's id.
    pub id: SharedText,
    /// `chat.completion.chunk`.
    pub object: &'static str,
    /// When the completion was created, in seconds since 1970.
    pub created: u64,
    /// The model's name.
    pub model: SharedText,
    /// One choice, or none in the chunk that tells the usage.
    pub choices: Vec<ChunkChoice>,
    /// Written only if `stream_options.include_usage` asks for it; then null but in the last chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Option<ChatUsage>>,
}

/// What a chunk adds to a choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChunkChoice {
    /// Which of `n` choices.
    pub index: usize,
    /// What is new.
    pub delta: ChunkDelta,
    /// Always null.
    pub logprobs: Option<()>,
    /// Why the choice ended, in its last chunk.
    pub finish_reason: Option<&'static str>,
}

/// What is new in a choice. Fields that say nothing are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChunkDelta {
    /// `assistant`, in the first chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// Text of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Text of the thoughts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    /// Text of the thoughts, under the other name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The old form of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_call: Option<FunctionDelta>,
    /// Calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallDelta>,
}

/// What is new in a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolCallDelta {
    /// Which of the message's calls.
    pub index: usize,
    /// The call's id, where it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `function` or `custom`, where the call begins.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// A function's arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<FunctionDelta>,
    /// A custom tool's input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom: Option<CustomDelta>,
}

/// What is new in a call of a function.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FunctionDelta {
    /// The function's name, where the call begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// More of the arguments.
    pub arguments: String,
}

/// What is new in a call of a custom tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CustomDelta {
    /// The tool's name, where the call begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// More of the input.
    pub input: String,
}

/// How many tokens the completion took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChatUsage {
    /// Tokens of the prompt.
    pub prompt_tokens: usize,
    /// Sampled tokens, thoughts included.
    pub completion_tokens: usize,
    /// Both.
    pub total_tokens: usize,
    /// Of the prompt's.
    pub prompt_tokens_details: PromptTokensDetails,
    /// Of the sampled ones.
    pub completion_tokens_details: CompletionTokensDetails,
}

/// What tokens of the prompt there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PromptTokensDetails {
    /// Those that the engine had cached.
    pub cached_tokens: usize,
}

/// What sampled tokens there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CompletionTokensDetails {
    /// Those of thoughts.
    pub reasoning_tokens: usize,
}

impl From<Usage> for ChatUsage {
    fn from(usage: Usage) -> Self {
        Self {
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            total_tokens: usage.total_tokens(),
            prompt_tokens_details: PromptTokensDetails { cached_tokens: usage.cached_tokens },
            completion_tokens_details: CompletionTokensDetails {
                reasoning_tokens: usage.reasoning_tokens,
            },
        }
    }
}
