//! Tools, and the choice of one, in Responses' form: flat, each with its type, some in namespaces.

use crate::error::Result;
use crate::interop::choice::Chosen;
use crate::interop::field::BodyObject;
use crate::interop::names::ToolId;
use crate::interop::request::Request;
use crate::interop::{BuiltinTool, ToolKind, UnusedReason};

/// Reads the `tools` of a body, or of an item: functions, free-form tools, namespaces of such tools, and tools that
/// servers run.
pub(super) fn read_tools(object: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    object.each("tools", |tool| {
        let object = tool.object()?;
        match object.required("type")?.text_unless_null()?.unwrap_or("function") {
            "namespace" => read_namespace(&object, request),
            kind if is_own(kind) => read_own(kind, &object, None, request),
            kind => {
                match ToolKind::of_client(kind).filter(|_| !is_hosted(&object)) {
                    Some(kind) => request.declare_client(kind, &object),
                    None => request.server_tool(kind, tool),
                }
                Ok(())
            }
        }
    })
}

/// Whether a shell is one that `OpenAI`'s servers run: a container.
fn is_hosted(tool: &BodyObject<'_, '_>) -> bool {
    let environment = tool.get("environment");
    let kind = environment.and_then(|environment| environment.at().get("type")?.as_str());
    kind.is_some_and(|kind| kind != "local")
}

/// Whether a tool of this type is the client's.
fn is_own(kind: &str) -> bool {
    matches!(kind, "function" | "custom")
}

fn read_own(
    kind: &str,
    tool: &BodyObject<'_, '_>,
    namespace: Option<&str>,
    request: &mut Request<'_>,
) -> Result<()> {
    request.list_beside(tool, kind);
    let tool = tool.object_or_self(kind)?;
    if kind == "custom" {
        request.read_custom(&tool, namespace)
    } else {
        request.read_function(&tool, "parameters", namespace, None)
    }
}

/// The members of a namespace are tools like any other, under both names.
fn read_namespace(namespace: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    let field = namespace.required("name")?;
    let name = field.text()?;
    if name.is_empty() {
        return Err(field.invalid("a namespace needs a name"));
    }
    if let Some(description) = namespace.text("description")?.filter(|text| !text.is_empty()) {
        request.tools.namespaces.push(format!("{name}: {description}"));
    }
    for tool in namespace.required("tools")?.items()? {
        let object = tool.object()?;
        match object.text("type")?.unwrap_or("function") {
            kind if is_own(kind) => read_own(kind, &object, Some(name), request)?,
            kind => request.list(&tool, UnusedReason::ToolNotRun(kind.to_owned())),
        }
    }
    request.list_others(namespace, &["type", "name", "description", "tools"]);
    Ok(())
}

/// The tool that a choice names: the client's by its name, one that servers run by its type.
pub(super) fn read_chosen(chosen: &BodyObject<'_, '_>) -> Result<Chosen> {
    let kind = chosen.required("type")?;
    let word = kind.text()?;
    if !is_own(word) {
        let left_out = kind.unused(UnusedReason::ToolNotRun(word.to_owned()));
        if ToolKind::of_client(word).is_some() {
            return Ok(Chosen::OfClient(ToolId::new(word), left_out));
        }
        return Ok(Chosen::Builtin(BuiltinTool::of_type(word), left_out));
    }
    let namespace = chosen.text("namespace")?;
    let named = chosen.object_or_self(word)?;
    let name = named.required("name")?;
    Ok(Chosen::tool(ToolId::within(namespace, name.text()?), &name))
}
