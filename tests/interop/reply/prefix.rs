//! The prefix law: where the model spells canonically, the next prompt begins with this prompt and
//! the tokens that were sampled from it, so that engines find both in their caches.

use openai_harmony::interop::FinishReason;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// The next request's body: this one's, the answer, and the call's result.
type Next = fn(&Value, &Value) -> Value;

fn extended(body: &Value, field: &str, items: Vec<Value>) -> Value {
    let mut body = body.clone();
    let there = body[field].as_array_mut().unwrap();
    there.extend(items);
    body
}

fn after_chat(body: &Value, response: &Value) -> Value {
    let message = response["choices"][0]["message"].clone();
    let id = message["tool_calls"][0]["id"].clone();
    let result = json!({"role": "tool", "tool_call_id": id, "content": "19"});
    extended(body, "messages", vec![message, result])
}

fn after_responses(body: &Value, response: &Value) -> Value {
    let mut items = response["output"].as_array().unwrap().clone();
    let call_id = items[items.len() - 1]["call_id"].clone();
    items.push(json!({"type": "function_call_output", "call_id": call_id, "output": "19"}));
    extended(body, "input", items)
}

fn after_anthropic(body: &Value, response: &Value) -> Value {
    let blocks = response["content"].as_array().unwrap();
    let id = &blocks[blocks.len() - 1]["id"];
    let result = json!({"type": "tool_result", "tool_use_id": id, "content": "19"});
    let answer = json!({"role": "assistant", "content": blocks});
    extended(body, "messages", vec![answer, json!({"role": "user", "content": [result]})])
}

fn after_ollama(body: &Value, response: &Value) -> Value {
    let result = json!({"role": "tool", "tool_name": "get_weather", "content": "19"});
    extended(body, "messages", vec![response["message"].clone(), result])
}

fn requests() -> [(Dialect, Value, Next); 5] {
    let messages = json!([{"role": "user", "content": "Weather?"}]);
    let function = json!({"name": "get_weather", "parameters": parameters()});
    let nested = json!([{"type": "function", "function": function}]);
    let flat = json!([{"type": "function", "name": "get_weather", "parameters": parameters()}]);
    let tools = json!([{"name": "get_weather", "input_schema": parameters()}]);
    let thinking = json!({"type": "enabled", "budget_tokens": 4000});
    let omitted = json!({"type": "adaptive", "display": "omitted"});
    let anthropic = json!({
        "max_tokens": 100, "messages": messages, "tools": tools, "thinking": thinking,
    });
    let omitted = with(anthropic.clone(), json!({"thinking": omitted}));
    [
        (CHAT, json!({"messages": messages, "tools": nested}), after_chat),
        (RESPONSES, json!({"input": messages, "tools": flat}), after_responses),
        (ANTHROPIC, anthropic, after_anthropic),
        (ANTHROPIC, omitted, after_anthropic),
        (OLLAMA, json!({"messages": messages, "tools": nested}), after_ollama),
    ]
}

proptest! {
    #[test]
    fn the_next_prompt_begins_with_this_one(
        thought in prop::option::of("[a-z好 \n.<|>]{1,30}"),
        preamble in prop::option::of("[a-z好 \n.<|>]{1,30}"),
        city in "[a-z好 \n\"\\\\<|>]{0,12}",
    ) {
        let encoding = encoding();
        let plain = |text: &str| encoding.tokenizer().encode_ordinary(text);
        let mut sampled = Vec::new();
        for (channel, text) in [("analysis", &thought), ("commentary", &preamble)] {
            if let Some(text) = text {
                sampled.extend(tokens(&format!("<|channel|>{channel}<|message|>")));
                sampled.extend(plain(text));
                sampled.extend(tokens("<|end|><|start|>assistant"));
            }
        }
        sampled.extend(tokens(
            "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>",
        ));
        sampled.extend(plain(&json!({"city": city}).to_string()));
        sampled.extend(tokens("<|call|>"));
        for (dialect, body, next) in requests() {
            let first = turn(dialect, &body);
            let mut reply = reply(&first);
            reply.feed(&sampled, None).unwrap();
            reply.finish(FinishReason::Stop, None).unwrap();
            let next = turn(dialect, &next(&body, &reply.response()));
            let mut expected = first.prompt(&encoding).unwrap();
            expected.extend(&sampled);
            let prompt = next.prompt(&encoding).unwrap();
            let text = |tokens: &[u32]| encoding.tokenizer().decode_utf8(tokens).unwrap();
            prop_assert!(prompt.starts_with(&expected), "{}\n{}", text(&prompt), text(&expected));
        }
    }
}
