//! The tools of Responses that clients run themselves and that a body names only by type (`apply_patch`, `shell`,
//! `local_shell`, `tool_search`): as functions, and their calls in the form that clients expect.

use serde_json::{Map, Value as Tree, json};

use super::body::parse_arguments;
use super::tools::is_object;
use super::{Tool, ToolKind};
use crate::options::Choice as _;

/// The tools: the type of the item of a call, its field with the call, and the prefix of its id.
const CLIENT_CALLS: [(ToolKind, [&str; 3]); 4] = [
    (ToolKind::ApplyPatch, ["apply_patch_call", "operation", "apc_"]),
    (ToolKind::Shell, ["shell_call", "action", "sh_"]),
    (ToolKind::LocalShell, ["local_shell_call", "action", "lsh_"]),
    (ToolKind::ToolSearch, ["tool_search_call", "arguments", "tsc_"]),
];

impl ToolKind {
    /// The tool for a type in Responses, which is also its name.
    pub(super) fn of_client(kind: &str) -> Option<Self> {
        CLIENT_CALLS.iter().map(|(tool, _)| *tool).find(|tool| tool.word() == Some(kind))
    }

    /// The type of a call's item, its field that contains the call, and the prefix of its id.
    pub(super) fn client_call(self) -> Option<[&'static str; 3]> {
        CLIENT_CALLS.iter().find(|(tool, _)| *tool == self).map(|(_, call)| *call)
    }

    /// Whether the client reads a call's arguments as a JSON object, so that they are held back until they are
    /// complete.
    pub(super) fn takes_object(self) -> bool {
        self.client_call().is_some()
    }

    /// The form of a call's arguments that the client expects; `None` if they cannot be run.
    fn called(self, arguments: &Map<String, Tree>) -> Option<Tree> {
        match self {
            Self::ApplyPatch => operation(arguments),
            Self::Shell => {
                let given = arguments.get("commands").or_else(|| arguments.get("command"))?;
                let commands = match given {
                    Tree::String(command) => vec![command.clone()],
                    given => texts(given)?,
                };
                let count = |key| arguments.get(key).filter(|count| count.is_u64());
                Some(json!({
                    "commands": commands,
                    "timeout_ms": count("timeout_ms"),
                    "max_output_length": count("max_output_length"),
                }))
            }
            Self::LocalShell => {
                let command = match arguments.get("command")? {
                    Tree::String(line) => ["bash", "-lc", line].map(str::to_owned).to_vec(),
                    given => texts(given)?,
                };
                let env = arguments.get("env").filter(|env| env.is_object());
                let text = |key| arguments.get(key).filter(|text| text.is_string());
                Some(json!({
                    "type": "exec",
                    "command": command,
                    "env": env.cloned().unwrap_or_else(|| json!({})),
                    "timeout_ms": arguments.get("timeout_ms").filter(|count| count.is_u64()),
                    "working_directory": text("working_directory"),
                    "user": text("user"),
                }))
            }
            Self::ToolSearch => Some(Tree::Object(arguments.clone())),
            Self::Function | Self::Custom | Self::Builtin => None,
        }
    }
}

/// Whether a call with these arguments can be given to a client that reads them as an object.
pub(super) fn is_callable(tool: &Tool, arguments: &str) -> bool {
    if tool.kind.takes_object() {
        called(tool.kind, arguments).is_some()
    } else {
        is_object(arguments)
    }
}

/// The value that a client of Responses reads in place of these arguments; `None` if they cannot be run.
pub(super) fn called(kind: ToolKind, arguments: &str) -> Option<Tree> {
    kind.called(parse_arguments(arguments)?.at().to_tree().as_object()?)
}

/// An operation on a file; some models wrap it in a member `operation`.
fn operation(arguments: &Map<String, Tree>) -> Option<Tree> {
    let arguments = arguments.get("operation").and_then(Tree::as_object).unwrap_or(arguments);
    let text = |key| arguments.get(key).and_then(Tree::as_str);
    let (kind, path) = (text("type")?, text("path")?);
    match kind {
        "create_file" | "update_file" => {
            Some(json!({"type": kind, "path": path, "diff": text("diff")?}))
        }
        "delete_file" => Some(json!({"type": kind, "path": path})),
        _ => None,
    }
}

/// A list of texts that is not empty.
fn texts(list: &Tree) -> Option<Vec<String>> {
    let list = list.as_array().filter(|list| !list.is_empty())?;
    list.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}
