//! The beginning of JSON text -> an equivalent short one: the same continuations make it an object.
//!
//! Only the existence of closed values matters, so `{"city": "Oslo", "days": [1, 2` is equivalent to `{"":[2`.

use super::lex::NotNumbers;
use super::{MAX_DEPTH, Tape};

/// What can be next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Value,
    /// An item, or the end of the list.
    FirstItem,
    Key,
    /// A key, or the end of the object.
    FirstKey,
    Colon,
    /// A comma, or the end of the open value; nothing at the top level.
    Comma,
}

/// How a token ends.
enum Token {
    /// After this many bytes.
    Whole(usize),
    /// It is open: this is as good as all of it.
    Open(String),
}

/// A text of a few bytes for each open list and object, and with an open number that number. The same continuations
/// turn it and `text` into an object that every JSON parser accepts and `parse_arguments` reads. `None` if no
/// continuation does.
pub(crate) fn shortest_prefix(text: &str) -> Option<String> {
    let mut open = Vec::new();
    let mut next = Next::Value;
    let mut left = text;
    loop {
        left = left.trim_start_matches([' ', '\n', '\t', '\r']);
        let Some(&byte) = left.as_bytes().first() else {
            let blank = if text.is_empty() { "" } else { " " };
            return Some(written(&open, next, blank, ""));
        };
        if open.is_empty() && (next, byte) != (Next::Value, b'{') {
            return None;
        }
        let mut length = 1;
        next = match (next, byte) {
            (Next::Value | Next::FirstItem, b'{' | b'[') => {
                if open.len() == MAX_DEPTH {
                    return None;
                }
                open.push(byte);
                if byte == b'{' { Next::FirstKey } else { Next::FirstItem }
            }
            (Next::FirstKey, b'}') | (Next::FirstItem, b']') => {
                open.pop();
                Next::Comma
            }
            (Next::Comma, b'}' | b']') => {
                // A closing bracket's code is two above the opening one's.
                open.pop_if(|opened| *opened + 2 == byte)?;
                Next::Comma
            }
            (Next::Comma, b',') => {
                if open.last() == Some(&b'{') {
                    Next::Key
                } else {
                    Next::Value
                }
            }
            (Next::Colon, b':') => Next::Value,
            (Next::Colon | Next::Comma, _) => return None,
            (Next::Key | Next::FirstKey, byte) if byte != b'"' => return None,
            _ => match token(left)? {
                Token::Whole(whole) => {
                    length = whole;
                    let is_key = matches!(next, Next::Key | Next::FirstKey);
                    if is_key { Next::Colon } else { Next::Comma }
                }
                Token::Open(token) => return Some(written(&open, next, "", &token)),
            },
        };
        left = &left[length..];
    }
}

/// The short text: the open values, and the open token.
fn written(open: &[u8], next: Next, blank: &str, token: &str) -> String {
    let Some((last, outer)) = open.split_last() else {
        return if next == Next::Value { blank } else { "{}" }.to_owned();
    };
    let outer = outer.iter().map(|&opened| if opened == b'{' { "{\"\":" } else { "[" });
    let last = match (last, next) {
        (b'{', Next::Key) if token.is_empty() => "{\"\":\"\",",
        (b'{', Next::Key | Next::FirstKey) => "{",
        (b'{', Next::Colon) => "{\"\"",
        (b'{', Next::Comma) => "{\"\":\"\"",
        (b'{', _) => "{\"\":",
        (_, Next::Value) if token.is_empty() => "[\"\",",
        (_, Next::Comma) => "[\"\"",
        _ => "[",
    };
    outer.chain([last, token]).collect()
}

