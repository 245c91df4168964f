//! Chat messages in the shapes that data sets on hubs have -> the body of a chat completion.

use serde_json::{Map, Value, json};

use super::invalid;
use crate::error::Result;
use crate::interop::{ReadOptions, Turn, chat_completions, parse_json};
use crate::training::RenderRows;

/// What a row may call its messages.
const MESSAGES: [&str; 3] = ["messages", "conversations", "conversation"];

/// What else of a row the model reads. Other columns are the data set's own: ids, sources, scores.
const SETTINGS: [&str; 4] = ["reasoning_effort", "reasoning", "response_format", "functions"];

/// Whether the model reads a column of this name.
#[cfg(feature = "arrow")]
pub(super) fn is_read(name: &str) -> bool {
    const OTHERS: [&str; 5] =
        ["prompt", "completion", "tools", "model_identity", "chat_template_kwargs"];
    [&MESSAGES[..], &SETTINGS, &OTHERS].iter().any(|names| names.contains(&name))
}

/// Reads a row as the conversation that it is.
pub(super) fn read(row: Value, options: &RenderRows) -> Result<Turn> {
    let mut row = match row {
        Value::Array(messages) => Map::from_iter([("messages".to_owned(), messages.into())]),
        Value::Object(row) => row,
        _ => return Err(invalid("", "expected an object or a list of messages")),
    };
    let mut body = Map::new();
    body.insert("messages".to_owned(), messages(&mut row)?.into());
    // What TRL passes to a chat template.
    let mut template = match row.remove("chat_template_kwargs") {
        Some(Value::Object(template)) => template,
        _ => Map::new(),
    };
    let mut take = |key: &str| {
        let value = row.remove(key).filter(|value| !value.is_null());
        value.or_else(|| template.remove(key).filter(|value| !value.is_null()))
    };
    for key in SETTINGS {
        body.extend(take(key).map(|value| (key.to_owned(), value)));
    }
    if let Some(tools) = take("tools") {
        body.insert("tools".to_owned(), list("tools", tools, tool)?.into());
    }
    let mut read = ReadOptions::new().with_date(options.date.clone());
    read.identity = match take("model_identity") {
        None => options.identity.clone(),
        Some(Value::String(identity)) => Some(identity),
        Some(_) => return Err(invalid("model_identity", "expected a text")),
    };
    let turn = chat_completions::read_owned(Value::Object(body), &read)?;
    if turn.prefill.is_some() {
        return Err(invalid("messages", "a row to train on has nothing to be continued: `prefix`"));
    }
    Ok(turn)
}

/// The messages of a row, by any of their names, or as a prompt and its completion.
fn messages(row: &mut Map<String, Value>) -> Result<Vec<Value>> {
    let mut take = |key: &str| row.remove(key).filter(|value| !value.is_null());
    if let Some((key, value)) = MESSAGES.into_iter().find_map(|key| Some((key, take(key)?))) {
        return list(key, value, message);
    }
    let (Some(prompt), Some(completion)) = (take("prompt"), take("completion")) else {
        return Err(invalid("messages", "is missing"));
    };
    let mut both = side("prompt", "user", prompt)?;
    both.append(&mut side("completion", "assistant", completion)?);
    Ok(both)
}

/// A prompt or a completion: messages, or the text of one.
fn side(key: &str, role: &str, value: Value) -> Result<Vec<Value>> {
    match value {
        Value::String(text) => Ok(vec![json!({"role": role, "content": text})]),
        messages => list(key, messages, message),
    }
}

/// The items of a list, or of the JSON text of one, as some data sets keep what has many shapes.
fn list(key: &str, value: Value, read: fn(&str, Value) -> Result<Value>) -> Result<Vec<Value>> {
    let value = parsed(key, value)?;
    let Value::Array(items) = value else { return Err(invalid(key, "expected a list")) };
    if items.is_empty() && key != "tools" {
        return Err(invalid(key, "is empty"));
    }
    let items = items.into_iter().enumerate();
    items.map(|(index, item)| read(&format!("{key}[{index}]"), item)).collect()
}

/// A value, or what its JSON text says.
fn parsed(path: &str, value: Value) -> Result<Value> {
    let Value::String(text) = &value else { return Ok(value) };
    parse_json(text).map_err(|_| invalid(path, "expected a list, or the JSON text of one"))
}

/// A message as chat completions have it. Others write `from` and `value`.
fn message(path: &str, message: Value) -> Result<Value> {
    let Value::Object(mut fields) = message else {
        return Err(invalid(path, "expected an object"));
    };
    // Some fine-tuning services leave such messages out of the loss.
    let weight = fields.remove("weight").filter(|weight| !weight.is_null());
    if weight.is_some_and(|weight| weight != json!(1) && weight != json!(1.0)) {
        let reason = "only the weight 1 is known; a `LossMask` narrows what is trained";
        return Err(invalid(format!("{path}.weight"), reason));
    }
    if fields.contains_key("role") {
        return Ok(fields.into());
    }
    let (Some(from), Some(value)) = (fields.remove("from"), fields.remove("value")) else {
        return Err(invalid(format!("{path}.role"), "is missing"));
    };
    let role = match from.as_str() {
        Some("human" | "user") => "user",
        Some("gpt" | "assistant") => "assistant",
        Some("system") => "system",
        Some("tool" | "observation") => "tool",
        Some("function_call") => {
            let call = parsed(&format!("{path}.value"), value)?;
            return Ok(json!({"role": "assistant", "tool_calls": [call]}));
        }
        _ => return Err(invalid(format!("{path}.from"), format!("unknown speaker {from}"))),
    };
    Ok(json!({"role": role, "content": value}))
}

/// A tool as chat completions declare it. Some data sets leave out what says that it is a function,
/// or keep each as JSON text.
fn tool(path: &str, tool: Value) -> Result<Value> {
    let tool = parsed(path, tool)?;
    let is_bare = tool.get("name").is_some() && tool.get("type").is_none_or(Value::is_null);
    Ok(if is_bare { json!({"type": "function", "function": tool}) } else { tool })
}
