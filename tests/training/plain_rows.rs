//! Rows of texts alone are read from their JSON text in one go: they give what they give as a `Value`.

use openai_harmony::training::{Batch, Row, RowOptions, render};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use crate::encoding;

const SAID: &str = r#"{"role": "user", "content": "Hi"}, {"role": "assistant", "channel": "final", "content": "Ho"}"#;

fn rendered<'r>(row: impl Into<Row<'r>>) -> Batch {
    render(&encoding(), [row], &RowOptions::new())
}

fn assert_same(row: &str, is_fine: bool) {
    let batch = rendered(row);
    assert_eq!(batch, rendered(serde_json::from_str::<Value>(row).unwrap()), "{row}");
    assert_eq!(batch.errors.is_empty(), is_fine, "{row}: {:?}", batch.errors);
}

/// A part may leave fields out; a field that is null has no default.
#[test]
fn parts_of_system_messages_have_defaults_if_asked_for() {
    for (identity, system_defaults, is_said) in
        [("", true, true), ("", false, false), (r#", "model_identity": null"#, true, false)]
    {
        let row = format!(
            r#"[{{"role": "system", "content": [{{"type": "system_content"{identity}}}]}},
                {{"role": "developer", "content": [{{"type": "developer_content"}}]}}, {SAID}]"#
        );
        let options = RowOptions::new().with_system_defaults(system_defaults);
        let batch = render(&encoding(), [&*row], &options);
        let text = encoding().tokenizer().decode_utf8(&batch.tokens).unwrap();
        assert_eq!(text.contains("You are ChatGPT"), is_said, "{row}: {text}");
    }
}

#[test]
fn messages_of_any_fields() {
    let messages = [
        (true, r#"{"role": "system", "content": ""}"#),
        (true, r#"{"content": "Hi", "role": "user"}"#),
        (true, r#"{"role": "user", "name": "Ann", "content": "Hi", "channel": null}"#),
        (
            true,
            r#"{"role": "tool", "name": "functions.f", "recipient": "assistant", "content": "1"}"#,
        ),
        (
            true,
            r#"{"role": "assistant", "channel": "commentary", "recipient": "functions.f",
                "content_type": "<|constrain|>json", "content": "{}"}"#,
        ),
        (true, r#"{"r\u006fle": "us\u0065r", "content": "\"a\"\n\\ é \u00e9 \ud83d\ude00"}"#),
        (true, r#"{"role": "user", "content": [{"type": "text", "text": "Hi"}]}"#),
        (true, r#"{"role": "user", "content": "Hi", "weight": null}"#),
        // The last of several counts.
        (true, r#"{"role": "user", "content": "Hi", "content": "Hello"}"#),
        (true, r#"{"role": "user", "role": "developer", "content": "Hi"}"#),
        (true, r#"{"role": "user", "name": null, "name": "Ann", "content": "Hi"}"#),
        (true, r#"{"role": "user", "name": "Ann", "name": null, "content": "Hi"}"#),
        (false, r#"{"role": "user", "content": "Hi", "content": null}"#),
        (false, r#"{"role": "user", "content": "Hi", "content": 3}"#),
        (false, r#"{"role": "user", "content": "Hi", "weight": 0.5}"#),
        (false, r#"{"role": "user", "content": 123456789012345678901234567890}"#),
        (false, r#"{"role": "user", "content": {"text": "Hi"}}"#),
        (false, r#"{"role": "user", "content": ["Hi"]}"#),
        (false, r#"{"role": "user", "content": null}"#),
        (false, r#"{"role": "user"}"#),
        (false, r#"{"role": null, "content": "Hi"}"#),
        (false, r#"{"role": {"user": null}, "content": "Hi"}"#),
        (false, r#"{"role": "User", "content": "Hi"}"#),
        (false, r#"{"content": "Hi"}"#),
        (false, r#"{"role": "tool", "content": "1"}"#),
        (false, r#"["user", "Hi"]"#),
        (false, r#"["user", null, "Hi", null, null, null]"#),
        (false, r#""Hi""#),
        (false, "null"),
    ];
    for (is_fine, message) in messages {
        assert_same(&format!(r#"{{"messages": [{message}, {SAID}]}}"#), is_fine);
        assert_same(&format!("[{message}, {SAID}]"), is_fine);
    }
}

#[test]
fn rows_with_other_fields() {
    let rows = [
        (true, r#"{"id": 7, "messages": [SAID], "source": {"url": ["x", 1.5, null]}}"#),
        (true, r#"{"id": 7, "id": 8, "messages": [SAID], "id": 123456789012345678901234567890}"#),
        (true, r#"{"tools": null, "messages": [SAID], "functions": null}"#),
        (true, r#"{"messages": 3, "messages": [SAID]}"#),
        (true, r#"{"messages": [{"role": "user", "content": "Hi"}], "messages": [SAID]}"#),
        (true, r#"{"tools": [], "tools": null, "messages": [SAID]}"#),
        (false, r#"{"messages": [SAID], "messages": null}"#),
        (false, r#"{"messages": [SAID], "tools": []}"#),
        (false, r#"{"messages": [SAID], "functions": "f"}"#),
        (false, r#"{"messages": [], "id": 7}"#),
        (false, r#"{"messages": {"role": "user", "content": "Hi"}}"#),
        (false, r#"{"id": 7}"#),
        (false, "[[SAID]]"),
        // Chat messages.
        (false, r#"{"messages": [{"role": "assistant", "content": "Hi"}]}"#),
    ];
    for (is_fine, row) in rows {
        assert_same(&row.replace("SAID", SAID), is_fine);
    }
}

#[test]
fn what_is_no_json_is_an_error_wherever_it_stands() {
    let deep = "[".repeat(200) + &"]".repeat(200);
    for row in [
        r#"{"x": 1e999, "messages": [SAID]}"#,
        r#"{"x": DEEP, "messages": [SAID]}"#,
        r#"{"messages": [SAID], "x": nil}"#,
        r#"{"messages": [SAID]} {}"#,
        r#"{"messages": [SAID]"#,
    ] {
        let row = row.replace("SAID", SAID).replace("DEEP", &deep);
        let batch = rendered(&*row);
        let errors: Vec<_> = batch.errors.iter().map(|(_, error)| error.to_string()).collect();
        let reason = serde_json::from_str::<Value>(&row).unwrap_err().to_string();
        let reason = reason.replace("recursion limit exceeded", "nested more than 127 levels deep");
        let reason = reason.replace(" at line 1 column", " at column");
        assert_eq!(errors, [format!("Invalid row: not JSON: {reason}")]);
    }
}

#[test]
fn halves_of_surrogate_pairs_are_replaced() {
    let row = |text: &str| {
        let message = format!(r#"{{"role": "user", "content": "{text}"}}"#);
        rendered(format!(r#"{{"messages": [{message}, {SAID}], "{text}": "{text}"}}"#))
    };
    let batch = row(r"a\ud83d");
    assert_eq!(batch, row("a\u{FFFD}"));
    assert!(batch.errors.is_empty());
}

/// Members of an object; a key may come twice.
fn object(
    keys: &'static [&'static str],
    values: impl Strategy<Value = String>,
    count: usize,
) -> impl Strategy<Value = String> {
    let member = (select(keys), values).prop_map(|(key, value)| format!("\"{key}\": {value}"));
    vec(member, 0..count).prop_map(|members| members.join(", "))
}

/// Mostly one that can be rendered.
fn message() -> impl Strategy<Value = String> {
    let role = prop_oneof![
        9 => select(&["user", "developer", "assistant\", \"channel\": \"final"][..]),
        1 => select(&["system", "tool", "assistant", "nobody"][..]),
    ];
    let content = prop_oneof![
        9 => any::<String>().prop_map(|text| Value::from(text).to_string()),
        1 => select(&[r#""\n\u00e9\/""#, r#"[{"type": "text", "text": "Hi"}]"#, "[]", "{}", "null"][..])
            .prop_map(str::to_owned),
    ];
    let others = object(
        &[
            "role",
            "name",
            "content",
            "channel",
            "recipient",
            "content_type",
            "n\\u0061me",
            "weight",
        ],
        select(&[r#""user""#, r#""final""#, "null", "null", "null", "1.5", "[[]]"][..])
            .prop_map(str::to_owned),
        3,
    );
    (role, content, others, any::<bool>()).prop_map(|(role, content, others, is_first)| {
        let said = format!(r#""role": "{role}", "content": {content}"#);
        match (others.is_empty(), is_first) {
            (true, _) => format!("{{{said}}}"),
            (_, true) => format!("{{{others}, {said}}}"),
            (_, false) => format!("{{{said}, {others}}}"),
        }
    })
}

fn row() -> impl Strategy<Value = String> {
    let messages = vec(message(), 0..5).prop_map(|messages| format!("[{}]", messages.join(",")));
    let others = object(
        &["id", "messages", "tools", "functions"],
        select(&["7", "null", "null", r#"{"a": [1e5, "b"]}"#, "[]", r#"["a"]"#][..])
            .prop_map(str::to_owned),
        3,
    );
    (messages, others, 0..6).prop_map(|(messages, others, kind)| match (others.is_empty(), kind) {
        (_, 0) => messages,
        (true, _) => format!(r#"{{"messages": {messages}}}"#),
        (_, 1 | 2) => format!(r#"{{"messages": {messages}, {others}}}"#),
        (_, _) => format!(r#"{{{others}, "messages": {messages}}}"#),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..<_>::default() })]

    #[test]
    fn any_row_gives_what_its_value_gives(row in row()) {
        let json: Value = serde_json::from_str(&row).unwrap();
        prop_assert_eq!(rendered(&*row), rendered(json));
    }
}
