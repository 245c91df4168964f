//! Laws that parsing keeps for any tokens whatever, as checks that panic where one is broken.
//!
//! `tests/library/parse_laws.rs` runs them on random tokens, the fuzz target on those that it finds.
#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a check panics")]

use std::collections::BTreeMap;

use openai_harmony::chat::{Content, Message, Role};
use openai_harmony::{
    Event, HarmonyEncoding, HarmonyEncodingName, ParserOptions, Repair, RepairKind,
    StreamableParser, load_harmony_encoding,
};

pub(crate) fn encoding() -> HarmonyEncoding {
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap()
}

/// What a parser is made with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given {
    pub(crate) role: Option<Role>,
    pub(crate) tools: &'static [&'static str],
    /// Whether spelled markers are read where parsing is lenient.
    pub(crate) spelled: bool,
}

impl Given {
    fn config(self, strict: bool) -> ParserOptions {
        let config = if strict { ParserOptions::strict() } else { ParserOptions::lenient() };
        config.with_tools(self.tools.iter().copied()).with_spelled_markers(self.spelled)
    }
}

fn parser(given: Given, strict: bool) -> StreamableParser {
    StreamableParser::with_options(encoding(), given.role, &given.config(strict)).unwrap()
}

/// What a parser made of its tokens.
#[derive(Debug, PartialEq)]
struct Outcome {
    messages: Vec<Message>,
    repairs: Vec<Repair>,
    deltas: BTreeMap<usize, String>,
}

fn text(message: &Message) -> &str {
    match &message.content[..] {
        [Content::Text(content)] => &content.text,
        other => panic!("a parsed message has one text, not {other:?}"),
    }
}

fn feed_in_chunks(tokens: &[u32], given: Given, size: usize) -> (Outcome, Vec<Event>) {
    let mut parser = parser(given, false);
    let mut events = Vec::new();
    for chunk in tokens.chunks(size) {
        events.extend(parser.feed(chunk).expect("lenient parsing never raises"));
    }
    events.extend(parser.finish().expect("lenient parsing never raises"));
    let mut deltas = BTreeMap::new();
    for event in &events {
        if let Event::ContentDelta { index, text, .. } = event {
            deltas.entry(*index).or_insert_with(String::new).push_str(text);
        }
    }
    let repairs = parser.repairs().to_vec();
    let ends = events.iter().filter_map(|event| match event {
        Event::MessageEnd { stop_token, .. } => Some(*stop_token),
        _ => None,
    });
    assert!(ends.eq(parser.stop_tokens().iter().copied()), "{events:?}");
    (Outcome { messages: parser.into_messages(), repairs, deltas }, events)
}

fn letters(text: &str) -> BTreeMap<char, usize> {
    let mut counts = BTreeMap::new();
    for c in text.chars().filter(|c| c.is_alphanumeric()) {
        *counts.entry(c).or_insert(0) += 1;
    }
    counts
}

/// All laws on one stream. `bits` are the size of chunks and which tokens are fed, the others processed.
pub(crate) fn all(tokens: &[u32], given: Given, bits: u8) {
    let size = usize::from(bits & 7) + 1;
    lenient_spans_cover_every_token_once(tokens, given, size);
    any_chunking_gives_the_same(tokens, given, size);
    lenient_parsing_loses_no_letter(tokens, given);
    deltas_of_process_are_the_content(tokens, given, true);
    deltas_of_process_are_the_content(tokens, given, false);
    strict_parsing_goes_on_after_errors(tokens, given);
    strict_feed_keeps_what_happened_before_an_error(tokens, given);
    what_needs_no_repair_is_read_as_strictly(tokens, given);
    spelled_markers_read_as_markers(tokens, given);
    let by_feed: Vec<_> = (0..8).map(|bit| bits >> bit & 1 == 1).collect();
    process_and_feed_can_be_mixed(tokens, given, &by_feed);
}

