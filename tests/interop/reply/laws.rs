//! The laws on random turns: well-formed ones, damaged ones, any tokens at all.

use openai_harmony::Error;
use openai_harmony::interop::{Dialect, FinishReason, Turn};
use proptest::prelude::*;
use serde_json::Value;

use super::tokens;
use crate::reply_laws::{check, logprobs, reply, response, turns};

#[test]
fn turns_are_of_every_dialect() {
    let turns = turns();
    for dialect in Dialect::ALL {
        assert!(turns.iter().any(|turn| turn.dialect == *dialect), "{dialect} has no body");
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[abc \n]{0,12}",
        Just("好\u{2028}\u{85}é😀".to_owned()),
        Just(String::new()),
        ".{0,6}",
    ]
}

fn arguments() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(r#"{"city":"Oslo"}"#.to_owned()),
        Just(r#"{ "input": "ls \"a\"\n" }"#.to_owned()),
        Just(r#"{"input": "print("a")"}"#.to_owned()),
        Just(r#"{"city": "Os"#.to_owned()),
        Just("[1]".to_owned()),
        text(),
    ]
}

fn recipient() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "functions.get_weather",
        "functions.shell",
        "functions.crm.find",
        "functions.unknown",
        "get_weather",
        "python",
        "browser.search",
        "user",
        "assistant",
    ])
}

/// A message of the assistant, without its `<|start|>assistant`.
fn message() -> impl Strategy<Value = String> {
    let end = prop::sample::select(vec!["<|end|>", "<|return|>", "<|call|>", ""]);
    let channel = prop::sample::select(vec!["analysis", "commentary", "final", "other"]);
    let said = (channel.clone(), text())
        .prop_map(|(channel, text)| format!("<|channel|>{channel}<|message|>{text}"));
    let call = (channel, recipient(), any::<bool>(), arguments()).prop_map(
        |(channel, recipient, is_json, arguments)| {
            let kind = if is_json { " <|constrain|>json" } else { "" };
            format!("<|channel|>{channel} to={recipient}{kind}<|message|>{arguments}")
        },
    );
    let broken = text().prop_map(|text| format!("<|channel|>commentary{text}"));
    let tool = text().prop_map(|text| format!("functions.x to=assistant<|message|>{text}"));
    let begun = prop_oneof![4 => said, 4 => call, 1 => broken, 1 => tool, 1 => text()];
    (begun, end).prop_map(|(begun, end)| begun + end)
}

fn well_formed() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(message(), 0..4)
        .prop_map(|messages| tokens(&messages.join("<|start|>assistant")))
}

pub(super) fn sampled() -> impl Strategy<Value = Vec<u32>> {
    let damaged = (well_formed(), any::<prop::sample::Index>(), any::<u8>()).prop_map(
        |(mut tokens, at, how)| {
            if !tokens.is_empty() {
                let at = at.index(tokens.len());
                match how % 4 {
                    0 => drop(tokens.remove(at)),
                    1 => tokens.truncate(at),
                    2 => tokens.insert(at, tokens[at]),
                    _ => tokens[at] = 200_000 + u32::from(how) % 20,
                }
            }
            tokens
        },
    );
    let any = prop::collection::vec(prop_oneof![0_u32..201_100, 199_990_u32..200_020], 0..30);
    prop_oneof![3 => well_formed(), 3 => damaged, 1 => any]
}

/// Text without a header becomes an answer at its 33rd token, without the white space in front, and may end inside a
/// character.
fn without_a_header() -> impl Strategy<Value = Vec<u32>> {
    let ids = [" word", " ", "\n\n", "\u{1F3F7}", "好", "𓀀", "{\"a\":", "}"].map(tokens).concat();
    let ids = prop_oneof![1 => prop::sample::select(ids), 1 => Just(tokens(" word")[0])];
    let thought = "<|channel|>analysis<|message|>a<|end|>";
    let before = prop::sample::select(vec!["", " ", "\n\n\n\n", "   \n   \n", thought]);
    let behind = prop_oneof![3 => Just(String::new()), 1 => message()];
    let cut = prop_oneof![Just(vec![]), Just(vec![tokens("\u{1F3F7}")[0]])];
    let stop = prop::sample::select(vec!["", "<|end|>", "<|return|>", "<|start|>assistant"]);
    (before, prop::collection::vec(ids, 26..42), cut, stop, behind).prop_map(
        |(before, text, cut, stop, behind)| {
            [tokens(before), text, cut, tokens(stop), tokens(&behind)].concat()
        },
    )
}

pub(super) fn reason() -> impl Strategy<Value = FinishReason> {
    prop::sample::select(vec![FinishReason::Stop, FinishReason::Length, FinishReason::Abort])
}

#[test]
fn a_tab_that_is_not_escaped_is_part_of_an_input() {
    let call =
        "<|channel|>commentary to=functions.shell<|message|>{\"input\": \"ls\texport\\n\"}<|call|>";
    for turn in turns() {
        check(turn, &tokens(call), 2, FinishReason::Stop);
    }
}

/// The answer to tokens that came in these pieces.
fn answer(turn: &Turn, pieces: &[&[u32]], reason: FinishReason) -> Result<Value, Error> {
    let mut reply = reply(turn);
    for piece in pieces {
        reply.feed(piece, logprobs(turn, piece).as_deref())?;
    }
    reply.finish(reason, None)?;
    Ok(response(&reply))
}

fn turns_with_logprobs() -> Vec<&'static Turn> {
    turns().iter().filter(|turn| turn.sampling.logprobs.is_some()).collect()
}

/// Each case takes every fourth turn, some of each dialect: different tokens find more than other turns do.
const FOURTH: usize = 4;

proptest! {
    #[test]
    fn any_tokens_keep_the_laws(
        tokens in sampled(),
        size in 1_usize..6,
        reason in reason(),
        first in 0..FOURTH,
    ) {
        for turn in turns().iter().skip(first).step_by(FOURTH) {
            check(turn, &tokens, size, reason);
        }
    }
}

proptest! {
    // Each is cut at every fourth place.
    #![proptest_config(ProptestConfig { cases: (ProptestConfig::default().cases / 4).min(1024), ..ProptestConfig::default() })]

    #[test]
    fn log_probabilities_are_the_same_wherever_tokens_are_cut(
        tokens in prop_oneof![sampled(), without_a_header()],
        reason in reason(),
        turn in prop::sample::select(turns_with_logprobs()),
        first in 1..=FOURTH,
    ) {
        let whole = answer(turn, &[&tokens], reason)?;
        for at in (first..tokens.len()).step_by(FOURTH) {
            let (first, second) = tokens.split_at(at);
            prop_assert_eq!(&answer(turn, &[first, second], reason)?, &whole, "cut at {}", at);
            let pieces: Vec<_> = tokens.chunks(at).collect();
            prop_assert_eq!(&answer(turn, &pieces, reason)?, &whole, "{} at a time", at);
        }
    }
}
