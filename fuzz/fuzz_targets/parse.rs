//! Any token sequence, parsed strictly and leniently, whole and in chunks: every law must hold.

#![no_main]

use laws::Given;
use libfuzzer_sys::fuzz_target;
use openai_harmony::chat::Role;

#[path = "../../tests/laws/mod.rs"]
mod laws;
mod tokens;

fuzz_target!(|input: &[u8]| {
    let [setting, bits, bytes @ ..] = input else { return };
    let role = match setting & 3 {
        0 | 1 => Some(Role::Assistant),
        2 => None,
        _ => Some(Role::Tool),
    };
    let tools: &[&str] = match setting >> 2 & 3 {
        0 => &[],
        1 => &["functions.f", "bash", "python"],
        2 => &["browser", "final", "json", "é"],
        _ => &["functions.assistant", "a<b"],
    };
    let given = Given { role, tools, spelled: setting >> 5 & 1 == 1 };
    let tokens = tokens::tokens(laws::encoding(), bytes, setting >> 4 & 1 == 1);
    laws::all(&tokens, given, *bits);
});
