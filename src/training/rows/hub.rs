//! Chat messages in the shapes that data sets on hubs have -> the body of a chat completion.

use serde_json::{Map, Value, json};

use super::cleaned::{clean, clean_call, remove_nulls};
use super::origin::{Origin, Place, Shape};
use super::path::Path;
use super::{expected, invalid};
use crate::chat::{ANALYSIS, Message, Role};
use crate::error::Result;
use crate::interop::{ReadOptions, UnusedReason, brief, chat_completions, parse_json};
use crate::training::RenderRows;

/// What a row may call its messages.
const MESSAGES: [&str; 3] = ["messages", "conversations", "conversation"];

/// What else of a row the model reads. Other columns are the data set's own: ids, sources, scores.
const SETTINGS: [&str; 4] = ["reasoning_effort", "reasoning", "response_format", "functions"];

/// What may stand in `from`.
const SPEAKERS: &str = "human, user, gpt, assistant, system, tool, observation, function_call";

/// What TRL passes to a chat template.
const TEMPLATE: &str = "chat_template_kwargs";

/// Whether the model reads a column of this name.
pub(super) fn is_read(name: &str) -> bool {
    const OTHERS: [&str; 6] =
        ["system", "prompt", "completion", "tools", "model_identity", TEMPLATE];
    [&MESSAGES[..], &SETTINGS, &OTHERS].iter().any(|names| names.contains(&name))
}

/// Whether an object has what a row is read from.
pub(super) fn says_messages(fields: &Map<String, Value>) -> bool {
    MESSAGES.iter().chain(&["prompt"]).any(|key| fields.contains_key(*key))
}

/// What a row says.
pub(super) struct ChatRow {
    pub(super) messages: Vec<Message>,
    /// Whether it is a prompt in which the assistant speaks, and its completion, which alone is trained.
    pub(super) is_completion: bool,
    /// The paths of what says nothing to the model.
    pub(super) unused: Vec<String>,
}

/// Reads a row as the conversation that it is.
pub(super) fn read(row: Value, options: &RenderRows) -> Result<ChatRow> {
    let mut row = match row {
        Value::Array(messages) => Map::from_iter([("messages".to_owned(), messages.into())]),
        Value::Object(row) => row,
        other => return Err(invalid("", expected("an object or a list of messages", &other))),
    };
    let mut origin = Origin::default();
    let mut body = Map::new();
    let messages = messages(&mut row, &mut origin)?;
    let is_completion = is_completion(&messages, &origin)?;
    let last_own = messages.iter().rposition(|message| message["role"] == "assistant");
    body.insert("messages".to_owned(), messages.into());
    let mut template = template(&mut row)?;
    let mut take = |key: &str| said(&mut row, key).or_else(|| said(&mut template, key));
    for key in SETTINGS {
        let value = take(key).filter(|value| !is_blank(value));
        body.extend(value.map(|value| (key.to_owned(), value)));
    }
    if let Some(effort) = options.reasoning_effort.filter(|_| !says_effort(&body)) {
        body.insert("reasoning_effort".to_owned(), effort.as_str().into());
    }
    if let Some(tools) = take("tools").filter(|tools| !is_blank(tools)) {
        let tools = list("tools", tools)?.into_iter().enumerate();
        let tools = tools.map(|(index, json)| tool(index, json, &mut origin));
        body.insert("tools".to_owned(), tools.collect::<Result<_>>()?);
    }
    let mut read = ReadOptions::new().with_date(options.date.clone());
    read.identity = match take("model_identity") {
        None => options.identity.clone(),
        Some(Value::String(identity)) => Some(identity),
        Some(other) => return Err(invalid("model_identity", expected("a string", &other))),
    };
    let turn = chat_completions::read_owned(Value::Object(body), &read)
        .map_err(|error| origin.error(error))?;
    if turn.prefill.is_some() {
        let path = origin.last_message("prefix");
        return Err(invalid(path, "a row to train on is complete; only a prompt is continued"));
    }
    let mut unused: Vec<String> = turn
        .unused
        .iter()
        .map(|unused| named(&origin.path(&unused.path), &unused.reason))
        .collect();
    let rest = template.iter().filter(|(_, value)| !value.is_null());
    unused.extend(rest.map(|(key, _)| format!("{TEMPLATE}.{key}")));
    let undeclared = turn.tools.iter().filter(|tool| !tool.offered);
    unused.extend(undeclared.map(|_| "calls of tools that are not declared".to_owned()));
    let mut messages = turn.conversation.messages;
    // What follows trains nothing; and after a user's message thoughts would be dropped, and the answer
    // would not end as the model ends it.
    let is_own = |message: &Message| message.author.role == Role::Assistant;
    if let Some(last) = messages.iter().rposition(is_own) {
        let behind = messages.drain(last + 1..);
        unused.extend(behind.map(|_| "messages behind the assistant's last".to_owned()));
    }
    if let (Some(index), Some(true)) = (last_own, messages.last().map(is_thought)) {
        let path = origin.path(&format!("messages[{index}]"));
        return Err(invalid(path, "ends in a thought; an example ends with an answer or a call"));
    }
    Ok(ChatRow { messages, is_completion, unused })
}

