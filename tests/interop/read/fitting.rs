//! Prompts that fit into a context: which turns are left out.

use proptest::prelude::*;
use serde_json::json;

use super::{CHAT, encoding, said, turn};

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
