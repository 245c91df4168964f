//! Deep and self-multiplying schemas: an error or a bounded text, never an exhausted stack.

use std::mem::ManuallyDrop;

use openai_harmony::chat::{Message, ToolDescription, ToolNamespaceConfig};
use openai_harmony::{ErrorKind, Result, ToolSchemaStyle};
use serde_json::{Value, json};

use crate::grammar::declared_types;
use crate::{message, section_of};

/// A message with a tool `deep`.
fn deep(parameters: Value) -> Message {
    let name = "deep".to_owned();
    let tool = ToolDescription { name, description: None, parameters: Some(parameters) };
    message([ToolNamespaceConfig::functions(vec![tool])])
}

fn section(parameters: Value, style: ToolSchemaStyle) -> Result<String> {
    section_of(&deep(parameters), style)
}

/// An object, made without the recursion of `json!`.
fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn nested(levels: usize, wrap: impl Fn(Value) -> Value) -> Value {
    (0..levels).fold(object([("type", "string".into())]), |inner, _| wrap(inner))
}

fn wraps() -> [fn(Value) -> Value; 7] {
    [
        |inner| object([("type", "array".into()), ("items", inner)]),
        |inner| object([("type", "object".into()), ("properties", object([("a", inner)]))]),
        |inner| object([("oneOf", Value::Array(vec![inner]))]),
        |inner| object([("allOf", Value::Array(vec![inner]))]),
        |inner| object([("type", "string".into()), ("default", inner)]),
        |inner| object([("not", inner)]),
        |inner| Value::Array(vec![inner]),
    ]
}

#[test]
fn ten_thousand_levels_are_an_error() {
    for wrap in wraps() {
        // Dropping it would itself exhaust the stack of a test.
        let message = ManuallyDrop::new(deep(nested(10_000, wrap)));
        for style in [ToolSchemaStyle::Compat, ToolSchemaStyle::Full] {
            let error = section_of(&message, style).expect_err("an error");
            let reason = "nested more than 128 levels deep".to_owned();
            assert_eq!(
                error.kind(),
                &ErrorKind::InvalidSchema { name: "deep".to_owned(), reason: reason.into() }
            );
        }
    }
}

/// 0.0.8 reads 119 levels of a tool's parameters in a message.
#[test]
fn what_0_0_8_can_read_is_no_error() {
    for wrap in wraps() {
        let levels =
            if wrap(Value::Null).to_string().matches(['{', '[']).count() > 1 { 59 } else { 119 };
        let message = deep(nested(levels, wrap));
        assert!(section_of(&message, ToolSchemaStyle::Compat).is_ok());
        let section = section_of(&message, ToolSchemaStyle::Full).expect("a section");
        assert_eq!(declared_types(&section), ["deep"]);
    }
}

/// A chain of definitions, each of which refers to the next through `link`.
fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
    let reference = |index: usize| json!({"$ref": format!("#/$defs/d{index}")});
    let link = |index| (format!("d{index}"), link(reference(index + 1)));
    let mut defs: serde_json::Map<_, _> = (0..length).map(link).collect();
    defs.insert(format!("d{length}"), json!({"type": "string"}));
    json!({"$defs": defs, "allOf": [reference(0)]})
}

#[test]
fn long_chains_of_references_are_an_error() {
    let links: [fn(Value) -> Value; 3] =
        [|next| next, |next| json!({"allOf": [next]}), |next| json!({"properties": {"a": next}})];
    for link in links {
        let text = section(chain(40, link), ToolSchemaStyle::Full).expect("a section");
        assert!(text.contains("string"), "{text}");
        let error = section(chain(10_000, link), ToolSchemaStyle::Full).expect_err("an error");
        let reason = "references lead more than 128 levels deep".to_owned();
        assert_eq!(
            error.kind(),
            &ErrorKind::InvalidSchema { name: "deep".to_owned(), reason: reason.into() }
        );
    }
}

#[test]
fn references_that_double_without_end_are_an_error() {
    let doubled = |next: Value| json!({"properties": {"a": next, "b": next}});
    let merged = |next: Value| json!({"allOf": [next, next]});
    for link in [doubled, merged] {
        assert!(section(chain(5, link), ToolSchemaStyle::Full).is_ok());
        let error = section(chain(30, link), ToolSchemaStyle::Full).expect_err("an error");
        let reason = "with it, references of the rendering's tools copy more than 1048576 bytes";
        let (name, reason) = ("deep".to_owned(), reason.to_owned());
        assert_eq!(error.kind(), &ErrorKind::InvalidSchema { name, reason: reason.into() });
    }
}

#[test]
fn wide_schemas_are_read_once() {
    let types = vec!["object"; 1_000];
    let inner = |inner: Value| json!({"type": types, "properties": {"a": inner}});
    assert!(section(nested(50, inner), ToolSchemaStyle::Full).is_ok());
    let members: Vec<_> = (0..20_000).map(|n| json!({"properties": {"a": {"const": n}}})).collect();
    let text = section(json!({"allOf": members}), ToolSchemaStyle::Full).expect("a section");
    assert!(text.contains("& (19999)"));
}

/// Of objects that say something of one field each other's fields are merged, sixteen levels down.
#[test]
fn objects_are_merged_sixteen_levels_deep() {
    let merged = |levels| {
        let deep = |value: i32| {
            (0..levels)
                .fold(json!({"const": value}), |inner, _| json!({"properties": {"a": inner}}))
        };
        section(json!({"allOf": [deep(1), deep(2)]}), ToolSchemaStyle::Full).expect("a section")
    };
    assert_eq!(merged(1).matches("a?:").count(), 1);
    assert_eq!(merged(16).matches("a?:").count(), 16);
    assert!(merged(16).contains("(1) & (2)"));
    assert_eq!(merged(17).matches("a?:").count(), 18);
    assert_eq!(declared_types(&merged(17)), ["deep"]);
    assert_eq!(declared_types(&merged(60)), ["deep"]);
}

/// Sixteen levels of keys that no field names are merged too.
#[test]
fn records_are_merged_sixteen_levels_deep() {
    let merged = |levels| {
        let deep = |value: i32| {
            let around = |inner: Value| json!({"additionalProperties": inner});
            (0..levels).fold(json!({"const": value}), |inner, _| around(inner))
        };
        section(json!({"allOf": [deep(1), deep(2)]}), ToolSchemaStyle::Full).expect("a section")
    };
    assert_eq!(merged(16).matches("Record").count(), 16);
    assert_eq!(merged(17).matches("Record").count(), 18);
}
