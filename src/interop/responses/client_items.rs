//! Calls of the tools that clients run themselves, and their results: `shell_call`, `shell_call_output`.

use serde_json::{Map, Value as Tree};

use super::items::is_unfinished;
use crate::error::Result;
use crate::interop::ToolKind;
use crate::interop::common::Texts;
use crate::interop::field::{BodyField, BodyObject};
use crate::interop::history::HistoryCall;
use crate::interop::names::ToolId;
use crate::interop::request::Request;
use crate::json::{At, Value};
use crate::options::Choice as _;

/// The tool that items of this type call.
fn tool_of(kind: &str) -> Option<ToolKind> {
    ToolKind::of_client(kind.strip_suffix("_call")?)
}

pub(super) fn is_client_call(kind: &str) -> bool {
    tool_of(kind).is_some()
}

/// A call. What the model wrote is in its field, beside members that are null and the type of the action.
pub(super) fn read_call(item: &BodyObject<'_, '_>, kind: &str) -> Result<HistoryCall> {
    let tool = tool_of(kind).unwrap_or(ToolKind::Function);
    let [field, _] = tool.call_fields().unwrap_or_default();
    let called = item.required(field)?;
    let is_written = |(key, value): &(&str, At<'_>)| {
        let is_type = tool == ToolKind::LocalShell && *key == "type";
        !is_type && !value.is_null()
    };
    let members = called.object()?.members().iter().filter(is_written);
    let arguments: Map<_, _> =
        members.map(|(key, value)| (key.to_owned(), value.to_tree())).collect();
    let id = ToolId::new(tool.word().unwrap_or_default());
    let arguments = Tree::from(arguments).to_string();
    let mut call = HistoryCall::new(&item.field(), item.text("call_id")?, id, arguments);
    (call.kind, call.is_cut) = (tool, is_unfinished(item.field().at()));
    Ok(call)
}

/// The result of a call, as a text.
pub(super) fn read_output(
    item: &BodyObject<'_, '_>,
    kind: &str,
    request: &mut Request<'_>,
) -> Result<()> {
    let mut texts = Texts::default();
    let output = item.get("output");
    match output.as_ref().map(BodyField::value) {
        Some(Value::Array(_)) => {
            item.each("output", |output| read_chunk(&output.object()?, &mut texts))?;
        }
        Some(_) => texts.add(item.text("output")?.unwrap_or_default()),
        None => {}
    }
    let mut text = texts.into_text();
    // Of the three only a patch has a status that says how it ended.
    if kind == "apply_patch_call_output" {
        let status = item.one_of("status", &["completed", "failed"])?.unwrap_or_default();
        text = match (status, text.is_empty()) {
            ("failed", true) => "Error".to_owned(),
            ("failed", false) => format!("Error: {text}"),
            (status, true) => status.to_owned(),
            _ => text,
        };
    }
    let id = if item.get("call_id").is_some() { "call_id" } else { "id" };
    item.required(id)?.text()?;
    request.history.result(item, id, None, text)
}

/// What a command wrote, and how it ended.
fn read_chunk(output: &BodyObject<'_, '_>, texts: &mut Texts) -> Result<()> {
    for key in ["stdout", "stderr"] {
        texts.add(output.text(key)?.unwrap_or_default());
    }
    let Some(outcome) = output.object("outcome")? else { return Ok(()) };
    if outcome.one_of("type", &["exit", "timeout"])? == Some("timeout") {
        texts.add("The command timed out.");
    }
    let code = outcome.get("exit_code").map(|code| code.integer()).transpose()?;
    if let Some(code) = code.filter(|&code| code != 0) {
        texts.add(&format!("Exit code: {code}"));
    }
    Ok(())
}
