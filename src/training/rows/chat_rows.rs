//! Chat messages in the shapes of published data sets -> a conversation, by the reader of chat completions.

use std::cell::RefCell;

use super::columns::{
    Columns, IDENTITY, LABELS, PAIRS, TEMPLATE, TOOLS, is_effort, is_of_preferences,
};
use super::conversation::{Answer, RowMessages};
use super::invalid;
use super::loss::read_flag;
use super::parsed::Parsed;
use super::read_turn::ChatRow;
use super::repeated::ends_with_answer;
use super::tool_types::as_schema;
use crate::HarmonyEncoding;
use crate::error::Result;
use crate::interop::chat_completions::{Messages, read_settings, read_tool};
use crate::interop::{BodyField, Dialect, ReadOptions, Request};
use crate::json::{Tape, Value};
use crate::training::RowOptions;

/// Reads a row as the conversation that it is.
pub(super) fn read(
    row: &BodyField<'_, '_>,
    options: &RowOptions,
    encoding: HarmonyEncoding,
) -> Result<ChatRow> {
    let columns = Columns::of(row, options)?;
    refuse_preferences(&columns)?;
    let mut read = read_side(row, &columns, options, encoding, Answer::Own, false)?;
    count_unread(&columns, &mut read)?;
    Ok(read)
}

/// Reads a row of preferences: its conversations, and whether each is preferred.
pub(super) fn read_preference(
    row: &BodyField<'_, '_>,
    options: &RowOptions,
    encoding: HarmonyEncoding,
) -> Result<Vec<(ChatRow, bool)>> {
    let columns = Columns::of(row, options)?;
    let read = |(answer, is_preferred)| {
        let side = read_side(row, &columns, options, encoding, answer, true)?;
        Ok((side, is_preferred))
    };
    let mut read: Vec<_> = sides(&columns)?.into_iter().map(read).collect::<Result<_>>()?;
    if let Some((first, _)) = read.first_mut() {
        count_unread(&columns, first)?;
    }
    Ok(read)
}

/// Notes the columns that were not read, and those that `map` names and the row lacks.
fn count_unread(columns: &Columns<'_, '_>, read: &mut ChatRow) -> Result<()> {
    let unmapped =
        columns.unmapped().map(|(_, column)| format!("{column}: rows without the column"));
    read.unused.extend(unmapped);
    read.unused.extend(columns.unread()?.into_iter().map(str::to_owned));
    Ok(())
}

/// Refuses rows whose messages are the prompt of two answers, since only the prompt's earlier answers would be trained,
/// and rows whose label marks the answer as bad.
fn refuse_preferences(columns: &Columns<'_, '_>) -> Result<()> {
    if !columns.may_have(is_of_preferences) {
        return Ok(());
    }
    // Numbers in a column `label` are mostly classes.
    let is_bad = |key, label: &BodyField<'_, '_>| {
        let is_flag = key != LABELS[0] || matches!(label.value(), Value::Bool(_));
        is_flag && read_flag(label).is_ok_and(|is_good| !is_good)
    };
    let mut labels = LABELS.into_iter().filter_map(|key| Some((key, columns.peek(key)?)));
    if let Some((_, label)) = labels.find(|(key, label)| is_bad(*key, label)) {
        let reason = "false, so this is a bad answer; leave the row out, or render with the format 'preference'";
        return Err(label.invalid(reason));
    }
    let has = |key: &str| columns.peek(key).is_some();
    let Some((key, _)) = PAIRS.into_iter().find(|(chosen, rejected)| has(chosen) && has(rejected))
    else {
        return Ok(());
    };
    let is_answered = match columns.messages() {
        Some(list) => ends_with_answer(Parsed::of(list, "a list")?.field()?.at()),
        None => columns.answer()?.is_some(),
    };
    if is_answered {
        return Ok(());
    }
    let reason = "one of two answers to a prompt; for preferences use the format 'preference'";
    Err(columns.required(key)?.invalid(reason))
}

/// The answers of a row of preferences, and whether each is preferred.
fn sides(columns: &Columns<'_, '_>) -> Result<Vec<(Answer, bool)>> {
    let has = |key: &str| columns.peek(key).is_some();
    let column = |(chosen, rejected)| {
        vec![(Answer::Column(chosen), true), (Answer::Column(rejected), false)]
    };
    if let Some(pair) = PAIRS.into_iter().find(|(chosen, _)| has(chosen)) {
        return Ok(column(pair));
    }
    // Rows of ms-swift have the preferred answer in the messages, or as the answer to a question.
    for rejected in [Answer::Column("rejected_messages"), Answer::Replacing("rejected_response")] {
        let (Answer::Column(key) | Answer::Replacing(key)) = rejected else { continue };
        if has(key) {
            return Ok(vec![(Answer::Own, true), (rejected, false)]);
        }
    }
    if let Some(pair) = PAIRS.into_iter().find(|(_, rejected)| has(rejected)) {
        return Ok(column(pair));
    }
    let Some(label) = LABELS.into_iter().find_map(|key| columns.get(key)) else {
        let known = "; preferences are `chosen` and `rejected`, or an answer and its `label`";
        return Err(columns.missing("chosen", known));
    };
    Ok(vec![(Answer::Own, read_flag(&label)?)])
}

