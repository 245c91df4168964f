//! Texts inside fields that clients send back unread: thoughts in `encrypted_content` of a Responses reasoning item and
//! in `signature` of an Anthropic thinking block, items in `encrypted_content` of a compaction, which the gateway writes.
//!
//! Nothing is secret here: the text is in base64, after a mark that tells this library's values from those of other
//! servers.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::body::{Json, parse_body};

/// The beginnings of this library's own values.
const MARK: &str = "harmony-thought-1.";
const OF_ITEMS: &str = "harmony-compaction-1.";

/// The field's value for a thought.
pub(crate) fn write_thought(thought: &str) -> String {
    [MARK, &URL_SAFE_NO_PAD.encode(thought)].concat()
}

/// The thought that such a value carries; `None` for those of other servers.
pub(crate) fn read_thought(field: &str) -> Option<String> {
    read_after(MARK, field)
}

/// The list of items that the value of a compaction carries; `None` for those of other servers.
pub(crate) fn read_compaction(field: &str) -> Option<Json> {
    let items = parse_body(&read_after(OF_ITEMS, field)?).ok()?;
    items.at().as_array().is_some().then_some(items)
}

fn read_after(mark: &str, field: &str) -> Option<String> {
    let bytes = URL_SAFE_NO_PAD.decode(field.strip_prefix(mark)?).ok()?;
    String::from_utf8(bytes).ok()
}
