//! The law of examples for each turn: what a server samples in a turn, and the prompts that it is
//! sampled from, are what the turn's example trains, and what stands in front of that.

use openai_harmony::chat::{Message, Role};
use openai_harmony::training::{ExampleUnit, RowOptions, render};
use openai_harmony::{RenderConfig, RenderEnd};
use proptest::prelude::*;

use crate::conversations::settled_conversation;
use crate::encoding;

/// A prompt, and what the model samples behind it.
struct Sampling {
    prompt: Vec<u32>,
    sampled: Vec<u32>,
}

/// Plays a conversation as a server does that renders with this config: the samplings of each of
/// the user's turns. The server knows nothing of what is said later.
fn play(messages: &[Message], config: RenderConfig) -> Vec<Vec<Sampling>> {
    let encoding = encoding();
    let stops = encoding.stop_token_ids();
    let mut turns: Vec<Vec<Sampling>> = vec![vec![]];
    let mut is_sampling = false;
    for (index, message) in messages.iter().enumerate() {
        if message.author.role != Role::Assistant {
            is_sampling = false;
            if message.author.role == Role::User {
                turns.push(vec![]);
            }
            continue;
        }
        let mut written = encoding.render_with(message, &config).unwrap();
        if message.channel.as_deref() == Some("final") {
            // So the model ends its answers.
            *written.last_mut().unwrap() = stops[0];
        }
        let samplings = turns.last_mut().unwrap();
        if !is_sampling {
            let ending = RenderEnd::Completion(Role::Assistant);
            let prompt =
                encoding.render_conversation_with(&messages[..index], ending, &config).unwrap();
            let behind = encoding.render_conversation_with(&[], ending, &config).unwrap();
            assert!(written.starts_with(&behind));
            written.drain(..behind.len());
            samplings.push(Sampling { prompt, sampled: vec![] });
        }
        is_sampling = !stops.contains(written.last().unwrap());
        samplings.last_mut().unwrap().sampled.extend(written);
    }
    turns.retain(|samplings| !samplings.is_empty());
    turns
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(3000), ..ProptestConfig::default() })]

    #[test]
    fn an_example_for_each_turn_is_what_was_sampled_there(conversation in settled_conversation()) {
        let options = RowOptions::new().with_examples(ExampleUnit::Turns);
        let batch = render(&encoding(), [conversation.clone()], &options);
        let turns = play(&conversation.messages, options.config);
        prop_assert_eq!(batch.len(), turns.len());
        prop_assert_eq!(batch.errors.is_empty(), !turns.is_empty());
        let end = encoding().tokenizer().special_token("<|end|>").unwrap();
        let stop = encoding().tokenizer().special_token("<|return|>").unwrap();
        for (example, samplings) in batch.iter().zip(turns) {
            let mut mask = vec![0; example.tokens.len()];
            for Sampling { prompt, sampled } in samplings {
                prop_assert!(example.tokens.starts_with(&prompt));
                for (at, token) in (prompt.len()..).zip(sampled) {
                    if example.tokens[at] == token {
                        mask[at] = 1;
                    } else {
                        // An answer that more of the turn follows: the history says `<|end|>`.
                        prop_assert_eq!((token, example.tokens[at]), (stop, end));
                    }
                }
            }
            prop_assert_eq!(example.loss_mask, mask);
        }
    }
}
