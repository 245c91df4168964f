//! Calls of an API that takes objects: held back until they are complete, then interpreted.

use serde_json::{Value, json};

use crate::chat::PYTHON;
use crate::interop::body::parse_arguments;
use crate::interop::client_calls::is_callable;
use crate::interop::tools::{NO_ARGUMENTS, is_object};
use crate::interop::{Tool, ToolKind, ToolNames};
use crate::json::At;
use crate::parse::Repair;

/// The tool as whose call models write several calls at once, though nobody declares it.
const PARALLEL: &str = "multi_tool_use.parallel";

/// A call that is not shown before it is complete.
#[derive(Debug)]
pub(super) struct HeldCall {
    tool: Tool,
    /// The repair to report if it becomes text, or a call other than the one that was written.
    pub(super) report: Repair,
    pub(super) arguments: String,
}

/// The meaning of a complete call.
#[derive(Debug)]
pub(super) enum Meaning {
    /// The call as written, with these arguments.
    Call(Tool, String),
    /// Calls that were written in some other way.
    Repaired(Vec<(Tool, String)>),
    /// Not certainly a call: text.
    Text(String),
}

impl HeldCall {
    pub(super) fn new(tool: Tool, report: Repair) -> Self {
        Self { tool, report, arguments: String::new() }
    }

    /// Whether the arguments show that they are not complete.
    pub(super) fn is_half(&self) -> bool {
        is_half(&self.tool, &self.arguments) && object_in_array(&self.arguments).is_none()
    }

    /// The call's meaning, if it is complete; `tools` are those of the turn.
    pub(super) fn meaning(self, tools: &ToolNames) -> Meaning {
        let Self { tool, mut arguments, .. } = self;
        if takes_code(&tool) {
            return Meaning::Call(tool, json!({"code": arguments}).to_string());
        }
        if arguments.trim().is_empty() {
            NO_ARGUMENTS.clone_into(&mut arguments);
        }
        if is_callable(&tool, &arguments) {
            return match parallel_calls(&tool, &arguments, tools) {
                Some(calls) => Meaning::Repaired(calls),
                None => Meaning::Call(tool, arguments),
            };
        }
        let object = object_in_array(&arguments).map(str::to_owned);
        let object = object.or_else(|| object_of_text(&tool, &arguments));
        match object.filter(|object| is_callable(&tool, object)) {
            Some(object) => Meaning::Repaired(vec![(tool, object)]),
            None => Meaning::Text(arguments),
        }
    }
}

/// Whether a call's arguments are not, or not yet, complete for its tool.
fn is_half(tool: &Tool, arguments: &str) -> bool {
    !takes_code(tool) && !is_object(arguments)
}

/// Whether a tool takes plain code.
pub(super) fn takes_code(tool: &Tool) -> bool {
    tool.kind == ToolKind::Builtin && tool.recipient == PYTHON
}

/// `{"a":1}` of `[{"a":1}]`.
fn object_in_array(arguments: &str) -> Option<&str> {
    let inner = arguments.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
    is_object(inner).then_some(inner)
}

/// The object whose only required member is the text. Text that looks like broken JSON, or like no arguments, is not
/// taken.
fn object_of_text(tool: &Tool, arguments: &str) -> Option<String> {
    let member = tool.only_text.as_ref()?;
    let begun = arguments.trim_start();
    if begun.starts_with(['{', '[']) || begun.starts_with("```") {
        return None;
    }
    let text = match serde_json::from_str(arguments) {
        Ok(Value::String(text)) => text,
        Ok(Value::Null | Value::Bool(_)) => return None,
        _ => arguments.to_owned(),
    };
    Some(json!({member: text}).to_string())
}

/// The calls that were written as one call of `multi_tool_use.parallel`, if the client runs all of these tools.
fn parallel_calls(tool: &Tool, arguments: &str, tools: &ToolNames) -> Option<Vec<(Tool, String)>> {
    // If the request declares a tool, the call has its recipient.
    if !tool.recipient.is_empty() || tool.name != PARALLEL {
        return None;
    }
    let object = parse_arguments(arguments)?;
    let uses = object.at().get("tool_uses")?.as_array().filter(|uses| !uses.is_empty())?;
    uses.iter().map(|one| parallel_call(one, tools)).collect()
}

fn parallel_call(one: At<'_>, tools: &ToolNames) -> Option<(Tool, String)> {
    let tool = tools.by_recipient(one.get("recipient_name")?.as_str()?)?;
    let parameters = one.get("parameters").filter(|parameters| !parameters.is_null());
    let arguments = match parameters {
        Some(parameters) => parameters.as_object().map(|_| parameters.to_json())?,
        None => NO_ARGUMENTS.to_owned(),
    };
    let is_meant = tool.client_runs && tool.offered && is_callable(tool, &arguments);
    is_meant.then(|| (tool.clone(), arguments))
}
