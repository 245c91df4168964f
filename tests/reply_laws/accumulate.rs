//! Puts what was sent together, as clients do.

use openai_harmony::interop::{Dialect, Turn};
use serde_json::{Map, Value, json};

/// What a client has of a stream, to be compared with [`comparable`].
pub(super) fn accumulate(turn: &Turn, chunks: &[Value]) -> Value {
    match turn.dialect {
        Dialect::ChatCompletions => chat(turn, chunks),
        Dialect::Responses => responses(chunks),
        Dialect::Anthropic => anthropic(chunks),
        Dialect::Ollama => ollama(chunks),
        other => panic!("{other} is new"),
    }
}

/// A whole answer without what its stream says otherwise.
pub(super) fn comparable(turn: &Turn, mut response: Value) -> Value {
    if turn.dialect == Dialect::ChatCompletions {
        let object = response.as_object_mut().unwrap();
        if !turn.answer.include_usage {
            object.shift_remove("usage");
        }
        object.shift_remove("object");
        let message = object["choices"][0]["message"].as_object_mut().unwrap();
        // Null beside calls; a stream begins with an empty text.
        if message["content"].is_null() {
            message.insert("content".to_owned(), json!(""));
        }
        message.shift_remove("refusal");
    }
    response
}

/// Adds a delta to what there is: texts grow, numbered items go to their places.
fn add(to: &mut Map<String, Value>, delta: &Map<String, Value>) {
    for (key, value) in delta {
        match (to.get_mut(key), value) {
            (Some(Value::String(text)), Value::String(more)) if key != "type" => {
                text.push_str(more);
            }
            (Some(Value::Object(object)), Value::Object(more)) => add(object, more),
            (None, Value::Array(items)) => {
                to.insert(key.clone(), json!([]));
                add_items(to[key].as_array_mut().unwrap(), items);
            }
            (Some(Value::Array(there)), Value::Array(items)) => add_items(there, items),
            _ => {
                to.insert(key.clone(), value.clone());
            }
        }
    }
}

fn add_items(there: &mut Vec<Value>, items: &[Value]) {
    for item in items {
        let mut item = item.as_object().unwrap().clone();
        let index = item.shift_remove("index").unwrap().as_u64().unwrap();
        let index = usize::try_from(index).unwrap();
        assert!(index <= there.len(), "item {index} comes before another");
        if index == there.len() {
            there.push(json!({}));
        }
        add(there[index].as_object_mut().unwrap(), &item);
    }
}

fn chat(turn: &Turn, chunks: &[Value]) -> Value {
    let (mut message, mut reason, mut usage) = (Map::new(), None, None);
    let (mut logprobs, mut ids) = (Vec::new(), Vec::new());
    let of_all = turn.answer.token_ids || turn.answer.tokens_as_ids;
    for (at, chunk) in chunks.iter().enumerate() {
        assert_eq!(chunk["object"], "chat.completion.chunk");
        assert_eq!(chunk.get("usage").is_some(), turn.answer.include_usage);
        usage = chunk.get("usage").filter(|usage| !usage.is_null());
        assert_eq!(usage.is_some(), chunk["choices"] == json!([]));
        assert!(usage.is_none() || at + 1 == chunks.len(), "the usage comes last");
        let Some(choice) = chunk["choices"].get(0) else { continue };
        assert!(reason.is_none(), "nothing follows the reason");
        let delta = choice["delta"].as_object().unwrap();
        assert_eq!(delta.contains_key("role"), at == 0, "the first chunk has the role");
        add(&mut message, delta);
        let new_ids = choice.get("token_ids").and_then(Value::as_array);
        assert_eq!(new_ids.is_some(), turn.answer.token_ids && at > 0);
        assert_eq!(chunk.get("prompt_token_ids").is_some(), turn.answer.token_ids && at == 0);
        let has_tokens = new_ids.is_some_and(|new| !new.is_empty());
        ids.extend(new_ids.into_iter().flatten().cloned());
        let is_end = !choice["finish_reason"].is_null();
        let brings_tokens = of_all && (has_tokens || !choice["logprobs"].is_null());
        assert!(if is_end { delta.is_empty() } else { !delta.is_empty() || brings_tokens });
        if !choice["logprobs"].is_null() {
            let is_visible = delta.contains_key("content");
            assert!(of_all || is_visible, "log-probabilities are those of visible text");
            extend(&mut logprobs, &choice["logprobs"]["content"]);
        }
        reason = Some(&choice["finish_reason"]).filter(|reason| !reason.is_null());
    }
    let first = &chunks[0];
    let logprobs = (!logprobs.is_empty()).then(|| json!({"content": logprobs, "refusal": null}));
    let mut choice = json!({
        "index": 0, "message": message, "logprobs": logprobs, "finish_reason": reason.unwrap(),
    });
    if turn.answer.token_ids {
        choice["token_ids"] = ids.into();
    }
    let mut whole = json!({
        "id": first["id"], "created": first["created"], "model": first["model"], "choices": [choice],
    });
    for (name, value) in [("usage", usage), ("prompt_token_ids", first.get("prompt_token_ids"))] {
        if let Some(value) = value {
            whole[name] = value.clone();
        }
    }
    whole
}

