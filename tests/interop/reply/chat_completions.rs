use openai_harmony::interop::ReplyOptions;
use serde_json::{Value, json};

use super::*;

fn plain() -> Value {
    json!({"messages": [{"role": "user", "content": "Weather?"}]})
}

#[test]
fn an_answer_has_the_time_at_which_it_began() {
    let turn = turn(CHAT, &plain());
    let created = |options| turn.reply(&encoding(), options).unwrap().response()["created"].take();
    assert_eq!(created(ReplyOptions::new("m").with_created(7)), 7);
    assert!(created(ReplyOptions::new("m")).as_u64().unwrap() > 1_700_000_000);
}

#[test]
fn a_failure_says_what_failed() {
    for &dialect in Dialect::ALL {
        let failed = || reply(&turn(dialect, &plain_of(dialect)));
        let says = |said: &str| assert!(said.contains("engine gone"), "{dialect}: {said}");
        says(&json!(failed().fail("engine gone", 502).unwrap()).to_string());
        let mut bytes = Vec::new();
        failed().fail_into("engine gone", 502, &mut bytes).unwrap();
        says(&String::from_utf8(bytes).unwrap());
    }
}

#[test]
fn each_answer_has_an_id_of_its_own() {
    let fresh = || {
        let reply = turn(CHAT, &plain()).reply(&encoding(), ReplyOptions::new("m")).unwrap();
        reply.response()["id"].as_str().unwrap().to_owned()
    };
    assert!(fresh().starts_with("chatcmpl-"));
    assert_ne!(fresh(), fresh());
}

#[test]
fn tokens_of_the_prompt_are_counted_if_not_given() {
    let turn = turn(CHAT, &plain());
    let options = ReplyOptions::new("m");
    let reply = turn.reply(&encoding(), options).unwrap();
    assert_eq!(reply.usage().prompt_tokens, turn.prompt(&encoding()).unwrap().len());
}

#[test]
fn tokens_of_an_open_thought_are_counted() {
    let mut reply = reply(&turn(CHAT, &plain()));
    let mut counts = Vec::new();
    for token in tokens("<|channel|>analysis<|message|>Hm, yes.<|end|><|start|>assistant") {
        reply.feed(&[token], None).unwrap();
        counts.push(reply.usage().reasoning_tokens);
    }
    assert_eq!(counts, [0, 0, 0, 1, 2, 3, 4, 4, 4, 4]);
}
