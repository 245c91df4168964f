use openai_harmony::interop::FinishReason;
use serde_json::{Value, json};

use super::*;

fn plain() -> Value {
    json!({"max_tokens": 100, "messages": [{"role": "user", "content": "Weather?"}]})
}

#[test]
fn the_stop_string_that_an_engine_reports() {
    let mut reply = reply(&turn(ANTHROPIC, &plain()));
    let mut bytes = Vec::new();
    reply.finish_into(FinishReason::Stop, Some("END"), &mut bytes).unwrap();
    let sent = String::from_utf8(bytes).unwrap();
    assert!(sent.contains(r#""stop_reason":"stop_sequence","stop_sequence":"END""#), "{sent}");
}
