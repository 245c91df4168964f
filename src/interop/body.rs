//! The text of a body -> JSON.

use serde_json::Value;

use super::long_integers;
use crate::error::{ErrorKind, Result};

/// Reads a request's body from its text.
///
/// JSON as others write it, too: half of a surrogate pair, which JavaScript escapes as `\ud83d`
/// when a text was cut inside an emoji, is U+FFFD. Integers of more than 64 bits in the arguments of past
/// calls keep their digits: such arguments are their text. Other parsers of a [`Value`] make floats of
/// them. A byte order mark in front is not read.
///
/// # Errors
///
/// [`ErrorKind::InvalidRequest`](crate::ErrorKind::InvalidRequest) without a path: text that is
/// not JSON, or is nested more than 127 levels deep.
///
/// ```
/// use openai_harmony::interop::parse_body;
///
/// assert_eq!(parse_body(r#"{"model": "gpt-oss"}"#)?["model"], "gpt-oss");
/// assert_eq!(parse_body(r#"["\ud83d"]"#)?[0], "\u{FFFD}");
/// # Ok::<(), openai_harmony::Error>(())
/// ```
pub fn parse_body(text: &str) -> Result<Value> {
    parse_json(text.strip_prefix('\u{FEFF}').unwrap_or(text)).map_err(|error| {
        let reason = format!("the body is not JSON: {error}");
        ErrorKind::InvalidRequest { path: String::new(), reason }.into()
    })
}

/// [`parse_body`] of any JSON.
pub(crate) fn parse_json(text: &str) -> serde_json::Result<Value> {
    parse(text).or_else(|error| parse(&paired(text)).map_err(|_| error))
}

/// JSON whose long integers keep their digits where these matter.
fn parse(text: &str) -> serde_json::Result<Value> {
    let value = serde_json::from_str(text)?;
    let Some(marked) = long_integers::mark_all(text) else { return Ok(value) };
    let mut value = serde_json::from_str(&marked)?;
    long_integers::settle_body(&mut value);
    Ok(value)
}

/// The text with U+FFFD for each escaped half of a surrogate pair.
fn paired(text: &str) -> String {
    const REPLACEMENT: &str = "\\ufffd";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let (kept, length) = match (half(escape), escape.get(6..).and_then(half)) {
            (Some(Half::High), Some(Half::Low)) => (escape.get(..12), 12),
            (Some(_), _) => (Some(REPLACEMENT), 6),
            // Of `\\u`, both backslashes, lest the second begins an escape.
            (None, _) => {
                let length = 1 + escape.chars().nth(1).map_or(0, char::len_utf8);
                (escape.get(..length), length)
            }
        };
        out.push_str(kept.unwrap_or_default());
        rest = escape.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

enum Half {
    High,
    Low,
}

/// The half of a pair that an escape at the beginning of a text stands for.
fn half(escape: &str) -> Option<Half> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xD800..=0xDBFF => Some(Half::High),
        0xDC00..=0xDFFF => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_are_replaced_and_nothing_else() {
        let cases = [
            (r#"["\ud83d\ude00"]"#, "😀"),
            (r#"["\ud83d"]"#, "\u{FFFD}"),
            (r#"["a\ude00\n"]"#, "a\u{FFFD}\n"),
            (r#"["\ud83d\ud83d\ude00\\ud83d"]"#, "\u{FFFD}😀\\ud83d"),
            (r#"["\ud83dé\u00e9"]"#, "\u{FFFD}éé"),
        ];
        for (text, read) in cases {
            assert_eq!(parse_body(text), Ok(Value::from(vec![read])), "{text}");
        }
    }

    #[test]
    fn a_byte_order_mark_in_front_is_not_read() {
        assert_eq!(parse_body("\u{FEFF}[1]"), parse_body("[1]"));
        assert!(parse_body("\u{FEFF}\u{FEFF}[1]").is_err());
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        for text in ["", "{", "nonsense", r#"["\ud8"]"#, "[\"\\", "{} {}", "[NaN]"] {
            let error = parse_body(text).err().map(|error| error.to_string());
            assert!(error.is_some_and(|error| error.contains("not JSON")), "{text}");
        }
        assert!(parse_body(&"[".repeat(1_000_000)).is_err());
    }
}
