//! The dialect of chat completions, `/v1/chat/completions`.

mod error;
mod messages;
mod read;
mod tools;
mod write;

pub(super) use error::error_body;
pub use read::read;
#[cfg(feature = "training")]
pub(crate) use {messages::Messages, read::read_settings, tools::read_tool};

use super::answer::{Framing, Prefixes};
use super::dialect::Definition;

pub(super) const DEFINITION: Definition = Definition {
    name: "chat_completions",
    messages: "messages",
    fields: read::FIELDS,
    repeated: &[],
    // What is nobody else's.
    known_by: &[],
    collect: read::collect,
    writer: |head, turn| Box::new(write::Chat::new(head, turn)),
    prefixes: Prefixes::new("chatcmpl-", "call_"),
    takes_objects: false,
    framing: Framing::Events,
    last_frame: b"data: [DONE]\n\n",
    error_body,
};
