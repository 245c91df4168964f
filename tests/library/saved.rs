//! Parsers that are saved and taken up again: nothing shows it.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../changed/mod.rs"]
mod changed;

use std::collections::BTreeSet;

use openai_harmony::chat::Role;
use openai_harmony::{
    ErrorKind, Event, HarmonyEncoding, HarmonyEncodingName, ParserOptions, Prefill, RepairKind,
    StateData, StreamableParser, load_harmony_encoding,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn encoding() -> HarmonyEncoding {
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap()
}

fn again(parser: &StreamableParser) -> StreamableParser {
    StreamableParser::from_bytes(encoding(), &parser.to_bytes().unwrap()).unwrap()
}

/// All that a caller can see.
fn seen(parser: &StreamableParser) -> String {
    let state = (parser.state(), parser.state_data(), parser.stop_tokens(), parser.tokens());
    let open = (parser.current_role(), parser.channel(), parser.recipient(), parser.content_type());
    let text = (parser.content(), parser.delta());
    format!("{:?} {:?} {state:?} {open:?} {text:?}", parser.messages(), parser.repairs())
}

/// What is done with a parser.
#[derive(Debug, Clone)]
enum Step {
    Process(u32),
    Feed(Vec<u32>),
    End,
    Finish,
    Reset(Option<Role>),
}

fn token() -> impl Strategy<Value = u32> {
    // `assistant`, `analysis`, `final`, `commentary`, ` to`, `=f`, halves of characters, ids that do not exist.
    let words =
        vec![173_781, 35_644, 17_196, 12_606, 815, 316, 28, 176, 90, 12_345, 201_089, 9_999_999];
    // `<`, `|`, `start`, `end`, `message`, `>`, `><`.
    let spelled = encoding().tokenizer().encode_ordinary("<|start|><|end|><|message|><");
    prop_oneof![
        3 => 199_998_u32..200_013,
        3 => prop::sample::select(words),
        3 => prop::sample::select(spelled),
        1 => 0_u32..1_000,
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let role = prop::sample::select(vec![None, Some(Role::User), Some(Role::Assistant)]);
    prop_oneof![
        12 => token().prop_map(Step::Process),
        12 => prop::collection::vec(token(), 0..9).prop_map(Step::Feed),
        1 => Just(Step::End),
        1 => Just(Step::Finish),
        1 => role.prop_map(Step::Reset),
    ]
}

/// Does it, and says what came of it. What an error holds back is taken at once.
fn take(parser: &mut StreamableParser, step: &Step) -> String {
    match step {
        Step::Process(token) => format!("{:?}", parser.process(*token).map(|_| ())),
        Step::Feed(tokens) => {
            let fed = parser.feed(tokens);
            format!("{fed:?} {:?}", parser.feed(&[]))
        }
        Step::End => format!("{:?}", parser.process_eos().map(|_| ())),
        Step::Finish => format!("{:?}", parser.finish()),
        Step::Reset(role) => {
            parser.reset(*role);
            String::new()
        }
    }
}

fn configs() -> Vec<(Option<Role>, ParserOptions)> {
    let prefill = Prefill::new().with_channel("final").with_text("It");
    let assistant = Some(Role::Assistant);
    vec![
        (None, ParserOptions::strict()),
        (assistant, ParserOptions::strict()),
        (assistant, ParserOptions::lenient().with_tools(["f", "python", "a.f"])),
        (assistant, ParserOptions::lenient().with_prefill(prefill.clone())),
        (assistant, ParserOptions::lenient().with_spelled_markers(true)),
        (Some(Role::User), ParserOptions::strict().with_prefill(prefill)),
    ]
}

/// Two parsers take the same steps, and what is seen of them stays equal, though one of them is saved at some.
fn on_the_way(
    steps: &[(Step, bool)],
    seen: fn(&StreamableParser) -> String,
    save: impl Fn(&mut StreamableParser, &StreamableParser) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    for (role, config) in configs() {
        let mut stayed = StreamableParser::with_options(encoding(), role, &config).unwrap();
        let mut moved = stayed.clone();
        for (step, moves) in steps {
            prop_assert_eq!(take(&mut moved, step), take(&mut stayed, step));
            if *moves {
                save(&mut moved, &stayed)?;
            }
            prop_assert_eq!(seen(&moved), seen(&stayed));
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn nothing_shows_that_a_parser_was_saved(
        steps in prop::collection::vec((step(), any::<bool>()), 0..24),
    ) {
        on_the_way(&steps, seen, |moved, stayed| {
            // What an error of `finish` holds back cannot be taken.
            let Ok(saved) = stayed.to_bytes() else { return Ok(()) };
            *moved = again(moved);
            prop_assert_eq!(moved.to_bytes().unwrap(), saved);
            Ok(())
        })?;
    }
}

#[test]
fn a_parser_can_be_saved_before_its_first_token() {
    for (role, config) in configs() {
        let parser = StreamableParser::with_options(encoding(), role, &config).unwrap();
        assert_eq!(seen(&again(&parser)), seen(&parser));
        assert_eq!(place(&from_checkpoint(&parser)), place(&parser));
    }
}

#[test]
fn events_that_wait_are_taken_first() {
    let mut parser = StreamableParser::new(encoding(), Some(Role::Assistant)).unwrap();
    parser.feed(&[200_005, 17_196, 200_008, 12_194, 200_007, 5]).unwrap_err();
    let error = parser.to_bytes().unwrap_err();
    assert_eq!(
        error.to_string(),
        "Invalid saved state: an error held events back; feed(&[]) returns them"
    );
    assert!(!parser.feed(&[]).unwrap().is_empty());
    assert_eq!(seen(&again(&parser)), seen(&parser));
}

#[test]
fn other_bytes_are_refused() {
    let mut parser = StreamableParser::new(encoding(), Some(Role::Assistant)).unwrap();
    parser.feed(&[200_005, 17_196, 200_008, 12_194]).unwrap();
    let saved = parser.to_bytes().unwrap();
    let reason = |bytes: &[u8]| {
        let error = StreamableParser::from_bytes(encoding(), bytes).unwrap_err();
        match error.kind() {
            ErrorKind::InvalidState { reason } => reason.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let changed = |key: &str, value: Value| {
        let mut state: Value = serde_json::from_slice(&saved).unwrap();
        state["read"]["Tokens"][key] = value;
        reason(&serde_json::to_vec(&state).unwrap())
    };
    for end in 0..saved.len() {
        assert!(reason(&saved[..end]).starts_with("not a saved parser: EOF"));
    }
    let mut old: Value = serde_json::from_slice(&saved).unwrap();
    old["version"] = json!(0);
    assert_eq!(
        reason(&serde_json::to_vec(&old).unwrap()),
        "its version is 0; this library reads 7"
    );
    assert_eq!(changed("ends", json!([9])), "its ends are not in its tokens");
    assert_eq!(changed("ends", json!([3, 2])), "its ends are not in its tokens");
    for reported in [json!(null), json!([99, 0]), json!([0, 99])] {
        assert_eq!(changed("reported", reported), "its tokens leave another message open");
    }
    assert_eq!(changed("tokens", json!([])), "its tokens leave another message open");
    let unasked = "nothing was there to report before its tokens";
    assert_eq!(changed("is_unasked", json!(true)), unasked);
    old["version"] = json!(7);
    old["config"] =
        json!({"strict": true, "tools": ["a b"], "prefill": null, "spelled_markers": false});
    assert!(reason(&serde_json::to_vec(&old).unwrap()).contains("tools"));
}

fn from_checkpoint(parser: &StreamableParser) -> StreamableParser {
    StreamableParser::from_bytes(encoding(), &parser.to_checkpoint().unwrap()).unwrap()
}

proptest! {
    #[test]
    fn what_comes_after_a_checkpoint_is_the_same(
        steps in prop::collection::vec((step(), any::<bool>()), 0..24),
    ) {
        on_the_way(&steps, place, |moved, stayed| {
            if stayed.to_checkpoint().is_ok() {
                *moved = from_checkpoint(moved);
                prop_assert_eq!(moved.to_bytes().unwrap(), moved.to_checkpoint().unwrap());
            }
            Ok(())
        })?;
    }
}

/// What a caller sees of where a parser is.
fn place(parser: &StreamableParser) -> String {
    // Not by `channel` and the like: where the last token completed a message, they describe that one, which is before
    // the checkpoint. A broken header can complete one and open the next at the same token.
    match parser.state_data() {
        StateData::Content { header, .. } => format!("{header:?}"),
        _ => format!("{:?}", parser.state()),
    }
}

#[test]
fn a_checkpoint_keeps_the_open_message_of_a_broken_header() {
    let mut parser = StreamableParser::new(encoding(), Some(Role::Assistant)).unwrap();
    parser.feed(&[199_998, 200_006, 176, 199_999, 200_008]).unwrap_err();
    parser.feed(&[]).unwrap();
    assert_eq!(parser.messages().len(), 1);
    assert_eq!(place(&from_checkpoint(&parser)), place(&parser));
}

#[test]
fn a_checkpoint_keeps_an_unknown_id_in_a_header() {
    let mut parser = StreamableParser::new(encoding(), Some(Role::Assistant)).unwrap();
    let unknown = 201_089;
    let begun = [200_005, 17_196, 200_008, 12_194, 200_007, 200_006, 173_781, unknown, 200_005];
    for token in begun {
        let fed = parser.process(token).map(|_| ());
        let mut moved = from_checkpoint(&parser);
        assert_eq!(place(&moved), place(&parser), "{fed:?}");
        let rest = [17_196, 200_008];
        assert_eq!(
            format!("{:?}", moved.feed(&rest).map(|_| ())),
            format!("{:?}", parser.clone().feed(&rest).map(|_| ())),
            "{token}"
        );
    }
}

#[test]
fn a_checkpoint_does_not_grow() {
    let mut parser = StreamableParser::new(encoding(), Some(Role::Assistant)).unwrap();
    parser.feed(&[200_005, 17_196, 200_008]).unwrap();
    let mut sizes = Vec::new();
    for _ in 0..3 {
        parser.feed(&vec![12_194; 10_000]).unwrap();
        sizes.push(parser.to_checkpoint().unwrap().len());
    }
    assert!(sizes[2] <= sizes[0] + 4 && sizes[2] < 700, "{sizes:?}");
    let moved = from_checkpoint(&parser);
    assert_eq!((moved.content(), moved.tokens()), ("", &[][..]));
}

/// States of all kinds, and of all that a parser can hold back.
fn checkpoints(role: Option<Role>, config: &ParserOptions) -> Vec<Value> {
    let tokenizer = encoding().tokenizer();
    let texts = [
        "",
        "<|channel|>ana",
        "<|channel|>final<|message|>Hi",
        "<|channel|>final<|message|>",
        "<|channel|>final<|message|>One<|channel|> comm",
        "<|channel|>analysis<|message|>One<|end|>",
        "<|channel|>analysis<|message|>One<|end|><|start|>assistant",
        "<|start|>assistant<|start|>",
        "<|channel|>analysis<|message|>One<|end|>to=f",
        "<|channel|>analysis<|message|>One<|end|><|channel|>final",
    ];
    let mut streams = texts.map(|text| tokenizer.encode_with_special_tokens(text)).to_vec();
    streams.push(tokenizer.encode_ordinary("<|channel|>final<|message|>Hi <|en"));
    // A part of a character, and an id that does not exist.
    streams.push(vec![200_005, 17_196, 200_008, 12_194, 176]);
    streams.push(vec![200_005, 17_196, 201_089]);
    let mut states: Vec<Value> = Vec::new();
    for (index, tokens) in streams.iter().enumerate() {
        let mut parser = StreamableParser::with_options(encoding(), role, config).unwrap();
        fed(&mut parser, tokens);
        if index == 1 {
            let _strict = parser.finish();
        }
        states.push(serde_json::from_slice(&parser.to_checkpoint().unwrap()).unwrap());
    }
    // That of a prefill has events that wait.
    let parser = StreamableParser::with_options(encoding(), role, config).unwrap();
    states.push(serde_json::from_slice(&parser.to_checkpoint().unwrap()).unwrap());
    states
}

/// All events of these tokens, those after an error, too.
fn fed(parser: &mut StreamableParser, tokens: &[u32]) -> Vec<Event> {
    let (mut events, mut rest) = (Vec::new(), tokens);
    loop {
        let before = parser.tokens().len();
        if let Ok(more) = parser.feed(rest) {
            events.extend(more);
            return events;
        }
        events.extend(parser.feed(&[]).unwrap_or_default());
        let taken = parser.tokens().len() - before;
        if taken == 0 {
            return events;
        }
        rest = &rest[taken..];
    }
}

/// A checkpoint may come from a client. What no run leaves is refused, by the name of a field that does not fit;
/// of what is taken, later spans are within the tokens, each token is in one, and no text is lost or said twice.
#[test]
fn no_checkpoint_breaks_a_parser() {
    let configs = configs();
    let states: Vec<_> =
        configs.iter().flat_map(|(role, config)| checkpoints(*role, config)).collect();
    let mut refused = BTreeSet::new();
    for whole in &states {
        resumed(whole).unwrap();
        changed::each(
            whole,
            &states,
            "/read/Checkpoint",
            &mut |state, path| match resumed(state) {
                Ok(mut parser) => keeps_the_laws(&mut parser, state, path),
                Err(error) => match error.kind() {
                    ErrorKind::InvalidState { reason } => _ = refused.insert(reason.to_string()),
                    other => panic!("{other:?}"),
                },
            },
        );
    }
    refused.retain(|reason| !reason.starts_with("not a saved parser"));
    let fields = ["decoder", "fed", "from", "header", "held_from", "is_unasked", "messages"];
    let fields = fields.into_iter().chain(["reach", "spelled", "tokens", "uncovered"]);
    for field in fields {
        let reason = format!("`{field}` does not fit its other fields");
        assert!(refused.remove(&reason), "{field}: {refused:?}");
    }
    assert!(refused.is_empty(), "{refused:?}");
}

/// Anything else would grow beyond four bytes.
#[test]
fn only_the_first_bytes_of_a_character_are_pending() {
    let mut parser = StreamableParser::new(encoding(), Some(Role::Assistant)).unwrap();
    parser.feed(&[200_005, 17_196, 200_008]).unwrap();
    let saved: Value = serde_json::from_slice(&parser.to_checkpoint().unwrap()).unwrap();
    for (pending, length, fits) in [
        ([0, 0, 0, 0], 0, true),
        ([240, 159, 166, 0], 3, true),
        ([97, 240, 159, 0], 3, false),
        ([97, 0, 0, 0], 1, false),
        ([255, 0, 0, 0], 1, false),
        ([240, 159, 166, 128], 4, false),
        ([0, 0, 0, 0], 5, false),
    ] {
        let mut state = saved.clone();
        state["read"]["Checkpoint"]["state"]["Content"]["decoder"] =
            json!({"pending": pending, "length": length});
        assert_eq!(resumed(&state).is_ok(), fits, "{pending:?} {length}");
    }
}

fn resumed(state: &Value) -> Result<StreamableParser, openai_harmony::Error> {
    StreamableParser::from_bytes(encoding(), &serde_json::to_vec(state).unwrap())
}

fn keeps_the_laws(parser: &mut StreamableParser, state: &Value, path: &str) {
    let kept: Value = serde_json::from_slice(&parser.to_checkpoint().unwrap()).unwrap();
    let saved = &state["read"]["Checkpoint"];
    for key in ["given_role", "messages", "stop_token", "is_unasked", "fed", "spelled"] {
        let (kept, saved) = (&kept["read"]["Checkpoint"][key], &saved[key]);
        assert!(kept == saved || kept.is_null() && *saved == json!([]), "{path}: {key} of {state}");
    }
    let _ = seen(parser);
    let tokenizer = encoding().tokenizer();
    let text = " zebra<|end|><|start|>assistant<|channel|>final<|message|> yak<|end|>";
    let tokens = tokenizer.encode_with_special_tokens(text);
    let mut events = fed(parser, &tokens);
    events.extend(parser.finish().unwrap_or_default());
    let context = || format!("{path} of {state}\n{events:?}");
    let fed = saved["fed"].as_u64().map_or(0, |fed| usize::try_from(fed).unwrap());
    let is_finished = saved["state"] == "Finished";
    let end = fed + if is_finished { 0 } else { tokens.len() };
    let is_strict = state["config"]["strict"] == true;
    let (mut next, mut said) = (None, String::new());
    for event in &events {
        let span = event.span();
        assert!(span.start <= span.end && span.end <= end, "{}", context());
        if let Event::ContentDelta { text, .. } = event {
            said += text;
        }
        let is_inside = matches!(event, Event::Repair(repair)
            if repair.index.is_some() || repair.kind == RepairKind::SpelledMarker);
        if !is_inside && span != (0..0) {
            assert!(is_strict || next.is_none_or(|next| next == span.start), "{}", context());
            next = Some(span.end);
        }
    }
    assert!(is_strict || is_finished || next == Some(end), "{}", context());
    let count = |word: &str| said.matches(word).count();
    assert!(count(" zebra") <= 1 && count(" yak") <= 1, "{}", context());
    assert!(is_strict || is_finished || count(" yak") == 1, "{}", context());
}
