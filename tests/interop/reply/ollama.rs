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
