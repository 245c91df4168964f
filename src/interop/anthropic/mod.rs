//! The dialect of Anthropic Messages, `/v1/messages`, and of its count of tokens.

mod blocks;
mod read;
mod tools;
mod write;

pub use read::read;

use serde_json::{Value, json};

use super::answer::{Framing, Prefixes};
use super::dialect::Definition;
use crate::error::ErrorKind;

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
    error_body,
};

fn error_body(status: u16, message: &str, _path: Option<&str>, code: Option<&str>) -> Value {
    let kind = match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        503 | 529 => "overloaded_error",
        504 => "timeout_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let mut body = json!({"type": "error", "error": {"type": kind, "message": message}});
    // Anthropic's API has no name for a too long context.
    if let Some(code) = code.filter(|code| *code != ErrorKind::CONTEXT_LENGTH) {
        body["error"]["details"] = json!({"error_code": code});
    }
    body
}
