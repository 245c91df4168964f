//! The dialect of chat completions, `/v1/chat/completions`.

mod chunk;
mod messages;
mod read;
mod tools;
mod write;

pub use chunk::{
    ChatCompletionChunk, ChatUsage, ChunkChoice, ChunkDelta, CompletionTokensDetails, CustomDelta,
    FunctionDelta, PromptTokensDetails, ReasoningField, ToolCallDelta,
};
pub use read::read;
#[cfg(feature = "training")]
pub(crate) use read::read_json;
#[cfg(feature = "training")]
pub(super) use read::{FIELDS, collect};
pub(super) use write::Chat;
