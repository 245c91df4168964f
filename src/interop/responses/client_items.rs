//! Calls of the tools that clients run themselves, and their results: `shell_call`, `shell_call_output`.

use std::borrow::Cow;

use serde_json::{Map, Value as Tree};

use crate::error::Result;
use crate::interop::ToolKind;
use crate::interop::field::{BodyField, BodyObject};
use crate::interop::history::HistoryCall;
use crate::interop::names::ToolId;
use crate::interop::parts::read_content;
use crate::interop::request::Request;
use crate::interop::tools::read_arguments;
use crate::json::{At, Value};
use crate::options::Choice as _;

/// The fields that a chunk of output may have; its author means nothing to the model.
const OF_CHUNK: &[&str] = &["stdout", "stderr", "outcome", "created_by"];

/// The tool that items of this type call.
fn tool_of(kind: &str) -> Option<ToolKind> {
    ToolKind::of_client(kind.strip_suffix("_call")?)
}

pub(super) fn is_client_call(kind: &str) -> bool {
    tool_of(kind).is_some()
}

/// Whether an item belongs to a search that `OpenAI`'s servers ran.
pub(super) fn is_of_servers(item: &BodyObject<'_, '_>) -> bool {
    let is_search = item
        .text("type")
        .is_ok_and(|kind| kind.is_some_and(|kind| kind.starts_with("tool_search")));
    let execution = item.get("execution");
    let execution = execution.as_ref().and_then(|execution| execution.at().as_str());
    is_search && (execution == Some("server") || item.get("call_id").is_none())
}

/// Whether a call of an MCP server's tool has a result.
pub(super) fn is_done(call: &BodyObject<'_, '_>) -> bool {
    call.get("output").is_some() || call.get("error").is_some()
}

/// A call of an MCP server's tool that another server ran, and its result.
pub(super) fn read_mcp_call(item: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    let tool = ToolId::within(item.text("server_label")?, item.required("name")?.text()?);
    let arguments = read_arguments(item, "arguments", false)?;
    let text = match (item.text("output")?, item.get("error")) {
        (Some(output), _) => output.to_owned(),
        (None, Some(error)) => {
            let message = error.at().as_str().or_else(|| error.at().get("message")?.as_str());
            format!("Error: {}", message.map_or_else(|| error.at().to_json(), str::to_owned))
        }
        (None, None) => String::new(),
    };
    request.history.call(HistoryCall::new(&item.field(), item.text("id")?, tool, arguments));
    request.history.result(item, "id", None, text)
}

/// Whether the assistant was cut off in an item.
pub(super) fn is_unfinished(item: At<'_>) -> bool {
    matches!(item.get("status").and_then(At::as_str), Some("incomplete" | "in_progress"))
}

/// A call. The model's arguments are in its field, along with members that are null and the action's type.
pub(super) fn read_call(item: &BodyObject<'_, '_>, kind: &str) -> Result<HistoryCall> {
    let tool = tool_of(kind).unwrap_or(ToolKind::Function);
    let [_, field, _] = tool.client_call().unwrap_or_default();
    let id = ToolId::new(tool.word().unwrap_or_default());
    if tool == ToolKind::ToolSearch {
        let arguments = read_arguments(item, field, false)?;
        return made(item, id, tool, arguments);
    }
    let called = item.required(field)?;
    let is_written = |(key, value): &(&str, At<'_>)| {
        let is_type = tool == ToolKind::LocalShell && *key == "type";
        !is_type && !value.is_null()
    };
    let members = called.object()?.members().iter().filter(is_written);
    let arguments: Map<_, _> =
        members.map(|(key, value)| (key.to_owned(), value.to_tree())).collect();
    made(item, id, tool, Tree::from(arguments).to_string())
}

/// A call of this tool, as the item has its id and status.
pub(super) fn made(
    item: &BodyObject<'_, '_>,
    id: ToolId,
    kind: ToolKind,
    arguments: String,
) -> Result<HistoryCall> {
    let mut call = HistoryCall::new(&item.field(), item.text("call_id")?, id, arguments);
    (call.kind, call.is_cut) = (kind, is_unfinished(item.field().at()));
    Ok(call)
}

/// The result of a call, as a text.
pub(super) fn read_output(
    item: &BodyObject<'_, '_>,
    kind: &str,
    request: &mut Request<'_>,
) -> Result<()> {
    let mut texts: Vec<Cow<'_, str>> = Vec::new();
    let output = item.get("output");
    match output.as_ref().map(BodyField::value) {
        // As for functions: clients also send these in that form.
        Some(Value::Array(parts)) if parts.iter().any(|part| part.get("type").is_some()) => {
            let rules = request.options.unsupported_in(false);
            let parts = read_content(&item.required("output")?, rules)?;
            texts.push(parts.joined().into());
        }
        Some(Value::Array(_)) => item.each("output", |output| {
            let chunk = output.object()?;
            request.list_others(&chunk, OF_CHUNK);
            if let Some(outcome) = chunk.object("outcome")? {
                request.list_others(&outcome, &["type", "exit_code"]);
            }
            read_chunk(&chunk, &mut texts)
        })?,
        Some(_) => texts.extend(item.text("output")?.map(Cow::from)),
        None => {}
    }
    texts.retain(|text| !text.is_empty());
    let mut text = texts.join("\n\n");
    // Only a patch has a status that tells how it ended.
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

/// A command's output, and how it ended.
fn read_chunk<'v>(output: &BodyObject<'v, '_>, texts: &mut Vec<Cow<'v, str>>) -> Result<()> {
    for key in ["stdout", "stderr"] {
        texts.extend(output.text(key)?.map(Cow::from));
    }
    let Some(outcome) = output.object("outcome")? else { return Ok(()) };
    if outcome.one_of("type", &["exit", "timeout"])? == Some("timeout") {
        texts.push("The command timed out.".into());
    }
    let code = outcome.get("exit_code").map(|code| code.integer()).transpose()?;
    texts.extend(code.filter(|&code| code != 0).map(|code| format!("Exit code: {code}").into()));
    Ok(())
}
