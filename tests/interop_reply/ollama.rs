use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use openai_harmony::interop::{Clock, FinishReason, ReplyOptions};
use serde_json::{Value, json};

use super::*;

fn plain() -> Value {
    json!({"messages": [{"role": "user", "content": "Weather?"}]})
}

fn with_tools() -> Value {
    let function = json!({"name": "get_weather", "parameters": parameters()});
    with(plain(), json!({"tools": [{"type": "function", "function": function}]}))
}

#[test]
fn a_whole_answer() {
    let answer = answered(OLLAMA, &with_tools(), &[THOUGHT, PREAMBLE, CALL]);
    assert_eq!(
        answer["message"],
        json!({
            "role": "assistant",
            "content": "Let me look.",
            "thinking": "Hm.",
            "tool_calls": [{
                "id": answer["message"]["tool_calls"][0]["id"],
                "function": {"index": 0, "name": "get_weather", "arguments": {"city": "Oslo"}},
            }],
        })
    );
    assert_eq!(answer["model"], "gpt-oss-20b");
    assert_eq!(answer["created_at"], "2025-06-28T12:00:00Z");
    assert_eq!(answer["done"], true);
    assert_eq!(answer["done_reason"], "stop");
    assert_eq!(answer["prompt_eval_count"], 100);
}

#[test]
fn a_streamed_answer() {
    let thought = "<|channel|>analysis<|message|>H<|end|><|start|>assistant";
    let lines = sent(OLLAMA, &with_tools(), &[thought, CALL], FinishReason::Stop);
    let head = json!({"model": "gpt-oss-20b", "created_at": "2025-06-28T12:00:00Z", "done": false});
    let thinking = json!({"role": "assistant", "content": "", "thinking": "H"});
    assert_eq!(lines[0], with(head, json!({"message": thinking})));
    assert_eq!(
        lines[1]["message"]["tool_calls"][0]["function"]["arguments"],
        json!({"city": "Oslo"})
    );
    assert_eq!(lines[2]["done"], true);
    assert_eq!(lines.len(), 3);
}

#[test]
fn the_reasons() {
    for (reason, expected) in [
        (FinishReason::Stop, "stop"),
        (FinishReason::Length, "length"),
        (FinishReason::Abort, "length"),
    ] {
        let answer = ended(OLLAMA, &plain(), &["<|channel|>final<|message|>Sun"], reason);
        assert_eq!(answer.response()["done_reason"], expected);
    }
}

#[test]
fn without_thinking_there_is_none() {
    let answer = answered(OLLAMA, &with(plain(), json!({"think": false})), &[THOUGHT, ANSWER]);
    assert_eq!(answer["message"], json!({"role": "assistant", "content": "Sunny."}));
}

#[test]
fn arguments_that_are_no_object_are_text() {
    let call = CALL.replace("{\"city\":\"Oslo\"}", "Oslo");
    let message = answered(OLLAMA, &with_tools(), &[&call])["message"].clone();
    assert_eq!(message, json!({"role": "assistant", "content": "Oslo"}));
}

#[test]
fn durations_are_measured() {
    let seconds = AtomicU64::new(0);
    let clock = Clock::new(move || Duration::from_secs(seconds.fetch_add(1, Ordering::Relaxed)));
    let options = ReplyOptions::new("m").with_clock(clock);
    let mut reply = turn(OLLAMA, &plain()).reply(&encoding(), options).unwrap();
    reply.feed(&[], None).unwrap();
    reply.feed(&tokens(ANSWER), None).unwrap();
    reply.finish(FinishReason::Stop, None).unwrap();
    let answer = reply.response();
    assert_eq!(answer["prompt_eval_duration"], 1_000_000_000_u64);
    assert_eq!(answer["eval_duration"], 1_000_000_000_u64);
    assert_eq!(answer["total_duration"], 2_000_000_000_u64);
    assert_eq!(answer["load_duration"], 0);
}

#[test]
fn the_clients_own_notebook_gets_code() {
    let tools = json!([{"type": "function", "function": {"name": "python"}}]);
    let call = "<|channel|>analysis to=python code<|message|>print(1)<|call|>";
    let answer = answered(OLLAMA, &with(plain(), json!({"tools": tools})), &[call]);
    let function = json!({"index": 0, "name": "python", "arguments": {"code": "print(1)"}});
    assert_eq!(answer["message"]["tool_calls"][0]["function"], function);
}

#[test]
fn arguments_keep_their_numbers() {
    let call = CALL.replace("{\"city\":\"Oslo\"}", NUMBERS);
    let whole = sent_whole(OLLAMA, &with_tools(), &[&call]);
    assert!(whole.contains(&format!(r#""arguments":{NUMBERS}"#)), "{whole}");
    let streamed = sent_stream(OLLAMA, &with_tools(), &[&call]);
    assert!(streamed.contains(&format!(r#""arguments":{NUMBERS}"#)), "{streamed}");
    // What a `Value` holds of them.
    let value = answered(OLLAMA, &with_tools(), &[&call]);
    assert_eq!(
        value["message"]["tool_calls"][0]["function"]["arguments"]["b"],
        json!(-2_f64.powi(70))
    );
    assert_eq!(serde_json::from_str::<Value>(&whole).unwrap(), value);
    // What no double holds is an error or an infinity to clients: the call is text, and reported.
    let call = CALL.replace("\"Oslo\"", "1e400");
    let reply = ended(OLLAMA, &with_tools(), &[&call], FinishReason::Stop);
    assert_eq!(reply.response()["message"]["content"], "{\"city\":1e400}");
    assert_eq!(reply.repairs()[0].kind.name(), "call_as_text");
}

/// Half of a program is not run: it is text, like arguments that are no object.
#[test]
fn code_that_was_cut_off_is_text() {
    let tools = json!([{"type": "function", "function": {"name": "python"}}]);
    let cut = "<|channel|>analysis to=python code<|message|>print(1";
    let body = with(plain(), json!({"tools": tools}));
    let reply = ended(OLLAMA, &body, &[cut], FinishReason::Length);
    let message = reply.response()["message"].clone();
    assert_eq!(message, json!({"role": "assistant", "content": "print(1"}));
    // The next message shows that it was all.
    let next = [cut, ")<|start|>assistant", ANSWER].concat();
    let message = answered(OLLAMA, &body, &[&next])["message"].clone();
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], json!({"code": "print(1)"}));
}
