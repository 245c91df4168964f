//! What the tools of one rendering may take.

use serde_json::{Value, json};

use super::super::sink::{Limited, TextSink};
use super::{Budget, ToolSchemaStyle, namespace, write_tool_section};
use crate::error::{ErrorKind, Result};

/// Writes a tool named `f` with these parameters.
fn write(parameters: &Value, style: ToolSchemaStyle, budget: &mut Budget) -> Result<String> {
    let tool = json!({"name": "f", "description": "d", "parameters": parameters});
    let functions = json!({"name": "functions", "tools": [tool]});
    let mut out = String::new();
    write_tool_section(&mut out, [namespace(&functions)], style, budget).map(|()| out)
}

fn budget(written: usize, copied: usize) -> Budget {
    Budget { written, copied }
}

#[test]
fn the_budget_is_a_mebibyte_each() {
    let Budget { written, copied } = Budget::default();
    assert_eq!((written, copied), (1_048_576, 1_048_576));
}

#[test]
fn every_byte_that_is_written_counts() {
    let style = ToolSchemaStyle::Full;
    let schema = json!({"properties": {"a": {"description": "x", "type": "string"}}});
    let text = write(&schema, style, &mut budget(1_000, 0)).expect("a section");
    // All but the heading, which stands above all namespaces.
    let section = text.strip_prefix("# Tools\n\n").expect("a heading");
    let mut exact = budget(section.len(), 0);
    assert_eq!(write(&schema, style, &mut exact).as_ref(), Ok(&text));
    assert_eq!(exact.written, 0);
    for less in 0..section.len() {
        let error = write(&schema, style, &mut budget(less, 0)).expect_err("an error");
        let ErrorKind::InvalidSchema { name, reason } = error.kind() else {
            unreachable!("{error}")
        };
        let has_begun = less >= section.find("// d").expect("a comment");
        let has_ended = less >= section.find("} // name").expect("an end");
        assert_eq!(name, if has_begun && !has_ended { "f" } else { "functions" }, "{less}");
        let expected = "with it, the tools of the rendering take more than 1048576 bytes of text";
        assert_eq!(reason, expected);
    }
    assert!(write(&schema, ToolSchemaStyle::Compat, &mut budget(0, 0)).is_ok());
}

/// Eight bytes for each value, and the texts: `{"type": "string"}` is two values and ten letters.
#[test]
fn what_is_copied_counts_by_value_and_letter() {
    let one = json!({"$defs": {"a": {"type": "string"}}, "$ref": "#/$defs/a"});
    let both = json!({
        "$defs": {"a": [], "b": {"enum": [1, null, {"c": "déf"}]}},
        "properties": {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "#/$defs/b"}},
    });
    for (schema, cost) in [(one, 2 * 8 + 10), (both, 8 + 6 * 8 + "enumcdéf".len())] {
        let mut enough = budget(1_000, cost);
        assert!(write(&schema, ToolSchemaStyle::Full, &mut enough).is_ok(), "{schema}");
        assert_eq!(enough.copied, 0, "{schema}");
        let mut too_little = budget(1_000, cost - 1);
        let error = write(&schema, ToolSchemaStyle::Full, &mut too_little).expect_err("an error");
        assert!(error.to_string().contains("copy more than 1048576 bytes"), "{error}");
    }
}

#[test]
fn a_limited_text_is_cut_off_once_and_for_all() {
    let (mut out, mut left) = (String::new(), 6);
    let mut limited = Limited::new(&mut out, &mut left);
    limited.push_all(&["ab", "é"]);
    limited.push_indent(2);
    assert!(!limited.is_over());
    limited.push_str("");
    assert!(!limited.is_over());
    limited.push_str("x");
    assert!(limited.is_over());
    limited.push_str("");
    assert!(limited.is_over());
    assert_eq!((out.as_str(), left), ("abé  ", 0));

    let (mut out, mut left) = (String::new(), 5);
    let mut limited = Limited::new(&mut out, &mut left);
    limited.push_str("too long");
    limited.push_str("x");
    assert!(limited.is_over());
    assert_eq!((out.as_str(), left), ("", 5));
}

#[test]
fn an_indent_is_as_many_blanks() {
    for indent in [0, 1, 31, 32, 33, 64, 100] {
        let mut out = String::new();
        out.push_indent(indent);
        assert_eq!(out, " ".repeat(indent));
    }
}
