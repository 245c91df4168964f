//! The tools that clients run and that a body names only by type: what the model is told about them.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value as Tree;

/// A tool as a function. The arguments have the names that the clients' own code reads.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ClientTool {
    name: String,
    /// The first version with this form.
    #[serde(default)]
    since: String,
    pub(super) description: String,
    pub(super) parameters: Tree,
}

/// All tools, the forms of one by their versions.
static TOOLS: LazyLock<Vec<ClientTool>> =
    LazyLock::new(|| serde_json::from_str(include_str!("client_tools.json")).unwrap_or_default());

/// The tool of this name, as it was in this version.
pub(super) fn client_tool(name: &str, version: &str) -> Option<ClientTool> {
    let is_known = |tool: &&ClientTool| tool.name == name && *tool.since <= *version;
    TOOLS.iter().rfind(is_known).cloned()
}
