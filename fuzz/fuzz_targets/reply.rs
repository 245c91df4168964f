//! Any sampled tokens, answered in all dialects and forms: every law must hold.

#![no_main]

use libfuzzer_sys::fuzz_target;
use openai_harmony::interop::FinishReason;

#[path = "../../tests/reply_laws/mod.rs"]
mod reply_laws;
mod tokens;

fuzz_target!(|input: &[u8]| {
    let [turn, setting, bytes @ ..] = input else { return };
    let turns = reply_laws::turns();
    let turn = &turns[usize::from(*turn) % turns.len()];
    let reason = match setting & 3 {
        0 => FinishReason::Length,
        1 => FinishReason::Abort,
        _ => FinishReason::Stop,
    };
    let tokens = tokens::tokens(reply_laws::encoding(), bytes, setting >> 2 & 1 == 1);
    reply_laws::check(turn, &tokens, usize::from(setting >> 6) + 1, reason);
});
