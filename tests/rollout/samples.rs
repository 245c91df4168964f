//! What a model may sample, well-formed or damaged in any way.

use openai_harmony::chat::{Message, Role, SystemContent};
use openai_harmony::{HeaderStyle, RenderConfig, ThoughtPolicy};
use proptest::prelude::*;

use crate::lines::lines;
use crate::{assistant, call, result, tokens, user};

/// A turn: a question, then steps of the model with the results of its calls. Each is cut where sampling stops.
#[derive(Debug, Clone)]
pub(super) struct Exchange {
    question: Message,
    steps: Vec<Vec<Message>>,
}

fn step() -> impl Strategy<Value = Vec<Message>> {
    let thought = prop::option::of("[a-z ]{0,9}".prop_map(|text| assistant("analysis", &text)));
    let preamble = prop::option::weighted(0.3, Just(assistant("commentary", "I will look.")));
    let last = prop_oneof![
        2 => prop::sample::select(&["functions.f", "python", "browser.search"][..]).prop_map(call),
        1 => "[a-zé🤷]{0,9}".prop_map(|text| assistant("final", &text)),
    ];
    (thought, preamble, last).prop_map(|(a, b, c)| a.into_iter().chain(b).chain([c]).collect())
}

pub(super) fn exchange() -> impl Strategy<Value = Exchange> {
    ("[a-z?]{1,9}", prop::collection::vec(step(), 1..5)).prop_map(|(question, mut steps)| {
        // Nothing is asked of the model behind its answer but a new question.
        if let Some(answer) = steps.iter().position(|step| step.last().unwrap().recipient.is_none())
        {
            steps.truncate(answer + 1);
        }
        Exchange { question: user(&question), steps }
    })
}

pub(super) fn config() -> impl Strategy<Value = RenderConfig> {
    let thoughts = prop::sample::select(
        &[ThoughtPolicy::Keep, ThoughtPolicy::DropBeforeFirstFinal, ThoughtPolicy::Drop][..],
    );
    let style =
        prop::sample::select(&[HeaderStyle::RecipientInRole, HeaderStyle::RecipientInChannel][..]);
    (thoughts, style, any::<bool>()).prop_map(|(thoughts, style, validate)| {
        RenderConfig::new().with_thoughts(thoughts).with_header_style(style).with_validate(validate)
    })
}

/// The steps of a conversation: what was said before each, what is sampled, what follows.
pub(super) fn plays(exchanges: &[Exchange]) -> Vec<(Vec<Message>, Vec<Message>, Vec<Message>)> {
    let mut before = vec![Message::from_role_and_content(Role::System, SystemContent::new())];
    let mut plays = Vec::new();
    for (index, Exchange { question, steps }) in exchanges.iter().enumerate() {
        before.push(question.clone());
        for step in steps {
            let called = step.last().unwrap().recipient.as_deref();
            let next = exchanges.get(index + 1).map(|next| next.question.clone());
            let new: Vec<Message> = match called {
                Some(name) => vec![result(name)],
                None => next.into_iter().collect(),
            };
            plays.push((before.clone(), step.clone(), new.clone()));
            before.extend(step.iter().cloned());
            if called.is_some() {
                before.extend(new);
            }
        }
    }
    plays
}

/// A sample that may be malformed in any way: messages and pieces of messages, the last character perhaps cut.
pub(super) fn damaged() -> impl Strategy<Value = Vec<u32>> {
    let piece = prop_oneof![
        2 => prop::sample::select(lines::<String>(include_str!("pieces.txt"))),
        1 => prop::sample::select(&MESSAGES[..]).prop_map(str::to_owned),
    ];
    let pieces = prop::collection::vec(piece, 1..9);
    let ends = prop::sample::select(&["", "<|end|>", "<|return|>", "<|call|>"][..]);
    let cut = prop::option::weighted(0.1, 1_usize..4);
    (pieces, ends, cut).prop_map(|(pieces, ends, cut)| match cut {
        Some(len) => {
            [tokens(&pieces.concat()), tokens("\u{1F937}\u{1F3FD}")[..len].to_vec()].concat()
        }
        None => tokens(&(pieces.concat() + ends)),
    })
}

/// Whole messages, as another sampled message may follow them.
const MESSAGES: [&str; 9] = [
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant",
    "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|end|><|start|>assistant",
    "<|channel|>analysis to=python code<|message|>1<|end|><|start|>assistant",
    "<|channel|>commentary to=browser.search<|message|>{}<|end|><|start|>assistant",
    "<|channel|>final<|message|>3<|end|><|start|>assistant",
    "<|end|><|start|>functions.f to=assistant<|channel|>commentary<|message|>4<|end|><|start|>assistant",
    "<|end|><|start|>browser to=assistant<|channel|>commentary<|message|>",
    "<|end|><|start|>user<|message|>And?<|end|><|start|>assistant",
    "<|end|><|start|>system<|message|># Valid channels: final.<|end|><|start|>assistant",
];
