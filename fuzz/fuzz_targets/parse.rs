//! Any token sequence, parsed strictly and leniently, whole and in chunks: every law must hold.

#![no_main]

use libfuzzer_sys::fuzz_target;
use laws::Given;
use openai_harmony::chat::Role;

#[path = "../../tests/laws/mod.rs"]
mod laws;

/// Tokens that headers are made of, one for each of the first values of a byte.
const COMMON: [u32; 32] = [
    200_006, 200_006, 200_005, 200_005, 200_008, 200_008, 200_007, 200_007, 200_002, 200_012,
    200_003, 199_999, 200_013, 173_781, 1_428, 17_196, 35_644, 12_606, 815, 316, 28, 44_580, 1_174,
    4_108, 220, 198, 13, 30, 27_958, 72_253, 50_378, 201_089,
];

/// One byte for a common token, two to four for any other.
fn tokens(mut bytes: &[u8]) -> Vec<u32> {
    let mut tokens = Vec::new();
    while let Some((&first, rest)) = bytes.split_first() {
        let (token, used) = match (first, rest) {
            (0..=0x7f, _) | (_, []) => (COMMON[usize::from(first) % COMMON.len()], 0),
            (0x80..=0x9f, [next, ..]) => (u32::from(*next), 1),
            (0xa0..=0xfe, [next, last, ..]) => {
                (u32::from(first - 0xa0) << 16 | u32::from(*next) << 8 | u32::from(*last), 2)
            }
            (_, rest) => (u32::MAX - u32::from(rest[0]), 1),
        };
        tokens.push(token);
        bytes = &rest[used..];
    }
    tokens
}

fuzz_target!(|input: &[u8]| {
    let [setting, bytes @ ..] = input else { return };
    let role = match setting % 3 {
        0 => Some(Role::Assistant),
        1 => None,
        _ => Some(Role::Tool),
    };
    let tools: &[&str] = if setting % 2 == 0 { &[] } else { &["functions.f", "bash", "python"] };
    let given = Given { role, tools };
    let (tokens, size) = (tokens(bytes), usize::from(setting / 3 % 8) + 1);
    laws::lenient_spans_cover_every_token_once(&tokens, given, size);
    laws::any_chunking_gives_the_same(&tokens, given, size);
    laws::lenient_parsing_loses_no_letter(&tokens, given);
    laws::deltas_of_process_are_the_content(&tokens, given, true);
    laws::deltas_of_process_are_the_content(&tokens, given, false);
    laws::strict_parsing_goes_on_after_errors(&tokens, given);
    laws::strict_feed_keeps_what_happened_before_an_error(&tokens, given);
    laws::what_needs_no_repair_is_read_as_strictly(&tokens, given);
    let by_feed: Vec<_> = (0..8).map(|bit| setting >> bit & 1 == 1).collect();
    laws::process_and_feed_can_be_mixed(&tokens, given, &by_feed);
});