pub(crate) fn lenient_spans_cover_every_token_once(tokens: &[u32], given: Given, size: usize) {
    let (outcome, events) = feed_in_chunks(tokens, given, size);
    let mut next = 0;
    let mut reach: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for event in &events {
        let span = event.span();
        match (event, event.index()) {
            (Event::Repair(_), Some(_)) => continue,
            (Event::Repair(repair), None) if repair.kind == RepairKind::SpelledMarker => {
                assert!(!span.is_empty() && span.end <= tokens.len(), "{events:?}");
                continue;
            }
            (_, Some(index)) => {
                let reached = reach.entry(index).or_insert((span.start, span.end));
                reached.1 = span.end;
            }
            (_, None) => {}
        }
        assert_eq!(span.start, next, "{events:?}");
        next = span.end;
    }
    assert_eq!(next, tokens.len(), "{events:?}");
    for repair in &outcome.repairs {
        let Some(index) = repair.index else { continue };
        let (from, to) = reach[&index];
        assert!(from <= repair.span.start && repair.span.end <= to, "{repair:?} of {events:?}");
    }
}

pub(crate) fn any_chunking_gives_the_same(tokens: &[u32], given: Given, size: usize) {
    let (whole, _) = feed_in_chunks(tokens, given, tokens.len().max(1));
    let (chunks, _) = feed_in_chunks(tokens, given, size);
    assert_eq!(&whole, &chunks);
    for (index, message) in whole.messages.iter().enumerate() {
        let joined = whole.deltas.get(&index).map_or("", |text| text);
        assert_eq!(joined, text(message));
    }
    let batch = encoding()
        .parse_messages_with(tokens.iter().copied(), given.role, &given.config(false))
        .unwrap();
    assert_eq!(batch, whole.messages);
}

pub(crate) fn lenient_parsing_loses_no_letter(tokens: &[u32], given: Given) {
    let (outcome, _) = feed_in_chunks(tokens, given, 64);
    let tokenizer = encoding().tokenizer();
    let mut fed = Vec::new();
    for &token in tokens {
        // A special token ends what bytes of a character came before it.
        let bytes = tokenizer.token_bytes(token).filter(|_| !tokenizer.is_special_token(token));
        fed.extend_from_slice(bytes.unwrap_or(b" "));
    }
    let mut kept = String::new();
    for message in &outcome.messages {
        let name = message.author.name.as_deref().unwrap_or_default();
        kept += message.author.role.as_str();
        // A prompt's bare role at its end names one more author.
        for field in [Some(name), message.channel.as_deref(), message.content_type.as_deref()] {
            kept += field.unwrap_or_default();
        }
        if let Some(recipient) = &message.recipient {
            kept += "to=";
            kept += recipient;
        }
        kept += text(message);
    }
    for repair in &outcome.repairs {
        kept += &repair.text;
    }
    // The author of a header that a prompt ends with.
    kept += "assistant user tool system developer";
    let kept = letters(&kept);
    for (letter, count) in letters(&String::from_utf8_lossy(&fed)) {
        assert!(
            kept.get(&letter).copied().unwrap_or(0) >= count,
            "{letter:?} of {:?} is lost in {outcome:?}",
            String::from_utf8_lossy(&fed),
        );
    }
}

/// Adds the delta of a token to those of its message; `open` was the index of the open message before the token.
fn add_delta(
    deltas: &mut BTreeMap<usize, String>,
    parser: &StreamableParser,
    open: usize,
) -> usize {
    let delta = parser.delta().unwrap_or_default();
    // `<|start|>` in a strict header may end several messages: its delta is the text of the last.
    let ended = &parser.messages()[open..];
    if let [unheard @ .., _] = ended
        && !unheard.is_empty()
    {
        for (index, message) in unheard.iter().enumerate() {
            deltas.insert(open + index, text(message).to_owned());
        }
        deltas.insert(parser.messages().len() - 1, delta.to_owned());
        return parser.messages().len() - 1;
    }
    // A token that ends a spelled `<|message|>` can end the message before, and begin the text of the next.
    let before = deltas.entry(open).or_default();
    let is_of_next =
        parser.messages().get(open).is_some_and(|ended| text(ended) == before.as_str());
    let index = open + usize::from(is_of_next);
    deltas.entry(index).or_default().push_str(delta);
    index
}

