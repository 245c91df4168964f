//! Rows in the JSON form of [`chat`](crate::chat).

use serde_json::Value;

use super::invalid;
use crate::chat::Message;
use crate::error::{ErrorKind, Result};
use crate::render::{self, AsMessage};
use crate::training::Batch;
use crate::training::examples::ExampleMaker;

/// The fields of a message.
const FIELDS: &[&str] = &["role", "name", "content", "channel", "recipient", "content_type"];

/// The messages of `{"messages": [...]}`, or of a list.
pub(super) fn messages(json: Value) -> Result<Vec<Message>> {
    let messages = match json {
        Value::Array(messages) => messages,
        Value::Object(mut row) => match row.remove("messages") {
            Some(Value::Array(messages)) => messages,
            Some(other) => return Err(invalid("messages", expected("a list", &other))),
            None => return Err(invalid("messages", "is missing")),
        },
        other => return Err(invalid("", expected("an object or a list of messages", &other))),
    };
    if messages.is_empty() {
        return Err(invalid("messages", "is empty"));
    }
    messages.into_iter().enumerate().map(|(index, json)| message(index, json)).collect()
}

fn message(index: usize, json: Value) -> Result<Message> {
    // Serde would ignore them, and what they say would not be trained.
    let unknown = json.as_object().and_then(|fields| {
        let mut said = fields.iter().filter(|(_, value)| !value.is_null());
        said.find(|(key, _)| !FIELDS.contains(&key.as_str()))
    });
    if let Some((key, _)) = unknown {
        let known = FIELDS.join(", ");
        let reason =
            format!("unknown field (known: {known}); chat messages are the format \"chat\"");
        return Err(invalid(format!("messages[{index}].{key}"), reason));
    }
    serde_json::from_value(json)
        .map_err(|error| invalid(format!("messages[{index}]"), error.to_string()))
}

fn expected(what: &str, got: &Value) -> String {
    let got = match got {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    format!("expected {what}, got {got}")
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
            _ => {
                let fails = |message: &M| {
                    render::message(self.tokenizer, message, self.options.config, &mut Vec::new())
                        .is_err()
                };
                let path = messages.iter().position(fails).map(|at| format!("messages[{at}]"));
                invalid(path.unwrap_or_default(), error.to_string())
            }
        })
    }
}
