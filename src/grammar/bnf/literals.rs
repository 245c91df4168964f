//! Texts and values as rules have them.

use serde_json::{Map, Number, Value};

use crate::grammar::schemas::decimal::{Bound, Bounds, Decimal};
use crate::grammar::schemas::kind_of;
use crate::grammar::schemas::names::Patterns;

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

/// Whether what a schema says of texts, numbers and counts admits a value that it lists.
pub(super) fn admits(members: &Map<String, Value>, patterns: &mut Patterns, value: &Value) -> bool {
    let is_kind = members.get("type").is_none_or(|kind| match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| is_of(value, kind)),
        kind => is_of(value, kind),
    });
    is_kind
        && match value {
            Value::String(text) => admits_text(members, patterns, text),
            Value::Number(number) => admits_number(members, number),
            Value::Array(items) => admits_count(members, ["minItems", "maxItems"], items.len()),
            Value::Object(named) => {
                admits_count(members, ["minProperties", "maxProperties"], named.len())
            }
            _ => true,
        }
}

fn admits_count(members: &Map<String, Value>, [least, most]: [&str; 2], found: usize) -> bool {
    count(members, least).is_none_or(|least| found >= least)
        && count(members, most).is_none_or(|most| found <= most)
}

fn admits_text(members: &Map<String, Value>, patterns: &mut Patterns, text: &str) -> bool {
    let length = text.chars().count();
    let pattern = members.get("pattern").and_then(Value::as_str);
    count(members, "minLength").is_none_or(|least| length >= least)
        && count(members, "maxLength").is_none_or(|most| length <= most)
        && pattern.is_none_or(|pattern| patterns.fits(pattern, text))
}

fn admits_number(members: &Map<String, Value>, number: &Number) -> bool {
    let (bounds, number) = (Bounds::of(members), Decimal::of(number));
    let is_far = |(least, is_out): &Bound| number > *least || (number == *least && !is_out);
    let is_near = |(most, is_out): &Bound| number < *most || (number == *most && !is_out);
    let multiple = members.get("multipleOf").and_then(Value::as_number).map(Decimal::of);
    bounds.least.as_ref().is_none_or(is_far)
        && bounds.most.as_ref().is_none_or(is_near)
        && multiple.is_none_or(|of| number.is_multiple(&of))
}

fn is_of(value: &Value, kind: &Value) -> bool {
    let is_whole = || value.as_f64().is_some_and(|number| number.fract() == 0.0);
    kind == kind_of(value) || kind == "integer" && is_whole()
}

/// The items of a list; none of what is not one.
pub(super) fn list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(all) => all,
        _ => Vec::new(),
    }
}

/// A schema with one keyword, which has these schemas.
pub(super) fn applying(keyword: &str, all: Vec<Value>) -> Value {
    Value::Object(Map::from_iter([(keyword.to_owned(), all.into())]))
}

/// A keyword that counts characters, items or members.
pub(super) fn count(members: &Map<String, Value>, key: &str) -> Option<usize> {
    let count = members.get(key)?.as_u64()?;
    Some(usize::try_from(count).unwrap_or(usize::MAX))
}
