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

fn output(body: &Value, sampled: &[&str]) -> Vec<Value> {
    answered(RESPONSES, body, sampled)["output"].as_array().unwrap().clone()
}

#[test]
fn the_items() {
    let items = output(&with_tools(), &[THOUGHT, PREAMBLE, CALL]);
    let id = |at: usize| items[at]["id"].clone();
    assert_eq!(
        items,
        [
            json!({
                "type": "reasoning", "id": id(0), "summary": [], "status": "completed",
                "content": [{"type": "reasoning_text", "text": "Hm."}],
            }),
            json!({
                "type": "message", "id": id(1), "role": "assistant", "status": "completed",
                "phase": "commentary",
                "content": [{
                    "type": "output_text", "text": "Let me look.", "annotations": [], "logprobs": [],
                }],
            }),
            json!({
                "type": "function_call", "id": id(2), "call_id": items[2]["call_id"],
                "name": "get_weather", "arguments": "{\"city\":\"Oslo\"}", "status": "completed",
            }),
        ]
    );
    assert!(id(0).as_str().unwrap().starts_with("rs_"));
    assert!(id(1).as_str().unwrap().starts_with("msg_"));
    assert!(id(2).as_str().unwrap().starts_with("fc_"));
    assert_eq!(output(&plain(), &[ANSWER])[0]["phase"], "final_answer");
}

#[test]
fn a_continued_call_is_answered_whole() {
    let cut = |item: Value| {
        let item = with(item, json!({"call_id": "a", "status": "incomplete"}));
        with(with_tools(), json!({"input": [{"role": "user", "content": "Weather?"}, item]}))
    };
    let call =
        json!({"type": "function_call", "name": "get_weather", "arguments": "{\"city\":\"Os"});
    let items = output(&cut(call), &["lo\"}<|call|>"]);
    assert_eq!(items[0]["arguments"], "{\"city\":\"Oslo\"}");
    let call = json!({"type": "custom_tool_call", "name": "shell", "input": "ls \"a"});
    let items = output(&cut(call), &["b\\\"\"}<|call|>"]);
    assert_eq!((&items[0]["input"], items.len()), (&json!("ls \"ab\""), 1));
}

