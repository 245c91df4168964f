//! Arguments that are no JSON object, where an API takes objects: `cases/mended.txt` has the calls that they mean.

use openai_harmony::interop::FinishReason;
use serde_json::json;

use super::{ANTHROPIC, ended, plain_of, with};

#[test]
fn brackets_of_any_depth_are_text() {
    let tools = json!([{"name": "f", "input_schema": {"type": "object"}}]);
    let body = with(plain_of(ANTHROPIC), json!({"tools": tools}));
    let deep = "[".repeat(100_000);
    let call = format!("<|channel|>commentary to=functions.f<|message|>{deep}<|call|>");
    let reply = ended(ANTHROPIC, &body, &[&call], FinishReason::Stop);
    assert_eq!(reply.response()["content"][0]["text"], deep);
}
