//! Integers of more than 64 bits in the arguments of past calls.
//!
//! A [`Value`] holds them as floats, whose last digits differ, so the model would be shown another call
//! than it made. (`serde_json` has a feature against that, but it changes the numbers of every crate in a
//! program.) So what reads bodies marks such integers: they are strings that begin with a mark of this
//! process, until [`settle`] makes text of the arguments that have any, which readers pass on as it is.
//! Elsewhere, in schemas and settings, they become the floats that they are to other JSON parsers.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::OnceLock;

use serde_json::{Number, Value};

/// The fewest digits of an integer that 64 bits may not hold.
const LONG: usize = 19;

/// What marked integers begin with. It is random, so that no text of a body does.
fn mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| {
        let half = || RandomState::new().hash_one(0);
        format!("integer-{:016x}{:016x}-", half(), half())
    })
}

/// The value that stands for an integer until [`settle`].
#[cfg(feature = "python")]
pub(crate) fn marked_integer(digits: &str) -> Value {
    Value::String([mark(), digits].concat())
}

/// Valid JSON with its long integers marked; `None` if there are none.
pub(super) fn mark_all(json: &str) -> Option<String> {
    if !has_long_run_of_digits(json.as_bytes()) {
        return None;
    }
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(byte) = json.as_bytes().get(at) {
        at += match byte {
            b'"' => string_length(&json[at..]),
            b'-' | b'0'..=b'9' => {
                let number = number(&json[at..]);
                if is_long_integer(number) {
                    out.extend([&json[copied..at], "\"", mark(), number, "\""]);
                    copied = at + number.len();
                }
                number.len()
            }
            _ => 1,
        };
    }
    out.push_str(&json[copied..]);
    (copied > 0).then_some(out)
}

fn has_long_run_of_digits(text: &[u8]) -> bool {
    // A run that is long enough has every nineteenth byte somewhere.
    let digits =
        |bytes: &mut dyn Iterator<Item = &u8>| bytes.take_while(|b| b.is_ascii_digit()).count();
    (0..text.len()).step_by(LONG).any(|at| {
        text[at].is_ascii_digit()
            && digits(&mut text[..at].iter().rev()) + digits(&mut text[at..].iter()) >= LONG
    })
}

/// The length of the string that begins the text, its quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// The number that begins the text.
fn number(text: &str) -> &str {
    let is_of_number = |byte: u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let end = text.bytes().position(|byte| !is_of_number(byte));
    &text[..end.unwrap_or(text.len())]
}

/// Whether a number is an integer that only a float can hold.
fn is_long_integer(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    digits.len() >= LONG
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && number.parse::<i64>().is_err()
        && number.parse::<u64>().is_err()
}

/// Settles the marked integers of a body, or of what else has messages.
pub(crate) fn settle_body(body: &mut Value) {
    let Value::Object(members) = body else { return settle(body) };
    for (key, member) in members {
        match (key.as_str(), member) {
            ("messages" | "input", Value::Array(items)) => items.iter_mut().for_each(settle),
            (_, member) => make_floats(member),
        }
    }
}

/// Settles the marked integers of a message or an item.
pub(crate) fn settle(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(settle),
        Value::Object(members) => {
            for (key, member) in members {
                match key.as_str() {
                    "arguments" | "input" if member.is_object() => make_text(member),
                    "tools" | "parameters" | "input_schema" => make_floats(member),
                    _ => settle(member),
                }
            }
        }
        other => make_floats(other),
    }
}

/// Makes text of arguments that have marked integers.
fn make_text(arguments: &mut Value) {
    let json = arguments.to_string();
    let begins = ["\"", mark()].concat();
    let mut pieces = json.split(&begins);
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (digits, behind) = piece.split_once('"').unwrap_or((piece, ""));
        text.extend([digits, behind]);
    }
    if text.len() < json.len() {
        *arguments = Value::String(text);
    }
}

fn make_floats(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(make_floats),
        Value::Object(members) => members.values_mut().for_each(make_floats),
        Value::String(text) => {
            let digits = text.strip_prefix(mark());
            if let Some(digits) = digits {
                let float = digits.parse().ok().and_then(Number::from_f64);
                *value = float.map_or(Value::Null, Value::Number);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LONGEST: &str = "123456789012345678901234567890";

    #[test]
    fn integers_beyond_64_bits_are_marked() {
        let long = [LONGEST, "-123456789012345678901234567890", "18446744073709551616"];
        for number in long {
            let marked = mark_all(&format!(r#"{{"a":[1,{number}]}}"#));
            let expected = format!(r#"{{"a":[1,"{}{number}"]}}"#, mark());
            assert_eq!(marked, Some(expected), "{number}");
        }
        let short = [
            "18446744073709551615",
            "-9223372036854775808",
            "123456789012345678901234567890.5",
            "123456789012345678901e2",
            r#""123456789012345678901234567890""#,
            r#""\"123456789012345678901234567890""#,
            r#""\\",5"#,
        ];
        for number in short {
            assert_eq!(mark_all(&format!("[{number}]")), None, "{number}");
        }
        // After strings that end in odd ways, numbers are numbers.
        for string in [r#""\\""#, r#""\"""#, r#""é""#] {
            assert!(mark_all(&format!("[{string},{LONGEST}]")).is_some(), "{string}");
        }
    }

    #[test]
    fn arguments_become_text_and_the_rest_floats() {
        let marked = |place: &str| {
            let text = place.replace('#', LONGEST);
            let mut body =
                serde_json::from_str(&mark_all(&text).unwrap_or(text)).unwrap_or_default();
            settle_body(&mut body);
            body
        };
        let float = 123_456_789_012_345_678_901_234_567_890_f64;
        assert_eq!(
            marked(
                r#"{"messages": [{"arguments": {"a": [ # , "x", -#], "b": "\"é"}}], "seed": #}"#
            ),
            json!({"messages": [
                {"arguments": format!(r#"{{"a":[{LONGEST},"x",-{LONGEST}],"b":"\"é"}}"#)},
            ], "seed": float}),
        );
        assert_eq!(
            marked(
                r#"{"input": [{"tools": [{"input": {"maximum": #}}]}, #, {"input": {"a": 1}}]}"#
            ),
            json!({"input": [{"tools": [{"input": {"maximum": float}}]}, float, {"input": {"a": 1}}]}),
        );
    }
}
