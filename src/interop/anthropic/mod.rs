//! The dialect of Anthropic Messages, `/v1/messages`, and of its count of tokens.

mod blocks;
mod error;
mod read;
mod tools;
mod write;

pub use read::read;

use super::answer::{Framing, Prefixes};
use super::dialect::Definition;

pub(super) const DEFINITION: Definition = Definition {
    name: "anthropic",
    messages: "messages",
    fields: read::FIELDS,
    repeated: &[],
    known_by: &["system", "stop_sequences", "thinking", "anthropic_version"],
    collect: read::collect,
    writer: |head, turn| Box::new(write::Anthropic::new(head, turn)),
    prefixes: Prefixes::new("msg_", "toolu_"),
    takes_objects: true,
    framing: Framing::NamedEvents,
    last_frame: b"",
    error_body: error::error_body,
};
