//! The thinking budget: when it is spent, and what the answer is where its tokens are forced.

use openai_harmony::interop::{FinishReason, Reply, ReplyOptions, Turn};
use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, Dialect, OLLAMA, RESPONSES, encoding, plain_of, tokens, turn, with};

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
fn bodies_say_how_much_may_be_thought() {
    let budget = |dialect: Dialect, body: Value| turn(dialect, &body).thinking_budget;
    let thinking = json!({"thinking": {"type": "enabled", "budget_tokens": 1_024}});
    assert_eq!(budget(ANTHROPIC, with(plain_of(ANTHROPIC), thinking)), Some(1_024));
    let adaptive = json!({"thinking": {"type": "adaptive"}});
    assert_eq!(budget(ANTHROPIC, with(plain_of(ANTHROPIC), adaptive)), None);
    for dialect in [CHAT, RESPONSES] {
        let reasoning = json!({"reasoning": {"effort": "high", "max_tokens": 300}});
        let turn = turn(dialect, &with(plain_of(dialect), reasoning));
        assert_eq!((turn.thinking_budget, turn.unused), (Some(300), vec![]));
        assert_eq!(budget(dialect, plain_of(dialect)), None);
        let wrong = with(plain_of(dialect), json!({"reasoning": {"max_tokens": 0}}));
        let error = dialect.read(&wrong, &super::options()).unwrap_err().to_string();
        assert!(error.contains("reasoning.max_tokens"), "{error}");
    }
    assert_eq!(budget(OLLAMA, plain_of(OLLAMA)), None);
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

#[test]
fn the_forced_tokens_give_every_api_a_thought_and_an_answer() {
    for dialect in [CHAT, RESPONSES, ANTHROPIC, OLLAMA] {
        let shown = json!({"thinking": {"type": "enabled", "budget_tokens": 2}});
        let body =
            if dialect == ANTHROPIC { with(plain_of(dialect), shown) } else { plain_of(dialect) };
        let turn = turn(dialect, &body);
        let mut forced = reply(&turn, Some(2));
        forced.feed(&tokens("<|channel|>analysis<|message|>One two"), None).unwrap();
        let end = forced.force().to_vec();
        forced.feed(&end, None).unwrap();
        assert!(forced.force().is_empty());
        forced.feed(&tokens("Three.<|return|>"), None).unwrap();
        forced.finish(FinishReason::Stop, None).unwrap();
        assert!(forced.force().is_empty() && forced.repairs().is_empty());
        let mut by_itself = reply(&turn, None);
        let whole = ["<|channel|>analysis<|message|>One two", FORCED, "Three.<|return|>"].concat();
        by_itself.feed(&tokens(&whole), None).unwrap();
        by_itself.finish(FinishReason::Stop, None).unwrap();
        assert_eq!(forced.messages(), by_itself.messages());
        assert_eq!(forced.usage(), by_itself.usage());
    }
}
