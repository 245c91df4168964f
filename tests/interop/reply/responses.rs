use openai_harmony::interop::FinishReason;
use serde_json::{Value, json};

use super::*;

fn plain() -> Value {
    json!({"input": "Weather?"})
}

fn with_tools() -> Value {
    let tools = json!([
        {"type": "function", "name": "get_weather", "parameters": parameters()},
        {"type": "custom", "name": "shell"},
        {"type": "namespace", "name": "crm", "description": "Customers", "tools": [
            {"type": "function", "name": "find", "parameters": parameters()},
        ]},
    ]);
    with(plain(), json!({"tools": tools}))
}

/// What Open Responses requires of a response, and what each may be besides null (marked `?`).
const REQUIRED: &[(&str, &str)] = &[
    ("id", "string"),
    ("object", "string"),
    ("created_at", "integer"),
    ("completed_at", "integer?"),
    ("status", "string"),
    ("incomplete_details", "object?"),
    ("model", "string"),
    ("previous_response_id", "string?"),
    ("instructions", "string?"),
    ("output", "array"),
    ("error", "object?"),
    ("tools", "array"),
    ("tool_choice", "string"),
    ("truncation", "string"),
    ("parallel_tool_calls", "boolean"),
    ("text", "object"),
    ("top_p", "number"),
    ("presence_penalty", "number"),
    ("frequency_penalty", "number"),
    ("top_logprobs", "integer"),
    ("temperature", "number"),
    ("reasoning", "object?"),
    ("user", "string?"),
    ("usage", "object?"),
    ("max_output_tokens", "integer?"),
    ("max_tool_calls", "integer?"),
    ("store", "boolean"),
    ("background", "boolean"),
    ("service_tier", "string"),
    ("metadata", "object"),
    ("safety_identifier", "string?"),
    ("prompt_cache_key", "string?"),
];

/// At each moment of its life, and whatever the request leaves to its default.
#[test]
fn the_response_has_what_the_specification_requires() {
    let is_of = |value: &Value, kind: &str| match kind.trim_end_matches('?') {
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        _ => value.is_object(),
    };
    let nulls: serde_json::Map<_, _> = REQUIRED
        .iter()
        .filter(|(name, _)| !matches!(*name, "tools" | "output" | "id" | "object" | "error"))
        .map(|(name, _)| ((*name).to_owned(), Value::Null))
        .collect();
    for body in [plain(), with_tools(), with(plain(), Value::Object(nulls))] {
        for reason in [FinishReason::Stop, FinishReason::Length, FinishReason::Abort] {
            let events =
                sent(RESPONSES, &body, &[THOUGHT, "<|channel|>final<|message|>Sun"], reason);
            for response in events.iter().filter_map(|event| event.get("response")) {
                for (name, kind) in REQUIRED {
                    let value = response.get(name);
                    let is_right = value.is_some_and(|value| {
                        is_of(value, kind) || (kind.ends_with('?') && value.is_null())
                    });
                    assert!(is_right, "{name}: {value:?} of {response}");
                }
                let is_completed = response["status"] == "completed";
                assert_eq!(response["completed_at"].is_u64(), is_completed);
            }
        }
    }
    let asked = json!({"presence_penalty": 0.5, "frequency_penalty": -0.5, "store": true, "user": "u",
        "service_tier": "flex", "max_tool_calls": 3, "prompt_cache_key": "k", "background": false});
    let response = answered(RESPONSES, &with(plain(), asked.clone()), &[ANSWER]);
    for (name, value) in asked.as_object().unwrap() {
        assert_eq!(&response[name], value, "{name}");
    }
}

#[test]
fn what_a_stop_string_ends_is_complete() {
    let mut turn = turn(RESPONSES, &plain());
    turn.stop_strings = vec!["END".to_owned()];
    let mut reply = reply(&turn);
    reply.feed(&tokens("<|channel|>final<|message|>SunnyEND and"), None).unwrap();
    reply.finish(FinishReason::Length, None).unwrap();
    let answer = reply.response();
    assert_eq!(answer["status"], "completed");
    let item = &answer["output"][0];
    assert_eq!(
        (&item["status"], &item["content"][0]["text"]),
        (&json!("completed"), &json!("Sunny"))
    );
}