/// Adds entries of log-probabilities, of which a delta has at least one.
fn extend(there: &mut Vec<Value>, new: &Value) {
    let new = new.as_array().unwrap();
    assert!(!new.is_empty());
    there.extend(new.iter().cloned());
}

/// The items as they grow and as they are done are those of the last event's response.
fn responses(chunks: &[Value]) -> Value {
    let mut items: Vec<Value> = Vec::new();
    let mut is_done: Vec<bool> = Vec::new();
    for (number, event) in chunks.iter().enumerate() {
        assert_eq!(event["sequence_number"], number);
        let kind = event["type"].as_str().unwrap();
        let is_terminal =
            matches!(kind, "response.completed" | "response.incomplete" | "response.failed");
        assert_eq!(is_terminal, number + 1 == chunks.len(), "one terminal event, the last");
        match number {
            0 => assert_eq!(kind, "response.created"),
            1 => assert_eq!(kind, "response.in_progress"),
            _ => {}
        }
        let Some(index) = event["output_index"].as_u64() else { continue };
        let index = usize::try_from(index).unwrap();
        if kind == "response.output_item.added" {
            assert_eq!(index, items.len());
            assert_eq!(event["item"]["status"], "in_progress");
            items.push(event["item"].clone());
            is_done.push(false);
            continue;
        }
        assert!(!is_done[index], "an item that is done changes");
        let item = &mut items[index];
        let id = if event["item"].is_null() { &event["item_id"] } else { &event["item"]["id"] };
        assert_eq!(item["id"], *id);
        match kind.strip_prefix("response.").unwrap() {
            "content_part.added" => item["content"] = json!([event["part"]]),
            "output_text.delta" | "reasoning_text.delta" => {
                let part = &mut item["content"][0];
                grow(&mut part["text"], &event["delta"]);
                if let Some(new) = event.get("logprobs").and_then(Value::as_array) {
                    part["logprobs"].as_array_mut().unwrap().extend(new.iter().cloned());
                }
            }
            "function_call_arguments.delta" => grow(&mut item["arguments"], &event["delta"]),
            "custom_tool_call_input.delta" => grow(&mut item["input"], &event["delta"]),
            "output_text.done" | "reasoning_text.done" => {
                let part = &item["content"][0];
                assert_eq!(part["text"], event["text"]);
                assert_eq!(part.get("logprobs"), event.get("logprobs"));
            }
            "content_part.done" => assert_eq!(item["content"][0], event["part"]),
            "function_call_arguments.done" => assert_eq!(item["arguments"], event["arguments"]),
            "custom_tool_call_input.done" => assert_eq!(item["input"], event["input"]),
            "output_item.done" => {
                is_done[index] = true;
                let done = event["item"].as_object().unwrap();
                for field in ["status", "encrypted_content"] {
                    if let Some(value) = done.get(field) {
                        item[field] = value.clone();
                    }
                }
                assert_eq!(*item, event["item"]);
            }
            other => panic!("{other} is new"),
        }
    }
    let last = &chunks[chunks.len() - 1]["response"];
    for (index, item) in items.iter_mut().enumerate() {
        // A call that was cut off is never done.
        if !is_done[index] {
            assert!(item["type"] != "message" && item["type"] != "reasoning");
            item["status"] = json!("incomplete");
        }
    }
    assert_eq!(last["output"], json!(items));
    last.clone()
}

