//! A call's arguments where an API has them as an object.

use std::fmt;

use serde::{Serialize, Serializer, ser};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::json::LINE_ENDS;

/// The arguments of a call as a JSON object: every number with the digits that the model wrote.
///
/// It is serialized as the object. A [`Value`] cannot hold integers of more than 64 bits, nor all the digits of
/// every fraction, so this is the object's text: `serde_json` writes it as it is.
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
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Arguments(String);

impl Arguments {
    /// What they are called when they are serialized, by which a serializer can know them.
    const TYPE: &str = "openai_harmony::Arguments";

    /// Whether a newtype of this name is a call's arguments.
    #[cfg(feature = "python")]
    pub(crate) fn is_type(name: &str) -> bool {
        name == Self::TYPE
    }

    /// Of a text that is a JSON object whose numbers a double can hold, however roughly. One that cannot, as
    /// `1e400`, is an error or an infinity to clients.
    pub(in crate::interop) fn read(text: &str) -> Option<Self> {
        serde_json::from_str::<Map<String, Value>>(text).is_ok().then(|| Self(one_line(text)))
    }

    /// The object as JSON without white space between its tokens, in one line.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The object, with what a [`Value`] can hold of its numbers: an integer of more than 64 bits is the
    /// nearest float.
    pub fn to_map(&self) -> Map<String, Value> {
        // What was read as an object is one.
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

/// No arguments: `{}`.
impl Default for Arguments {
    fn default() -> Self {
        Self("{}".to_owned())
    }
}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let object: &RawValue = serde_json::from_str(&self.0).map_err(ser::Error::custom)?;
        serializer.serialize_newtype_struct(Self::TYPE, object)
    }
}

/// JSON without white space between its tokens, with [`LINE_ENDS`] escaped: these can only stand in strings.
fn one_line(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut in_string, mut escaped) = (false, false);
    for character in json.chars() {
        match character {
            end if LINE_ENDS.contains(&end) => {
                out.extend(format!("\\u{:04x}", u32::from(end)).chars());
            }
            ' ' | '\t' | '\n' | '\r' if !in_string => {}
            other => out.push(other),
        }
        if character == '"' && !escaped {
            in_string = !in_string;
        }
        escaped = character == '\\' && !escaped;
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::interop::answer::write_json;

    fn written(text: &str) -> Option<String> {
        let arguments = Arguments::read(text)?;
        let mut bytes = Vec::new();
        write_json(&arguments, &mut bytes);
        assert_eq!(bytes, arguments.as_str().as_bytes());
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
