//! Laws that parsing keeps for any tokens whatever, on random tokens.

mod laws;

use laws::encoding;
use openai_harmony::chat::Role;
use proptest::prelude::*;

/// Pieces that headers and damage are made of; their tokens are strung together at random.
const PIECES: [&str; 36] = [
    "<|start|>",
    "<|start|>assistant",
    "<|channel|>",
    "<|channel|>final",
    "<|channel|>analysis",
    "<|channel|>commentary",
    "<|message|>",
    "<|message|>",
    "<|end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|constrain|>",
    "<|constrain|>json",
    "<|endoftext|>",
    "<|reserved_200013|>",
    "assistant",
    "user",
    "tool",
    "final",
    "analysis",
    "__X",
    "?commentary?",
    " to=",
    " to=f",
    " to=functions.w",
    "to=assistant",
    " json",
    " ",
    "\n",
    "weird",
    "functions.f",
    "user:bob",
    " I must",
    "é🤷🏽",
    "{\"a\":1}",
];

fn piece() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![
        12 => prop::sample::select(&PIECES[..])
            .prop_map(|text| encoding().tokenizer().encode_with_special_tokens(text)),
        // Any ordinary token, among them those that hold a part of a character.
        3 => (0_u32..200_000).prop_map(|token| vec![token]),
        // Byte tokens above ASCII: mostly broken UTF-8.
        2 => (94_u32..256).prop_map(|token| vec![token]),
        1 => prop_oneof![Just(201_089_u32), Just(u32::MAX), any::<u32>()].prop_map(|token| vec![token]),
    ]
}

fn tokens() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(piece(), 0..24).prop_map(|pieces| pieces.concat())
}

fn role() -> impl Strategy<Value = Option<Role>> {
    prop_oneof![Just(Some(Role::Assistant)), Just(None), Just(Some(Role::Tool))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(1500)))]

    #[test]
    fn lenient_spans_cover_every_token_once(tokens in tokens(), role in role(), size in 1_usize..9) {
        laws::lenient_spans_cover_every_token_once(&tokens, role, size);
    }

    #[test]
    fn any_chunking_gives_the_same(tokens in tokens(), role in role(), size in 1_usize..9) {
        laws::any_chunking_gives_the_same(&tokens, role, size);
    }

    #[test]
    fn lenient_parsing_loses_no_letter(tokens in tokens(), role in role()) {
        laws::lenient_parsing_loses_no_letter(&tokens, role);
    }

    #[test]
    fn deltas_of_process_are_the_content(tokens in tokens(), role in role(), strict in any::<bool>()) {
        laws::deltas_of_process_are_the_content(&tokens, role, strict);
    }

    #[test]
    fn strict_parsing_goes_on_after_errors(tokens in tokens(), role in role()) {
        laws::strict_parsing_goes_on_after_errors(&tokens, role);
    }

    #[test]
    fn strict_feed_keeps_what_happened_before_an_error(tokens in tokens(), role in role()) {
        laws::strict_feed_keeps_what_happened_before_an_error(&tokens, role);
    }

    #[test]
    fn process_and_feed_can_be_mixed(
        tokens in tokens(),
        role in role(),
        by_feed in prop::collection::vec(any::<bool>(), 1..12),
    ) {
        laws::process_and_feed_can_be_mixed(&tokens, role, &by_feed);
    }
}
