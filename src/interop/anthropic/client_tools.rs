//! Tools that clients run and that a body names only by type, with a version: `bash_20250124`.

use serde_json::Value as Tree;

use crate::interop::client_tools::{ClientTool, client_tool};
use crate::interop::field::BodyObject;

/// The tools of this API.
const NAMES: [&str; 4] = ["bash", "text_editor", "memory", "computer"];

/// The members of such tools that tell the client how to run them.
pub(super) const SETTINGS: &[&str] =
    &["max_characters", "display_width_px", "display_height_px", "display_number", "enable_zoom"];

/// The tool of a type.
pub(super) fn of_type(kind: &str, tool: &BodyObject<'_, '_>) -> Option<ClientTool> {
    let (name, version) = kind.rsplit_once('_')?;
    let is_version = version.len() == 8 && version.bytes().all(|byte| byte.is_ascii_digit());
    if !is_version || !NAMES.contains(&name) {
        return None;
    }
    let mut found = client_tool(name, version)?;
    if tool.bool("enable_zoom").ok().flatten() != Some(true) {
        let properties = &mut found.parameters["properties"];
        if let Tree::Object(properties) = properties {
            properties.shift_remove("region");
        }
        if let Some(actions) = properties.pointer_mut("/action/enum").and_then(Tree::as_array_mut) {
            actions.retain(|action| action != "zoom");
        }
    }
    let pixels = |key| tool.number(key).ok().flatten();
    if name == "computer"
        && let Some((width, height)) = pixels("display_width_px").zip(pixels("display_height_px"))
    {
        let size = format!(" Its screen has {width} times {height} pixels.");
        found.description.push_str(&size);
    }
    Some(found)
}
