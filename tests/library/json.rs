//! The JSON form of conversations.
#![expect(clippy::unwrap_used, reason = "a test panics")]

use openai_harmony::chat::Message;
use openai_harmony::interop::parse_body;

#[test]
fn a_value_is_shown_as_json() {
    let text = r#"{"a":[1.50,null,"é"]}"#;
    let value = parse_body(text).unwrap();
    assert_eq!((value.to_string(), format!("{value:?}")), (text.to_owned(), text.to_owned()));
}

#[test]
fn values_are_equal_if_their_texts_are() {
    let values =
        [r#"{"a":[1,null]}"#, r#"{ "a": [1, null] }"#, r#"{"a":[1.0,null]}"#].map(parse_body);
    let [one, same, other] = values.map(Result::unwrap);
    assert_eq!(one, same);
    assert_ne!(one, other);
}

#[test]
fn a_member_is_added_or_replaced() {
    for (given, expected) in [
        (r#"{"a":1.50}"#, r#"{"a":1.50,"b":[null]}"#),
        (r#"{"b":2,"a":1.50}"#, r#"{"b":[null],"a":1.50}"#),
        ("[1]", "[1]"),
    ] {
        let body = parse_body(given).unwrap();
        assert_eq!(body.with_member("b", &serde_json::json!([null])).to_string(), expected);
        assert_eq!(body.to_string(), given);
    }
}

#[test]
fn errors_say_what_is_wrong_with_a_content() {
    for (content, said) in [
        (r#"[{"type": "image"}]"#, "unknown variant `image`"),
        (r#"[{"type": "text"}]"#, "missing field `text`"),
        ("3", "invalid type: integer `3`, expected a text or a list of parts"),
    ] {
        let text = format!(r#"{{"role": "user", "content": {content}}}"#);
        let error = serde_json::from_str::<Message>(&text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// What is no pair is no character, and the second escape is read for itself.
#[test]
fn halves_of_surrogate_pairs_are_replaced_one_by_one() {
    for (escaped, text) in [
        (r"\ud83d\ude00", "😀"),
        (r"\ud83d", "\u{FFFD}"),
        (r"\udc00", "\u{FFFD}"),
        (r"\udc00\udc00", "\u{FFFD}\u{FFFD}"),
        (r"\ud83d\ud83d\ude00", "\u{FFFD}😀"),
        (r"\ud83d\u0041", "\u{FFFD}A"),
        (r"\udc00\ud83d", "\u{FFFD}\u{FFFD}"),
        (r"\ud800\udc00", "\u{10000}"),
        (r"\udbff\udfff", "\u{10FFFF}"),
        (r"\ud7ff\ue000", "\u{D7FF}\u{E000}"),
    ] {
        let body = parse_body(&format!(r#"{{"a": "{escaped}"}}"#)).unwrap();
        assert_eq!(body.text("a"), Some(text), "{escaped}");
    }
}
