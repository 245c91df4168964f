//! Rows of data sets -> messages.
//!
//! `harmony` reads the JSON form of [`chat`](crate::chat). `chat_rows` reads chat messages in the shapes that data sets
//! have: `columns` names the columns, `conversation` finds the messages in them (`repeated`: those that an answer
//! repeats), `messages` writes each as a message of chat completions (`speakers`, `thoughts` and `loss` find its
//! author, its thought, and whether it is trained), and the reader of chat completions reads it. `api` reads request
//! bodies. `read_turn` makes the conversation from the turn that either gives: `answers` and `markers` find text that
//! no answer has, `tool_types` foreign types. `preference` makes an example of each answer to a prompt. `arrow` turns
//! Arrow arrays into JSON.

mod answers;
mod api;
#[cfg(feature = "arrow")]
mod arrow;
mod chat_rows;
mod columns;
mod conversation;
mod harmony;
mod loss;
mod markers;
mod messages;
mod parsed;
mod preference;
mod read_turn;
mod repeated;
mod speakers;
mod thoughts;
mod tool_types;

use std::borrow::Cow;

use serde_json::Value as Tree;

#[cfg(feature = "arrow")]
pub use self::arrow::{render_array, render_array_on};
pub use self::columns::{check_map, is_media};
use self::read_turn::ChatRow;
use super::examples::ExampleMaker;
use super::{Batch, RowFormat, RowOptions};
use crate::chat::Conversation;
use crate::error::{Error, ErrorKind, Reason, Result};
use crate::interop::{BodyField, Dialect, Json};
use crate::json::{At, NotNumbers, Object, Tape, Value, is_not_a_number};
use crate::path::Path;

/// A row of a data set.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Row<'r> {
    /// JSON text.
    Text(Cow<'r, str>),
    /// JSON.
    Json(Json),
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

impl From<Json> for Row<'_> {
    fn from(json: Json) -> Self {
        Self::Json(json)
    }
}

impl From<Tree> for Row<'_> {
    fn from(json: Tree) -> Self {
        Self::Json(json.into())
    }
}

impl From<Conversation> for Row<'_> {
    fn from(conversation: Conversation) -> Self {
        Self::Conversation(conversation)
    }
}

impl ExampleMaker<'_> {
    /// Puts the examples of a row into the batch.
    ///
    /// # Errors
    ///
    /// A row that is not a conversation or cannot be rendered; an example that is too long or fully masked.
    pub fn add_row(&self, batch: &mut Batch, index: usize, row: Row<'_>) -> Result<()> {
        check_map(self.options).map_err(|reason| invalid(Path::of("map"), reason))?;
        let json = match row {
            Row::Text(text) => self.parse(&text)?,
            Row::Json(json) => json,
            Row::Conversation(conversation) => {
                return self.add_harmony(batch, index, &conversation.messages);
            }
        };
        let path = Path::default();
        let row = BodyField::root(&path, &json).map_err(of_row)?;
        if is_list_of_rows(row.at()) {
            return Err(invalid(path, "a list of rows; pass each as its own row"));
        }
        match self.options.format {
            RowFormat::Harmony => {
                let messages = harmony::messages(&row, self.options);
                self.add_harmony(batch, index, &messages.map_err(of_row)?)?;
                count_unused(batch, unread(row.at(), self.options));
                Ok(())
            }
            RowFormat::Chat => {
                let row = chat_rows::read(&row, self.options, self.encoding).map_err(of_row)?;
                self.add_chat(batch, index, row)
            }
            RowFormat::Preference => {
                let sides = chat_rows::read_preference(&row, self.options, self.encoding)
                    .map_err(of_row)?;
                self.add_preference(batch, index, sides)
            }
            RowFormat::Anthropic | RowFormat::Responses => {
                let is_responses = self.options.format == RowFormat::Responses;
                let dialect = if is_responses { Dialect::Responses } else { Dialect::Anthropic };
                let row = api::read(&json, dialect, self.options, self.encoding).map_err(of_row)?;
                self.add_chat(batch, index, row)
            }
        }
    }

    fn parse(&self, text: &str) -> Result<Json> {
        let mut tape = Tape::default();
        let text = text.trim_end();
        let index = tape.parse(text, NotNumbers::Taken).map_err(|error| {
            let mut reason = format!("not JSON: {}", error.in_text(text));
            // A row is usually one line, and the error gives its number elsewhere.
            if !text.contains('\n') {
                reason = reason.replace(" at line 1 column", " at column");
            }
            invalid(Path::default(), reason)
        })?;
        if tape.has_not_numbers() {
            refuse_not_numbers(tape.at(index), self.options)?;
        }
        Ok(Json::new(tape))
    }

    fn add_chat(&self, batch: &mut Batch, index: usize, row: ChatRow) -> Result<()> {
        let ChatRow { messages, is_completion, untrained, unused } = row;
        let added = if is_completion {
            let options = self.options.clone().of_completions();
            ExampleMaker::new(self.encoding, &options).add(batch, index, &messages, &untrained)
        } else {
            self.add(batch, index, &messages, &untrained)
        };
        // Some turns of a bad row may be examples.
        if added.is_ok() || batch.row.last() == Some(&index) {
            count_unused(batch, unused);
        }
        // The turn's messages are not those of the row, so their indices would mislead.
        added.map_err(|error| match error.kind() {
            ErrorKind::NothingToTrain | ErrorKind::TooManyTokens { .. } => error,
            kind => invalid(Path::default(), kind.to_string()),
        })
    }
}

