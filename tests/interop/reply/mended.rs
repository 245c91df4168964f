//! Arguments that are no JSON object, where an API takes objects: the calls that they mean, or text.

use openai_harmony::interop::FinishReason;
use serde_json::{Value, json};

use super::{ANTHROPIC, ended, plain_of, with};

fn edit() -> Value {
    let text = json!({"type": "string"});
    json!({"type": "object", "properties": {"path": text, "text": text}, "required": ["path", "text"]})
}

/// The calls' inputs, or the text.
fn called(schema: &Value, arguments: &str) -> Vec<Value> {
    let tools = json!([{"name": "f", "input_schema": schema}]);
    let body = with(plain_of(ANTHROPIC), json!({"tools": tools}));
    let call = format!("<|channel|>commentary to=functions.f<|message|>{arguments}<|call|>");
    let reply = ended(ANTHROPIC, &body, &[&call], FinishReason::Stop);
    let kinds: Vec<_> = reply.repairs().iter().map(|repair| repair.kind.name()).collect();
    let blocks = reply.response()["content"].as_array().unwrap().clone();
    let is_text = blocks[0]["type"] == "text";
    assert_eq!(kinds, [if is_text { "call_as_text" } else { "repaired_arguments" }], "{arguments}");
    blocks.iter().map(|block| block[if is_text { "text" } else { "input" }].clone()).collect()
}

#[test]
fn broken_json() {
    let is = |path: &str, text: &str| json!([{"path": path, "text": text}]);
    let cases = [
        (r#"{"path": "a", "text": "\d+\.\w"}"#, is("a", r"\d+\.\w")),
        (r#"{"path": "C:\Users\x", "text": "\u12g"}"#, is(r"C:\Users\x", r"\u12g")),
        ("{\"path\": \"a\", \"text\": \"1\n\t2\"}", is("a", "1\n\t2")),
        (r#"{"path": "a", "text": "\u00e9\\",}"#, is("a", "é\\")),
        (r#"{"path": "a", "text": "b"}}]"#, is("a", "b")),
        ("```json\n{\"path\": \"a\", \"text\": \"b\"}\n```", is("a", "b")),
        (r#"code={"path": "a", "text": "b"}"#, is("a", "b")),
        (r#"json {"path": "a", "text": "b"}"#, is("a", "b")),
        (r#"{\"path\": \"a\", \"text\": \"b\\n\"}"#, is("a", "b\n")),
        (r#""{\"path\": \"a\", \"text\": \"b\"}""#, is("a", "b")),
        (r#"{"path": \"a\", "text": "b"}"#, is("a", "b")),
        (r#"{"path": "a", "text": "say \\"b\\""}"#, is("a", r#"say "b""#)),
        (
            r#"{"path": "a", "text": "1"} {"path": "b", "text": "2"}"#,
            json!([{"path": "a", "text": "1"}, {"path": "b", "text": "2"}]),
        ),
        // Schemas are for what was not written as an object.
        (r#"{"path": "\d",}"#, json!([{"path": r"\d"}])),
    ];
    for (arguments, expected) in cases {
        assert_eq!(json!(called(&edit(), arguments)), expected, "{arguments}");
    }
    for text in [
        r#"{"path": "a" "text": "b"}"#,
        r#"{"path": "a", "text": "b"#,
        r#"{"path": "a", "text": "b"} or so"#,
        r#"{"path": "a", "text": "1"} {"path": "b"}"#,
        r#"{"path": "a", "text": b}"#,
        r#"{"path": "a", "text": "\ud83d"}"#,
        "{'path': 'a', 'text': 'b'}",
        r#""{\"path\": \"a\"}""#,
        "{,}",
        "[[[[",
    ] {
        assert_eq!(called(&edit(), text), [json!(text)]);
    }
    let deep = "[".repeat(100_000);
    assert_eq!(called(&edit(), &deep), [json!(deep)]);
}