pub(crate) fn deltas_of_process_are_the_content(tokens: &[u32], given: Given, strict: bool) {
    let mut parser = parser(given, strict);
    let mut deltas: BTreeMap<usize, String> = BTreeMap::new();
    let mut channels = BTreeMap::new();
    for (at, &token) in tokens.iter().enumerate() {
        let index = parser.messages().len();
        let result = parser.process(token).map(|_| ());
        assert!(strict || result.is_ok());
        if let Err(error) = result {
            assert_eq!(error.token_index(), Some(at));
        }
        let delta = parser.delta().unwrap_or_default();
        let index = add_delta(&mut deltas, &parser, index);
        if !delta.is_empty() {
            let channel = parser.current_channel();
            channels.insert(index, (parser.current_role(), channel));
        }
    }
    let index = parser.messages().len();
    let ended = parser.process_eos().is_ok();
    assert!(strict || ended);
    deltas.entry(index).or_default().push_str(parser.delta().unwrap_or_default());
    for (index, message) in parser.messages().iter().enumerate() {
        assert_eq!(deltas.get(&index).map_or("", |text| text), text(message));
        if let Some((role, channel)) = channels.get(&index) {
            assert_eq!((role, channel), (&Some(message.author.role), &message.channel));
        }
    }
    assert_eq!(parser.tokens(), tokens);
}

pub(crate) fn strict_parsing_goes_on_after_errors(tokens: &[u32], given: Given) {
    let mut parser = parser(given, true);
    for &token in tokens {
        let before = parser.messages().to_vec();
        let _error = parser.process(token);
        assert_eq!(&parser.messages()[..before.len()], &before[..]);
    }
    let tokenizer = encoding().tokenizer();
    let _ends_what_is_open = parser.process(tokenizer.special_token("<|end|>").unwrap());
    for token in tokenizer.encode_with_special_tokens("<|start|>user<|message|>x<|end|>") {
        // An error of a header that this one breaks off is raised at its <|message|>, and its content is read.
        let raised = parser.process(token).is_err();
        assert!(!raised || token == tokenizer.special_token("<|message|>").unwrap());
    }
    let expected = Message::from_role_and_content(Role::User, "x");
    assert_eq!(parser.messages().last(), Some(&expected));
}

pub(crate) fn strict_feed_keeps_what_happened_before_an_error(tokens: &[u32], given: Given) {
    let mut by_token = parser(given, true);
    for &token in tokens {
        let _error = by_token.process(token);
    }
    let mut by_chunk = parser(given, true);
    let mut events = Vec::new();
    let mut rest = tokens;
    loop {
        let fed = by_chunk.tokens().len();
        match by_chunk.feed(rest) {
            Ok(more) => {
                events.extend(more);
                break;
            }
            Err(error) => {
                events.extend(by_chunk.feed(&[]).unwrap());
                rest = &rest[error.token_index().unwrap() - fed + 1..];
            }
        }
    }
    assert_eq!(by_chunk.messages(), by_token.messages());
    assert_eq!(by_chunk.tokens(), by_token.tokens());
    assert_eq!(by_chunk.state_data(), by_token.state_data());
    let ends = events.iter().filter(|event| matches!(event, Event::MessageEnd { .. }));
    assert_eq!(ends.count(), by_chunk.messages().len());
}

/// `by_feed` says of each token in turn, over and over, whether it is fed or processed. What was
/// processed is in no event: the deltas of both together are the content.
pub(crate) fn process_and_feed_can_be_mixed(tokens: &[u32], given: Given, by_feed: &[bool]) {
    let (whole, _) = feed_in_chunks(tokens, given, tokens.len().max(1));
    let mut parser = parser(given, false);
    let mut deltas: BTreeMap<usize, String> = BTreeMap::new();
    let mut reported = Vec::new();
    for (token, by_feed) in tokens.iter().zip(by_feed.iter().cycle()) {
        if *by_feed {
            for event in parser.feed(std::slice::from_ref(token)).unwrap() {
                if let Event::ContentDelta { index, text, .. } = &event {
                    deltas.entry(*index).or_default().push_str(text);
                }
                reported.push(event);
            }
        } else {
            let index = parser.messages().len();
            parser.process(*token).unwrap();
            add_delta(&mut deltas, &parser, index);
        }
    }
    for event in parser.finish().unwrap() {
        if let Event::ContentDelta { index, text, .. } = &event {
            deltas.entry(*index).or_default().push_str(text);
        }
        reported.push(event);
    }
    let mut next = 0;
    for event in &reported {
        let span = event.span();
        assert!(span.start <= span.end && span.end <= tokens.len(), "{reported:?}");
        let is_inside =
            |repair: &Repair| repair.index.is_some() || repair.kind == RepairKind::SpelledMarker;
        if !matches!(event, Event::Repair(repair) if is_inside(repair)) {
            assert!(next <= span.start, "{reported:?}");
            next = span.end;
        }
    }
    for (index, message) in parser.messages().iter().enumerate() {
        assert_eq!(deltas.get(&index).map_or("", |text| text), text(message), "{reported:?}");
    }
    assert_eq!(parser.messages(), whole.messages);
    assert_eq!(parser.repairs(), whole.repairs);
}

