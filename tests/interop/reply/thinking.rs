//! The thinking budget: when it is spent, and what the answer is where its tokens are forced.

use openai_harmony::interop::{Reply, ReplyOptions, Turn};
use serde_json::json;

use super::{CHAT, encoding, plain_of, tokens, turn, with};

const FORCED: &str = "<|end|><|start|>assistant<|channel|>final<|message|>";

fn reply(turn: &Turn, budget: Option<usize>) -> Reply {
    let mut options = ReplyOptions::new("m").with_id("a").with_created(0);
    options.thinking_budget = budget;
    turn.reply(&encoding(), options).unwrap()
}

/// After which tokens, one by one, there are some to force.
fn moments(reply: &mut Reply, sampled: &str) -> Vec<bool> {
    let feed = |token: &u32| {
        reply.feed(&[*token], None).unwrap();
        let forced = reply.force();
        assert!(forced.is_empty() || forced == tokens(FORCED), "{forced:?}");
        !forced.is_empty()
    };
    tokens(sampled).iter().map(feed).collect()
}

#[test]
fn a_thought_is_ended_as_soon_as_its_budget_is_spent() {
    let turn = turn(CHAT, &plain_of(CHAT));
    let thought = "<|channel|>analysis<|message|>One two three";
    let spent = |budget| moments(&mut reply(&turn, budget), thought);
    assert_eq!(spent(Some(2)), [false, false, false, false, true, true]);
    assert_eq!(spent(Some(0)), [false, false, true, true, true, true]);
    assert_eq!(spent(Some(4)), [false; 6]);
    assert_eq!(spent(None), [false; 6]);
}

/// The option counts before the body; thoughts count together; headers, calls and answers are not thoughts.
#[test]
fn thoughts_count_together_and_nothing_else_does() {
    let body = with(plain_of(CHAT), json!({"reasoning": {"max_tokens": 1}}));
    let turn = turn(CHAT, &body);
    let sampled = "<|channel|>analysis<|message|>One two<|end|><|start|>assistant<|channel|>analysis<|message|>three four";
    let found = moments(&mut reply(&turn, Some(3)), sampled);
    assert_eq!(found.iter().filter(|spent| **spent).count(), 2, "{found:?}");
    assert!(found.ends_with(&[false, true, true]) || found.ends_with(&[true, true]));
    let found = moments(&mut reply(&turn, None), "<|channel|>final<|message|>One two three");
    assert_eq!(found, [false; 6]);
    let call = "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"a\":1}";
    assert!(moments(&mut reply(&turn, Some(0)), call).iter().all(|spent| !spent));
}

#[test]
fn a_character_is_not_cut() {
    let turn = turn(CHAT, &plain_of(CHAT));
    let mut reply = reply(&turn, Some(1));
    let sampled = tokens("<|channel|>analysis<|message|>\u{1F9A9}");
    assert!(sampled.len() > 4, "the character has several tokens");
    for (index, token) in sampled.iter().enumerate() {
        reply.feed(&[*token], None).unwrap();
        assert_eq!(!reply.force().is_empty(), index + 1 == sampled.len());
    }
}
