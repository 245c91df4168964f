//! What errors say.

use openai_harmony::chat::Role;
use openai_harmony::tokenizer::Tokenizer;
use openai_harmony::{Error, ErrorKind, HarmonyEncodingName, load_harmony_encoding};

/// Every kind that quotes a value that somebody else chose.
fn kinds(value: &str) -> Vec<ErrorKind> {
    let value = || value.to_owned();
    vec![
        ErrorKind::UnknownEncoding { name: value() },
        ErrorKind::UnknownRole { role: value() },
        ErrorKind::UnexpectedInHeader { text: value() },
        ErrorKind::DisallowedSpecial { token: value() },
        ErrorKind::UnsafeHeaderField { field: "channel", value: value(), reason: "r".into() },
        ErrorKind::InvalidSchema { name: value(), reason: "r".into() },
        ErrorKind::InvalidResponseFormat { name: value(), reason: "r".into() },
    ]
}

#[test]
fn at_most_200_characters_of_a_value_are_quoted() {
    for (whole, cut) in kinds(&"é".repeat(200)).iter().zip(kinds(&"é".repeat(1_000_000))) {
        let (whole, cut) = (whole.to_string(), cut.to_string());
        assert_eq!(whole.matches('é').count(), 200, "{whole}");
        assert!(!whole.contains('…'), "{whole}");
        assert_eq!(cut.replacen('…', "", 1), whole);
        assert_ne!(cut, whole);
    }
}

#[test]
fn errors_name_their_kind() {
    let mut names: Vec<_> = kinds("x").iter().map(ErrorKind::name).collect();
    assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_')));
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), kinds("x").len());
}

/// In strict parsing. The fixed parts are those of 0.0.8.
#[test]
fn errors_show_the_token_and_where_it_is() -> Result<(), Error> {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    let thought = "<|channel|>analysis<|message|>a<|end|>";
    for (behind, sentence) in [
        (
            "oops",
            "Unexpected token 188183 while expecting start token 200006 (\"oops\" at tokens[5])",
        ),
        (
            "<|channel|>final",
            "Unexpected token 200005 while expecting start token 200006 (\"<|channel|>\" at tokens[5])",
        ),
        (
            "<|start|>assistant a to=b<|message|>",
            "unexpected tokens remaining in message header: Some(\"a\") (at tokens[10])",
        ),
        (
            "<|start|>a",
            "Unexpected EOS while waiting for message header to complete \
             (the tokens end inside a header; lenient parsing, strict=False, reads what there is)",
        ),
    ] {
        let tokens = encoding.tokenizer().encode_with_special_tokens(&[thought, behind].concat());
        let role = Some(Role::Assistant);
        let error = encoding.parse_messages_from_completion_tokens(tokens, role);
        assert_eq!(error.err().map(|error| error.to_string()).as_deref(), Some(sentence));
    }
    Ok(())
}

#[test]
fn the_start_token_is_named_by_its_id() {
    let start = Tokenizer::o200k_harmony().special_token("<|start|>");
    let text = ErrorKind::UnexpectedToken { token: 5 }.to_string();
    assert_eq!(text.rsplit(' ').next().and_then(|id| id.parse().ok()), start, "{text}");
}

#[test]
fn names_that_are_unknown_are_quoted_briefly() {
    let long = "x".repeat(100_000);
    let encoding = long.parse::<HarmonyEncodingName>().err();
    assert!(encoding.is_some_and(|error| error.to_string().len() < 300));
    let role = Role::try_from(long.as_str()).err();
    assert!(role.is_some_and(|error| error.to_string().len() < 300));
}

/// Every result of the library has room for one.
#[test]
fn an_error_is_one_word() {
    assert_eq!(size_of::<Error>(), size_of::<usize>());
}
