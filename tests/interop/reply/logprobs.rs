//! Log-probabilities: those of visible text, wherever chunks are cut and stop strings act.

use openai_harmony::interop::{FinishReason, Reply, TokenLogprob};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ANSWER, CHAT, Dialect, encoding, reply, tokens, turn};

fn chat(more: Value) -> Value {
    let tools = json!([{"type": "function", "function": {"name": "get_weather"}}]);
    let body = json!({"messages": [{"role": "user", "content": "Weather?"}], "tools": tools});
    super::with(body, more)
}

/// The log-probability of each token is its place.
fn fed(dialect: Dialect, body: &Value, sampled: &[&str], size: usize) -> (Reply, Vec<Value>) {
    let (mut reply, mut chunks, mut place) = (reply(&turn(dialect, body)), Vec::new(), 0.0);
    for piece in tokens(&sampled.concat()).chunks(size) {
        let mut given = Vec::new();
        for &token in piece {
            place -= 1.0;
            given.push(Some(TokenLogprob {
                logprob: place,
                top: vec![(5, place - 9.0), (token, place)],
            }));
        }
        let new = reply.feed(piece, Some(&given)).unwrap();
        chunks.extend(new.iter().map(|chunk| json!(chunk)));
    }
    reply.finish(FinishReason::Stop, None).unwrap();
    (reply, chunks)
}

#[test]
fn tokens_without_one_are_left_out() {
    let mut reply = reply(&turn(CHAT, &chat(json!({"logprobs": 1}))));
    let sampled = tokens("<|channel|>final<|message|>One two");
    let mut given = vec![None; sampled.len() - 1];
    // An alternative that is no token has no text.
    given.push(Some(TokenLogprob { logprob: f64::NEG_INFINITY, top: vec![(999_999, 0.0)] }));
    reply.feed(&sampled, Some(&given)).unwrap();
    let expected =
        json!([{"token": " two", "logprob": -9999.0, "bytes": b" two", "top_logprobs": []}]);
    assert_eq!(reply.response()["choices"][0]["logprobs"]["content"], expected);
    // Without any there is nothing to give.
    let body = chat(json!({"logprobs": true}));
    let silent = super::ended(CHAT, &body, &[ANSWER], FinishReason::Stop);
    assert!(silent.response()["choices"][0]["logprobs"].is_null());
}

/// Text without a header loses the white space in front of it, and a character that a stop token cuts off is one U+FFFD:
/// the tokens of both have their entries, wherever chunks are cut.
#[test]
fn text_without_a_header_has_them_wherever_it_is_cut() {
    let cut = tokens("\u{1F3F7}")[0];
    let body = chat(json!({"logprobs": true}));
    for before in ["", " ", "\n\n\n\n", "   \n   \n"] {
        for count in [1, 30, 31, 32, 33, 34, 60] {
            for stop in
                ["", "<|end|>", "<|return|>", "<|start|>assistant<|channel|>final<|message|>x"]
            {
                let text = [before, &"word ".repeat(count)].concat();
                let sampled = [&tokens(&text)[..], &[cut], &tokens(stop)].concat();
                let entries = |size: usize| {
                    let mut reply = reply(&turn(CHAT, &body));
                    for piece in sampled.chunks(size) {
                        let given = vec![Some(TokenLogprob::from(-1.0)); piece.len()];
                        reply.feed(piece, Some(&given)).unwrap();
                    }
                    reply.finish(FinishReason::Stop, None).unwrap();
                    reply.response()["choices"][0].clone()
                };
                let whole = entries(sampled.len());
                if ["<|end|>", "<|return|>"].contains(&stop) {
                    let last = whole["logprobs"]["content"].as_array().unwrap().last().unwrap();
                    let bytes = encoding().tokenizer().token_bytes(cut).unwrap();
                    assert_eq!(last["bytes"], json!(bytes), "{before:?} {count} {stop:?}");
                }
                for size in [1, 2, 3, 33, sampled.len() - 1] {
                    assert_eq!(entries(size), whole, "{before:?} {count} {stop:?} {size}");
                }
            }
        }
    }
}

#[test]
fn a_body_that_asks_for_none_gets_none() {
    let (reply, _) = fed(CHAT, &chat(json!({})), &[ANSWER], 1);
    assert!(reply.response()["choices"][0]["logprobs"].is_null());
}

#[test]
fn what_is_wrong_is_named_and_nothing_is_fed() {
    let mut reply = reply(&turn(CHAT, &chat(json!({"logprobs": true}))));
    let one = |logprob: f64, top: &[(u32, f64)]| Some(TokenLogprob { logprob, top: top.to_vec() });
    let cases = [
        (vec![], "logprobs: 0 for 2 tokens"),
        (vec![None; 3], "logprobs: 3 for 2 tokens"),
        (
            vec![None, one(f64::NAN, &[])],
            "logprobs[1].logprob: expected the logarithm of a probability, got NaN",
        ),
        (
            vec![one(0.0, &[(5, 0.0), (6, f64::INFINITY)]), None],
            "logprobs[0].top[1]: expected the logarithm of a probability, got inf",
        ),
    ];
    for (given, reason) in cases {
        let error = reply.feed(&[1, 2], Some(&given)).unwrap_err();
        assert_eq!(error.to_string(), format!("Invalid log-probabilities: {reason}"));
        assert_eq!(error.kind().name(), "invalid_logprobs");
    }
    assert!(reply.tokens().is_empty());
}

/// Words in the middle of a text without a header can be read as its type.
#[test]
fn text_around_a_type_has_them_to_its_end() {
    let body = chat(json!({"logprobs": true}));
    let sampled = ["A\u{B}<|constrain|>\u{B}b{}.<\u{0} c to=d e f<|call|>"];
    let all: Vec<_> = (1..30).map(|size| bytes(&fed(CHAT, &body, &sampled, size).0)).collect();
    assert!(all[0].concat().ends_with(b" e f"), "{:?}", all[0]);
    assert!(all.iter().all(|tokens| *tokens == all[0]), "{all:?}");
}

/// The bytes of the tokens of the answer.
fn bytes(reply: &Reply) -> Vec<Vec<u8>> {
    let response = reply.response();
    let entries = response["choices"][0]["logprobs"]["content"].as_array().cloned();
    let of_entry = |entry: Value| serde_json::from_value(entry["bytes"].clone()).unwrap();
    entries.unwrap_or_default().into_iter().map(of_entry).collect()
}

proptest! {
    /// The tokens are those of the text; where a stop string cuts it off, the last may have a part of the string.
    #[test]
    fn the_tokens_are_those_of_the_text(
        text in "(a|ab|b c|é|🦀| the|\n){0,20}",
        stop in prop::option::of("(ab|b c|é |🦀|a 🦀| the a)"),
        size in 1_usize..6,
    ) {
        let mut body = chat(json!({"logprobs": true}));
        if let Some(stop) = &stop {
            body["stop"] = json!(stop);
        }
        let sampled = ["<|channel|>final<|message|>", &text, "<|return|>"];
        let (reply, _) = fed(CHAT, &body, &sampled, size);
        let content = reply.response()["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
        let tokens = bytes(&reply);
        let all = tokens.concat();
        prop_assert!(all.starts_with(content.as_bytes()), "{tokens:?} {content:?}");
        match tokens.split_last() {
            Some((_, before)) => prop_assert!(before.concat().len() < content.len()),
            None => prop_assert!(content.is_empty()),
        }
        prop_assert!(text.as_bytes().starts_with(&all));
        prop_assert!(reply.stop_sequence().is_some() || all == content.as_bytes());
    }
}
