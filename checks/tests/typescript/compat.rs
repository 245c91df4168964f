//! `Compat` against the text that 0.0.8 itself has written.

use std::fmt::Display;

use openai_harmony::ToolSchemaStyle;
use serde_json::{Value, json};

use crate::{golden_files, write_section};

fn assert_equals_oracle(case: &Value, origin: impl Display) {
    let namespaces = &case["namespaces"];
    let text = write_section(namespaces, ToolSchemaStyle::Compat).expect("a section");
    assert_eq!(text, case["text"].as_str().expect("a text"), "{origin}: {namespaces}");
}

#[test]
fn golden_cases_equal_the_oracle() {
    let mut count = 0;
    for (path, file) in golden_files("compat") {
        for case in file["cases"].as_array().expect("a list of cases") {
            assert_equals_oracle(case, path.display());
            count += 1;
        }
    }
    assert!(count > 100, "only {count} cases found");
}

#[test]
fn no_description_and_an_empty_one_write_no_comment() {
    for description in [json!(null), json!("")] {
        let tool = json!({"name": "f", "description": description});
        let namespaces = json!([{"name": "functions", "tools": [tool]}]);
        assert_eq!(
            write_section(&namespaces, ToolSchemaStyle::Compat).expect("a section"),
            "# Tools\n\n## functions\n\nnamespace functions {\n\ntype f = () => any;\n\n\
             } // namespace functions"
        );
    }
}

#[test]
fn what_is_no_schema_is_any() {
    for schema in [json!(null), json!(3), json!("x"), json!([]), json!(true), json!({})] {
        let tool = json!({"name": "f", "parameters": schema});
        let namespaces = json!([{"name": "functions", "tools": [tool]}]);
        let text = write_section(&namespaces, ToolSchemaStyle::Compat).expect("a section");
        assert!(text.contains("\ntype f = (_: any) => any;\n"), "{text}");
    }
}
