//! Any completion of a message that the prompt began, parsed strictly and leniently.

#![no_main]

use law::Given;
use libfuzzer_sys::fuzz_target;
use openai_harmony::Prefill;
use openai_harmony::chat::Role;

#[path = "../../tests/laws/prefill.rs"]
mod law;
mod tokens;

fn prefill(number: u8) -> Prefill {
    let prefill = Prefill::new();
    match number {
        0 => prefill.with_channel("analysis"),
        1 => prefill.with_channel("commentary").with_recipient("functions.f"),
        2 => prefill.with_recipient("python").with_content_type("<|constrain|>json"),
        3 => prefill.with_channel("final").with_text("é {\"a\":"),
        4 => prefill.with_text(""),
        5 => prefill.with_channel("final").with_text("<|channel|>final"),
        6 => prefill.with_channel("x").with_recipient("all"),
        _ => prefill.with_channel("commentary").with_text("to=f\u{1F937}"),
    }
}

fuzz_target!(|input: &[u8]| {
    let [setting, size, bytes @ ..] = input else { return };
    let prefill = prefill(setting & 7);
    let role = if setting >> 3 & 1 == 0 { Role::Assistant } else { Role::User };
    let (in_channel, strict) = (setting >> 4 & 1 == 1, setting >> 5 & 1 == 1);
    let given = Given { prefill: &prefill, role, in_channel, strict };
    let tokens = tokens::tokens(law::encoding(), bytes, setting >> 6 & 1 == 1);
    law::parsing_after_a_prefill_equals_parsing_the_whole(
        given,
        &tokens,
        usize::from(size & 7) + 1,
    );
});
