//! The keywords that only comments can express.

use serde_json::{Map, Value};

use super::super::literal::write_json;
use super::super::schema::{INTEGER, Limit, Notes};

/// The maximum number of a value's characters that a remark shows.
const BRIEF: usize = 200;

/// Reads the notes in one pass: a look-up for each keyword costs more than the rest.
pub(super) fn read_notes(map: &Map<String, Value>) -> Notes<'_> {
    let mut notes = Notes::default();
    if is_integer(map) {
        notes.limits.push(Limit::Flag(INTEGER));
    }
    for (keyword, value) in map {
        match keyword.as_str() {
            "title" => notes.title = value.as_str(),
            "description" => notes.descriptions.extend(value.as_str()),
            "default" => notes.default = Some(value),
            "examples" => notes.examples.extend(value.as_array().into_iter().flatten()),
            // OpenAPI's.
            "example" => notes.examples.push(value),
            // Short facts.
            "format" | "pattern" | "minLength" | "maxLength" | "minimum" | "exclusiveMinimum"
            | "maximum" | "exclusiveMaximum" | "multipleOf" | "minItems" | "maxItems"
            | "uniqueItems" | "minProperties" | "maxProperties" | "contentEncoding"
            | "contentMediaType" | "readOnly" | "writeOnly" | "deprecated" => {
                notes.limits.extend(limit(keyword, value));
            }
            // Their values are schemas or lists.
            "not" | "if" | "then" | "else" | "contains" | "minContains" | "maxContains"
            | "propertyNames" | "dependentRequired" | "dependentSchemas" | "dependencies"
            | "contentSchema" | "unevaluatedItems" | "$dynamicRef" | "$recursiveRef" => {
                notes.remarks.push(format!("{keyword}: {}", brief(value)));
            }
            _ => {}
        }
    }
    notes
}

/// A keyword that is `true` becomes a fact of its name only; `false` is no fact.
fn limit<'a>(keyword: &'a str, value: &'a Value) -> Option<Limit<'a>> {
    match value {
        Value::Bool(false) => None,
        Value::Bool(true) => Some(Limit::Flag(keyword)),
        value => Some(Limit::Keyword(keyword, value)),
    }
}

/// Whether a note must say that a `number` is an integer: not if the values are listed.
fn is_integer(map: &Map<String, Value>) -> bool {
    let names_integer = match map.get("type") {
        Some(Value::Array(names)) => names.iter().any(|name| name == INTEGER),
        Some(name) => name == INTEGER,
        None => false,
    };
    names_integer && !map.contains_key("enum") && !map.contains_key("const")
}

/// The value as JSON on one line, cut off where it is long.
pub(super) fn brief(value: &Value) -> String {
    let mut text = String::new();
    write_json(&mut text, value);
    if let Some((cut, _)) = text.char_indices().nth(BRIEF) {
        text.truncate(cut);
        text.push('…');
    }
    text
}