/// What TRL passes to a chat template: an object, or its JSON text.
fn template(row: &mut Map<String, Value>) -> Result<Map<String, Value>> {
    let Some(json) = said(row, TEMPLATE).filter(|json| !is_blank(json)) else {
        return Ok(Map::new());
    };
    match parsed(&Path::Member(&Path::Row, TEMPLATE), json, "an object")? {
        Value::Object(template) => Ok(template),
        Value::Null => Ok(Map::new()),
        other => Err(invalid(TEMPLATE, expected("an object", &other))),
    }
}

/// Whether a body says an effort, in either of its fields.
fn says_effort(body: &Map<String, Value>) -> bool {
    let nested = || body.get("reasoning")?.get("effort");
    body.get("reasoning_effort").or_else(nested).is_some_and(|effort| !effort.is_null())
}

/// What is counted as unused: a field, and why, if that is more than that nothing reads it.
fn named(path: &str, reason: &UnusedReason) -> String {
    if *reason == UnusedReason::NotUsed { path.to_owned() } else { format!("{path}: {reason}") }
}

fn is_thought(message: &Message) -> bool {
    message.channel.as_deref() == Some(ANALYSIS) && message.recipient.is_none()
}

/// Whether a value is a text that says nothing, as some tables have it where others have null.
fn is_blank(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// Whether the messages are a prompt in which the assistant speaks, and its completion.
fn is_completion(messages: &[Value], origin: &Origin) -> Result<bool> {
    let prompt = origin.messages.iter().take_while(|place| place.key != "completion").count();
    if prompt == messages.len() {
        return Ok(false);
    }
    let (prompt, completion) = messages.split_at(prompt);
    let is_from = |role: &'static str| move |message: &Value| message["role"] == role;
    if !prompt.iter().any(is_from("assistant")) {
        return Ok(false);
    }
    if prompt.last().is_some_and(is_from("user")) && !completion.iter().any(is_from("user")) {
        return Ok(true);
    }
    let reason = "what the assistant says in it can be told from the completion only where the user \
                  says the last thing, and nothing in the completion; whole conversations are `messages`";
    Err(invalid("prompt", reason))
}

/// Takes a field, unless it is null.
fn said(fields: &mut Map<String, Value>, key: &str) -> Option<Value> {
    fields.remove(key).filter(|value| !value.is_null())
}

/// The messages of a row, by any of their names, or as a prompt and its completion.
fn messages(row: &mut Map<String, Value>, origin: &mut Origin) -> Result<Vec<Value>> {
    let found = MESSAGES.into_iter().find_map(|key| Some((key, said(row, key)?)));
    let mut all = Vec::new();
    match said(row, "system") {
        None => {}
        Some(Value::String(text)) => {
            origin.messages.push(Place { key: "system", index: None, shape: Shape::Text });
            all.push(json!({"role": "system", "content": text}));
        }
        Some(other) => return Err(invalid("system", expected("a string", &other))),
    }
    if let Some((key, value)) = found {
        add_messages(key, value, &mut all, origin)?;
        return Ok(all);
    }
    let Some(prompt) = said(row, "prompt") else { return Err(invalid("messages", "is missing")) };
    let Some(completion) = said(row, "completion") else {
        return Err(invalid("completion", "is missing; a prompt alone trains nothing"));
    };
    for (key, role, side) in [("prompt", "user", prompt), ("completion", "assistant", completion)] {
        match side {
            Value::String(text) => {
                origin.messages.push(Place { key, index: None, shape: Shape::Text });
                all.push(json!({"role": role, "content": text}));
            }
            messages => add_messages(key, messages, &mut all, origin)?,
        }
    }
    Ok(all)
}

fn add_messages(
    key: &'static str,
    value: Value,
    into: &mut Vec<Value>,
    origin: &mut Origin,
) -> Result<()> {
    let messages = list(key, value)?;
    if messages.is_empty() {
        return Err(invalid(key, "is empty"));
    }
    for (index, json) in messages.into_iter().enumerate() {
        let (shape, message) = message(&Path::Item(&Path::Member(&Path::Row, key), index), json)?;
        origin.messages.push(Place { key, index: Some(index), shape });
        into.push(message);
    }
    Ok(())
}

/// A list, or what the JSON text of one says, as some data sets keep what has many shapes.
fn list(key: &str, value: Value) -> Result<Vec<Value>> {
    match parsed(&Path::Member(&Path::Row, key), value, "a list")? {
        Value::Array(items) => Ok(items),
        other => Err(invalid(key, expected("a list", &other))),
    }
}

/// A value, or what its JSON text says.
fn parsed(path: &Path<'_>, value: Value, what: &str) -> Result<Value> {
    let Value::String(text) = &value else { return Ok(value) };
    parse_json(text).map_err(|error| {
        invalid(path, format!("expected {what}, or the JSON text of one; it is not JSON: {error}"))
    })
}

/// A message as chat completions have it. Others write `from` and `value`.
fn message(path: &Path<'_>, message: Value) -> Result<(Shape, Value)> {
    let Value::Object(mut fields) = message else {
        return Err(invalid(path, expected("an object", &message)));
    };
    // Some fine-tuning services leave such messages out of the loss.
    let weight = said(&mut fields, "weight");
    if weight.is_some_and(|weight| weight != json!(1) && weight != json!(1.0)) {
        let reason = "expected 1: messages have no weights; a `LossMask` narrows what is trained";
        return Err(invalid(Path::Member(path, "weight"), reason));
    }
    if fields.contains_key("role") {
        clean(path, "content", &mut fields)?;
        return Ok((Shape::Chat, fields.into()));
    }
    let Some(from) = fields.remove("from") else {
        return Err(invalid(Path::Member(path, "role"), "is missing"));
    };
    let Value::String(from) = from else {
        return Err(invalid(Path::Member(path, "from"), expected("a string", &from)));
    };
    let Some(value) = fields.remove("value") else {
        return Err(invalid(Path::Member(path, "value"), "is missing"));
    };
    let role = match from.as_str() {
        "human" | "user" => "user",
        "gpt" | "assistant" => "assistant",
        "system" => "system",
        "tool" | "observation" => "tool",
        "function_call" => {
            fields.insert("role".to_owned(), "assistant".into());
            clean(path, "value", &mut fields)?;
            let (shape, calls) = calls(&Path::Member(path, "value"), value)?;
            fields.insert("tool_calls".to_owned(), calls.into());
            return Ok((shape, fields.into()));
        }
        other => {
            let reason = format!("unknown speaker {:?} (known: {SPEAKERS})", brief(other));
            return Err(invalid(Path::Member(path, "from"), reason));
        }
    };
    fields.insert("role".to_owned(), role.into());
    fields.insert("content".to_owned(), value);
    clean(path, "value", &mut fields)?;
    Ok((Shape::FromValue, fields.into()))
}

/// The calls of a message with `from` and `value`: one, or a list of them.
fn calls(path: &Path<'_>, value: Value) -> Result<(Shape, Vec<Value>)> {
    match parsed(path, value, "a call or a list of calls")? {
        Value::Array(calls) if calls.is_empty() => Err(invalid(path, "is empty")),
        Value::Array(mut calls) => {
            for (index, call) in calls.iter_mut().enumerate() {
                clean_call(&Path::Item(path, index), call)?;
            }
            Ok((Shape::Calls, calls))
        }
        mut call => {
            clean_call(path, &mut call)?;
            Ok((Shape::Call, vec![call]))
        }
    }
}

/// A tool as chat completions declare it. Some data sets leave out what says that it is a function,
/// or keep each as JSON text.
fn tool(index: usize, tool: Value, origin: &mut Origin) -> Result<Value> {
    let mut tool = parsed(&Path::Item(&Path::Member(&Path::Row, "tools"), index), tool, "a tool")?;
    remove_nulls(&mut tool);
    let is_bare = tool.get("name").is_some() && tool.get("type").is_none_or(Value::is_null);
    origin.bare_tools.push(is_bare);
    Ok(if is_bare { json!({"type": "function", "function": tool}) } else { tool })
}
