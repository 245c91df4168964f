//! Refuses schemas that are nested too deeply.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Reason, Result};

/// How many levels of lists and objects a schema may have.
///
/// 0.0.8 reads its messages with `serde_json`, which stops at 128 levels, and the message around
/// a schema takes some of them: whatever 0.0.8 accepts is accepted here.
pub(crate) const MAX_DEPTH: usize = 128;

/// Refuses the `schema` of `name`, a tool or a response format, if writing it by recursion could
/// exhaust the stack.
pub(crate) fn check_depth(name: &str, schema: &Value) -> Result<()> {
    if is_too_deep(schema) {
        return Err(invalid(name, format!("nested more than {MAX_DEPTH} levels deep")));
    }
    Ok(())
}

/// Whether a schema has more than [`MAX_DEPTH`] levels.
pub(crate) fn is_too_deep(schema: &Value) -> bool {
    !fits(schema, MAX_DEPTH)
}

/// Whether `value` has at most `levels` levels of lists and objects. Looks no deeper than that.
fn fits(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| fits(item, levels - 1)),
        Value::Object(map) => levels > 0 && map.values().all(|value| fits(value, levels - 1)),
        _ => true,
    }
}

/// The error about the schema of the tool, or the name, that is called this.
pub(super) fn invalid(name: &str, reason: impl Into<Reason>) -> Error {
    ErrorKind::InvalidSchema { name: name.to_owned(), reason: reason.into() }.into()
}
