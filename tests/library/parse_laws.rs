//! Laws that parsing keeps for any tokens whatever, on random tokens.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../laws/mod.rs"]
mod laws;
#[path = "../../fuzz/fuzz_targets/tokens.rs"]
mod tokens;

use std::fs;

use laws::{Given, encoding};
use openai_harmony::chat::{Content, Role};
use openai_harmony::{ParserOptions, StreamableParser};
use proptest::prelude::*;

use crate::lines::lines;

fn piece() -> impl Strategy<Value = Vec<u32>> {
    let pieces = prop::sample::select(lines::<String>(include_str!("parse_laws.txt")));
    prop_oneof![
        12 => pieces.clone()
            .prop_map(|text| encoding().tokenizer().encode_with_special_tokens(&text)),
        // Spelled markers.
        4 => pieces.prop_map(|text| encoding().tokenizer().encode_ordinary(&text)),
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

fn given() -> impl Strategy<Value = Given> {
    let role = prop_oneof![Just(Some(Role::Assistant)), Just(None), Just(Some(Role::Tool))];
    let tools = prop_oneof![Just(&[][..]), Just(&["functions.f", "bash", "python", "browser"][..])];
    (role, tools, any::<bool>()).prop_map(|(role, tools, spelled)| Given { role, tools, spelled })
}

/// The fuzzer begins with these, among them what it found.
#[test]
fn seeds_of_the_fuzzer_keep_all_laws() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/seeds/tokens");
    let seeds = fs::read_dir(folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    let seeds: Vec<Vec<u8>> = seeds.collect();
    assert!(seeds.len() > 25, "seeds are missing");
    for seed in seeds {
        for (split, bits) in [(false, 0), (true, 0x55), (false, 0xa6)] {
            let tokens = tokens::tokens(encoding(), &seed[2..], split);
            for role in [Some(Role::Assistant), None, Some(Role::Tool)] {
                for tools in [&[][..], &["functions.f", "bash", "python", "browser"]] {
                    for spelled in [false, true] {
                        laws::all(&tokens, Given { role, tools, spelled }, bits);
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(1500)))]

    #[test]
    fn lenient_spans_cover_every_token_once(tokens in tokens(), given in given(), size in 1_usize..9) {
        laws::lenient_spans_cover_every_token_once(&tokens, given, size);
    }

    #[test]
    fn any_chunks_give_the_same_result(tokens in tokens(), given in given(), size in 1_usize..9) {
        laws::any_chunking_gives_the_same(&tokens, given, size);
    }

    #[test]
    fn lenient_parsing_loses_no_letter(tokens in tokens(), given in given()) {
        laws::lenient_parsing_loses_no_letter(&tokens, given);
    }

    #[test]
    fn deltas_of_process_are_the_content(tokens in tokens(), given in given(), strict in any::<bool>()) {
        laws::deltas_of_process_are_the_content(&tokens, given, strict);
    }

    #[test]
    fn strict_parsing_continues_after_errors(tokens in tokens(), given in given()) {
        laws::strict_parsing_goes_on_after_errors(&tokens, given);
    }

    #[test]
    fn strict_feed_keeps_what_happened_before_an_error(tokens in tokens(), given in given()) {
        laws::strict_feed_keeps_what_happened_before_an_error(&tokens, given);
    }

    #[test]
    fn what_needs_no_repair_is_read_as_strictly(tokens in tokens(), given in given()) {
        laws::what_needs_no_repair_is_read_as_strictly(&tokens, given);
    }

    #[test]
    fn spelled_markers_read_as_markers(tokens in tokens(), given in given()) {
        laws::spelled_markers_read_as_markers(&tokens, given);
    }

    #[test]
    fn content_is_the_lossy_text_of_its_bytes(
        tokens in prop::collection::vec(94_u32..256, 1..40),
        size in 1_usize..6,
    ) {
        let (encoding, options) = (encoding(), ParserOptions::lenient());
        let [header, end] = ["<|channel|>final<|message|>", "<|end|>"]
            .map(|text| encoding.tokenizer().encode_with_special_tokens(text));
        let role = Some(Role::Assistant);
        let mut parser = StreamableParser::with_options(encoding, role, &options).unwrap();
        for chunk in [&header[..]].into_iter().chain(tokens.chunks(size)).chain([&end[..]]) {
            parser.feed(chunk).unwrap();
        }
        let bytes = encoding.tokenizer().decode_bytes(&tokens).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        prop_assert_eq!(&parser.messages()[0].content, &[Content::from(&*text)]);
    }

    #[test]
    fn process_and_feed_can_be_mixed(
        tokens in tokens(),
        given in given(),
        by_feed in prop::collection::vec(any::<bool>(), 1..12),
    ) {
        laws::process_and_feed_can_be_mixed(&tokens, given, &by_feed);
    }
}
