//! What a streamed message consists of.

use serde::Serialize;

use crate::interop::{Arguments, SharedText};

/// An event of a streamed message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum MessageEvent {
    /// The message begins.
    MessageStart {
        /// The message, without content yet.
        message: MessageObject,
    },
    /// A block begins.
    ContentBlockStart {
        /// Which of the message's blocks.
        index: usize,
        /// The block, without content yet.
        content_block: ContentBlock,
    },
    /// More of a block.
    ContentBlockDelta {
        /// Which of the message's blocks.
        index: usize,
        /// What is new.
        delta: BlockDelta,
    },
    /// A block is complete.
    ContentBlockStop {
        /// Which of the message's blocks.
        index: usize,
    },
    /// How the message ended.
    MessageDelta {
        /// Why it ended.
        delta: StopDelta,
        /// How many tokens it took.
        usage: MessageUsage,
    },
    /// Nothing follows.
    MessageStop,
}

impl MessageEvent {
    /// The event's name, which is its type.
    pub fn name(&self) -> &'static str {
        match self {
            Self::MessageStart { .. } => "message_start",
            Self::ContentBlockStart { .. } => "content_block_start",
            Self::ContentBlockDelta { .. } => "content_block_delta",
            Self::ContentBlockStop { .. } => "content_block_stop",
            Self::MessageDelta { .. } => "message_delta",
            Self::MessageStop => "message_stop",
        }
    }
}

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MessageObject {
    /// The message's id.
    pub id: SharedText,
    /// `message`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// `assistant`.
    pub role: &'static str,
    /// The model's name.
    pub model: SharedText,
    /// The blocks.
    pub content: Vec<ContentBlock>,
    /// Why it ended; null while it is under way.
    pub stop_reason: Option<&'static str>,
    /// The stop string that ended it.
    pub stop_sequence: Option<String>,
    /// How many tokens it took.
    pub usage: MessageUsage,
}

/// A block of a message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentBlock {
    /// A thought.
    Thinking {
        /// Its text; empty if the request wants none.
        thinking: String,
        /// The thought in a form that comes back.
        signature: String,
    },
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A call.
    ToolUse {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments.
        input: Arguments,
    },
}

/// What is new in a block.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum BlockDelta {
    /// Of a thought.
    ThinkingDelta {
        /// More text.
        thinking: String,
    },
    /// Of a thought, at its end.
    SignatureDelta {
        /// The signature.
        signature: String,
    },
    /// Of a text.
    TextDelta {
        /// More text.
        text: String,
    },
    /// Of a call.
    InputJsonDelta {
        /// The arguments in JSON.
        partial_json: String,
    },
}

/// Why a message ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StopDelta {
    /// `end_turn`, `tool_use`, `max_tokens` or `stop_sequence`.
    pub stop_reason: Option<&'static str>,
    /// The stop string that ended it.
    pub stop_sequence: Option<String>,
}

/// How many tokens a message took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MessageUsage {
    /// Tokens of the prompt that the engine had not cached.
    pub input_tokens: usize,
    /// 0: what is newly cached is not known.
    pub cache_creation_input_tokens: usize,
    /// Tokens of the prompt that the engine had cached.
    pub cache_read_input_tokens: usize,
    /// Sampled tokens, thoughts included.
    pub output_tokens: usize,
}
