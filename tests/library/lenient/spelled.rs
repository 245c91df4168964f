//! Markers that ordinary tokens spell.

use openai_harmony::chat::Role;
use openai_harmony::{
    Event, HarmonyEncodingName, MessageSpan, ParserOptions, StreamableParser, load_harmony_encoding,
};
use proptest::prelude::*;

use super::{Outcome, shown};

const ANSWER: &str = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.f \
                      <|constrain|>json<|message|>{\"a\":\"é\"}<|call|>";

fn parser(config: &ParserOptions) -> StreamableParser {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
    StreamableParser::with_options(encoding, Some(Role::Assistant), config).unwrap()
}

fn reading() -> ParserOptions {
    ParserOptions::lenient().with_spelled_markers(true)
}

/// The ordinary tokens of each piece.
fn tokens(pieces: &[&str]) -> Vec<u32> {
    let tokenizer = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap().tokenizer();
    pieces.iter().flat_map(|piece| tokenizer.encode_ordinary(piece)).collect()
}

fn outcome(pieces: &[&str], config: &ParserOptions) -> Outcome {
    let mut parser = parser(config);
    parser.feed(&tokens(pieces)).unwrap();
    parser.finish().unwrap();
    Outcome {
        messages: parser.messages().iter().map(shown).collect(),
        kinds: parser.repairs().iter().map(|repair| repair.kind.name().to_owned()).collect(),
    }
}

/// So no token adds text to two messages: its delta belongs to one.
#[test]
fn no_token_spells_a_marker_alone() {
    let tokenizer = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap().tokenizer();
    let markers = "start channel constrain message end return call endoftext".split(' ');
    let markers: Vec<_> = markers.map(|name| format!("<|{name}|>")).collect();
    for token in 0..199_998 {
        let text = String::from_utf8_lossy(tokenizer.token_bytes(token).unwrap_or_default());
        assert!(markers.iter().all(|marker| !text.contains(marker)), "{token}");
    }
}

#[test]
fn they_are_text_unless_asked_for() {
    assert!(!ParserOptions::lenient().spelled_markers);
    let text = outcome(&[ANSWER], &ParserOptions::lenient());
    assert_eq!(text.messages, [format!("final: {ANSWER}")]);
    let read = outcome(&[ANSWER], &reading());
    let call = "commentary to=functions.f type=<|constrain|>json: {\"a\":\"é\"}";
    assert_eq!(read.messages, ["analysis: Hm.", call]);
    assert_eq!(read.kinds, ["spelled_marker"; 8]);
    // Strict parsing never reads them.
    let mut strict = parser(&ParserOptions::strict().with_spelled_markers(true));
    strict.feed(&tokens(&[ANSWER])).unwrap();
    assert!(strict.messages().is_empty() && strict.finish().is_err());
}

#[test]
fn tokens_that_share_a_marker_with_text() {
    for (pieces, messages) in [
        (&["<|channel", "|>final<", "|message|", ">a.<", "|return|>"][..], &["final: a."][..]),
        (&["<|channel|>final<|message|", ">\n\n", "a", ".<", "|end|>"], &["final: \n\na."]),
        (
            &[
                "<|channel|>analysis<|message|>t<|end",
                "|><|",
                "start",
                "|>assistant<|channel|>final<|message|>a",
            ],
            &["analysis: t", "final: a"],
        ),
        (&["<|channel|>final<|message|>", "</", "p", "><", "|end|>"], &["final: </p>"]),
        (&["<|channel|>final<|message|>é<", "|", "end|", ">"], &["final: é"]),
    ] {
        assert_eq!(outcome(pieces, &reading()).messages, messages, "{pieces:?}");
    }
}

#[test]
fn what_resembles_a_marker_is_text() {
    for text in [
        "<|foo|>",
        "<|channel",
        "<|channel>",
        "<|end|",
        "<|",
        "<",
        "< |end|>",
        "<|END|>",
        "<|<|<|en",
        "a<b<|c|>",
        "<|reserved_200013|>",
        "<|startoftext|>",
        "<<|endd|>>",
    ] {
        let whole = ["<|channel|>final<|message|>", text];
        let read = outcome(&whole, &reading());
        assert_eq!(read.messages, [format!("final: {text}")]);
        assert_eq!(read.kinds, ["spelled_marker"; 2], "{text}");
    }
    let read = outcome(&["<|channel|>final<|message|><<|end|>"], &reading());
    assert_eq!(read.messages, ["final: <"]);
}

/// After each byte all text is there but for what may begin a marker.
#[test]
fn only_the_beginning_of_a_marker_is_held_back() {
    let mut parser = parser(&reading());
    parser.feed(&tokens(&["<|channel|>final<|message|>"])).unwrap();
    let text = "if a < b: <|en <|<|end <|message <||> é<";
    let mut so_far = String::new();
    for character in text.chars() {
        so_far.push(character);
        let shown: String = parser
            .feed(&tokens(&[character.encode_utf8(&mut [0; 4])]))
            .unwrap()
            .into_iter()
            .map(|event| match event {
                Event::ContentDelta { text, .. } => text,
                other => panic!("{other:?}"),
            })
            .collect();
        let markers =
            ["<|start|>", "<|channel|>", "<|constrain|>", "<|message|>", "<|end|>", "<|return|>"];
        let held = so_far.rfind('<').map_or("", |at| &so_far[at..]);
        let held = if markers.iter().any(|marker| marker.starts_with(held)) { held } else { "" };
        assert_eq!(format!("{}{held}", parser.content()), so_far, "{shown}");
    }
    parser.finish().unwrap();
    assert_eq!(shown(&parser.messages()[0]), format!("final: {text}"));
}

/// A token that ends a marker is the marker's, whatever else it holds.
#[test]
fn spans_are_those_of_the_fed_tokens() {
    let pieces = [
        "<", "|", "channel", "|", ">", "final", "<", "|", "message", "|", ">", "Hi", ".<", "|",
        "end", "|", "><", "|", "return", "|", ">",
    ];
    let fed = tokens(&pieces);
    assert_eq!(fed.len(), pieces.len());
    let mut parser = parser(&reading());
    let mut events = parser.feed(&fed).unwrap();
    events.extend(parser.finish().unwrap());
    let [span] = MessageSpan::from_events(&events)[..] else { panic!("{events:?}") };
    assert_eq!((span.start, span.content, span.stop, span.end), (0, 11, 13, 17));
    let repairs = parser.repairs().iter();
    let repairs: Vec<_> =
        repairs.map(|one| (one.kind.name(), &*one.text, one.span.clone())).collect();
    assert_eq!(
        repairs,
        [
            ("spelled_marker", "<|channel|>", 0..5),
            ("spelled_marker", "<|message|>", 6..11),
            ("spelled_marker", "<|end|>", 13..17),
            ("spelled_marker", "<|return|>", 17..21),
            ("stray_stop", "<|return|>", 17..21),
        ]
    );
    assert_eq!(parser.tokens(), fed);
    assert_eq!(parser.stop_tokens(), [Some(200_007)]);
}

proptest! {
    /// However text is cut into tokens, its markers are read.
    #[test]
    fn the_cut_into_tokens_does_not_matter(cuts in prop::collection::vec(0_usize..300, 0..20), size in 1_usize..5) {
        let text = "<|channel|>analysis<|message|>So, 1 < 2 <|ok<|end|><|start|>assistant<|channel|>commentary \
                    to=f<|constrain|>json<|message|>{\"é\":\"😀<\"}<|call|>";
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| text.floor_char_boundary(cut)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&str> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
        let mut parser = parser(&reading());
        for chunk in tokens(&pieces).chunks(size) {
            parser.feed(chunk).unwrap();
        }
        parser.finish().unwrap();
        let messages: Vec<String> = parser.messages().iter().map(shown).collect();
        let call = "commentary to=f type=<|constrain|>json: {\"é\":\"😀<\"}";
        prop_assert_eq!(messages, ["analysis: So, 1 < 2 <|ok", call]);
        prop_assert_eq!(parser.repairs().len(), 8);
    }
}
