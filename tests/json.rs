//! The JSON form of conversations.
#![expect(clippy::unwrap_used, reason = "a test panics")]

use openai_harmony::chat::Message;

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
