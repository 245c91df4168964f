//! Toolsets that clients run, `browser_toolset_20260801`: each member is a function in a namespace, and its calls come
//! back with `toolset_name`.

use serde_json::{Map, Value as Tree, json};

use crate::error::Result;
use crate::interop::field::BodyObject;
use crate::interop::names::ToolId;
use crate::interop::request::Request;
use crate::interop::tools::DeclaredTool;
use crate::interop::{ToolKind, UnusedReason};

/// The members of each toolset: a description, and the type of each argument. `off` lists those that a body must
/// switch on.
static TOOLSETS: &str = include_str!("toolsets.json");

/// The toolset of a type: `browser`.
pub(super) fn of_type(kind: &str) -> Option<&'static str> {
    match kind {
        "computer_toolset_20260801" => Some("computer"),
        "browser_toolset_20260801" => Some("browser"),
        _ => None,
    }
}

/// Declares the members that a toolset's `configs` do not switch off.
pub(super) fn declare(
    toolset: &str,
    given: &BodyObject<'_, '_>,
    request: &mut Request<'_>,
    is_deferred: impl Fn(&BodyObject<'_, '_>) -> Result<bool>,
) -> Result<()> {
    let all: Tree = serde_json::from_str(TOOLSETS).unwrap_or_default();
    let members = || all[toolset].as_object().into_iter().flatten();
    let configs = given.object("configs")?;
    for (name, member) in members() {
        let config = configs.as_ref().map(|configs| configs.object(name)).transpose()?.flatten();
        let is_off =
            || all["off"].as_array().is_some_and(|off| off.contains(&name.as_str().into()));
        let enabled = config.as_ref().map(|config| config.bool("enabled")).transpose()?.flatten();
        if let Some(config) = &config {
            request.list_others(config, &["enabled", "defer_loading"]);
        }
        if !enabled.unwrap_or_else(|| !is_off()) {
            continue;
        }
        let id = ToolId::within(Some(toolset), name);
        let description = member[0].as_str().map(str::to_owned);
        let parameters = Some(schema_of(&member[1], &all["types"]));
        let mut tool = DeclaredTool::new(id, ToolKind::Function, description, parameters);
        tool.is_deferred = is_deferred(config.as_ref().unwrap_or(given))?;
        if !request.tools.add(tool) {
            request.list(&given.field(), UnusedReason::DuplicateTool);
        }
    }
    if let Some(configs) = configs {
        request
            .list_others(&configs, &members().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
    }
    request.list_others(given, &["type", "configs", "cache_control"]);
    Ok(())
}

/// The schema of arguments by name, each with its type; `?` follows the names of those that may be missing.
fn schema_of(arguments: &Tree, types: &Tree) -> Tree {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, kind) in arguments.as_object().into_iter().flatten() {
        let optional = name.strip_suffix('?');
        let schema = kind.as_str().and_then(|kind| types.get(kind)).cloned().unwrap_or_default();
        properties.insert(optional.unwrap_or(name).to_owned(), schema);
        required.extend(optional.is_none().then(|| name.clone()));
    }
    json!({"type": "object", "properties": properties, "required": required})
}
