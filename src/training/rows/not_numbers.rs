//! Texts with `NaN` and `Infinity`, which some writers put where JSON has no number: Python's own, by default.

use serde_json::Value;

use super::path::Path;
use super::{invalid, is_read};
use crate::error::Result;
use crate::interop::parse_json;
use crate::training::RowFormat;

/// The row of such a text, if it is JSON but for them. In a column that is not read they do not matter; an
/// error names the place of the first in one that is.
pub(super) fn read(text: &str, format: RowFormat) -> Option<Result<Value>> {
    let row = parse_json(&replaced(text, "null")?).ok()?;
    // Where two values stand in their place the rows differ.
    let other = parse_json(&replaced(text, "0")?).ok()?;
    let found = match (&row, &other) {
        (Value::Object(row), Value::Object(other)) => row
            .iter()
            .zip(other.values())
            .filter(|((column, _), _)| is_read(column, format))
            .find_map(|((column, a), b)| difference(&Path::Member(&Path::Row, column), a, b)),
        (row, other) => difference(&Path::Row, row, other),
    };
    let reason = "NaN or Infinity, which JSON does not have; write null";
    Some(found.map_or(Ok(row), |path| Err(invalid(path, reason))))
}

/// The text with something else instead of each; `None` if there is none.
fn replaced(text: &str, number: &str) -> Option<String> {
    const SPELLINGS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];
    let mut made = String::with_capacity(text.len());
    let mut is_string = false;
    let mut copied = 0;
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        let here = |spelling: &&&str| text.as_bytes()[at..].starts_with(spelling.as_bytes());
        match byte {
            b'\\' => at += 2,
            b'"' => {
                is_string = !is_string;
                at += 1;
            }
            b'N' | b'I' | b'-' if !is_string => match SPELLINGS.iter().find(here) {
                Some(spelling) => {
                    made.push_str(&text[copied..at]);
                    made.push_str(number);
                    at += spelling.len();
                    copied = at;
                }
                None => at += 1,
            },
            _ => at += 1,
        }
    }
    made.push_str(&text[copied..]);
    (copied > 0).then_some(made)
}

/// The path of the first place where two values of the same shape differ.
fn difference(path: &Path<'_>, a: &Value, b: &Value) -> Option<String> {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(index, (a, b))| difference(&Path::Item(path, index), a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let mut pairs = a.iter().zip(b.values());
            pairs.find_map(|((key, a), b)| difference(&Path::Member(path, key), a, b))
        }
        (a, b) => (a != b).then(|| path.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_replaced_outside_of_strings() {
        for (text, expected) in [
            ("NaN", "0"),
            (r#"{"a": NaN, "b": [-Infinity,Infinity]}"#, r#"{"a": 0, "b": [0,0]}"#),
            (r#"{"NaN\"NaN": NaN, "-": -1}"#, r#"{"NaN\"NaN": 0, "-": -1}"#),
            (r#"["é\\", NaN]"#, r#"["é\\", 0]"#),
        ] {
            assert_eq!(replaced(text, "0").as_deref(), Some(expected));
        }
        for text in ["", "{", "\\", r#"{"NaN": "\\NaN"}"#, "[-1, Inf, \"é"] {
            assert_eq!(replaced(text, "0"), None);
        }
    }

    #[test]
    fn the_first_in_a_column_that_is_read_is_named() {
        let path = |text| {
            let read = read(text, RowFormat::Chat)?;
            Some(read.err().map(|error| error.to_string()).unwrap_or_default())
        };
        let said = |path: &str| {
            let reason = "NaN or Infinity, which JSON does not have; write null";
            Some(format!("Invalid row: {path}: {reason}"))
        };
        assert_eq!(path(r#"{"score": NaN, "more": {"a": [Infinity]}}"#), Some(String::new()));
        assert_eq!(
            path(r#"{"score": NaN, "messages": [1, {"content": NaN}]}"#),
            said("messages[1].content")
        );
        assert_eq!(path(r#"[{"score": NaN}]"#), said("[0].score"));
        for not_json in [r#"{"a": 1}"#, r#"{"a": NaN"#, "{NaN: 1}", "[NaNNaN]"] {
            assert_eq!(path(not_json), None, "{not_json}");
        }
    }
}
