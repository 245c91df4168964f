//! Bodies of Anthropic's and the Responses API as rows.

use super::chat_rows::ChatRow;
use super::invalid;
use crate::error::Result;
use crate::interop::{Dialect, Json, ReadOptions};
use crate::path::Path;
use crate::training::RenderRows;

/// Reads a row as a body of the API, of which the last message is whole.
pub(super) fn read(row: &Json, dialect: Dialect, options: &RenderRows) -> Result<ChatRow> {
    let mut read = ReadOptions::new().with_date(options.date.clone()).with_strict(true);
    read.identity.clone_from(&options.identity);
    read.effort = options.reasoning_effort;
    let mut request = dialect.request(row, &read)?;
    request.continue_last = false;
    let mut turn = request.into_turn()?;
    if turn.prefill.is_some() {
        return Err(invalid(Path::default(), "a row to train on is complete"));
    }
    // Other columns are the data set's own: ids, sources, scores.
    turn.unused.retain(|unused| unused.path.name().is_none_or(|column| dialect.reads(column)));
    ChatRow::of_turn(turn, |number| Some(Path::of(dialect.messages()).then(number)))
}
