//! Markers that the model spelled by ordinary tokens.

use openai_harmony::interop::{FinishReason, Reply, ReplyOptions};

use super::{ANTHROPIC, CHAT, OLLAMA, RESPONSES, THOUGHT, encoding, plain_of, tokens, turn};

const SAMPLED: &str = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Four<4.<|return|>";

fn spelled(text: &str) -> Vec<u32> {
    encoding().tokenizer().encode_ordinary(text)
}

/// In chunks of each size, and whole.
#[test]
fn the_answer_is_that_of_special_tokens() {
    for dialect in [CHAT, RESPONSES, ANTHROPIC, OLLAMA] {
        let turn = turn(dialect, &plain_of(dialect));
        let answered = |sampled: &[u32], size: usize, are_read: bool| {
            let options = ReplyOptions::new("m").with_id("a").with_created(0).with_prompt_tokens(1);
            let mut reply =
                turn.reply(&encoding(), options.with_spelled_markers(are_read)).unwrap();
            for chunk in sampled.chunks(size) {
                reply.feed(chunk, None).unwrap();
            }
            assert!(reply.is_ended());
            reply.finish(FinishReason::Length, None).unwrap();
            reply
        };
        let said = |reply: &Reply| format!("{:?}", reply.messages());
        let expected = answered(&tokens(SAMPLED), 3, false);
        for size in [1, 2, 3, 100] {
            let reply = answered(&spelled(SAMPLED), size, true);
            assert_eq!(said(&reply), said(&expected));
            let kinds: Vec<&str> = reply.repairs().iter().map(|one| one.kind.name()).collect();
            assert_eq!(kinds, ["spelled_marker"; 7]);
            let text = reply.response().to_string();
            assert!(text.contains("Four<4.") && !text.contains("<|"), "{text}");
        }
    }
}

/// The engine does not know that a spelled stop token is one.
#[test]
fn a_turn_is_ended_by_return_and_call_alone() {
    let turn = turn(CHAT, &plain_of(CHAT));
    let begun = |are_read| {
        let options = ReplyOptions::new("m").with_spelled_markers(are_read);
        turn.reply(&encoding(), options).unwrap()
    };
    let call = "<|start|>assistant<|channel|>commentary to=functions.f<|message|>{}<|call|>";
    for end in ["<|start|>assistant<|channel|>final<|message|>Hi<|return|>", call] {
        let mut reply = begun(true);
        let whole = spelled(&[THOUGHT, end].concat());
        for (fed, token) in whole.iter().enumerate() {
            assert!(!reply.is_ended(), "{fed} of {}", whole.len());
            reply.feed(&[*token], None).unwrap();
        }
        assert!(reply.is_ended());
        reply.feed(&spelled("\n"), None).unwrap();
        assert!(reply.is_ended(), "white space begins nothing");
        reply.feed(&spelled("<|start|>assistant"), None).unwrap();
        assert!(!reply.is_ended());
    }
    let mut reply = begun(false);
    reply.feed(&spelled(SAMPLED), None).unwrap();
    assert!(!reply.is_ended(), "they are text");
}
