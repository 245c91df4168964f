//! `Full`: golden cases, and the law that any schema gives valid TypeScript.

use std::collections::HashSet;
use std::fs;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::grammar::{declared_types, grammar_words};
use super::strategies::{plain_schema, text, tools};
use super::{ToolSchemaStyle, golden_files, write_section};
use crate::error::ErrorKind;

/// Each `<case>.json` beside its `<case>.txt`. `UPDATE_GOLDEN=1` writes the texts anew, to be read
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
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/schema.md");
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

#[test]
fn names_that_are_missing_or_come_twice_are_errors() {
    let tool = |name: &str| json!({"name": name});
    let cases = [
        (
            json!([{"name": "", "tools": [tool("f")]}]),
            "Invalid schema of \"\": a namespace needs a name",
        ),
        (
            json!([{"name": "n", "tools": [tool("")]}]),
            "Invalid schema of \"\": a tool needs a name",
        ),
        (
            json!([{"name": "n", "tools": [tool("f"), tool("f")]}]),
            "Invalid schema of \"f\": two tools of the namespace have this name",
        ),
    ];
    for (namespaces, message) in cases {
        let error = write_section(&namespaces, ToolSchemaStyle::Full).expect_err("an error");
        assert_eq!(error.to_string(), message);
    }
}

/// Every word of TypeScript's grammar can name a namespace, a tool and a property.
#[test]
fn words_of_the_grammar_are_names() {
    for word in grammar_words() {
        for required in [json!([]), json!([word])] {
            let properties = json!({(word): {"type": "string"}});
            let parameters = json!({"properties": properties, "required": required});
            let tools = json!([{"name": word}, {"name": "f", "parameters": parameters}]);
            let namespaces = json!([{"name": word, "tools": tools}]);
            let section = write_section(&namespaces, ToolSchemaStyle::Full).expect("a section");
            assert_eq!(declared_types(&section).len(), 2, "{section}");
        }
    }
}

/// At least 2,000 cases, more if `PROPTEST_CASES` says so.
fn config() -> ProptestConfig {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    ProptestConfig { cases: config.cases.max(2_000), ..config }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_schema_gives_one_namespace_of_one_type_per_tool(
        name in text(),
        description in text(),
        tools in tools(),
    ) {
        let namespaces = json!([{"name": name, "description": description, "tools": tools}]);
        let names: Vec<_> = tools.as_array().expect("a list").iter().map(|t| t["name"].as_str().expect("a name")).collect();
        let is_ambiguous = names.iter().collect::<HashSet<_>>().len() < names.len();
        match write_section(&namespaces, ToolSchemaStyle::Full) {
            Ok(section) => {
                prop_assert_eq!(declared_types(&section).len(), names.len());
                for name in names {
                    let declared = format!("type {name} = (");
                    let told = format!("// name: {}", json!(name));
                    prop_assert!(section.contains(&declared) || section.contains(&told) || name.contains(is_escaped));
                }
            }
            Err(error) => {
                let is_invalid = matches!(error.kind(), ErrorKind::InvalidSchema { .. });
                prop_assert!(is_invalid && (is_ambiguous || name.is_empty() || names.contains(&"")), "{}", error);
            }
        }
    }
}

fn is_escaped(char: char) -> bool {
    char.is_control() || matches!(char, '\u{2028}' | '\u{2029}')
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
