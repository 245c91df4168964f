//! Any sampled tokens, answered in all dialects and forms: every law must hold.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use openai_harmony::interop::{FinishReason, Turn};

#[path = "../../tests/reply_laws/mod.rs"]
mod reply_laws;

/// Texts that turns are made of, one for each of the first values of a byte.
const COMMON: [&str; 16] = [
    "<|start|>assistant",
    "<|channel|>analysis",
    "<|channel|>commentary",
    "<|channel|>final",
    "<|message|>",
    "<|end|>",
    "<|call|>",
    "<|return|>",
    " to=functions.get_weather",
    " to=functions.shell",
    " to=python",
    " <|constrain|>json",
    r#"{"city":"Oslo"}"#,
    r#"{"input": "ls"#,
    "ab c",
    "\"}",
];

fn turns() -> &'static [Turn] {
    static TURNS: OnceLock<Vec<Turn>> = OnceLock::new();
    TURNS.get_or_init(reply_laws::turns)
}

/// One byte for a common text, two or three for any token.
fn tokens(mut bytes: &[u8]) -> Vec<u32> {
    let tokenizer = reply_laws::encoding().tokenizer();
    let mut tokens = Vec::new();
    while let Some((&first, rest)) = bytes.split_first() {
        bytes = match (first, rest) {
            (0x80..=0xff, [a, b, rest @ ..]) => {
                let high = u32::from(first & 3) << 16;
                tokens.push(high | u32::from(*a) << 8 | u32::from(*b));
                rest
            }
            _ => {
                let text = COMMON[usize::from(first) % COMMON.len()];
                tokens.extend(tokenizer.encode_with_special_tokens(text));
                rest
            }
        };
    }
    tokens
}

fuzz_target!(|input: &[u8]| {
    let [setting, bytes @ ..] = input else { return };
    let turn = &turns()[usize::from(*setting) % turns().len()];
    let reason = match setting >> 5 & 3 {
        0 => FinishReason::Length,
        1 => FinishReason::Abort,
        _ => FinishReason::Stop,
    };
    reply_laws::check(turn, &tokens(bytes), usize::from(setting >> 6) + 1, reason);
});
