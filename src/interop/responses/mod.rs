//! The dialect of Responses, `/v1/responses`.

mod items;
mod read;
mod write;

pub use read::read;

use super::answer::{Framing, Prefixes};
use super::chat_completions::error_body;
use super::dialect::Definition;

pub(super) const DEFINITION: Definition = Definition {
    name: "responses",
    messages: "input",
    fields: read::FIELDS,
    repeated: read::REPEATED,
    known_by: &["input"],
    collect: read::collect,
    writer: |head, turn| Box::new(write::Responses::new(head, turn)),
    prefixes: Prefixes {
        thought: Some("rs_"),
        message: Some("msg_"),
        function: Some("fc_"),
        custom: Some("ctc_"),
        ..Prefixes::new("resp_", "call_")
    },
    takes_objects: false,
    framing: Framing::NamedEvents,
    last_frame: b"",
    error_body,
};
