use openai_harmony::interop::FinishReason;
use serde_json::{Value, json};

use super::*;

fn plain() -> Value {
    json!({"max_tokens": 100, "messages": [{"role": "user", "content": "Weather?"}]})
}

fn with_tools() -> Value {
    with(plain(), json!({"tools": [{"name": "get_weather", "input_schema": parameters()}]}))
}

#[test]
fn the_stop_string_that_an_engine_reports() {
    let mut reply = reply(&turn(ANTHROPIC, &plain()));
    let mut bytes = Vec::new();
    reply.finish_into(FinishReason::Stop, Some("END"), &mut bytes).unwrap();
    let sent = String::from_utf8(bytes).unwrap();
    assert!(sent.contains(r#""stop_reason":"stop_sequence","stop_sequence":"END""#), "{sent}");
}

#[test]
fn arguments_keep_their_numbers() {
    let call = CALL.replace("{\"city\":\"Oslo\"}", NUMBERS);
    let whole = sent_whole(ANTHROPIC, &with_tools(), &[&call]);
    assert!(whole.contains(&format!(r#""input":{NUMBERS}"#)), "{whole}");
    let streamed = sent_stream(ANTHROPIC, &with_tools(), &[&call]);
    let partial = json!({"partial_json": NUMBERS}).to_string();
    assert!(streamed.contains(partial.trim_matches(['{', '}'])), "{streamed}");
    // What a `Value` holds of them.
    let value = answered(ANTHROPIC, &with_tools(), &[&call]);
    assert_eq!(value["content"][0]["input"]["b"], json!(-2_f64.powi(70)));
    assert_eq!(serde_json::from_str::<Value>(&whole).unwrap(), value);
    // What no double holds is an error or an infinity to clients: the call is text, and reported.
    let call = CALL.replace("\"Oslo\"", "1e400");
    let reply = ended(ANTHROPIC, &with_tools(), &[&call], FinishReason::Stop);
    assert_eq!(reply.response()["content"][0]["text"], "{\"city\":1e400}");
    assert_eq!(reply.repairs()[0].kind.name(), "call_as_text");
}
