//! Attack: schemas whose nesting or references exhaust the stack of the thread that renders them.
//!
//! Whatever is accepted is rendered with a stack of 512 KB, half of what the smallest default of a thread is; without
//! optimisations it takes three times as much. A stack that is exhausted ends the process, and with it this test.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::thread;

use openai_harmony::chat::{DeveloperContent, Message, Role, ToolDescription};
use openai_harmony::{
    HarmonyEncoding, HarmonyEncodingName, RenderConfig, ToolSchemaStyle, load_harmony_encoding,
};
use serde_json::{Map, Value, json};

const STACK: usize = if cfg!(debug_assertions) { 1536 } else { 512 } * 1024;

/// Makes a schema around a schema.
type Wrap = fn(Value) -> Value;

/// Whether a tool with these parameters can be rendered, tried with a small stack.
fn is_accepted(parameters: Value) -> bool {
    let encoding: HarmonyEncoding =
        load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).expect("the encoding");
    let tool = ToolDescription::new("f", "d", Some(parameters));
    let message = Message::from_role_and_content(
        Role::Developer,
        DeveloperContent::new().with_function_tools(vec![tool]),
    );
    let config = RenderConfig::new().with_tool_schema(ToolSchemaStyle::Full);
    // The message is lent, so that it is dropped where there is stack enough for `serde_json`.
    thread::scope(|scope| {
        let render = || encoding.render_with(&message, &config).is_ok();
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, render);
        thread.expect("a thread").join().expect("no panic")
    })
}

fn nested(levels: usize, wrap: impl Fn(Value) -> Value) -> Value {
    (0..levels).fold(json!({"type": "string"}), |inner, _| wrap(inner))
}

/// Asserts that `levels` are accepted, and that they are the most.
fn assert_most(levels: usize, schema: impl Fn(usize) -> Value) {
    assert!(is_accepted(schema(levels)), "{}", schema(levels));
    assert!(!is_accepted(schema(levels + 1)), "{levels}");
}

#[test]
fn nesting_to_the_limit_is_rendered() {
    let wraps: [(Wrap, usize); 11] = [
        (|inner| json!({"items": inner}), 127),
        (|inner| json!({"additionalProperties": inner}), 127),
        (|inner| json!({"items": inner, "description": "x"}), 127),
        (|inner| json!({"default": inner}), 127),
        (|inner| json!({"not": inner}), 127),
        (|inner| json!({"properties": {"a": inner}}), 63),
        (|inner| json!({"oneOf": [inner, {"type": "number", "description": "x"}]}), 63),
        (|inner| json!({"oneOf": [inner, {"enum": [1]}], "description": "x", "default": 1}), 63),
        (|inner| json!({"allOf": [inner, {"enum": [1, 2]}]}), 63),
        (|inner| json!({"prefixItems": [inner, {"description": "x"}]}), 63),
        (|inner| json!({"patternProperties": {"a": inner}}), 63),
    ];
    for (wrap, levels) in wraps {
        assert_most(levels, |levels| nested(levels, wrap));
    }
}

/// Two such types are compared, and made one field by field.
#[test]
fn merged_schemas_may_be_nested_to_the_limit() {
    let wraps: [(Wrap, usize); 5] = [
        (|inner| json!({"const": [inner]}), 62),
        (|inner| json!({"additionalProperties": inner}), 125),
        (|inner| json!({"properties": {"a": inner}}), 62),
        (|inner| json!({"items": inner}), 125),
        (|inner| json!({"properties": {"a": {"items": inner}}}), 41),
    ];
    for (wrap, levels) in wraps {
        assert_most(levels, |levels| {
            let [one, other] = ["x", "y"].map(|text| {
                nested(levels, |inner| {
                    let mut schema = wrap(inner);
                    schema["description"] = text.into();
                    schema
                })
            });
            json!({"allOf": [one, other, one]})
        });
    }
}

/// Each level merges what the level within it has merged.
#[test]
fn merging_may_be_nested_to_the_limit() {
    let wraps: [Wrap; 2] = [
        |inner| json!({"allOf": [inner, {"properties": {"a": {"properties": {"a": {"const": 1}}}}}]}),
        |inner| json!({"properties": {"a": {"allOf": [inner, inner]}}}),
    ];
    assert_most(61, |levels| nested(levels, wraps[0]));
    // This one doubles with each level.
    assert!(is_accepted(nested(12, wraps[1])));
}

/// A chain of definitions, each of which refers to the next through `link`.
fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
    let reference = |index: usize| json!({"$ref": format!("#/$defs/d{index}")});
    let link = |index| (format!("d{index}"), link(reference(index + 1)));
    let mut definitions: Map<_, _> = (0..length).map(link).collect();
    definitions.insert(format!("d{length}"), json!({"type": "string"}));
    json!({"$defs": definitions, "allOf": [reference(0)]})
}

#[test]
fn chains_of_references_are_rendered_to_the_limit() {
    let links: [(Wrap, usize); 6] = [
        (|next| next, 125),
        (|next| json!({"allOf": [next]}), 62),
        (|next| json!({"properties": {"a": next}}), 62),
        (|next| json!({"items": next}), 62),
        (|next| json!({"additionalProperties": next, "description": "x"}), 62),
        (|next| json!({"anyOf": [next, {"type": "null"}], "description": "x"}), 62),
    ];
    for (link, expected) in links {
        assert_most(expected, |length| chain(length, link));
    }
}
