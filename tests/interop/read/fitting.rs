//! Prompts that fit into a context: which turns are left out.

use openai_harmony::interop::Dialect;
use openai_harmony::{Error, ErrorKind};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{CHAT, RESPONSES, encoding, said, turn};

/// Three turns, the second with a call and its result, behind instructions.
fn messages() -> Vec<Value> {
    let call =
        json!({"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}});
    vec![
        json!({"role": "system", "content": "Be brief."}),
        json!({"role": "user", "content": "First?"}),
        json!({"role": "assistant", "reasoning": "Hm.", "content": "One."}),
        json!({"role": "user", "content": "Second?"}),
        json!({"role": "assistant", "content": "Wait.", "tool_calls": [call]}),
        json!({"role": "tool", "tool_call_id": "c", "content": "wet"}),
        json!({"role": "assistant", "content": "Two."}),
        json!({"role": "user", "content": "Third?"}),
    ]
}

/// The prompt without the turns before `first`, of messages that are left out by hand.
fn without(messages: &[Value], first: usize) -> Vec<u32> {
    let starts = [1, 3, 7];
    let kept: Vec<_> = messages[..1].iter().chain(&messages[starts[first]..]).collect();
    turn(CHAT, json!({"messages": kept})).prompt(&encoding()).unwrap()
}

/// How many tokens the error counts, and how many there may be.
fn counts(error: &Error) -> (usize, usize) {
    match error.kind() {
        ErrorKind::PromptTooLong { tokens, max_tokens, .. } => (*tokens, *max_tokens),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_oldest_turns_are_left_out_whole_and_as_few_as_must_be() {
    let all = messages();
    let whole = turn(CHAT, json!({"messages": all}));
    let expected = [0, 1, 2].map(|first| without(&all, first));
    assert_eq!(whole.prompt(&encoding()).unwrap(), expected[0]);
    for max_tokens in expected[2].len()..expected[0].len() + 3 {
        let fits = expected.iter().find(|prompt| prompt.len() <= max_tokens).unwrap();
        assert_eq!(&whole.prompt_within(&encoding(), max_tokens).unwrap(), fits, "{max_tokens}");
    }
    let tokens = expected[2].len();
    for max_tokens in [0, 1, 2, tokens - 1] {
        let error = whole.prompt_within(&encoding(), max_tokens).unwrap_err();
        assert_eq!(counts(&error), (tokens, max_tokens));
    }
}

#[test]
fn what_the_model_continues_counts() {
    let mut all = messages();
    all.push(json!({"role": "assistant", "content": "The third is", "prefix": true}));
    let whole = turn(CHAT, json!({"messages": all}));
    let expected = without(&all, 2);
    assert_eq!(whole.prompt_within(&encoding(), expected.len()).unwrap(), expected);
    assert!(whole.prompt_within(&encoding(), expected.len() - 1).is_err());
}

#[test]
fn a_single_message_is_not_left_out() {
    for &dialect in Dialect::ALL {
        let body = if dialect == RESPONSES {
            json!({"input": "Hi"})
        } else {
            json!({"max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]})
        };
        let nothing = turn(dialect, body);
        let tokens = nothing.prompt(&encoding()).unwrap().len();
        assert!(nothing.prompt_within(&encoding(), tokens).is_ok());
        let error = nothing.prompt_within(&encoding(), tokens - 1).unwrap_err();
        assert_eq!(counts(&error), (tokens, tokens - 1));
    }
}

#[test]
fn every_api_says_what_is_wrong() {
    for dialect in Dialect::ALL {
        for status in [400, 401, 429, 500] {
            let body = dialect.error_body(status, "Such a thing.", Some("messages[0]"), None);
            assert!(
                body.is_object() && body.to_string().contains("Such a thing."),
                "{dialect}: {body}"
            );
        }
    }
}

/// What clients look for: those of `OpenAI` at the code, those of Anthropic at the words.
#[test]
fn each_api_has_its_own_error() {
    let whole = turn(CHAT, json!({"messages": messages()}));
    let error = whole.prompt_within(&encoding(), 20).unwrap_err();
    let other = turn(RESPONSES, json!({"input": "A"})).prompt_within(&encoding(), 2).unwrap_err();
    for (dialect, param, error) in
        [(Dialect::ChatCompletions, "messages", &error), (Dialect::Responses, "input", &other)]
    {
        let (status, body) = dialect.error_answer(error);
        let body = &body["error"];
        let (tokens, max_tokens) = counts(error);
        assert_eq!(body["message"], dialect.too_long_message(tokens, max_tokens));
        assert_eq!((status, &body["type"]), (400, &json!("invalid_request_error")));
        assert_eq!(
            (&body["code"], &body["param"]),
            (&json!("context_length_exceeded"), &json!(param))
        );
    }
    let (status, body) = Dialect::Anthropic.error_answer(&error);
    let error = &body["error"];
    assert_eq!((status, &error["type"]), (400, &json!("invalid_request_error")));
    assert!(error["message"].as_str().unwrap().contains("prompt is too long: "), "{error}");
    assert_eq!(error["details"], Value::Null);
}

proptest! {
    #[test]
    fn a_prompt_has_at_most_so_many_tokens_and_one_turn_more_has_too_many(
        texts in prop::collection::vec(("[a-z ]{0,40}", prop::option::of("[a-z ]{0,60}"), "[a-z][a-z ]{0,39}"), 1..7),
        max_tokens in 40_usize..200,
    ) {
        let turns: Vec<_> = texts.iter().map(|(asked, thought, answer)| [
            json!({"role": "user", "content": asked}),
            json!({"role": "assistant", "reasoning": thought, "content": answer}),
        ]).collect();
        let last = [json!({"role": "user", "content": "And now?"})];
        let of_last = |count: usize| {
            let messages: Vec<_> = turns[turns.len() - count..].concat().into_iter().chain(last.clone()).collect();
            turn(CHAT, json!({"messages": messages}))
        };
        let count_of = |turn: &openai_harmony::interop::Turn| turn.prompt(&encoding()).unwrap().len();
        let expected = (0..=turns.len()).rev().map(of_last).find(|turn| count_of(turn) <= max_tokens);
        let found = of_last(turns.len()).prompt_within(&encoding(), max_tokens);
        match (expected, found) {
            (Some(expected), Ok(found)) => {
                prop_assert_eq!(found, expected.prompt(&encoding()).unwrap());
                prop_assert!(said(&expected).contains("And now?"));
            }
            (None, Err(_)) => {}
            (expected, found) => prop_assert!(false, "{expected:?}, {found:?}"),
        }
    }
}
