//! The dialect of chat completions, `/v1/chat/completions`.

mod messages;
mod read;
mod write;

pub(crate) use messages::Messages;
pub use read::read;
#[cfg(feature = "training")]
pub(crate) use read::read_settings;

use serde_json::{Value, json};

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

/// Errors as chat completions and Responses write them.
pub(super) fn error_body(
    status: u16,
    message: &str,
    path: Option<&str>,
    code: Option<&str>,
) -> Value {
    let kind = match status {
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    json!({"error": {"message": message, "type": kind, "param": path, "code": code}})
}
