//! Tools and the choice among them.

use crate::error::Result;
use crate::interop::choice::{Choice, Chosen};
use crate::interop::field::{BodyField, BodyObject};
use crate::interop::pairs::ToolId;
use crate::interop::request::Request;
use crate::interop::{ReadOptions, ToolKind, UnusedReason};
use crate::json::Value;

/// Reads a list of tools.
pub(super) fn read_tools(
    tools: &BodyField<'_, '_>,
    options: &ReadOptions,
    request: &mut Request,
) -> Result<()> {
    tools.items()?.try_for_each(|tool| read_tool(&tool, options, request))
}

fn read_tool(tool: &BodyField<'_, '_>, options: &ReadOptions, request: &mut Request) -> Result<()> {
    let object = tool.object()?;
    let kind = object.required("type")?.text()?;
    if kind == "namespace" {
        return read_namespace(&object, request);
    }
    if !read_own(kind, &object, None, request)? {
        request.tools.server_tool(kind, tool, options, &mut request.unused);
    }
    Ok(())
}

/// Reads a tool that the client runs; `false` if it is none.
fn read_own(
    kind: &str,
    tool: &BodyObject<'_, '_>,
    namespace: Option<&str>,
    request: &mut Request,
) -> Result<bool> {
    let unused = &mut request.unused;
    match kind {
        "function" => {
            // Some clients nest it as chat does.
            let nested = tool.get("function");
            let nested = nested.as_ref().map(BodyField::object).transpose()?;
            let function = nested.as_ref().unwrap_or(tool);
            request.tools.function(function, "parameters", namespace, unused)?;
        }
        "custom" => request.tools.custom(tool, namespace, unused)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// The members of a namespace are tools like any other, under both names.
fn read_namespace(namespace: &BodyObject<'_, '_>, request: &mut Request) -> Result<()> {
    let name = namespace.required("name")?;
    let text = name.text()?;
    if text.is_empty() {
        return Err(name.invalid("a namespace needs a name"));
    }
    request.tools.namespace(text, namespace.text("description")?.unwrap_or_default());
    let tools = namespace.required("tools")?;
    for tool in tools.items()? {
        let object = tool.object()?;
        let kind = object.text("type")?.unwrap_or("function");
        if !read_own(kind, &object, Some(text), request)? {
            let reason = UnusedReason::ToolNotRun(kind.to_owned());
            request.unused.push(tool.unused(reason));
        }
    }
    request.unused.extend(
        namespace.others(&["type", "name", "description", "tools"]).map(|field| field.not_read()),
    );
    Ok(())
}

/// Reads `tool_choice`.
pub(super) fn read_choice(choice: &BodyField<'_, '_>) -> Result<Choice> {
    if let Value::String(word) = choice.value() {
        let known = &["auto", "none", "required"];
        return Choice::word(word, choice).ok_or_else(|| choice.unknown("choice", word, known));
    }
    let object = choice.object()?;
    if object.text("type")? != Some("allowed_tools") {
        return read_chosen(&object).map(Choice::Named);
    }
    let tools = object.required("tools")?;
    let tools = tools.items()?.map(|tool| read_chosen(&tool.object()?)).collect::<Result<_>>()?;
    Ok(Choice::Allowed { tools, required: object.text("mode")? == Some("required") })
}

fn read_chosen(chosen: &BodyObject<'_, '_>) -> Result<Chosen> {
    let kind = chosen.required("type")?;
    let word = kind.text()?;
    if !matches!(word, "function" | "custom") {
        return Ok(Chosen::server_tool(word, &kind));
    }
    let nested = chosen.get("function");
    let nested = nested.as_ref().map(BodyField::object).transpose()?;
    let named = nested.as_ref().unwrap_or(chosen);
    let name = named.required("name")?;
    let namespace = chosen.text("namespace")?.map(str::to_owned);
    Ok(Chosen::tool(ToolId { namespace, name: name.text()?.to_owned() }, &name))
}

/// The tool of a call or of its result.
pub(super) fn read_tool_id(item: &BodyObject<'_, '_>) -> Result<Option<ToolId>> {
    let Some(name) = item.text("name")? else { return Ok(None) };
    let namespace = item.text("namespace")?.map(str::to_owned);
    Ok(Some(ToolId { namespace, name: name.to_owned() }))
}

/// The kind of a call's item.
pub(super) fn kind_of_call(item: &str) -> ToolKind {
    if item == "custom_tool_call" { ToolKind::Custom } else { ToolKind::Function }
}
