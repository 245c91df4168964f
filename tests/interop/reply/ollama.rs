use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use openai_harmony::interop::{Clock, FinishReason, ReplyOptions};
use serde_json::{Value, json};

use super::*;

fn plain() -> Value {
    json!({"messages": [{"role": "user", "content": "Weather?"}]})
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