fn token(left: &str) -> Option<Token> {
    match left.as_bytes()[0] {
        b'"' => string(left),
        b'-' | b'0'..=b'9' => {
            let end =
                left.find(|next: char| !matches!(next, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'));
            let Some(end) = end else { return Some(Token::Open(left.to_owned())) };
            let is_number = Tape::default().parse(&left[..end], NotNumbers::Refused).is_ok();
            is_number.then_some(Token::Whole(end))
        }
        _ => ["true", "false", "null"].into_iter().find_map(|word| {
            if left.starts_with(word) {
                return Some(Token::Whole(word.len()));
            }
            word.starts_with(left).then(|| Token::Open(left.to_owned()))
        }),
    }
}

/// A string. Not every parser accepts half of a surrogate pair.
fn string(left: &str) -> Option<Token> {
    let mut at = 1;
    loop {
        at += left[at..]
            .find(|next| matches!(next, '"' | '\\' | '\0'..'\x20'))
            .unwrap_or(left.len() - at);
        let opened = |at: usize| Token::Open(["\"", &left[at..]].concat());
        match left.as_bytes().get(at) {
            None => return Some(opened(at)),
            Some(b'"') => return Some(Token::Whole(at + 1)),
            Some(b'\\') => match escape(&left[at..])? {
                Escape::Whole(length) => at += length,
                Escape::Open => return Some(opened(at)),
            },
            Some(_) => return None,
        }
    }
}

enum Escape {
    Whole(usize),
    Open,
}

/// An escape, or two that are one character.
fn escape(left: &str) -> Option<Escape> {
    let first = match left.as_bytes().get(1) {
        None => return Some(Escape::Open),
        Some(b'u') => unit(left)?,
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
            return Some(Escape::Whole(2));
        }
        Some(_) => return None,
    };
    match first {
        None => Some(Escape::Open),
        Some(0xD800..=0xDBFF) => match unit(&left[UNIT..])? {
            None => Some(Escape::Open),
            Some(0xDC00..=0xDFFF) => Some(Escape::Whole(2 * UNIT)),
            Some(_) => None,
        },
        Some(0xDC00..=0xDFFF) => None,
        Some(_) => Some(Escape::Whole(UNIT)),
    }
}

/// The length of `\ud83d`.
const UNIT: usize = 6;

/// The number of an escape with four digits; the inner `None` means that the text ends first.
#[expect(clippy::option_option, reason = "no escape, and none that is whole")]
fn unit(left: &str) -> Option<Option<u32>> {
    let bytes = left.as_bytes();
    let begun = &bytes[..bytes.len().min(UNIT)];
    let is_escape = begun.iter().zip(b"\\u").all(|(one, other)| one == other);
    if !is_escape || !begun.iter().skip(2).all(u8::is_ascii_hexdigit) {
        return None;
    }
    Some(left.get(2..UNIT).and_then(|digits| u32::from_str_radix(digits, 16).ok()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn prefixes() {
        let deep = format!("{{\"a\":{}", "[".repeat(MAX_DEPTH));
        let cases = [
            ("", Some("")),
            (" \n", Some(" ")),
            ("{", Some("{")),
            (r#"{"city": "Os"#, Some(r#"{"":""#)),
            (r#"{"city": "Oslo""#, Some(r#"{"":"""#)),
            (r#"{"city": "Oslo", "#, Some(r#"{"":"","#)),
            (r#"{"city": "Oslo", "da"#, Some(r#"{""#)),
            (r#"{"city": "Oslo", "days" "#, Some(r#"{"""#)),
            (r#"{"city": "Oslo", "days": [1, 2"#, Some(r#"{"":[2"#)),
            (r#"{"days": [1, "#, Some(r#"{"":["","#)),
            (r#"{"days": [[], {}"#, Some(r#"{"":["""#)),
            (r#"{"a": {"b": [{"c": tr"#, Some(r#"{"":{"":[{"":tr"#)),
            (r#"{"a": true"#, Some(r#"{"":"""#)),
            (r#"{"a": -1.5e"#, Some(r#"{"":-1.5e"#)),
            (r#"{"a": "x\"y\u00"#, Some(r#"{"":"\u00"#)),
            (r#"{"a": "\ud83d"#, Some(r#"{"":"\ud83d"#)),
            (r#"{"a": "\ud83d\ude0"#, Some(r#"{"":"\ud83d\ude0"#)),
            (r#"{"a": "\ud83d\ude00"#, Some(r#"{"":""#)),
            (r#"{"a": 1} "#, Some("{}")),
            (r#"{"a": "\ud83dx"#, None),
            (r#"{"a": "\ude00"#, None),
            (r#"{"a": 1e999,"#, None),
            (r#"{"a": 01,"#, None),
            (r#"{"a": 1} x"#, None),
            ("{]", None),
            (r#"{"a": [}"#, None),
            (r#"{"a": [1}"#, None),
            ("[1", None),
            ("7", None),
            (r"{a", None),
            ("{1", None),
            ("{true", None),
            (r#"{"a" "b""#, None),
            (r#"{"a": 1 2"#, None),
            ("{\"a\n", None),
            (&deep, None),
        ];
        for (text, expected) in cases {
            assert_eq!(shortest_prefix(text).as_deref(), expected, "{text}");
        }
    }

    /// Texts that are JSON for the most part.
    fn texts() -> impl Strategy<Value = String> {
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"a\":", "{\"a\":", "1", "-", "0", ".",
            "e5", "e999", "true", "fal", "se", "null", " ", "\n", "\\", "\\n", "\\u", "\\ud83d",
            "\\ude00", "00e9", "d", "é", "😀", "\u{1}", "\u{a0}",
        ];
        let piece = prop::sample::select(pieces.to_vec());
        prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn the_same_rests_make_it_an_object(before in texts(), rests in prop::collection::vec(texts(), 6)) {
            let short = shortest_prefix(&before);
            let ends = ["", "}", "\"}", "\":1}", "]}", "\"]}", "1}", "u00e9\"}", "\\ude00\"}"].map(str::to_owned);
            for rest in rests.iter().chain(&ends) {
                let is_object = |text: String| {
                    crate::interop::parse_body(&text).is_ok_and(|body| body.at().as_object().is_some())
                        && serde_json::from_str::<serde_json::Value>(&text).is_ok()
                };
                let expected = is_object([&before, rest.as_str()].concat());
                let found = short.as_ref().is_some_and(|short| is_object([short, rest.as_str()].concat()));
                prop_assert_eq!(found, expected, "{} as {:?}, then {}", before, short, rest);
            }
            if let Some(short) = short {
                prop_assert_eq!(shortest_prefix(&short), Some(short));
            }
        }
    }
}