#[test]
fn namespaces_and_custom_tools() {
    let find = CALL.replace("get_weather", "crm.find");
    let item = &output(&with_tools(), &[&find])[0];
    assert_eq!((&item["name"], &item["namespace"]), (&json!("find"), &json!("crm")));
    let shell = "<|channel|>commentary to=functions.shell <|constrain|>json<|message|>{\"input\":\"ls\"}<|call|>";
    let item = &output(&with_tools(), &[shell])[0];
    assert_eq!((&item["type"], &item["input"]), (&json!("custom_tool_call"), &json!("ls")));
    assert!(item["id"].as_str().unwrap().starts_with("ctc_"));
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

#[test]
fn the_life_cycle() {
    let thought = "<|channel|>analysis<|message|>H<|end|><|start|>assistant";
    let call = CALL.replace("{\"city\":\"Oslo\"}", "{}");
    let events = sent(RESPONSES, &with_tools(), &[thought, &call], FinishReason::Stop);
    assert_eq!(
        kinds(&events),
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.reasoning_text.delta",
            "response.reasoning_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    assert_eq!(events[0]["response"]["status"], "in_progress");
    assert_eq!(events[0]["response"]["usage"], Value::Null);
    assert_eq!(events[2]["item"]["status"], "in_progress");
    assert_eq!(events[10]["name"], "get_weather");
    let answer = sent(RESPONSES, &plain(), &["<|channel|>final<|message|>S"], FinishReason::Stop);
    assert_eq!(
        kinds(&answer)[2..],
        [
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
}

#[test]
fn the_response_says_what_clients_look_for() {
    let response = answered(RESPONSES, &plain(), &[THOUGHT, ANSWER]);
    assert_eq!(
        response["usage"],
        json!({
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 0},
            "output_tokens": 14,
            "output_tokens_details": {"reasoning_tokens": 2},
            "total_tokens": 114,
        })
    );
    assert_eq!(response["tools"], json!([]));
    assert_eq!(response["tool_choice"], "auto");
    assert_eq!(response["parallel_tool_calls"], true);
    assert_eq!(response["error"], Value::Null);
    assert_eq!(response["object"], "response");
    let asked = json!({
        "instructions": "Be brief.", "metadata": {"a": "b"}, "parallel_tool_calls": false,
        "tool_choice": "required", "temperature": 0.5, "conversation": "conv_1", "top_p": null,
    });
    let response = answered(RESPONSES, &with(with_tools(), asked.clone()), &[ANSWER]);
    for field in ["instructions", "metadata", "parallel_tool_calls", "tool_choice", "temperature"] {
        assert_eq!(response[field], asked[field]);
    }
    let mut tools = with_tools()["tools"].clone();
    (tools[0]["strict"], tools[0]["description"]) = (Value::Null, Value::Null);
    assert_eq!(response["tools"], tools);
    assert_eq!(response["conversation"], json!({"id": "conv_1"}));
    assert_eq!(response["top_p"], 1.0);
    let format = json!({"type": "json_schema", "name": "n", "schema": {}});
    let asked = json!({"text": {"format": format}, "reasoning": {"effort": "low"}});
    let response = answered(RESPONSES, &with(plain(), asked), &[ANSWER]);
    assert_eq!(response["reasoning"], json!({"effort": "low", "summary": null}));
    assert_eq!(
        response["text"]["format"],
        json!({"type": "json_schema", "name": "n", "schema": {}, "description": null, "strict": false})
    );
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
fn a_call_that_was_cut_off_is_never_done() {
    let cut = &CALL[..CALL.len() - "lo\"}<|call|>".len()];
    let events = sent(RESPONSES, &with_tools(), &[cut], FinishReason::Length);
    let kinds = kinds(&events);
    assert_eq!(kinds.last(), Some(&"response.incomplete"));
    assert!(!kinds.contains(&"response.output_item.done"));
    assert!(!kinds.contains(&"response.function_call_arguments.done"));
    let response = &events[events.len() - 1]["response"];
    assert_eq!(response["status"], "incomplete");
    assert_eq!(response["incomplete_details"], json!({"reason": "max_output_tokens"}));
    assert_eq!(response["output"][0]["status"], "incomplete");
    assert_eq!(response["output"][0]["arguments"], "{\"city\":\"Os");
}

/// A message that begins without its stop token ends the one before it, which is a call only if it can be run.
#[test]
fn a_call_that_another_message_breaks_off_is_never_done() {
    let call = CALL.trim_end_matches("<|call|>");
    let next = "<|start|>assistant<|channel|>final<|message|>Sun.<|return|>";
    for (cut, arguments) in [("lo\"}", "{\"city\":\"Os"), ("{\"city\":\"Oslo\"}", "")] {
        let broken = call.strip_suffix(cut).unwrap();
        let events = sent(RESPONSES, &with_tools(), &[broken, next], FinishReason::Stop);
        let done = |event: &&Value| event["type"] == "response.output_item.done";
        let items: Vec<_> =
            events.iter().filter(done).map(|event| &event["item"]["type"]).collect();
        assert_eq!(items, ["message"], "{broken}");
        let item = &events[events.len() - 1]["response"]["output"][0];
        assert_eq!(
            (&item["status"], &item["arguments"]),
            (&json!("incomplete"), &json!(arguments))
        );
    }
    let item = &output(&with_tools(), &[call, next])[0];
    assert_eq!(
        (&item["status"], &item["arguments"]),
        (&json!("completed"), &json!("{\"city\":\"Oslo\"}"))
    );
}

#[test]
fn an_answer_that_was_aborted_has_failed() {
    let begun = "<|channel|>final<|message|>Sun";
    let events = sent(RESPONSES, &plain(), &[begun], FinishReason::Abort);
    assert_eq!(kinds(&events).last(), Some(&"response.failed"));
    let response = &events[events.len() - 1]["response"];
    assert_eq!(response["status"], "failed");
    assert_eq!(response["error"]["code"], "server_error");
    assert_eq!(response["output"][0]["content"][0]["text"], "Sun");
}

#[test]
fn thoughts_are_carried_if_asked_for() {
    let body = with(plain(), json!({"include": ["reasoning.encrypted_content"]}));
    let items = output(&body, &[THOUGHT, ANSWER]);
    let carried = items[0]["encrypted_content"].as_str().unwrap();
    let events = sent(RESPONSES, &body, &[THOUGHT, ANSWER], FinishReason::Stop);
    let done = events.iter().find(|event| event["type"] == "response.output_item.done").unwrap();
    assert_eq!(done["item"]["encrypted_content"], carried);
    assert_eq!(output(&plain(), &[THOUGHT])[0].get("encrypted_content"), None);
}

#[test]
fn with_a_response_format_preambles_are_thoughts() {
    let body = with(plain(), json!({"text": {"format": {"type": "json_object"}}}));
    let items = output(&body, &[PREAMBLE, ANSWER]);
    assert_eq!(items[0]["type"], "reasoning");
    assert_eq!(items[0]["content"][0]["text"], "Let me look.");
    assert_eq!(items[1]["phase"], "final_answer");
    let body = with(plain(), json!({"text": {"format": {"type": "text"}, "verbosity": "low"}}));
    assert_eq!(output(&body, &[PREAMBLE, ANSWER])[0]["phase"], "commentary");
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
