//! Malformed outputs and how lenient parsing repairs them: messages, repairs and spans.
//!
//! The cases are a corpus of malformed outputs and more for the rows of the table in docs/parsing.md,
//! with the exact spans. People wrote them; nothing here writes down what the parser returned.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use openai_harmony::chat::Role;
use openai_harmony::{
    Event, HarmonyEncodingName, ParseOptions, Repair, StreamableParser, load_harmony_encoding,
};
use serde_json::{Map, Value, json};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/repairs/cases.jsonl");

fn tokens(case: &Map<String, Value>) -> Vec<u32> {
    match case.get("tokens") {
        Some(tokens) => serde_json::from_value(tokens.clone()).unwrap(),
        None => load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)
            .unwrap()
            .tokenizer()
            .encode_with_special_tokens(case["text"].as_str().unwrap()),
    }
}

fn repair(repair: &Repair) -> Value {
    json!({
        "kind": repair.kind.name(),
        "span": [repair.span.start, repair.span.end],
        "index": repair.index,
        "text": repair.text,
    })
}

/// The events that count for the spans, as `[what, first, past-last]`.
fn spans(events: &[Event]) -> Value {
    let counted = events.iter().filter_map(|event| {
        let what = match event {
            Event::MessageStart { .. } => "start",
            Event::ContentDelta { .. } => "content",
            Event::MessageEnd { .. } => "end",
            Event::Repair(repair) if repair.index.is_none() => "repair",
            _ => return None,
        };
        Some(json!([what, event.span().start, event.span().end]))
    });
    counted.collect()
}

/// Adds what the parser says to a case's name and input.
fn parsed(case: &Map<String, Value>) -> Map<String, Value> {
    let role = case["role"].as_str().map(|role| Role::try_from(role).unwrap());
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
    let options = ParseOptions { strict: false };
    let mut parser = StreamableParser::new_with_options(encoding, role, options).unwrap();
    let mut events = parser.feed(&tokens(case)).unwrap();
    events.extend(parser.finish().unwrap());
    let mut result = case.clone();
    result.insert("messages".into(), json!(parser.messages()));
    result.insert("repairs".into(), parser.repairs().iter().map(repair).collect());
    result.insert("spans".into(), spans(&events));
    result
}

#[test]
fn each_malformed_output_gives_its_messages_repairs_and_spans() {
    let text = fs::read_to_string(CASES).unwrap();
    let cases: Vec<Map<String, Value>> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.len() > 60);
    for case in cases {
        let result = parsed(&case);
        assert_eq!(Value::from(case), Value::from(result));
    }
}
