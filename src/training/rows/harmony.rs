//! Rows in the JSON form of [`chat`](crate::chat).
//!
//! Read by hand and not by serde: it would pass over fields that it does not know, and its errors
//! do not say where in the row they are.

use serde_json::{Map, Value};

use super::path::Path;
use super::{expected, invalid};
use crate::chat::{Author, Content, Message, Role, SystemContent};
use crate::error::{ErrorKind, Result};
use crate::interop::brief;
use crate::render::AsMessage;
use crate::training::Batch;
use crate::training::examples::ExampleMaker;

/// The fields of a message.
pub(super) const FIELDS: [&str; 6] =
    ["role", "name", "content", "channel", "recipient", "content_type"];

/// The fields of a content part by its type.
const PARTS: [(&str, &[&str]); 3] = [
    ("text", &["type", "text"]),
    (
        "system_content",
        &[
            "type",
            "model_identity",
            "reasoning_effort",
            "tools",
            "conversation_start_date",
            "knowledge_cutoff",
            "channel_config",
        ],
    ),
    ("developer_content", &["type", "instructions", "tools", "response_formats"]),
];

/// What a chat row may have beside its messages. The other columns are the data set's own.
pub(super) const OF_CHAT: [&str; 2] = ["tools", "functions"];

/// Whether a column of this name is looked at.
pub(super) fn is_read(name: &str) -> bool {
    name == "messages" || OF_CHAT.contains(&name)
}

/// The messages of `{"messages": [...]}`, or of a list. `system_defaults`: see [`RenderRows`].
///
/// [`RenderRows`]: crate::training::RenderRows
pub(super) fn messages(json: Value, system_defaults: bool) -> Result<Vec<Message>> {
    let messages = match json {
        Value::Array(messages) => messages,
        Value::Object(row) => of_object(row)?,
        other => return Err(invalid("", expected("an object or a list of messages", &other))),
    };
    if messages.is_empty() {
        return Err(invalid("messages", "is empty"));
    }
    let list = Path::Member(&Path::Row, "messages");
    let read = |(index, json)| message(&Path::Item(&list, index), json, system_defaults);
    let messages = messages.into_iter().enumerate().map(read).collect::<Result<Vec<Message>>>()?;
    refuse_chat(&messages)?;
    Ok(messages)
}

/// Refuses what can only be a chat by its shape. The model puts all that it says on channels; messages of
/// the assistant's of which none is on one would teach it to leave them out.
pub(super) fn refuse_chat<M: AsMessage>(messages: &[M]) -> Result<()> {
    let mut own =
        messages.iter().enumerate().filter(|(_, message)| message.is_from(Role::Assistant));
    let Some((index, first)) = own.next() else { return Ok(()) };
    let has_channel = |message: &M| message.header().channel.is_some();
    if has_channel(first) || own.any(|(_, message)| has_channel(message)) {
        return Ok(());
    }
    let path = format!("messages[{index}].channel");
    let reason = "is missing, as in all messages of the assistant; \
                  chat messages are the format 'chat'";
    Err(invalid(path, reason))
}

fn of_object(mut row: Map<String, Value>) -> Result<Vec<Value>> {
    let messages = match row.remove("messages") {
        Some(Value::Array(messages)) => messages,
        Some(other) => return Err(invalid("messages", expected("a list", &other))),
        None => return Err(invalid("messages", "is missing")),
    };
    let is_said = |key: &&str| row.get(*key).is_some_and(|value| !value.is_null());
    if let Some(key) = OF_CHAT.into_iter().find(is_said) {
        let reason = "a developer message declares tools here; \
                      beside the messages they stand in the format 'chat'";
        return Err(invalid(key, reason));
    }
    Ok(messages)
}

fn message(path: &Path<'_>, json: Value, system_defaults: bool) -> Result<Message> {
    let Value::Object(mut fields) = json else {
        return Err(invalid(path, expected("an object", &json)));
    };
    // What else it says would not be trained.
    let is_unknown =
        |(key, value): &(&String, &Value)| !value.is_null() && !FIELDS.contains(&key.as_str());
    if let Some((key, _)) = fields.iter().find(is_unknown) {
        let known = FIELDS.join(", ");
        let reason = format!("unknown field (known: {known}); chat messages are the format 'chat'");
        return Err(invalid(Path::Member(path, key), reason));
    }
    Ok(Message {
        author: Author { role: role(path, &mut fields)?, name: text(path, &mut fields, "name")? },
        recipient: text(path, &mut fields, "recipient")?,
        content: content(
            &Path::Member(path, "content"),
            fields.remove("content"),
            system_defaults,
        )?,
        channel: text(path, &mut fields, "channel")?,
        content_type: text(path, &mut fields, "content_type")?,
    })
}

