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
fn required() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("required.txt").lines().filter_map(|line| line.split_once(' '))
}

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
    let nulls: serde_json::Map<_, _> = required()
        .filter(|(name, _)| !matches!(*name, "tools" | "output" | "id" | "object" | "error"))
        .map(|(name, _)| ((*name).to_owned(), Value::Null))
        .collect();
    for body in [plain(), with_tools(), with(plain(), Value::Object(nulls))] {
        for reason in [FinishReason::Stop, FinishReason::Length, FinishReason::Abort] {
            let events =
                sent(RESPONSES, &body, &[THOUGHT, "<|channel|>final<|message|>Sun"], reason);
            for response in events.iter().filter_map(|event| event.get("response")) {
                for (name, kind) in required() {
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
