//! Bodies of Anthropic's and the Responses API as rows.

use super::read_turn::ChatRow;
use super::{invalid, loss};
use crate::HarmonyEncoding;
use crate::error::Result;
use crate::interop::{BodyField, Dialect, Json, ReadOptions};
use crate::path::Path;
use crate::training::RowOptions;

/// Reads a row as a body of the API whose last message is complete.
pub(super) fn read(
    row: &Json,
    dialect: Dialect,
    options: &RowOptions,
    encoding: HarmonyEncoding,
) -> Result<ChatRow> {
    let mut read = ReadOptions::new().with_date(options.date.clone()).with_strict(true);
    read.identity.clone_from(&options.identity);
    read.effort = options.reasoning_effort;
    let mut request = dialect.request(row, &read)?;
    request.continue_last = false;
    let mut turn = request.into_turn()?;
    if turn.prefill.is_some() {
        return Err(invalid(Path::default(), "a row to train on must be complete"));
    }
    let trained = trained(row, dialect)?;
    // Other columns belong to the data set: ids, sources, scores.
    turn.unused.retain(|unused| {
        unused.path.name().is_none_or(|column| dialect.reads(column))
            && !unused.path.last_name().is_some_and(loss::is_flag)
    });
    let is_untrained = |number: usize| trained.get(number) == Some(&false);
    let place = |number| Some(Path::of(dialect.messages()).then(number));
    ChatRow::of_turn(turn, options, encoding, is_untrained, place)
}

/// Per message or item: whether it is trained.
fn trained(row: &Json, dialect: Dialect) -> Result<Vec<bool>> {
    let path = Path::default();
    let row = BodyField::root(&path, row)?.object()?;
    let Some(list) = row.get(dialect.messages()) else { return Ok(Vec::new()) };
    if list.at().as_array().is_none() {
        return Ok(Vec::new());
    }
    let trained = |item: BodyField<'_, '_>| {
        let Ok(message) = item.object() else { return Ok(true) };
        Ok(loss::is_trained(&message, "content")?.unwrap_or(true))
    };
    list.items()?.map(trained).collect()
}
