//! What an engine elsewhere sampled: bounds of the bodies, and what a stream has of each chunk.

#![expect(clippy::needless_pass_by_value, reason = "rows make their values where they give them")]

use openai_harmony::interop::{DerenderOptions, Dialect, derender};
use serde_json::{Value, json};

use super::{ANSWER, THOUGHT, encoding, tokens};

fn made_within(body: Value, context: usize) -> Result<Value, String> {
    let options = DerenderOptions { model: "m", created: 7, context };
    let made = derender(&body.into(), &encoding(), options);
    made.map(|bytes| serde_json::from_slice(&bytes).unwrap()).map_err(|error| error.to_string())
}

fn made(body: Value) -> Result<Value, String> {
    made_within(body, 131_072)
}

fn says(body: Value, reason: &str) {
    let error = made(body).unwrap_err();
    assert!(error.contains(reason), "{error}");
}

fn generated(choice: Value) -> Value {
    json!({"request_id": "r", "choices": [choice]})
}

/// The next chunk's choice, and the state after it.
fn next(choice: Value, state: Value) -> (Value, Value) {
    let mut made = made(chunk(choice, state)).unwrap();
    (made["chunk"]["choices"][0].take(), made["stream_state"].take())
}

fn chunk(choice: Value, state: Value) -> Value {
    json!({
        "stream": true,
        "generate_chunk": generated(choice),
        "chat_request": {"messages": [{"role": "user", "content": "Hi"}]},
        "prompt_token_ids": [1, 2, 3],
        "stream_state": state,
    })
}

fn likely(tokens: &[u32], candidates: usize) -> Value {
    let candidate = json!({"token_id": 5, "logprob": -2.0});
    let one =
        |id| json!({"token_id": id, "logprob": -1.0, "top_logprobs": vec![&candidate; candidates]});
    json!({"content": tokens.iter().map(one).collect::<Vec<_>>()})
}

/// A list of the greatest length is read: what is wrong is its first item.
#[test]
fn lists_have_bounds() {
    let choices = |count| {
        let response = json!({"request_id": "r", "choices": vec![Value::Null; count]});
        json!({"chat_request": {"messages": [{"role": "user", "content": "Hi"}]}, "generate_response": response})
    };
    says(choices(16_384), "choices[0]: expected an object");
    says(choices(16_385), "16385 choices, at most 16384 are allowed");
    let candidates = |count| {
        let choice = json!({"token_ids": [64], "logprobs": likely(&[64], count)});
        json!({"chat_request": {"messages": [{"role": "user", "content": "Hi"}]}, "generate_response": generated(choice)})
    };
    assert!(made(candidates(20)).is_ok());
    says(candidates(21), "top_logprobs: more than 20");
    // The prompt's tokens count, too, and those that a state has.
    let sampled = |count, state| chunk(json!({"token_ids": vec![64; count]}), state);
    assert!(made_within(sampled(4, Value::Null), 7).is_ok());
    assert!(made_within(sampled(5, Value::Null), 7).is_err());
    let state = json!({"output_token_ids": [64, 64], "output_chunk_lens": [2]});
    assert!(made_within(sampled(2, state.clone()), 7).is_ok());
    assert!(made_within(sampled(3, state), 7).is_err());
}

/// A state without tokens so far does not say whether the client leaves them out.
#[test]
fn a_stream_may_begin_without_tokens() {
    let (_, state) = next(json!({"token_ids": []}), Value::Null);
    assert_eq!(state["output_token_ids"], json!([]));
    let (_, state) = next(json!({"token_ids": [200_005]}), state);
    assert_eq!(state["output_token_ids"], json!([200_005]));
}

/// The first chunk has a text even if nothing was said yet.
#[test]
fn a_stream_begins_with_an_empty_text() {
    let (choice, state) = next(json!({"token_ids": [200_005]}), Value::Null);
    assert_eq!(choice["delta"], json!({"role": "assistant", "content": ""}));
    let (choice, _) = next(json!({"token_ids": tokens("analysis")}), state);
    assert_eq!(choice["delta"], json!({}));
    let (choice, _) = next(json!({"token_ids": tokens(THOUGHT)}), Value::Null);
    assert_eq!(choice["delta"], json!({"role": "assistant", "reasoning": "Hm."}));
}

/// The engine has the prompt: it is not rendered again, not even where that would fail.
#[test]
fn the_prompt_is_not_rendered_again() {
    let mut body = chunk(json!({"token_ids": tokens(ANSWER)}), Value::Null);
    let tool = json!({"name": "f", "description": "x".repeat(2 << 20)});
    body["chat_request"]["tools"] = json!([{"type": "function", "function": tool}]);
    let request = super::turn(Dialect::ChatCompletions, &body["chat_request"]);
    assert!(request.prompt(&encoding()).is_err());
    assert_eq!(made(body).unwrap()["chunk"]["choices"][0]["delta"]["content"], "Sunny.");
}
