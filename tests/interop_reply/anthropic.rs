use openai_harmony::interop::FinishReason;
use serde_json::{Value, json};

use super::*;

fn plain() -> Value {
    json!({"max_tokens": 100, "messages": [{"role": "user", "content": "Weather?"}]})
}

fn with_tools() -> Value {
    with(plain(), json!({"tools": [{"name": "get_weather", "input_schema": parameters()}]}))
}

fn thinking(body: Value) -> Value {
    with(body, json!({"thinking": {"type": "enabled", "budget_tokens": 4000}}))
}

fn content(body: &Value, sampled: &[&str]) -> Vec<Value> {
    answered(ANTHROPIC, body, sampled)["content"].as_array().unwrap().clone()
}

#[test]
fn a_whole_message() {
    assert_eq!(
        answered(ANTHROPIC, &plain(), &[THOUGHT, ANSWER]),
        json!({
            "id": "id-1",
            "type": "message",
            "role": "assistant",
            "model": "gpt-oss-20b",
            "content": [{"type": "text", "text": "Sunny."}],
            "stop_reason": "end_turn",
            "stop_sequence": null,
            "usage": {
                "input_tokens": 40,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 60,
                "output_tokens": 14,
                "output_tokens_details": {"thinking_tokens": 2},
            },
        })
    );
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
fn a_streamed_message() {
    let thought = "<|channel|>analysis<|message|>H<|end|><|start|>assistant";
    let call = CALL.replace("{\"city\":\"Oslo\"}", "{\"a\": 1}");
    let body = thinking(with_tools());
    let events = sent(ANTHROPIC, &body, &[thought, &call], FinishReason::Stop);
    let signature = &events[3]["delta"]["signature"];
    let id = &events[5]["content_block"]["id"];
    assert_eq!(
        events[1..],
        [
            json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
            json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "thinking_delta", "thinking": "H"}}),
            json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "signature_delta", "signature": signature}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "content_block_start", "index": 1,
                "content_block": {"type": "tool_use", "id": id, "name": "get_weather", "input": {}}}),
            json!({"type": "content_block_delta", "index": 1,
                "delta": {"type": "input_json_delta", "partial_json": "{\"a\": 1}"}}),
            json!({"type": "content_block_stop", "index": 1}),
            json!({"type": "message_delta",
                "delta": {"stop_reason": "tool_use", "stop_sequence": null},
                "usage": events[8]["usage"]}),
            json!({"type": "message_stop"}),
        ]
    );
    assert_eq!(events[0]["message"]["usage"]["input_tokens"], 40);
    assert_eq!(events[0]["message"]["stop_reason"], Value::Null);
    assert!(id.as_str().unwrap().starts_with("toolu_"));
}

#[test]
fn thoughts_are_shown_if_asked_for() {
    let kinds = |body: &Value| -> Vec<Value> {
        let blocks = content(body, &[THOUGHT, PREAMBLE, ANSWER]);
        blocks.iter().map(|block| block["type"].clone()).collect()
    };
    assert_eq!(kinds(&plain()), ["text", "text"]);
    assert_eq!(kinds(&thinking(plain())), ["thinking", "text", "text"]);
    let omitted = with(plain(), json!({"thinking": {"type": "adaptive", "display": "omitted"}}));
    let block = &content(&omitted, &[THOUGHT, ANSWER])[0];
    assert_eq!((&block["type"], &block["thinking"]), (&json!("thinking"), &json!("")));
    assert_eq!(block["signature"], content(&thinking(plain()), &[THOUGHT])[0]["signature"]);
}

#[test]
fn the_reasons() {
    let (stop, length, abort) = (FinishReason::Stop, FinishReason::Length, FinishReason::Abort);
    let stops = with(plain(), json!({"stop_sequences": ["nny"]}));
    for (body, sampled, reason, expected) in [
        (plain(), ANSWER, stop, "end_turn"),
        (with_tools(), CALL, stop, "tool_use"),
        (plain(), "<|channel|>final<|message|>Sun", length, "max_tokens"),
        (plain(), "<|channel|>final<|message|>Sun", abort, "max_tokens"),
        (stops.clone(), ANSWER, stop, "stop_sequence"),
    ] {
        let message = ended(ANTHROPIC, &body, &[sampled], reason).response();
        assert_eq!(message["stop_reason"], expected, "{sampled} {reason:?}");
    }
    let message = answered(ANTHROPIC, &stops, &[ANSWER]);
    assert_eq!(message["stop_sequence"], "nny");
    assert_eq!(message["content"][0]["text"], "Su");
    // One that the engine found.
    let mut reply = reply(&turn(ANTHROPIC, &plain()));
    reply.finish(stop, Some("END")).unwrap();
    assert_eq!(reply.response()["stop_sequence"], "END");
}

#[test]
fn arguments_that_are_no_object_are_text() {
    for (arguments, input) in [("{\"a\": 1}", json!({"a": 1})), ("", json!({})), (" ", json!({}))] {
        let call = CALL.replace("{\"city\":\"Oslo\"}", arguments);
        let block = content(&with_tools(), &[&call])[0].clone();
        assert_eq!((&block["type"], &block["input"]), (&json!("tool_use"), &input));
    }
    for arguments in ["[1]", "{\"city\": \"Os", "Oslo"] {
        let call = CALL.replace("{\"city\":\"Oslo\"}", arguments);
        let reply = ended(ANTHROPIC, &with_tools(), &[&call], FinishReason::Stop);
        let message = reply.response();
        assert_eq!(message["content"], json!([{"type": "text", "text": arguments}]));
        assert_eq!(message["stop_reason"], "end_turn");
        assert_eq!(reply.repairs()[0].kind.name(), "call_as_text");
        assert_eq!(reply.repairs()[0].text, "functions.get_weather");
    }
    // Before another message that took the place of its stop token, a call without arguments is none.
    let broken = CALL.replace("{\"city\":\"Oslo\"}<|call|>", "<|start|>assistant");
    let blocks = content(&with_tools(), &[&broken, ANSWER]);
    assert_eq!(blocks, [json!({"type": "text", "text": "Sunny."})]);
}

#[test]
fn with_a_response_format_preambles_are_thoughts() {
    let format = json!({"type": "json_schema", "schema": {"type": "object"}});
    let body = with(plain(), json!({"output_config": {"format": format}}));
    let json = "<|channel|>final<|message|>{}<|return|>";
    assert_eq!(content(&body, &[PREAMBLE, json]), [json!({"type": "text", "text": "{}"})]);
    let blocks = content(&thinking(body), &[PREAMBLE, json]);
    assert_eq!(blocks[0]["thinking"], "Let me look.");
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

/// Parallel calls are the client's if each of them is.
#[test]
fn parallel_calls_of_what_no_client_runs_stay_one() {
    let tools = json!([
        {"name": "run", "input_schema": {"type": "object"}},
        {"type": "code_execution_20250522", "name": "code_execution"},
    ]);
    let body = with(plain(), json!({"tools": tools}));
    let said = |second: &str| {
        let use_of = |name: &str| json!({"recipient_name": name, "parameters": {}});
        let uses = json!({"tool_uses": [use_of("functions.run"), use_of(second)]});
        let call =
            format!("<|channel|>commentary to=multi_tool_use.parallel<|message|>{uses}<|call|>");
        let blocks = content(&body, &[&call]);
        blocks.iter().map(|block| block["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(said("run"), ["tool_use", "tool_use"]);
    assert_eq!(said("python").len(), 1);
    assert_eq!(said("functions.unknown").len(), 1);
}
