//! A call's arguments where an API has them as an object.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::write_json;
use crate::interop::Json;
use crate::interop::body::parse_arguments;

/// The arguments of a call as a JSON object: every number with the digits that the model wrote.
///
/// It is serialized, and shown, as the object. A [`Value`] cannot hold integers of more than 64 bits, nor all the
/// digits of every fraction.
///
/// ```
/// use openai_harmony::interop::{ReadOptions, ReplyOptions, ollama};
/// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
/// use serde_json::json;
///
/// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
/// let tool = json!({"type": "function", "function": {"name": "double"}});
/// let body = json!({"messages": [{"role": "user", "content": "Twice 2^69?"}], "tools": [tool]});
/// let turn = ollama::read(&body, &ReadOptions::default())?;
/// let mut reply = turn.reply(&encoding, ReplyOptions::new("gpt-oss-20b"))?;
/// reply.feed(&encoding.tokenizer().encode_with_special_tokens(
///     "<|channel|>commentary to=functions.double <|constrain|>json<|message|>{\"x\": 590295810358705651712}<|call|>",
/// ))?;
/// let mut json = Vec::new();
/// reply.response_into(&mut json);
/// assert!(String::from_utf8_lossy(&json).contains(r#""arguments":{"x":590295810358705651712}"#));
/// # Ok::<(), openai_harmony::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Arguments(Json);

impl Arguments {
    /// Accepts a JSON object whose numbers fit an `f64`, rounded if need be. One that does not, as `1e400`, is an error
    /// or an infinity to clients.
    pub(in crate::interop) fn read(text: &str) -> Option<Self> {
        parse_arguments(text).map(Self)
    }

    /// The object, with what a [`Value`] can hold of its numbers: an integer of more than 64 bits is the
    /// nearest float.
    pub fn to_map(&self) -> Map<String, Value> {
        match self.0.to_value() {
            Value::Object(map) => map,
            // What was read as an object is one.
            _ => Map::new(),
        }
    }
}

/// No arguments: `{}`.
impl Default for Arguments {
    fn default() -> Self {
        Self(Map::new().into())
    }
}

/// As JSON in one line, in which what some take for the end of a line is escaped.
impl fmt::Display for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::new();
        write_json(&self.0, &mut bytes);
        f.write_str(&String::from_utf8_lossy(&bytes))
    }
}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(text: &str) -> Option<String> {
        let arguments = Arguments::read(text)?;
        let mut bytes = Vec::new();
        write_json(&arguments, &mut bytes);
        assert_eq!(bytes, arguments.to_string().as_bytes());
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    #[test]
    fn numbers_keep_their_digits() {
        for number in [
            "1180591620717411303424",
            "-1180591620717411303424",
            "0.100000000000000000000000000001",
            "-0.0",
            "-0",
            "1E+2",
            "1e-400",
            "18446744073709551615",
        ] {
            let text = format!(r#"{{"a":[{number}],"b":{{"c":{number}}}}}"#);
            assert_eq!(written(&text).as_deref(), Some(&*text));
        }
        assert_eq!(
            json!(Arguments::read(r#"{"a":1180591620717411303424}"#)),
            json!({"a": 2_f64.powi(70)})
        );
    }

    #[test]
    fn what_is_no_object_or_has_a_number_beyond_all_doubles_is_none() {
        for text in
            ["", "[1]", "{", "{} {}", r#"{"a": NaN}"#, r#"{"a": 1e400}"#, r#"{"a": "\ud83d"}"#]
        {
            assert_eq!(written(text), None, "{text}");
        }
        assert_eq!(written(&format!(r#"{{"a":1{}}}"#, "0".repeat(309))), None);
    }

    #[test]
    fn they_are_written_in_one_line() {
        for (text, line) in [
            ("{ \"a b\" :\n\t[ 1 , \"c \\\" d\" ]\r\n}", r#"{"a b":[1,"c \" d"]}"#),
            ("{\"\\\\\" : \" \"}", r#"{"\\":" "}"#),
            ("{\"a\": \"\u{85}\u{2028}\u{2029}é\"}", r#"{"a":"\u0085\u2028\u2029é"}"#),
            (" {} ", "{}"),
        ] {
            assert_eq!(written(text).as_deref(), Some(line));
            let read = |json| serde_json::from_str::<Value>(json).ok();
            assert_eq!(read(line), read(text));
            assert_eq!(
                Arguments::read(text).map(|arguments| Value::from(arguments.to_map())),
                read(text)
            );
        }
    }
}