/// The columns of a row that its format does not know.
fn unread(row: At<'_>, options: &RowOptions) -> impl Iterator<Item = String> {
    let columns = row.as_object().into_iter().flat_map(Object::iter);
    let unread =
        columns.filter(|(name, value)| columns::is_given(*value) && !is_read(name, options));
    unread.map(|(name, _)| name.to_owned())
}

fn count_unused(batch: &mut Batch, unused: impl IntoIterator<Item = String>) {
    for name in unused {
        *batch.unused.entry(name).or_default() += 1;
    }
}

/// Whether a column of this name is read, if only to report that a row has another format.
pub fn is_read(column: &str, options: &RowOptions) -> bool {
    let is_mapped = options.map.iter().any(|(_, mapped)| mapped == column);
    let is_known = match options.format {
        RowFormat::Harmony => harmony::is_read(column),
        RowFormat::Chat | RowFormat::Preference => columns::is_read(column),
        RowFormat::Anthropic => Dialect::Anthropic.reads(column) || column == "input",
        RowFormat::Responses => Dialect::Responses.reads(column) || column == "messages",
    };
    is_mapped || is_known
}

fn invalid(path: Path, reason: impl Into<Reason>) -> Error {
    ErrorKind::InvalidRow { path, reason: reason.into() }.into()
}

/// Turns an error about a request into one about a row.
fn of_row(error: Error) -> Error {
    match error.kind() {
        ErrorKind::InvalidRequest { path, reason } => invalid(path.clone(), reason.clone()),
        _ => error,
    }
}

/// Whether a row is really a list of rows: the whole content of a file, which is how some data sets are stored.
fn is_list_of_rows(row: At<'_>) -> bool {
    let first = row.as_array().and_then(|items| items.iter().next()).and_then(At::as_object);
    first.is_some_and(columns::has_messages)
}

/// Refuses `NaN` and `Infinity`, which some JSON writers emit although JSON has no such numbers, by default even
/// Python's. In columns that are not read they do not matter, and a column that is one counts as missing, as in pandas.
fn refuse_not_numbers(row: At<'_>, options: &RowOptions) -> Result<()> {
    let found = match row.value() {
        Value::Object(columns) => {
            let is_number = |value: At<'_>| matches!(value.value(), Value::Number(_));
            let mut read = columns
                .iter()
                .filter(|(column, value)| is_read(column, options) && !is_number(*value));
            read.find_map(|(column, value)| {
                not_number(value).map(|path| path.inside(column.to_owned()))
            })
        }
        _ => not_number(row),
    };
    let reason = "NaN or Infinity, which JSON does not have; write null";
    found.map_or(Ok(()), |path| Err(invalid(path, reason)))
}

/// The path of the first of them within a value.
fn not_number(value: At<'_>) -> Option<Path> {
    match value.value() {
        Value::Number(digits) => is_not_a_number(digits).then(Path::default),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| not_number(item).map(|path| path.inside(index)))
        }
        Value::Object(members) => {
            let mut members = members.iter();
            members.find_map(|(key, member)| {
                not_number(member).map(|path| path.inside(key.to_owned()))
            })
        }
        _ => None,
    }
}