/// Reads a row with one of its answers.
fn read_side(
    row: &BodyField<'_, '_>,
    columns: &Columns<'_, '_>,
    options: &RowOptions,
    encoding: HarmonyEncoding,
    answer: Answer,
    is_preference: bool,
) -> Result<ChatRow> {
    columns.refuse_media()?;
    let mut read = ReadOptions::new().with_date(options.date.clone()).with_strict(true);
    read.effort = options.reasoning_effort;
    let template = columns.get(TEMPLATE).filter(|given| !is_blank(given));
    let template = template.map(|given| Parsed::of(given, "an object")).transpose()?;
    let template = template.as_ref().map(Parsed::field).transpose()?;
    let template = template.filter(|template| !template.is_null());
    let template = template.as_ref().map(BodyField::object).transpose()?;
    // OpenAI's preference rows have the request as an object.
    let input = columns.peek("input");
    let input = input.as_ref().and_then(|input| input.object().ok());
    if let Some(input) = &input {
        columns.mark(&input.field());
    }
    let taken = RefCell::new(vec!["messages"]);
    let setting = |key: &'static str| {
        let is_one = |field: &BodyField<'_, '_>| is_setting(key, field);
        if let Some(outer) = columns.peek(key).filter(is_one) {
            columns.mark(&outer);
            return Some(outer).filter(|outer| !is_blank(outer));
        }
        taken.borrow_mut().push(key);
        let inner = input.as_ref().and_then(|input| input.get(key));
        inner
            .or_else(|| template.as_ref()?.get(key))
            .filter(|field| is_one(field) && !is_blank(field))
    };
    let identity = setting(IDENTITY);
    let identity = identity.map(|identity| identity.text().map(str::to_owned)).transpose()?;
    read.identity = identity.or_else(|| options.identity.clone());
    let mut request = Request::new(Dialect::ChatCompletions, &read);
    let mut messages = RowMessages::new(Messages::new(&mut request));
    let nested = input.as_ref().and_then(|input| input.get("messages"));
    match row.value() {
        Value::Array(_) => messages.add_messages(row)?,
        _ => messages.add_conversation(columns, nested, answer)?,
    }
    let conversation = messages.end(is_preference)?;
    let mut notes = Vec::new();
    if let Some(tools) = setting(TOOLS) {
        read_tools(&tools, &mut request, &mut notes)?;
    }
    read_settings(setting, &mut request)?;
    let turn = request.into_turn()?;
    if turn.prefill.is_some() {
        let reason = "a row to train on must be complete; only a prompt is continued";
        return Err(invalid(conversation.last_path().then("prefix"), reason));
    }
    let mut read = ChatRow::of_turn(turn, options, encoding, &conversation.given(), |number| {
        conversation.path(number)
    })?;
    read.is_completion = conversation.is_completion;
    let others = "messages[]: trained by its flag, but the model does not write it".to_owned();
    read.unused.extend(vec![others; conversation.others_to_train()]);
    read.unused.extend(notes);
    conversation.unread.iter().for_each(|column| columns.unmark(column));
    let taken = taken.into_inner();
    let others = [template, input].into_iter().flatten().flat_map(|object| {
        object.others(&taken).map(|other| other.path().to_string()).collect::<Vec<_>>()
    });
    read.unused.extend(others);
    Ok(read)
}

/// Reads a row's tools. Some data sets keep them, or each of them, or their parameters, as JSON text; tables have the
/// fields of all schemas in each, null where a schema has none.
fn read_tools(
    given: &BodyField<'_, '_>,
    request: &mut Request<'_>,
    notes: &mut Vec<String>,
) -> Result<()> {
    for given in Parsed::of(*given, "a list")?.field()?.items()? {
        let parsed = Parsed::of(given, "a tool")?;
        let tool = parsed.field()?;
        let mut tape = Tape::default();
        write_tool(&mut tape, &tool, notes)?;
        read_tool(&tool.replaced(tape.at(0)), request)?;
    }
    Ok(())
}

/// Writes a tool or the function within it.
fn write_tool(tape: &mut Tape, tool: &BodyField<'_, '_>, notes: &mut Vec<String>) -> Result<()> {
    let Ok(members) = tool.object() else {
        tape.copy(tool.at());
        return Ok(());
    };
    let opened = tape.open();
    for (key, value) in members.members().iter().filter(|(_, value)| !value.is_null()) {
        let field = members.required(key)?;
        // The name that MCP's tools have for it.
        let key = if key == "inputSchema" { "parameters" } else { key };
        tape.string(key);
        match key {
            "function" => write_tool(tape, &field, notes)?,
            "parameters" => {
                let parsed = Parsed::of(field, "a schema")?;
                let schema = parsed.field()?;
                match as_schema(schema.at()) {
                    Some(tree) => {
                        tape.tree(&tree, crate::json::MAX_DEPTH);
                        notes.push("tools[].parameters: a table of parameters, read as an object's properties".to_owned());
                    }
                    None => tape.copy_without_nulls(schema.at()),
                }
            }
            _ => tape.copy_without_nulls(value),
        }
    }
    tape.close_object(opened);
    Ok(())
}

/// Whether a value is an empty text, which some tables use for null.
fn is_blank(field: &BodyField<'_, '_>) -> bool {
    field.at().as_str().is_some_and(|text| text.trim().is_empty())
}

/// Whether a column is the setting of that name.
fn is_setting(key: &str, field: &BodyField<'_, '_>) -> bool {
    key != "reasoning" || is_effort(field)
}
