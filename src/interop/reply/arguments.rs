//! Calls of an API that takes objects: held back until they are complete, then interpreted.

use serde_json::{Value, json};

use super::fits::{fits, only_member};
use super::mend;
use super::route::RouteRules;
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
        is_half(&self.tool, &self.arguments) && mend::values(&self.arguments).is_none()
    }

    /// The call's meaning, if it is complete.
    pub(super) fn meaning(self, rules: &RouteRules) -> Meaning {
        let Self { tool, mut arguments, .. } = self;
        let schema = rules.schema(&tool);
        if takes_code(&tool) {
            return Meaning::Call(tool, json!({"code": arguments}).to_string());
        }
        if arguments.trim().is_empty() {
            NO_ARGUMENTS.clone_into(&mut arguments);
        }
        if is_callable(&tool, &arguments) {
            return match parallel_calls(&tool, &arguments, rules.tools()) {
                Some(calls) => Meaning::Repaired(calls),
                None => Meaning::Call(tool, arguments),
            };
        }
        let meant = mend::values(&arguments).and_then(|values| objects(values, schema));
        let meant = meant.or_else(|| Some(vec![object_of_text(schema?, &arguments)?]));
        match meant.filter(|objects| objects.iter().all(|object| is_callable(&tool, object))) {
            Some(objects) => Meaning::Repaired(
                objects.into_iter().map(|object| (tool.clone(), object)).collect(),
            ),
            None => Meaning::Text(arguments),
        }
    }
}

/// The objects that were meant by values: these objects themselves; of an array the value of the only required member,
/// or its only item, if just one of both satisfies the schema. So do several objects, which are several calls, and one in
/// a string.
fn objects((values, quoted): (Vec<String>, bool), schema: Option<&Value>) -> Option<Vec<String>> {
    let satisfies = |object: &String| {
        let value = serde_json::from_str(object).unwrap_or_default();
        schema.is_none_or(|schema| fits(&value, schema) == Some(true))
    };
    if values.iter().all(|value| is_object(value)) {
        let is_one = values.len() == 1 && !quoted;
        return (is_one || values.iter().all(satisfies)).then_some(values);
    }
    let [array] = &values[..] else { return None };
    let inner = array.strip_prefix('[')?.strip_suffix(']')?.trim();
    let item = Some(inner.to_owned()).filter(|item| is_object(item));
    let member = schema.and_then(only_member);
    let member = member.map(|(name, _)| format!("{{{}:{array}}}", json!(name)));
    match (member.filter(satisfies), item.filter(satisfies)) {
        (Some(object), None) | (None, Some(object)) => Some(vec![object]),
        _ => None,
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

/// The object of the only required member, if that can be any string, and is the text. Text that looks like broken
/// JSON, or like no arguments, is not taken.
fn object_of_text(schema: &Value, arguments: &str) -> Option<String> {
    let (member, rule) = only_member(schema)?;
    let is_any = ["enum", "const", "pattern", "format"].iter().all(|key| rule.get(key).is_none());
    let begun = arguments.trim_start();
    let is_text = rule.get("type").and_then(Value::as_str) == Some("string") && is_any;
    if !is_text || begun.starts_with(['{', '[']) || begun.starts_with("```") {
        return None;
    }
    let text = match serde_json::from_str(arguments) {
        Ok(Value::String(text)) => text,
        Ok(Value::Null | Value::Bool(_)) => return None,
        _ => arguments.to_owned(),
    };
    let object = json!({member: text});
    (fits(&object, schema) == Some(true)).then(|| object.to_string())
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
