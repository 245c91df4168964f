use openai_harmony::interop::{FinishReason, ReasoningField, ReplyOptions};
use serde_json::{Value, json};

use super::*;

fn plain() -> Value {
    json!({"messages": [{"role": "user", "content": "Weather?"}]})
}

fn with_tools() -> Value {
    let function = json!({"name": "get_weather", "parameters": parameters()});
    let tools = json!([
        {"type": "function", "function": function},
        {"type": "custom", "custom": {"name": "shell"}},
    ]);
    with(plain(), json!({"tools": tools}))
}

#[test]
fn bytes_are_the_frames_of_the_chunks() {
    use ReasoningField::{Both, Omitted, Reasoning, ReasoningContent};
    let bodies = [plain(), with(plain(), json!({"stream_options": {"include_usage": true}}))];
    let sampled =
        tokens(&[THOUGHT, "<|channel|>final<|message|>\"é\"\n\u{2028}<|return|>"].concat());
    for field in [ReasoningContent, Reasoning, Both, Omitted] {
        for body in &bodies {
            let options = ReplyOptions::new("m\"é").with_id("a").with_created(5).with_index(2);
            let reply = || {
                let options = options.clone().with_reasoning_field(field);
                turn(CHAT, body).reply(&encoding(), options).unwrap()
            };
            let (mut chunked, mut fed) = (reply(), reply());
            let (mut frames, mut bytes) = (Vec::new(), Vec::new());
            for piece in sampled.chunks(2) {
                for chunk in chunked.feed(piece, None).unwrap() {
                    chunked.frame_into(&chunk, &mut frames);
                }
                fed.feed_into(piece, None, &mut bytes).unwrap();
            }
            assert_eq!(String::from_utf8(bytes), String::from_utf8(frames), "{field:?}");
        }
    }
}

#[test]
fn the_field_of_thoughts_is_the_servers_choice() {
    let field = |reasoning_field| {
        let options = ReplyOptions::new("m").with_reasoning_field(reasoning_field);
        let mut reply = turn(CHAT, &plain()).reply(&encoding(), options).unwrap();
        reply.feed(&tokens(&[THOUGHT, ANSWER].concat()), None).unwrap();
        let message = reply.response()["choices"][0]["message"].clone();
        (message["reasoning_content"].clone(), message["reasoning"].clone())
    };
    let hm = json!("Hm.");
    assert_eq!(field(ReasoningField::ReasoningContent), (hm.clone(), Value::Null));
    assert_eq!(field(ReasoningField::Reasoning), (Value::Null, hm.clone()));
    assert_eq!(field(ReasoningField::Both), (hm.clone(), hm));
    assert_eq!(field(ReasoningField::Omitted), (Value::Null, Value::Null));
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
fn ids_and_choices() {
    let options = |index| ReplyOptions::new("m").with_id("x").with_index(index);
    let call_id = |index| {
        let mut reply = turn(CHAT, &with_tools()).reply(&encoding(), options(index)).unwrap();
        reply.feed(&tokens(CALL), None).unwrap();
        let choice = reply.response()["choices"][0].clone();
        assert_eq!(choice["index"], index);
        choice["message"]["tool_calls"][0]["id"].clone()
    };
    assert_eq!(call_id(0), call_id(0));
    assert_ne!(call_id(0), call_id(1));
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

#[test]
fn no_call_follows_a_stop_string() {
    let body = with(with_tools(), json!({"stop": ["look"]}));
    let answer = answered(CHAT, &body, &[PREAMBLE, CALL]);
    let choice = &answer["choices"][0];
    assert_eq!(choice["message"]["content"], "Let me ");
    assert_eq!(choice["message"].get("tool_calls"), None, "{choice}");
    assert_eq!(choice["finish_reason"], "stop");
    for dialect in [ANTHROPIC, OLLAMA] {
        let tool = json!({"name": "get_weather", "input_schema": parameters(), "function": {"name": "get_weather"}});
        let body = with(plain_of(dialect), json!({"tools": [tool]}));
        let mut turn = turn(dialect, &body);
        turn.stop_strings = vec!["look".to_owned()];
        let mut reply = reply(&turn);
        reply.feed(&tokens(&[PREAMBLE, CALL].concat()), None).unwrap();
        reply.finish(FinishReason::Stop, None).unwrap();
        let whole = reply.response().to_string();
        assert!(whole.contains("Let me ") && !whole.contains("Oslo"), "{whole}");
    }
}
