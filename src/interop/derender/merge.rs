//! Chunks of a chat completion -> one chunk.

use serde_json::{Map, Value, json};

use crate::interop::Json;

/// Merges the choices of several chunks into one.
pub(super) fn merged(chunks: &[Json], index: usize) -> Map<String, Value> {
    let mut delta = Map::new();
    let (mut logprobs, mut ids) = (Vec::new(), None);
    let mut reason = Value::Null;
    for chunk in chunks {
        let Value::Object(mut chunk) = chunk.to_value() else { continue };
        let Some(choice) = chunk.get_mut("choices").and_then(|choices| choices.get_mut(0)) else {
            // The counts.
            continue;
        };
        if let Value::Object(more) = choice["delta"].take() {
            add(&mut delta, more);
        }
        if let Some(Value::Array(entries)) = choice["logprobs"].get_mut("content") {
            logprobs.append(entries);
        }
        if let Value::Array(more) = choice["token_ids"].take() {
            ids.get_or_insert_with(Vec::new).extend(more);
        }
        if !choice["finish_reason"].is_null() {
            reason = choice["finish_reason"].take();
        }
    }
    delta.remove("role");
    if delta.len() > 1 && delta.get("content") == Some(&json!("")) {
        delta.shift_remove("content");
    }
    let logprobs = if logprobs.is_empty() { Value::Null } else { json!({"content": logprobs}) };
    let mut choice = Map::new();
    choice.insert("index".to_owned(), json!(index));
    choice.insert("delta".to_owned(), Value::Object(delta));
    choice.insert("logprobs".to_owned(), logprobs);
    choice.insert("finish_reason".to_owned(), reason);
    if let Some(ids) = ids {
        choice.insert("token_ids".to_owned(), Value::Array(ids));
    }
    choice
}

/// Adds a delta: texts are appended, and calls are matched by index.
fn add(known: &mut Map<String, Value>, more: Map<String, Value>) {
    for (key, value) in more {
        match (known.get_mut(&key), value) {
            (Some(Value::String(text)), Value::String(more)) => text.push_str(&more),
            (Some(Value::Object(inner)), Value::Object(more)) => add(inner, more),
            (Some(Value::Array(calls)), Value::Array(more)) => {
                for call in more {
                    add_call(calls, call);
                }
            }
            (_, Value::Array(more)) => {
                let mut calls = Vec::new();
                for call in more {
                    add_call(&mut calls, call);
                }
                known.insert(key, Value::Array(calls));
            }
            (_, value) => drop(known.insert(key, value)),
        }
    }
}

fn add_call(calls: &mut Vec<Value>, call: Value) {
    let same = calls.iter_mut().find(|known| known["index"] == call["index"]);
    match (same, call) {
        (Some(Value::Object(known)), Value::Object(more)) => add(known, more),
        (_, call) => calls.push(call),
    }
}
