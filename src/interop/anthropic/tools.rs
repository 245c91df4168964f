//! Tools: those that the body declares, and those that are added or removed later.

use super::client_tools::{self, SETTINGS};
use super::toolsets;
use crate::error::Result;
use crate::interop::UnusedReason;
use crate::interop::field::{BodyField, BodyObject};
use crate::interop::names::ToolId;
use crate::interop::request::Request;
use crate::json::At;

/// A tool of the client, or one that servers run. `defers`: the body has a way to name deferred tools later.
pub(super) fn read_tool(
    tool: &BodyField<'_, '_>,
    defers: bool,
    request: &mut Request<'_>,
) -> Result<()> {
    declare(tool, request, |tool| Ok(tool.bool("defer_loading")?.unwrap_or(false) && defers))
}

/// `is_deferred`: the model sees it only once a later message names it.
fn declare(
    tool: &BodyField<'_, '_>,
    request: &mut Request<'_>,
    is_deferred: impl Fn(&BodyObject<'_, '_>) -> Result<bool>,
) -> Result<()> {
    let object = tool.object()?;
    match object.text("type")? {
        None | Some("custom" | "function") => {
            request.read_function(&object, "input_schema", None, Some(is_deferred(&object)?))
        }
        Some(kind) => {
            if let Some(client) = client_tools::of_type(kind, &object) {
                let is_deferred = is_deferred(&object)?;
                return request.declare_known(&object, client, SETTINGS, is_deferred);
            }
            if let Some(toolset) = toolsets::of_type(kind) {
                return toolsets::declare(toolset, &object, request, is_deferred);
            }
            request.server_tool(kind, tool);
            Ok(())
        }
    }
}

/// Whether a tool is the tool search that Anthropic's servers run. Nothing runs it here, so it would never name the
/// deferred tools.
pub(super) fn is_search_of_servers(tool: &BodyField<'_, '_>) -> bool {
    let kind = tool.at().get("type").and_then(At::as_str);
    kind.is_some_and(|kind| kind.starts_with("tool_search_tool"))
}

/// Whether a block adds or removes a tool.
pub(super) fn is_change(kind: &str) -> bool {
    matches!(kind, "tool_addition" | "tool_removal")
}

/// A block that removes a tool or adds one, which the body or the block itself declares.
pub(super) fn read_change(block: &BodyField<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    let object = block.object()?;
    let is_removal = object.required("type")?.text()? == "tool_removal";
    let tool = object.required("tool")?;
    let tool = tool.object()?;
    let kind = tool.required("type")?;
    match kind.text()? {
        "tool_reference" => {
            let name = tool.required("name")?;
            let id = request.tools.declared_id(ToolId::new(name.text()?));
            let unknown = UnusedReason::UnknownTool(id.name.clone());
            request.changed.push((id.clone(), name.unused(unknown)));
            if is_removal {
                request.history.removed(id);
            } else {
                request.history.added(vec![id]);
            }
        }
        "tool_definition" if !is_removal => {
            let definition = tool.required("definition")?;
            let name = definition.object()?.required("name")?.text()?.to_owned();
            declare(&definition, request, |_| Ok(true))?;
            request.history.added(vec![ToolId::new(name)]);
        }
        other => request.list(block, UnusedReason::TypeNotUsed(other.to_owned())),
    }
    Ok(())
}
