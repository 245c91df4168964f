//! What the tools of one rendering may take.

use openai_harmony::{Error, ErrorKind, Result, ToolSchemaStyle};
use serde_json::{Value, json};

use crate::write_section;

/// Bytes that tools may be written in, and bytes that their references may copy.
const LIMIT: usize = 1_048_576;

/// Writes a tool named `f` with these parameters, where `left` bytes may still be written.
fn write(parameters: &Value, style: ToolSchemaStyle, left: usize) -> Result<String> {
    const AROUND: usize = "## filler\n\n".len();
    let filler =
        json!({"name": "filler", "description": "x".repeat(LIMIT - left - AROUND), "tools": []});
    let tool = json!({"name": "f", "description": "d", "parameters": parameters});
    let functions = json!({"name": "functions", "tools": [tool]});
    let section = write_section(&json!([filler, functions]), style)?;
    let start = section.find("## functions").expect("a heading");
    Ok(section[start..].to_owned())
}

#[test]
fn the_budget_is_a_mebibyte_each() {
    let namespaces = |bytes: usize| {
        let tool = json!({"name": "f", "description": "x".repeat(bytes)});
        json!([{"name": "a", "tools": [tool]}, {"name": "b", "tools": [tool]}])
    };
    // What stands above all namespaces and between them does not count.
    let counted = |bytes| {
        let section = write_section(&namespaces(bytes), ToolSchemaStyle::Full)?;
        Ok::<_, Error>(section.len() - "# Tools\n\n".len() - "\n\n".len())
    };
    let around = counted(1).expect("a section") - 2;
    assert_eq!(around % 2, 0);
    let most = (LIMIT - around) / 2;
    assert_eq!(counted(most), Ok(LIMIT));
    assert!(counted(most + 1).is_err());
    // That of references: `what_is_copied_counts_by_value_and_letter`.
}

#[test]
fn every_byte_that_is_written_counts() {
    let style = ToolSchemaStyle::Full;
    let schema = json!({"properties": {"a": {"description": "x", "type": "string"}}});
    let section = write(&schema, style, 1_000).expect("a section");
    assert_eq!(write(&schema, style, section.len()).as_ref(), Ok(&section));
    for less in 0..section.len() {
        let error = write(&schema, style, less).expect_err("an error");
        let ErrorKind::InvalidSchema { name, reason } = error.kind() else {
            unreachable!("{error}")
        };
        let has_begun = less >= section.find("// d").expect("a comment");
        let has_ended = less >= section.find("} // name").expect("an end");
        assert_eq!(name, if has_begun && !has_ended { "f" } else { "functions" }, "{less}");
        let expected = "with it, the tools of the rendering take more than 1048576 bytes of text";
        assert_eq!(reason.to_string(), expected);
    }
    assert!(write(&schema, ToolSchemaStyle::Compat, 0).is_ok());
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
        let copied = |bytes: usize| {
            let mut schema = schema.clone();
            // Two values and the letters of a text that is not written.
            let text = "x".repeat(bytes - cost - 2 * 8 - "$comment".len());
            schema["$defs"]["filler"] = json!({"$comment": text});
            schema["allOf"] = json!([{"$ref": "#/$defs/filler"}]);
            write(&schema, ToolSchemaStyle::Full, 1_000)
        };
        assert!(copied(LIMIT).is_ok(), "{schema}");
        let error = copied(LIMIT + 1).expect_err("an error");
        assert!(error.to_string().contains("copy more than 1048576 bytes"), "{error}");
    }
}

/// What does not fit is left out, and nothing that comes after it makes up for that.
#[test]
fn a_limited_text_is_cut_off_once_and_for_all() {
    let written = |description: &str, left: usize| {
        let parameters = json!({"properties": {"a": {"description": description}}});
        write(&parameters, ToolSchemaStyle::Full, left)
    };
    let least = written("", LIMIT / 2).expect("a section").len();
    for (description, more) in [("x", "// x\n".len()), ("é", "// é\n".len())] {
        assert!(written(description, least + more).is_ok());
        // The line is too long where each other is short enough.
        assert!(written(description, least + more - 1).is_err());
    }
    let long = "x".repeat(2 * least);
    assert!(written(&long, 4 * least).is_ok());
    assert!(written(&long, 2 * least).is_err());
}

/// A type within a property is four blanks further in, one of several variants three.
#[test]
fn an_indent_is_as_many_blanks() {
    let field = |schema: &Value| json!({"type": "object", "properties": {"a": schema}});
    let variants = |schema: &Value| json!({"oneOf": [schema, {"type": "string"}]});
    for (fields, unions, indent) in
        [(0, 0, 0), (0, 1, 3), (7, 1, 31), (8, 0, 32), (6, 3, 33), (16, 0, 64), (25, 0, 100)]
    {
        let mut schema = json!({"type": "object", "properties": {"leaf": {"type": "string"}}});
        for _ in 0..fields {
            schema = field(&schema);
        }
        for _ in 0..unions {
            schema = field(&variants(&schema));
        }
        for style in [ToolSchemaStyle::Compat, ToolSchemaStyle::Full] {
            let section = write(&schema, style, 100_000).expect("a section");
            let line = format!("{}leaf?: string,", " ".repeat(indent));
            assert!(section.lines().any(|written| written == line), "{section}");
        }
    }
}
