//! Bodies of Anthropic's and the Responses API as rows.

use super::read_turn::{ChatRow, GivenMessage};
use super::{invalid, loss, unread};
use crate::HarmonyEncoding;
use crate::error::Result;
use crate::interop::{BodyField, Dialect, Json, ReadOptions};
use crate::json::At;
use crate::path::Path;
use crate::training::RowOptions;

/// Reads a row as a body of the API with a complete last message.
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
    let given = given(row, dialect)?;
    // Other columns are counted by their names.
    turn.unused.retain(|unused| {
        unused.path.first_name().is_none_or(|column| dialect.reads(column))
            && !unused.path.last_name().is_some_and(loss::is_flag)
    });
    let place = |number| Some(Path::of(dialect.messages()).then(number));
    let mut read = ChatRow::of_turn(turn, options, encoding, &given, place)?;
    read.unused.extend(unread(row.at(), options));
    Ok(read)
}

/// The messages or items.
fn given(row: &Json, dialect: Dialect) -> Result<Vec<GivenMessage>> {
    let path = Path::default();
    let row = BodyField::root(&path, row)?.object()?;
    let Some(list) = row.get(dialect.messages()) else { return Ok(Vec::new()) };
    if list.at().as_array().is_none() {
        return Ok(Vec::new());
    }
    let given = |item: BodyField<'_, '_>| {
        let is_own = item.at().get("role").and_then(At::as_str) == Some("assistant");
        let trained = item.object().map_or(Ok(None), |item| loss::is_trained(&item, "content"))?;
        Ok(GivenMessage { is_own, is_untrained: trained == Some(false) })
    };
    list.items()?.map(given).collect()
}
