//! Names: declared as they are called, or refused.

use openai_harmony::{ErrorKind, Result, ToolSchemaStyle};
use proptest::prelude::*;
use serde_json::json;

use crate::strategies::text;
use crate::write_section;

/// A section of one tool.
fn section(namespace: &str, tool: &str) -> Result<String> {
    let namespaces = json!([{"name": namespace, "tools": [{"name": tool}]}]);
    write_section(&namespaces, ToolSchemaStyle::Full)
}

#[test]
fn names_are_declared_as_they_are() {
    for name in [
        "find-flights",
        "a.b",
        "1st",
        "é日本",
        "server/tool",
        "@scope/x:y",
        "delete",
        "as",
        "#x",
        "$",
        "⚡",
    ] {
        let text = section(name, name).expect("a section");
        let declared = format!("type {name} = () => any;");
        assert_eq!(
            text,
            format!(
                "# Tools\n\n## {name}\n\nnamespace {name} {{\n\n{declared}\n\n}} // namespace {name}"
            )
        );
        let namespaces = json!([{"name": name, "tools": [{"name": name}]}]);
        assert_eq!(write_section(&namespaces, ToolSchemaStyle::Compat).expect("a section"), text);
    }
}

/// Blanks, invisible characters, markers, and whatever could close one declaration or open another.
#[test]
fn other_names_are_errors_that_name_them() {
    let structure = "must not contain a bracket, a quote, `=`, `;` or the beginning of a comment";
    let blank = "must not contain spaces, control characters or other invisible characters";
    for (name, flaw) in [
        ("", "must not be empty"),
        ("a b", blank),
        ("a\n} // namespace functions", blank),
        ("a\u{2028}b", blank),
        ("a\u{200b}b", blank),
        ("a\u{fe0f}", blank),
        ("<|end|>", "must not spell a marker"),
        ("to=f", "must not begin with to="),
        ("f=()=>any;type/**/g", structure),
        ("f;", structure),
        ("f}", structure),
        ("f{", structure),
        ("f(", structure),
        ("f)", structure),
        ("f[", structure),
        ("f]", structure),
        ("f<", structure),
        ("f>", structure),
        ("f\"", structure),
        ("f'", structure),
        ("f`", structure),
        ("f//", structure),
        ("f/*", structure),
    ] {
        let named = |what: &str| {
            let reason = format!("the {what}'s name {flaw}");
            ErrorKind::InvalidSchema { name: name.to_owned(), reason: reason.into() }
        };
        assert_eq!(section("functions", name).expect_err("an error").kind(), &named("tool"));
        assert_eq!(section(name, "f").expect_err("an error").kind(), &named("namespace"));
        let empty = json!([{"name": name, "tools": []}]);
        let error = write_section(&empty, ToolSchemaStyle::Full).expect_err("an error");
        assert_eq!(error.kind(), &named("namespace"));
    }
}

#[test]
fn two_tools_of_one_name_are_an_error() {
    let tool = json!({"name": "f"});
    let namespaces = json!([{"name": "functions", "tools": [tool, tool]}]);
    let error = write_section(&namespaces, ToolSchemaStyle::Full).expect_err("an error");
    assert_eq!(
        error.to_string(),
        "Invalid schema of \"f\": two tools of the namespace have this name"
    );
    let elsewhere = json!([{"name": "a", "tools": [tool]}, {"name": "b", "tools": [tool]}]);
    assert!(write_section(&elsewhere, ToolSchemaStyle::Full).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A hostile name is refused, or it has no part in how the section is taken apart.
    #[test]
    fn no_name_ends_its_declaration(name in text()) {
        match section("functions", &name) {
            Ok(text) => {
                let declared = format!("\ntype {name} = () => any;\n");
                prop_assert!(text.contains(&declared), "{}", text);
                prop_assert_eq!(text.matches(['{', '}', '=', ';']).count(), 5);
                prop_assert_eq!(text.lines().count(), 9);
            }
            Err(error) => {
                let is_named = matches!(error.kind(), ErrorKind::InvalidSchema { name: named, .. } if *named == name);
                prop_assert!(is_named, "{}", error);
            }
        }
    }
}