fn role(path: &Path<'_>, fields: &mut Map<String, Value>) -> Result<Role> {
    let path = Path::Member(path, "role");
    match fields.remove("role") {
        None => Err(invalid(path, "is missing")),
        Some(Value::String(word)) => word.parse().map_err(|_| {
            let known = Role::ALL.map(|role| role.as_str()).join(", ");
            invalid(path, format!("unknown role {:?} (known: {known})", brief(&word)))
        }),
        Some(other) => Err(invalid(path, expected("a string", &other))),
    }
}

/// A text that may be left out.
fn text(path: &Path<'_>, fields: &mut Map<String, Value>, key: &str) -> Result<Option<String>> {
    match fields.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(invalid(Path::Member(path, key), expected("a string", &other))),
    }
}

fn content(path: &Path<'_>, json: Option<Value>, system_defaults: bool) -> Result<Vec<Content>> {
    match json {
        None => Err(invalid(path, "is missing")),
        Some(Value::String(text)) => Ok(vec![text.into()]),
        Some(Value::Array(parts)) => {
            let parts = parts.into_iter().enumerate();
            let read = |(index, json)| part(&Path::Item(path, index), json, system_defaults);
            parts.map(read).collect()
        }
        Some(other) => Err(invalid(path, expected("a string or a list of parts", &other))),
    }
}

fn part(path: &Path<'_>, json: Value, system_defaults: bool) -> Result<Content> {
    let Some(fields) = json.as_object() else {
        return Err(invalid(path, expected("an object", &json)));
    };
    let word = match fields.get("type") {
        None => return Err(invalid(Path::Member(path, "type"), "is missing")),
        Some(Value::String(word)) => word,
        Some(other) => {
            return Err(invalid(Path::Member(path, "type"), expected("a string", other)));
        }
    };
    let Some((_, known)) = PARTS.iter().find(|(kind, _)| kind == word) else {
        let known = PARTS.map(|(kind, _)| kind).join(", ");
        let reason = format!("unknown type of a part {:?} (known: {known})", brief(word));
        return Err(invalid(Path::Member(path, "type"), reason));
    };
    let is_unknown =
        |(key, value): &(&String, &Value)| !value.is_null() && !known.contains(&key.as_str());
    if let Some((key, _)) = fields.iter().find(is_unknown) {
        let reason = format!("unknown field (known: {})", known.join(", "));
        return Err(invalid(Path::Member(path, key), reason));
    }
    let missing: Vec<&str> =
        known.iter().copied().filter(|key| !fields.contains_key(*key)).collect();
    let mut content =
        serde_json::from_value(json).map_err(|error| invalid(path, error.to_string()))?;
    if let Content::SystemContent(system) = &mut content
        && system_defaults
    {
        add_defaults(system, &missing);
    }
    Ok(content)
}

/// Gives fields that are missing, rather than null, the defaults that [`SystemContent::new`] has.
fn add_defaults(system: &mut SystemContent, missing: &[&str]) {
    let defaults = SystemContent::new();
    let is_missing = |key| missing.contains(&key);
    if is_missing("model_identity") {
        system.model_identity = defaults.model_identity;
    }
    if is_missing("reasoning_effort") {
        system.reasoning_effort = defaults.reasoning_effort;
    }
    if is_missing("knowledge_cutoff") {
        system.knowledge_cutoff = defaults.knowledge_cutoff;
    }
    if is_missing("channel_config") {
        system.channel_config = defaults.channel_config;
    }
}

impl ExampleMaker<'_> {
    /// Puts the examples of a conversation into the batch; an error names the message.
    pub(crate) fn add_harmony<M: AsMessage>(
        &self,
        batch: &mut Batch,
        row: usize,
        messages: &[M],
    ) -> Result<()> {
        self.add(batch, row, messages).map_err(|error| match error.kind() {
            ErrorKind::NothingToTrain | ErrorKind::TooManyTokens { .. } => error,
            kind => {
                let path = error.message_index().map(|index| format!("messages[{index}]"));
                invalid(path.unwrap_or_default(), kind.to_string())
            }
        })
    }
}
