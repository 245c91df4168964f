//! Rows of data sets -> messages.
//!
//! `harmony` reads the JSON form of [`chat`](crate::chat), and `plain`, faster, the rows of texts alone that
//! nearly all are. `hub` reads chat messages in the shapes that data sets have, which it brings into the one
//! that the reader of chat completions knows, and which `cleaned` frees of what must not be trained. `arrow`
//! makes JSON of what Arrow arrays hold.

#[cfg(feature = "arrow")]
mod arrow;
mod cleaned;
mod harmony;
mod hub;
mod not_numbers;
mod origin;
mod path;
mod plain;

use std::borrow::Cow;
use std::fmt::Display;

use serde_json::Value;

#[cfg(feature = "arrow")]
pub use self::arrow::render_array;
#[cfg(feature = "python")]
pub(crate) use self::arrow::render_array_on;
use self::hub::ChatRow;
use super::examples::ExampleMaker;
use super::{Batch, RowFormat};
use crate::chat::Conversation;
use crate::error::{Error, ErrorKind, Result};
use crate::interop::{kind, parse_json};

/// A row of a data set.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Row<'r> {
    /// JSON text.
    Text(Cow<'r, str>),
    /// JSON.
    Json(Value),
    /// A conversation, whatever the format.
    Conversation(Conversation),
}

impl<'r> From<&'r str> for Row<'r> {
    fn from(text: &'r str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Row<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<Value> for Row<'_> {
    fn from(json: Value) -> Self {
        Self::Json(json)
    }
}

impl From<Conversation> for Row<'_> {
    fn from(conversation: Conversation) -> Self {
        Self::Conversation(conversation)
    }
}

impl ExampleMaker<'_> {
    /// Puts the examples of a row into the batch.
    pub(crate) fn add_row(&self, batch: &mut Batch, index: usize, row: Row<'_>) -> Result<()> {
        if let (Row::Text(text), RowFormat::Harmony) = (&row, self.options.format)
            && let Some(messages) = plain::messages(text)
        {
            return self.add_harmony(batch, index, &messages);
        }
        let json = match row {
            Row::Text(text) => {
                let not_json = |error| Err(invalid("", format!("not JSON: {error}")));
                let with_nan = || not_numbers::read(&text, self.options.format);
                parse_json(&text).or_else(|error| with_nan().unwrap_or_else(|| not_json(error)))?
            }
            Row::Json(json) => json,
            Row::Conversation(conversation) => {
                return self.add_harmony(batch, index, &conversation.messages);
            }
        };
        if is_list_of_rows(&json) {
            return Err(invalid("", "a list of rows; each has to be a row of its own"));
        }
        match self.options.format {
            RowFormat::Harmony => {
                let messages = harmony::messages(json, self.options.system_defaults)?;
                self.add_harmony(batch, index, &messages)
            }
            RowFormat::Chat => {
                let ChatRow { messages, is_completion, unused } = hub::read(json, self.options)?;
                let added = if is_completion {
                    let options = self.options.clone().of_completions();
                    ExampleMaker::new(self.tokenizer, &options).add(batch, index, &messages)
                } else {
                    self.add(batch, index, &messages)
                };
                // Some turns of a bad row may be examples.
                if added.is_ok() || batch.rows.last() == Some(&index) {
                    for path in unused {
                        *batch.unused.entry(without_indices(&path)).or_default() += 1;
                    }
                }
                // Its messages are not those of the row, so that their indices say nothing.
                added.map_err(|error| match error.kind() {
                    ErrorKind::NothingToTrain | ErrorKind::TooManyTokens { .. } => error,
                    kind => invalid("", kind.to_string()),
                })
            }
        }
    }
}

/// Whether a column of this name is read of rows of this format.
pub(crate) fn is_read(column: &str, format: RowFormat) -> bool {
    match format {
        RowFormat::Harmony => harmony::is_read(column),
        RowFormat::Chat => hub::is_read(column),
    }
}

fn invalid(path: impl Display, reason: impl Into<String>) -> Error {
    ErrorKind::InvalidRow { path: path.to_string(), reason: reason.into() }.into()
}

/// Whether what should be a row is the whole content of a file, as some data sets are kept.
fn is_list_of_rows(json: &Value) -> bool {
    let first = json.as_array().and_then(|items| items.first()).and_then(Value::as_object);
    first.is_some_and(hub::says_messages)
}

/// What is wrong with a value of another type.
fn expected(what: &str, got: &Value) -> String {
    format!("expected {what}, got {}", kind(got))
}

/// `messages[].name` for `messages[3].name`.
fn without_indices(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for (part, piece) in path.split('[').enumerate() {
        if part > 0 {
            out.push('[');
        }
        out.push_str(match piece.split_once(']') {
            Some((index, _)) if part > 0 && index.bytes().all(|byte| byte.is_ascii_digit()) => {
                &piece[index.len()..]
            }
            _ => piece,
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_indices_and_nothing_else() {
        let cases = [
            ("messages[3].name", "messages[].name"),
            ("tools[0].x[12][3]", "tools[].x[][]"),
            ("plain", "plain"),
            ("a[b].c]", "a[b].c]"),
        ];
        for (path, expected) in cases {
            assert_eq!(without_indices(path), expected);
        }
    }
}