fn grow(text: &mut Value, delta: &Value) {
    let more = delta.as_str().unwrap();
    assert!(!more.is_empty(), "a delta says nothing");
    *text = json!([text.as_str().unwrap(), more].concat());
}

fn anthropic(chunks: &[Value]) -> Value {
    let mut message = chunks[0]["message"].clone();
    assert_eq!(chunks[0]["type"], "message_start");
    assert_eq!(chunks[chunks.len() - 1], json!({"type": "message_stop"}));
    let (mut arguments, mut open) = (String::new(), None);
    for event in &chunks[1..chunks.len() - 1] {
        let blocks = message["content"].as_array_mut().unwrap();
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                assert_eq!(open, None, "blocks come one after the other");
                assert_eq!(event["index"], blocks.len());
                open = Some(event["index"].clone());
                blocks.push(event["content_block"].clone());
                arguments.clear();
            }
            "content_block_delta" => {
                assert_eq!(open.as_ref(), Some(&event["index"]));
                let block = blocks.last_mut().unwrap();
                let delta = &event["delta"];
                match delta["type"].as_str().unwrap() {
                    "text_delta" => grow(&mut block["text"], &delta["text"]),
                    "thinking_delta" => grow(&mut block["thinking"], &delta["thinking"]),
                    "signature_delta" => block["signature"] = delta["signature"].clone(),
                    "input_json_delta" => arguments += delta["partial_json"].as_str().unwrap(),
                    other => panic!("{other} is new"),
                }
            }
            "content_block_stop" => {
                assert_eq!(open.take().as_ref(), Some(&event["index"]));
                let block = blocks.last_mut().unwrap();
                if block["type"] == "tool_use" {
                    block["input"] = serde_json::from_str(&arguments).unwrap();
                }
            }
            "message_delta" => {
                assert_eq!(open, None, "the block is closed before the message");
                for field in ["stop_reason", "stop_sequence"] {
                    message[field] = event["delta"][field].clone();
                }
                message["usage"] = event["usage"].clone();
            }
            other => panic!("{other} is new"),
        }
    }
    message
}

fn ollama(chunks: &[Value]) -> Value {
    let mut message = json!({"role": "assistant", "content": ""});
    let (last, lines) = chunks.split_last().unwrap();
    let mut logprobs = Vec::new();
    for line in lines {
        if let Some(new) = line.get("logprobs") {
            extend(&mut logprobs, new);
        }
        assert_eq!(line["done"], false);
        let new = line["message"].as_object().unwrap();
        for (field, value) in new {
            match (&mut message[field], value) {
                (_, Value::String(_)) if field == "role" => {}
                (Value::String(text), Value::String(more)) => text.push_str(more),
                (Value::Array(calls), Value::Array(more)) => calls.extend(more.iter().cloned()),
                (there, value) => *there = value.clone(),
            }
        }
    }
    let mut whole = last.clone();
    assert_eq!(whole["message"], json!({"role": "assistant", "content": ""}));
    assert_eq!(whole["done"], true);
    whole["message"] = message;
    if !logprobs.is_empty() {
        whole["logprobs"] = json!(logprobs);
    }
    whole
}
