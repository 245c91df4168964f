//! Arguments that are no JSON object, where an API takes objects: `cases/mended.txt` has the calls that they mean.

use openai_harmony::interop::FinishReason;
use serde_json::{Value, json};

use super::{
    ANTHROPIC, CALL, OLLAMA, answered, ended, parameters, plain_of, sent_stream, sent_whole, with,
};

#[test]
fn brackets_of_any_depth_are_text() {
    let tools = json!([{"name": "f", "input_schema": {"type": "object"}}]);
    let body = with(plain_of(ANTHROPIC), json!({"tools": tools}));
    let deep = "[".repeat(100_000);
    let call = format!("<|channel|>commentary to=functions.f<|message|>{deep}<|call|>");
    let reply = ended(ANTHROPIC, &body, &[&call], FinishReason::Stop);
    assert_eq!(reply.response()["content"][0]["text"], deep);
}

/// Arguments with numbers that few parsers keep.
const NUMBERS: &str = r#"{"a":[1180591620717411303424,-0.0,0.100000000000000000000000000001],"b":-1180591620717411303424}"#;

#[test]
fn arguments_keep_their_numbers() {
    let function = json!({"name": "get_weather", "parameters": parameters()});
    let own = json!({"name": "get_weather", "input_schema": parameters()});
    for (dialect, tool, arguments, said) in [
        (ANTHROPIC, own, "/content/0/input", "/content/0/text"),
        (
            OLLAMA,
            json!({"type": "function", "function": function}),
            "/message/tool_calls/0/function/arguments",
            "/message/content",
        ),
    ] {
        let body = with(plain_of(dialect), json!({"tools": [tool]}));
        let call = CALL.replace("{\"city\":\"Oslo\"}", NUMBERS);
        let whole = sent_whole(dialect, &body, &[&call]);
        assert!(whole.contains(&format!(":{NUMBERS}")), "{whole}");
        let streamed = sent_stream(dialect, &body, &[&call]);
        let partial = json!(NUMBERS).to_string();
        assert!(streamed.contains(NUMBERS) || streamed.contains(&partial), "{streamed}");
        // What a `Value` has of them.
        let value = answered(dialect, &body, &[&call]);
        assert_eq!(value.pointer(arguments).unwrap()["b"], json!(-2_f64.powi(70)));
        assert_eq!(serde_json::from_str::<Value>(&whole).unwrap(), value);
        // What no double can be is an error or an infinity to clients: the call is text, and reported.
        let call = CALL.replace("\"Oslo\"", "1e400");
        let reply = ended(dialect, &body, &[&call], FinishReason::Stop);
        assert_eq!(reply.response().pointer(said), Some(&json!("{\"city\":1e400}")));
        assert_eq!(reply.repairs()[0].kind.name(), "call_as_text");
    }
}
