//! What an engine elsewhere sampled: bounds of the bodies, and what a stream has of each chunk.

#![expect(clippy::needless_pass_by_value, reason = "rows make their values where they give them")]

use openai_harmony::interop::{DerenderKind, DerenderOptions, derender};
use serde_json::{Value, json};

use super::{encoding, tokens};

const CHAT: DerenderKind = DerenderKind::Chat;
const TEXTS: DerenderKind = DerenderKind::Texts;

fn made_within(kind: DerenderKind, body: Value, context: usize) -> Result<Value, String> {
    let options = DerenderOptions { model: "m", created: 7, context };
    let made = derender(kind, &body.into(), &encoding(), options);
    made.map(|bytes| serde_json::from_slice(&bytes).unwrap()).map_err(|error| error.to_string())
}

fn made(kind: DerenderKind, body: Value) -> Result<Value, String> {
    made_within(kind, body, 131_072)
}

fn says(kind: DerenderKind, body: Value, reason: &str) {
    let error = made(kind, body).unwrap_err();
    assert!(error.contains(reason), "{error}");
}

fn generated(choice: Value) -> Value {
    json!({"request_id": "r", "choices": [choice]})
}

/// The only choice of a completion that was sampled at once.
fn text(choice: Value, request: Value) -> Value {
    let body = json!({"generate_responses": [generated(choice)], "completion_request": request});
    made(TEXTS, body).unwrap()["choices"][0].take()
}

/// The next chunk's choice, and the state after it.
fn next(kind: DerenderKind, choice: Value, state: Value) -> (Value, Value) {
    let mut made = made(kind, chunk(choice, state)).unwrap();
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
        json!({"chat_request": {"messages": []}, "generate_response": response})
    };
    says(CHAT, choices(16_384), "choices[0]: expected an object");
    says(CHAT, choices(16_385), "16385 choices, at most 16384 are allowed");
    let answers = |count| json!({"generate_responses": vec![Value::Null; count]});
    says(TEXTS, answers(0), "0 answers, expected 1 to 16384");
    says(TEXTS, answers(16_384), "generate_responses[0]: expected an object");
    says(TEXTS, answers(16_385), "16385 answers, expected 1 to 16384");
    let candidates = |count| {
        let choice = json!({"token_ids": [64], "logprobs": likely(&[64], count)});
        json!({"generate_responses": [generated(choice)]})
    };
    assert!(made(TEXTS, candidates(20)).is_ok());
    says(TEXTS, candidates(21), "top_logprobs: more than 20");
    let names = |count| chunk(json!({"token_ids": [64]}), json!({"prev_tokens": vec!["a"; count]}));
    assert!(made(TEXTS, names(1024)).is_ok());
    says(TEXTS, names(1025), "prev_tokens: more than 1024 texts");
    // The prompt's tokens count, too.
    let sampled = |count| chunk(json!({"token_ids": vec![64; count]}), Value::Null);
    assert!(made_within(TEXTS, sampled(4), 7).is_ok());
    assert!(made_within(TEXTS, sampled(5), 7).is_err());
    // So do the tokens that a state has, though this library's has none for completions.
    let state = json!({"output_token_ids": [64, 64], "output_chunk_lens": [2]});
    let later = |count| chunk(json!({"token_ids": vec![64; count]}), state.clone());
    assert!(made_within(TEXTS, later(2), 7).is_ok());
    assert!(made_within(TEXTS, later(3), 7).is_err());
}

/// A state without tokens so far does not say whether the client leaves them out.
#[test]
fn a_stream_may_begin_without_tokens() {
    let (_, state) = next(CHAT, json!({"token_ids": []}), Value::Null);
    assert_eq!(state["output_token_ids"], json!([]));
    let (_, state) = next(CHAT, json!({"token_ids": [200_005]}), state);
    assert_eq!(state["output_token_ids"], json!([200_005]));
}

#[test]
fn each_chunk_has_its_text() {
    let (mut state, mut texts) = (Value::Null, Vec::new());
    for token in tokens("One two") {
        let (choice, after) = next(TEXTS, json!({"token_ids": [token]}), state);
        texts.push(choice["text"].clone());
        state = after;
    }
    assert_eq!(json!(texts), json!(["One", " two"]));
}

/// Offsets count the names of special tokens, which the text does not have.
#[test]
fn offsets_of_a_stream_are_those_of_the_whole() {
    let sampled = tokens("One<|end|> two é");
    let choice = |tokens: &[u32]| json!({"token_ids": tokens, "logprobs": likely(tokens, 1)});
    let whole = text(choice(&sampled), Value::Null);
    let (mut state, mut offsets) = (Value::Null, Vec::new());
    for token in &sampled {
        let (choice, after) = next(TEXTS, choice(&[*token]), state);
        offsets.push(choice["logprobs"]["text_offset"][0].clone());
        state = after;
    }
    assert_eq!(json!(offsets), whole["logprobs"]["text_offset"]);
    assert_eq!(json!(offsets), json!([0, 3, 10, 14]));
    // What ends a stream may have no token.
    let (choice, after) = next(TEXTS, json!({"token_ids": tokens("🫠")[..1]}), state);
    assert_eq!(choice["text"], "");
    let ended = json!({"token_ids": [], "finish_reason": "length", "logprobs": {"content": []}});
    let (choice, after) = next(TEXTS, ended, after);
    assert_eq!((&choice["text"], &after["logprob_text_offset"]), (&json!("\u{FFFD}"), &json!(17)));
}

#[test]
fn as_many_candidates_as_the_request_asks_for() {
    for (asked, shown) in [(json!(null), 4), (json!(-1), 4), (json!(0), 1), (json!(1), 2)] {
        let top: Vec<_> = (5..9).map(|id| json!({"token_id": id, "logprob": -2.0})).collect();
        let logprobs = json!({"content": [{"token_id": 64, "logprob": -1.0, "top_logprobs": top}]});
        let choice =
            text(json!({"token_ids": [64], "logprobs": logprobs}), json!({"logprobs": asked}));
        let found = choice["logprobs"]["top_logprobs"][0].as_object().unwrap();
        assert_eq!(found.len(), shown, "{asked}");
    }
}

/// The string at which the engine says that it stopped, whatever the request has.
#[test]
fn a_reported_stop_string_cuts() {
    let ended =
        json!({"token_ids": tokens("One END two"), "finish_reason": "stop", "stop_reason": "END"});
    let choice = text(ended, json!({"stop": ["two"]}));
    assert_eq!((&choice["text"], &choice["stop_reason"]), (&json!("One "), &json!("END")));
}

#[test]
fn transfers_are_those_of_all_answers_or_none() {
    let answer = |transfer: u32| json!({"request_id": "r", "choices": [{"token_ids": [64]}], "kv_transfer_params": {"a": transfer}});
    for (second, kept) in [(1, json!({"a": 1})), (2, Value::Null)] {
        let body = json!({"generate_responses": [answer(1), answer(second)]});
        assert_eq!(made(TEXTS, body).unwrap()["kv_transfer_params"], kept);
    }
}
