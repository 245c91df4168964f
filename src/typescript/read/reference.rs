//! `$ref`: local JSON pointers, which are resolved.
//!
//! The text of a tool is one declaration, so a schema that is referred to is copied in. A reference to a schema that is
//! being copied, which would never end, or out of the schema gives `any` with the reason; copies of copies that grow
//! exponentially are refused.

use std::borrow::Cow;

use serde_json::Value;

/// The value in `root` that `reference`, `#/$defs/node`, points to, or why it does not lead to a value.
pub(crate) fn resolve<'a>(root: &'a Value, reference: &str) -> Result<&'a Value, &'static str> {
    let Some(fragment) = reference.strip_prefix('#') else {
        return Err("leads out of the schema");
    };
    let pointer = percent_decoded(fragment);
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Err("is not a JSON pointer");
    }
    root.pointer(&pointer).ok_or("leads nowhere")
}

/// The text with `%20` and the like decoded; unchanged if the result is not UTF-8.
fn percent_decoded(text: &str) -> Cow<'_, str> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        // `from_str_radix` would take a sign too.
        let digits = part.get(..2).filter(|digits| !digits.starts_with('+'));
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let Some(code) = code else { return Cow::Borrowed(text) };
        bytes.push(code);
        bytes.extend(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Charges the budget for copying `value`: its texts, and for each value about the size of its text. `false` if that is
/// not enough.
pub(super) fn spend(budget: &mut usize, value: &Value) -> bool {
    /// The bytes of `{"type":"string"}` besides its texts.
    const VALUE: usize = 8;
    let own = match value {
        Value::String(text) => text.len(),
        Value::Object(map) => map.keys().map(String::len).sum(),
        _ => 0,
    };
    let Some(left) = budget.checked_sub(own + VALUE) else { return false };
    *budget = left;
    match value {
        Value::Array(items) => items.iter().all(|item| spend(budget, item)),
        Value::Object(map) => map.values().all(|value| spend(budget, value)),
        _ => true,
    }
}
