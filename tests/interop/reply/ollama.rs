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
fn times_are_in_utc() {
    for (created, time) in [
        (0, "1970-01-01T00:00:00Z"),
        (5_097_600, "1970-03-01T00:00:00Z"),
        (31_536_000, "1971-01-01T00:00:00Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (951_868_800, "2000-03-01T00:00:00Z"),
        (1_751_068_800, "2025-06-28T00:00:00Z"),
        (1_751_115_725, "2025-06-28T13:02:05Z"),
        (1_767_139_200, "2025-12-31T00:00:00Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
        (u64::MAX, "9999-12-31T23:59:59Z"),
    ] {
        let options = ReplyOptions::new("m").with_created(created);
        let reply = turn(OLLAMA, &plain()).reply(&encoding(), options).unwrap();
        assert_eq!(reply.response()["created_at"], time);
    }
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
