//! What an engine elsewhere sampled: bounds of the bodies, and what a stream has of each chunk.

#![expect(clippy::needless_pass_by_value, reason = "rows make their values where they give them")]

use openai_harmony::interop::{DerenderKind, DerenderOptions, Dialect, derender};
use serde_json::{Value, json};

use super::{ANSWER, CALL, PREAMBLE, THOUGHT, encoding, tokens};

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

/// A character may have begun in an earlier chunk: it belongs to the last of its tokens.
#[test]
fn names_of_a_stream_are_those_of_the_whole() {
    let sampled = tokens("One two three 🫠 four");
    let choice = |tokens: &[u32]| json!({"token_ids": tokens, "logprobs": likely(tokens, 1)});
    let whole = text(choice(&sampled), Value::Null)["logprobs"].take();
    let (mut state, mut names, mut offsets) = (Value::Null, Vec::new(), Vec::new());
    for token in &sampled {
        let (mut choice, after) = next(TEXTS, choice(&[*token]), state);
        names.push(choice["logprobs"]["tokens"][0].take());
        offsets.push(choice["logprobs"]["text_offset"][0].take());
        state = after;
    }
    assert_eq!((&json!(names), &json!(offsets)), (&whole["tokens"], &whole["text_offset"]));
    let names: Vec<_> = names.iter().filter_map(Value::as_str).collect();
    assert_eq!(names.concat(), "One two three 🫠 four", "{names:?}");
}

/// Chunks of any size add up to the same, and only the first has the role.
#[test]
fn the_cut_of_chunks_does_not_matter() {
    let call = CALL.replace("<|call|>", "<|end|><|start|>assistant");
    let sampled = tokens(&[THOUGHT, PREAMBLE, THOUGHT, PREAMBLE, &call, CALL].concat());
    let tools = json!([{"type": "function", "function": {"name": "get_weather"}}]);
    let mut all = Vec::new();
    for size in [1, 2, 7, sampled.len()] {
        let (mut state, mut thoughts, mut texts) = (Value::Null, String::new(), String::new());
        let mut calls = vec![(String::new(), String::new()); 2];
        for (index, piece) in sampled.chunks(size).enumerate() {
            let mut body = chunk(json!({"token_ids": piece}), state);
            body["chat_request"]["tools"] = tools.clone();
            let mut made = made(CHAT, body).unwrap();
            let delta = made["chunk"]["choices"][0]["delta"].take();
            assert_eq!(delta.get("role").is_some(), index == 0, "{delta}");
            thoughts += delta["reasoning"].as_str().unwrap_or_default();
            texts += delta["content"].as_str().unwrap_or_default();
            for call in delta["tool_calls"].as_array().into_iter().flatten() {
                let (name, arguments) =
                    &mut calls[usize::try_from(call["index"].as_u64().unwrap()).unwrap()];
                *name += call["function"]["name"].as_str().unwrap_or_default();
                *arguments += call["function"]["arguments"].as_str().unwrap_or_default();
            }
            state = made["stream_state"].take();
            assert_eq!(state["tools_streamed"], !calls[0].0.is_empty());
        }
        assert_eq!(state["last_tool_call_ids"].as_array().unwrap().len(), 2);
        let mut body = chunk(json!({"token_ids": [], "finish_reason": "stop"}), state);
        body["chat_request"]["tools"] = tools.clone();
        let ended = made(CHAT, body).unwrap()["chunk"]["choices"][0].take();
        assert_eq!((&ended["delta"], &ended["finish_reason"]), (&json!({}), &json!("tool_calls")));
        all.push((thoughts, texts, calls));
    }
    assert!(all.iter().all(|one| one == &all[0]), "{all:?}");
    let called = ("get_weather".to_owned(), "{\"city\":\"Oslo\"}".to_owned());
    assert_eq!(all[0].2, [called.clone(), called]);
    assert_eq!((all[0].0.matches("Hm.").count(), all[0].1.matches("Let me look.").count()), (2, 2));
}

/// The first chunk has a text even if nothing was said yet.
#[test]
fn a_stream_begins_with_an_empty_text() {
    let (choice, state) = next(CHAT, json!({"token_ids": [200_005]}), Value::Null);
    assert_eq!(choice["delta"], json!({"role": "assistant", "content": ""}));
    let (choice, _) = next(CHAT, json!({"token_ids": tokens("analysis")}), state);
    assert_eq!(choice["delta"], json!({}));
    let (choice, _) = next(CHAT, json!({"token_ids": tokens(THOUGHT)}), Value::Null);
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
    assert_eq!(made(CHAT, body).unwrap()["chunk"]["choices"][0]["delta"]["content"], "Sunny.");
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
