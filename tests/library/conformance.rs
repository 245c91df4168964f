//! The corpus in conformance/: each output gives its messages, repairs and spans, in any chunks.
//!
//! People wrote the expectations; nothing here writes down what the parser returned.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use openai_harmony::chat::Role;
use openai_harmony::{
    Event, HarmonyEncodingName, ParseOptions, Repair, StreamableParser, load_harmony_encoding,
};
use serde_json::{Map, Value, json};

type Case = Map<String, Value>;

fn cases(file: &str) -> Vec<Case> {
    let file: Value = serde_json::from_str(file).unwrap();
    serde_json::from_value(file["cases"].clone()).unwrap()
}

fn tokens(case: &Case) -> Vec<u32> {
    match case.get("tokens") {
        Some(tokens) => serde_json::from_value(tokens.clone()).unwrap(),
        None => load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)
            .unwrap()
            .tokenizer()
            .encode_with_special_tokens(case["text"].as_str().unwrap()),
    }
}

/// A repair with the fields that the case's has; many give only the kind.
fn repair(repair: &Repair, expected: Option<&Value>) -> Value {
    let mut value = json!({
        "kind": repair.kind.name(),
        "span": [repair.span.start, repair.span.end],
        "index": repair.index,
        "text": repair.text,
    });
    if let (Some(fields), Some(Value::Object(expected))) = (value.as_object_mut(), expected) {
        fields.retain(|name, _| expected.contains_key(name));
    }
    value
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

/// The case with what the parser returns in place of what is expected.
fn parsed(case: &Case, chunk: usize) -> Case {
    let role = case["role"].as_str().map(|role| Role::try_from(role).unwrap());
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
    let options = ParseOptions { strict: false };
    let mut parser = StreamableParser::new_with_options(encoding, role, options).unwrap();
    let mut events = Vec::new();
    for chunk in tokens(case).chunks(chunk) {
        events.extend(parser.feed(chunk).unwrap());
    }
    events.extend(parser.finish().unwrap());
    let mut result = case.clone();
    result.insert("messages".into(), json!(parser.messages()));
    let repairs = parser.repairs().iter().enumerate();
    let repairs = repairs.map(|(at, given)| repair(given, case["repairs"].get(at))).collect();
    result.insert("repairs".into(), repairs);
    // Small chunks divide a content's event into several.
    if chunk == usize::MAX && case.contains_key("spans") {
        result.insert("spans".into(), spans(&events));
    }
    result
}

fn check(file: &str, least: usize) {
    let cases = cases(file);
    assert!(cases.len() >= least, "a case is missing");
    for case in cases {
        for chunk in [usize::MAX, 1, 2, 3, 5, 7] {
            assert_eq!(Value::from(parsed(&case, chunk)), Value::from(case.clone()));
        }
    }
}

#[test]
fn each_malformed_output_gives_its_messages_repairs_and_spans() {
    check(include_str!("../../conformance/malformed.json"), 83);
}

#[test]
fn real_outputs_are_read_as_a_person_would() {
    check(include_str!("../../conformance/outputs.json"), 215);
}

#[test]
fn ten_headers_of_calls_are_read_in_both_places() {
    check(include_str!("../../conformance/headers.json"), 20);
}
