//! The dialect of Anthropic Messages, `/v1/messages`, and of its count of tokens.

mod blocks;
mod event;
mod read;
mod tools;
mod write;

pub use event::{BlockDelta, ContentBlock, MessageEvent, MessageObject, MessageUsage, StopDelta};
pub use read::read;
#[cfg(feature = "training")]
pub(super) use read::{FIELDS, collect};
pub(super) use write::Anthropic;
