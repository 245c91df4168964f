//! The golden cases and laws of the tools' text.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod budget;
mod compat;
mod depth;
mod full;
mod grammar;
mod names;
mod strategies;
mod types;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::{Budget, Namespace, Parameters, Tool, ToolSchemaStyle, write_tool_section};
use crate::error::Result;

/// Writes namespaces given as JSON, `[{"name", "description", "tools": [...]}]`.
fn write_section(namespaces: &Value, style: ToolSchemaStyle) -> Result<String> {
    let mut out = String::new();
    let namespaces = namespaces.as_array().expect("a list of namespaces");
    let namespaces = namespaces.iter().map(namespace);
    write_tool_section(&mut out, namespaces, style, &mut Budget::default())?;
    Ok(out)
}

fn namespace(namespace: &Value) -> Namespace<'_> {
    let tools = namespace["tools"].as_array().expect("a list of tools");
    let tools = tools.iter().map(|tool| Tool {
        name: tool["name"].as_str().expect("a name"),
        description: tool["description"].as_str(),
        parameters: tool.get("parameters").map(Parameters::Tree),
    });
    Namespace {
        name: namespace["name"].as_str().expect("a name"),
        description: namespace["description"].as_str(),
        tools: tools.collect(),
    }
}

/// The JSON files of a folder below `tests/golden/typescript`, with their names.
fn golden_files(folder: &str) -> Vec<(PathBuf, Value)> {
    let folder =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/typescript").join(folder);
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a readable file");
        let json = serde_json::from_str(&text).expect("valid JSON");
        (path, json)
    };
    paths.into_iter().map(read).collect()
}
