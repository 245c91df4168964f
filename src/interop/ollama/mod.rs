//! The dialect of Ollama, `/api/chat`.

mod read;
mod write;

pub use read::read;

use serde_json::json;

use super::answer::{Framing, Prefixes};
use super::dialect::Definition;

pub(super) const DEFINITION: Definition = Definition {
    name: "ollama",
    messages: "messages",
    fields: read::FIELDS,
    repeated: &[],
    known_by: &["options", "keep_alive", "think", "format"],
    collect: read::collect,
    writer: |head, turn| Box::new(write::Ollama::new(head, turn)),
    prefixes: Prefixes::new("", "call_"),
    takes_objects: true,
    framing: Framing::Lines,
    last_frame: b"",
    error_body: |_, message, _, _| json!({"error": message}),
};
