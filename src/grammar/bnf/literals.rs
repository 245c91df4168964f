//! Texts and values as rules have them.

use serde_json::Value;

use crate::error::Result;
use crate::grammar::invalid;
use crate::path::Path;

/// A text as both dialects quote it.
pub(super) fn literal(text: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            _ => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

/// A value as it is written without blanks, and so that it spells no special token.
pub(super) fn json_literal(value: &Value) -> String {
    literal(&value.to_string().replace("<|", "\\u003c|"))
}

/// One of the values of `const` or `enum`.
pub(super) fn literals(
    value: &Value,
    key: &'static str,
    kind: Option<&Value>,
    path: &Path,
) -> Result<String> {
    let all = match value {
        Value::Array(all) if key == "enum" => all.as_slice(),
        one => std::slice::from_ref(one),
    };
    let fits = |value: &&Value| match kind {
        None => true,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| is_of(value, kind)),
        Some(kind) => is_of(value, kind),
    };
    let written: Vec<String> = all.iter().filter(fits).map(json_literal).collect();
    if written.is_empty() {
        return Err(invalid(path.clone().then(key), "admits no value"));
    }
    Ok(written.join(" | "))
}

fn is_of(value: &Value, kind: &Value) -> bool {
    match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("number") => value.is_number(),
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => false,
    }
}