/// Where strict parsing raises nothing and lenient parsing repairs nothing, both read the same.
pub(crate) fn what_needs_no_repair_is_read_as_strictly(tokens: &[u32], given: Given) {
    let (lenient, _) = feed_in_chunks(tokens, given, 64);
    let mut strict = parser(given, true);
    if lenient.repairs.is_empty() && strict.feed(tokens).is_ok() && strict.finish().is_ok() {
        assert_eq!(strict.messages(), lenient.messages);
    }
}

/// The token of each byte of an ordinary token.
fn bytes_of(token: u32) -> Option<Vec<u32>> {
    let tokenizer = encoding().tokenizer();
    let bytes = tokenizer.token_bytes(token).filter(|_| !tokenizer.is_special_token(token))?;
    let of_byte = |byte: &u8| (0..256).find(|id| tokenizer.token_bytes(*id) == Some(&[*byte]));
    bytes.iter().map(of_byte).collect()
}

/// The byte tokens of a marker that the grammar knows.
fn spelled(token: u32) -> Option<Vec<u32>> {
    let known = ["start", "channel", "constrain", "message", "end", "return", "call", "endoftext"];
    let tokenizer = encoding().tokenizer();
    let name = known.iter().map(|name| format!("<|{name}|>"));
    let name = name.clone().find(|name| tokenizer.special_token(name) == Some(token))?;
    Some(tokenizer.encode_ordinary(&name).into_iter().filter_map(bytes_of).flatten().collect())
}

/// Markers mean the same whether they are special tokens or spelled by tokens of a byte each: all messages, repairs and
/// spans are the same.
pub(crate) fn spelled_markers_read_as_markers(tokens: &[u32], given: Given) {
    let tokens: Vec<u32> =
        tokens.iter().flat_map(|&token| bytes_of(token).unwrap_or_else(|| vec![token])).collect();
    let text = encoding().tokenizer().decode_lossy(
        tokens.iter().copied().filter(|token| bytes_of(*token).is_some()).collect::<Vec<_>>(),
    );
    if text.unwrap().contains("<|") {
        return;
    }
    let (mut ordinary, mut at) = (Vec::new(), vec![0]);
    for &token in &tokens {
        ordinary.extend(spelled(token).unwrap_or_else(|| vec![token]));
        at.push(ordinary.len());
    }
    let (special, special_events) =
        feed_in_chunks(&tokens, Given { spelled: false, ..given }, usize::MAX);
    let (read, events) = feed_in_chunks(&ordinary, Given { spelled: true, ..given }, usize::MAX);
    assert_eq!((&read.messages, &read.deltas), (&special.messages, &special.deltas));
    let is_spelling = |repair: &&Repair| repair.kind == RepairKind::SpelledMarker;
    let moved = special.repairs.iter().map(|repair| {
        let mut repair = repair.clone();
        repair.span = at[repair.span.start]..at[repair.span.end];
        repair
    });
    assert!(moved.eq(read.repairs.iter().filter(|one| !is_spelling(one)).cloned()), "{read:?}");
    let markers = tokens.iter().filter_map(|&token| spelled(token));
    assert_eq!(read.repairs.iter().filter(is_spelling).count(), markers.count());
    let ends = |events: &[Event], at: &[usize]| {
        let ends = events
            .iter()
            .filter(|event| matches!(event, Event::MessageStart { .. } | Event::MessageEnd { .. }));
        ends.map(|event| (at[event.span().start], at[event.span().end])).collect::<Vec<_>>()
    };
    let same: Vec<usize> = (0..=ordinary.len()).collect();
    assert_eq!(ends(&events, &same), ends(&special_events, &at));
}
