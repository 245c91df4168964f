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

use openai_harmony::chat::{DeveloperContent, Message, Role, ToolDescription, ToolNamespaceConfig};
use openai_harmony::{
    HarmonyEncodingName, RenderConfig, Result, ToolSchemaStyle, load_harmony_encoding,
};
use serde_json::Value;

/// Writes namespaces given as JSON, `[{"name", "description", "tools": [...]}]`, in their order.
fn write_section(namespaces: &Value, style: ToolSchemaStyle) -> Result<String> {
    let namespaces = namespaces.as_array().expect("a list of namespaces");
    section_of(&message(namespaces.iter().map(namespace)), style)
}

fn namespace(namespace: &Value) -> ToolNamespaceConfig {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let tools = namespace["tools"].as_array().expect("a list of tools");
    let tools = tools.iter().map(|tool| ToolDescription {
        name: text(&tool["name"]).expect("a name"),
        description: text(&tool["description"]),
        parameters: tool.get("parameters").cloned(),
    });
    let name = text(&namespace["name"]).expect("a name");
    ToolNamespaceConfig::new(name, text(&namespace["description"]), tools.collect())
}

/// A developer message with these namespaces, under keys that keep their order, and nothing else.
fn message(namespaces: impl IntoIterator<Item = ToolNamespaceConfig>) -> Message {
    let key = |index: usize| format!("{index:04}");
    let namespaces = namespaces.into_iter().enumerate();
    let tools = namespaces.map(|(index, namespace)| (key(index), namespace)).collect();
    let content = DeveloperContent { tools: Some(tools), ..DeveloperContent::new() };
    Message::from_role_and_content(Role::Developer, content)
}

/// The text of a message that has only tools.
fn section_of(message: &Message, style: ToolSchemaStyle) -> Result<String> {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    let config = RenderConfig::new().with_tool_schema(style);
    let text = encoding.tokenizer().decode_utf8(encoding.render_with(message, &config)?)?;
    let section = text.strip_prefix("<|start|>developer<|message|>").expect("a header");
    Ok(section.strip_suffix("<|end|>").expect("an end").to_owned())
}

/// The JSON files of a folder below `tests/golden/typescript`, with their names.
fn golden_files(folder: &str) -> Vec<(PathBuf, Value)> {
    let folder =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/typescript").join(folder);
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
