//! Every short sequence of the tokens that decide structure: laws that random streams meet only by chance.
//!
//! `cargo test` tries all of up to four pieces, and with one parser of each kind of up to five; `make laws` of up to
//! seven, `SMALL_WORLDS` says of how many.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::Range;
use std::thread;

use openai_harmony::chat::{Content, Role};
use openai_harmony::{
    Event, HarmonyEncoding, HarmonyEncodingName, ParserOptions, Prefill, RepairKind,
    StreamableParser, load_harmony_encoding,
};

/// A piece of each class.
fn pieces() -> Vec<Vec<u32>> {
    let tokenizer = encoding().tokenizer();
    let mut pieces: Vec<Vec<u32>> = [
        "<|start|>",
        "<|channel|>",
        "<|message|>",
        "<|end|>",
        "<|call|>",
        "<|constrain|>",
        "assistant",
        "final",
        " to=functions.f",
        "{",
    ]
    .map(|text| tokenizer.encode_with_special_tokens(text))
    .into();
    // A part of a character, and an id that does not exist.
    pieces.push(tokenizer.encode_ordinary("🦀")[..1].to_vec());
    pieces.push(vec![201_089]);
    pieces
}

fn encoding() -> HarmonyEncoding {
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap()
}

/// A parser of a kind, before its first token.
struct Kind {
    name: &'static str,
    blank: StreamableParser,
    strict: bool,
    /// Of up to how many pieces it is tried, less than all.
    fewer: usize,
}

fn kinds() -> Vec<Kind> {
    let kind = |name, role, options: ParserOptions, fewer| {
        let blank = StreamableParser::with_options(encoding(), role, &options).unwrap();
        Kind { name, blank, strict: options.strict, fewer }
    };
    let tools = ["functions.f", "python"];
    let assistant = Some(Role::Assistant);
    let open = Prefill::new().with_channel("final").with_text("It");
    vec![
        kind("lenient", assistant, ParserOptions::lenient().with_tools(tools), 0),
        kind("strict", assistant, ParserOptions::strict(), 0),
        kind("lenient without tools", assistant, ParserOptions::lenient(), 1),
        kind("lenient without a role", None, ParserOptions::lenient().with_tools(tools), 1),
        kind(
            "lenient after a prefill",
            assistant,
            ParserOptions::lenient().with_prefill(open.clone()),
            1,
        ),
        kind("strict after a prefill", assistant, ParserOptions::strict().with_prefill(open), 1),
    ]
}

#[test]
fn all_short_sequences_keep_the_laws() {
    let most = std::env::var("SMALL_WORLDS").map_or(5, |text| text.parse().unwrap());
    let pieces = pieces();
    thread::scope(|scope| {
        let two = 2.min(thread::available_parallelism().map_or(1, usize::from));
        for worker in 0..two {
            let pieces = &pieces;
            scope.spawn(move || {
                let kinds = kinds();
                let mut chosen = Vec::new();
                try_all(pieces, &kinds, most, &mut chosen, worker..two);
            });
        }
    });
}

/// Tries all sequences that begin with what is chosen; of those of one piece, each `part.end`-th.
fn try_all(
    pieces: &[Vec<u32>],
    kinds: &[Kind],
    most: usize,
    chosen: &mut Vec<usize>,
    part: Range<usize>,
) {
    let tokens: Vec<u32> = chosen.iter().flat_map(|&index| &pieces[index]).copied().collect();
    for kind in kinds.iter().filter(|kind| chosen.len() + kind.fewer <= most) {
        check(kind, &tokens, chosen.len());
    }
    if chosen.len() < most {
        for index in 0..pieces.len() {
            if chosen.is_empty() && index % part.end != part.start {
                continue;
            }
            chosen.push(index);
            try_all(pieces, kinds, most, chosen, part.clone());
            chosen.pop();
        }
    }
}

fn check(kind: &Kind, tokens: &[u32], count: usize) {
    let (whole, events) = parsed(kind, &[tokens]);
    let context = || format!("{}: {tokens:?}\n{events:?}", kind.name);
    // Cut anywhere, token by token, the same is read.
    let (by_token, _) = parsed(kind, &tokens.chunks(1).collect::<Vec<_>>());
    assert_eq!(by_token.messages(), whole.messages(), "{}", context());
    assert_eq!(by_token.repairs(), whole.repairs(), "{}", context());
    assert_eq!(by_token.stop_tokens(), whole.stop_tokens(), "{}", context());
    // Saved in the middle and resumed, likewise.
    if count < 5 {
        let middle = tokens.len() / 2;
        let mut parser = kind.blank.clone();
        feed(&mut parser, &tokens[..middle]);
        let mut resumed =
            StreamableParser::from_bytes(encoding(), &parser.to_bytes().unwrap()).unwrap();
        feed(&mut resumed, &tokens[middle..]);
        let _strict = resumed.finish();
        assert_eq!(resumed.messages(), whole.messages(), "{}", context());
        assert_eq!(resumed.repairs(), whole.repairs(), "{}", context());
    }
    let mut texts = vec![String::new(); whole.messages().len() + 1];
    let mut next = 0;
    for event in &events {
        let span = event.span();
        if let Event::ContentDelta { index, text, .. } = event {
            texts[*index].push_str(text);
        }
        let is_inside = matches!(event, Event::Repair(repair) if repair.index.is_some() || repair.kind == RepairKind::SpelledMarker);
        if !is_inside && !kind.strict {
            assert_eq!(span.start, next, "{}", context());
            next = span.end;
        }
    }
    if !kind.strict {
        assert_eq!(next, tokens.len(), "{}", context());
    }
    for (message, text) in whole.messages().iter().zip(&texts) {
        let [Content::Text(said)] = &message.content[..] else { unreachable!() };
        assert_eq!(&said.text, text, "{}", context());
    }
}

fn parsed(kind: &Kind, chunks: &[&[u32]]) -> (StreamableParser, Vec<Event>) {
    let mut parser = kind.blank.clone();
    let mut events: Vec<Event> = chunks.iter().flat_map(|chunk| feed(&mut parser, chunk)).collect();
    let ended = parser.finish();
    assert!(kind.strict || ended.is_ok());
    events.extend(ended.unwrap_or_default());
    (parser, events)
}

/// Feeds all tokens, those after an error, too.
fn feed(parser: &mut StreamableParser, tokens: &[u32]) -> Vec<Event> {
    let (mut events, mut rest) = (Vec::new(), tokens);
    loop {
        let fed = parser.tokens().len();
        match parser.feed(rest) {
            Ok(more) => {
                events.extend(more);
                return events;
            }
            Err(error) => {
                events.extend(parser.feed(&[]).unwrap_or_default());
                rest = &rest[error.token_index().unwrap() - fed + 1..];
            }
        }
    }
}
