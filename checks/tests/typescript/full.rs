//! `Full`: golden cases, and the law that any schema gives valid TypeScript.

use std::collections::HashSet;
use std::fs;

use openai_harmony::ToolSchemaStyle;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::grammar::declared_types;
use crate::strategies::{name, plain_schema, text, tools};
use crate::{golden_files, write_section};

/// Each `<case>.json` beside its `<case>.txt`. `UPDATE_GOLDEN=1` writes the texts again, to be read
/// before they are committed; those of the guide must not change, they are its own.
#[test]
fn golden_cases() {
    for (path, namespaces) in golden_files("full") {
        let section = write_section(&namespaces, ToolSchemaStyle::Full).expect("a section") + "\n";
        let expected = path.with_extension("txt");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&expected, &section).expect("a writable file");
        }
        let text = fs::read_to_string(&expected).expect("a readable file");
        assert_eq!(section, text, "{}", expected.display());
    }
}

#[test]
fn the_guide_is_met_by_both_styles() {
    let guide = golden_files("full")
        .into_iter()
        .filter(|(path, _)| path.to_string_lossy().contains("guide_"));
    let mut count = 0;
    for (path, namespaces) in guide {
        let text = fs::read_to_string(path.with_extension("txt")).expect("a readable file");
        for style in [ToolSchemaStyle::Compat, ToolSchemaStyle::Full] {
            assert_eq!(write_section(&namespaces, style).expect("a section") + "\n", text);
        }
        count += 1;
    }
    assert_eq!(count, 2);
}

/// The tool of docs/schema.md and its text in either style.
#[test]
fn the_document_shows_what_is_written() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schema.md");
    let document = fs::read_to_string(path).expect("a readable file");
    let (_, shown) = document.split_once("```json\n").expect("a schema");
    let mut blocks = shown.split("```typescript\n").map(|block| block.split("```").next());
    let mut block = || blocks.next().flatten().expect("a block");
    let tool: Value = serde_json::from_str(block()).expect("valid JSON");
    let namespaces = json!([{"name": "functions", "tools": [tool]}]);
    for style in [ToolSchemaStyle::Compat, ToolSchemaStyle::Full] {
        let section = write_section(&namespaces, style).expect("a section");
        let (_, declared) = section.split_once("{\n\n").expect("a namespace");
        assert_eq!(declared, format!("{}\n}} // namespace functions", block()));
    }
}

/// At least 2,000 cases, more if `PROPTEST_CASES` says so.
fn config() -> ProptestConfig {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    ProptestConfig { cases: config.cases.max(2_000), ..config }
}

proptest! {
    #![proptest_config(config())]

    /// Names are declared as they are, which is not always TypeScript; with identifiers instead of
    /// them, every section is.
    #[test]
    fn any_schema_gives_one_namespace_of_one_type_per_tool(
        name in name(),
        description in text(),
        tools in tools(),
    ) {
        let namespaces = json!([{"name": name, "description": description, "tools": tools}]);
        let section = write_section(&namespaces, ToolSchemaStyle::Full);
        let (replaced, identifiers) = with_identifiers(&namespaces);
        let with_identifiers = write_section(&replaced, ToolSchemaStyle::Full).expect("a section");
        prop_assert_eq!(&declared_types(&with_identifiers), &identifiers);
        let names: Vec<_> = tools.as_array().expect("a list").iter().map(name_of).collect();
        if names.iter().collect::<HashSet<_>>().len() < names.len() {
            prop_assert!(section.is_err());
            return Ok(());
        }
        let mut expected = with_identifiers.replace("namespace_of_the_test", &name);
        for (identifier, name) in identifiers.iter().zip(names) {
            expected = expected.replace(&format!("type {identifier} = ("), &format!("type {name} = ("));
        }
        prop_assert_eq!(section.expect("a section"), expected);
    }
}

fn name_of(tool: &Value) -> &str {
    tool["name"].as_str().expect("a name")
}

/// The namespace and its tools under identifiers that nothing else contains, and those of the tools.
fn with_identifiers(namespaces: &Value) -> (Value, Vec<String>) {
    let mut replaced = namespaces.clone();
    replaced[0]["name"] = "namespace_of_the_test".into();
    let tools = replaced[0]["tools"].as_array_mut().expect("a list");
    let identifiers: Vec<_> =
        (0..tools.len()).map(|index| format!("tool_of_the_test_{index}_")).collect();
    for (tool, identifier) in tools.iter_mut().zip(&identifiers) {
        tool["name"] = identifier.as_str().into();
    }
    (replaced, identifiers)
}

proptest! {
    #![proptest_config(config())]

    /// What 0.0.8 writes rightly, `Full` writes alike: the model has seen that form.
    #[test]
    fn plain_schemas_are_written_as_by_compat(parameters in plain_schema()) {
        let tool = json!({"name": "f", "description": "F", "parameters": parameters});
        let namespaces = json!([{"name": "functions", "tools": [tool]}]);
        prop_assert_eq!(
            write_section(&namespaces, ToolSchemaStyle::Full),
            write_section(&namespaces, ToolSchemaStyle::Compat)
        );
    }
}
