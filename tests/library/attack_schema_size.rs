//! Attack: a small schema whose text is large. What the tools of one rendering are written in, and
//! what their references copy, is bounded.
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use openai_harmony::chat::{DeveloperContent, Message, Role, ToolDescription, ToolNamespaceConfig};
use openai_harmony::{
    ErrorKind, HarmonyEncodingName, RenderConfig, RenderEnd, Result, ToolSchemaStyle,
    load_harmony_encoding,
};
use serde_json::{Map, Value, json};

const LIMIT: usize = 1 << 20;

/// The text of developer messages, one for each list of tools.
fn rendered(messages: &[Vec<ToolDescription>], style: ToolSchemaStyle) -> Result<String> {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    let messages: Vec<_> = messages
        .iter()
        .map(|tools| {
            let content = DeveloperContent::new().with_function_tools(tools.clone());
            Message::from_role_and_content(Role::Developer, content)
        })
        .collect();
    let config = RenderConfig::new().with_tool_schema(style);
    let tokens = encoding.render_conversation_with(&messages, RenderEnd::None, &config)?;
    encoding.tokenizer().decode_utf8(tokens)
}

fn full(messages: &[Vec<ToolDescription>]) -> Result<String> {
    rendered(messages, ToolSchemaStyle::Full)
}

/// The tool that an error names, and what it says.
fn refused(messages: &[Vec<ToolDescription>]) -> (String, String) {
    let error = full(messages).expect_err("an error");
    let ErrorKind::InvalidSchema { name, reason } = error.kind() else { panic!("{error:?}") };
    (name.clone(), reason.to_string())
}

fn assert_too_large(messages: &[Vec<ToolDescription>], tool: &str) {
    let (name, reason) = refused(messages);
    assert_eq!(name, tool);
    assert_eq!(reason, "with it, the tools of the rendering take more than 1048576 bytes of text");
}

fn tool(name: &str, parameters: Value) -> ToolDescription {
    ToolDescription::new(name, "d", Some(parameters))
}

/// A tool whose text has about so many bytes.
fn tool_of_size(name: &str, bytes: usize) -> ToolDescription {
    ToolDescription::new(name, "x".repeat(bytes), None)
}

/// Definitions, each of which has the next twice, around `last`.
fn doubling(levels: usize, last: Value) -> Map<String, Value> {
    let reference = |index: usize| json!({"$ref": format!("#/$defs/d{index}")});
    let doubled =
        |index| json!({"properties": {"a": reference(index + 1), "b": reference(index + 1)}});
    let mut definitions: Map<_, _> =
        (0..levels).map(|index| (format!("d{index}"), doubled(index))).collect();
    definitions.insert(format!("d{levels}"), last);
    definitions
}

/// 2.6 KB: fifty levels of properties around nine doubling references to a description of five
/// hundred lines, each of which is indented by two hundred spaces.
fn attack() -> Value {
    let inner =
        (0..50).fold(json!({"$ref": "#/$defs/d0"}), |inner, _| json!({"properties": {"a": inner}}));
    let last = json!({"type": "string", "description": "\n".repeat(500)});
    json!({"$defs": doubling(9, last), "properties": {"a": inner}})
}

#[test]
fn a_text_that_explodes_is_an_error_that_names_its_tool() {
    assert!(attack().to_string().len() < 3_000);
    assert_too_large(&[vec![tool("attack", attack())]], "attack");
    assert_too_large(&[vec![tool("fine", json!({})), tool("attack", attack())]], "attack");
}

#[test]
fn default_rendering_has_no_limit() {
    let large = tool_of_size("large", 2 * LIMIT);
    let text = rendered(&[vec![large]], ToolSchemaStyle::Compat).expect("a text");
    assert!(text.len() > 2 * LIMIT);
    assert!(rendered(&[vec![tool("attack", attack())]], ToolSchemaStyle::Compat).is_ok());
}

#[test]
fn all_tools_of_a_rendering_share_one_limit() {
    let third = |name: &str| tool_of_size(name, LIMIT / 3);
    let tools = vec![third("a"), third("b"), third("c")];
    assert_too_large(std::slice::from_ref(&tools), "c");
    let by_message: Vec<_> = tools.iter().map(|tool| vec![tool.clone()]).collect();
    assert_too_large(&by_message, "c");
    // Each rendering begins again.
    for pair in tools.windows(2) {
        assert!(full(&[pair.to_vec()]).is_ok());
    }
}

#[test]
fn every_byte_counts_towards_the_limit() {
    let section = |bytes| {
        let text = full(&[vec![tool_of_size("f", bytes)]])?;
        let (_, from_heading) = text.split_once("## functions").expect("a heading");
        let (section, _) = from_heading.split_once("<|end|>").expect("an end");
        Ok::<_, openai_harmony::Error>("## functions".len() + section.len())
    };
    let around = section(1).expect("a text") - 1;
    assert_eq!(section(LIMIT - around), Ok(LIMIT));
    assert!(section(LIMIT - around + 1).is_err());
}

#[test]
fn a_namespace_counts_towards_the_limit() {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).expect("the encoding");
    for tools in [vec![], vec![tool("f", json!({}))]] {
        let namespace = ToolNamespaceConfig::new("big", Some("x\n".repeat(LIMIT / 2)), tools);
        let content = DeveloperContent::new().with_tools(namespace);
        let message = Message::from_role_and_content(Role::Developer, content);
        let config = RenderConfig::new().with_tool_schema(ToolSchemaStyle::Full);
        let error = encoding.render_with(&message, &config).expect_err("an error");
        let is_named =
            matches!(error.kind(), ErrorKind::InvalidSchema { name, .. } if name == "big");
        assert!(is_named, "{error}");
    }
}

/// Of such references nothing is written at all, so only the copying can be bounded.
#[test]
fn copies_by_references_count_even_if_they_are_not_written() {
    let nothing = |levels: usize| {
        let reference = |index: usize| json!({"$ref": format!("#/$defs/d{index}")});
        let doubled = |index| json!({"allOf": [reference(index + 1), reference(index + 1)]});
        let mut definitions: Map<_, _> =
            (0..levels).map(|index| (format!("d{index}"), doubled(index))).collect();
        definitions.insert(format!("d{levels}"), json!(true));
        json!({"$defs": definitions, "allOf": [reference(0)]})
    };
    assert!(full(&[vec![tool("f", nothing(8))]]).is_ok());
    let (name, reason) = refused(&[vec![tool("f", nothing(40))]]);
    assert_eq!(name, "f");
    let copied = "with it, references of the rendering's tools copy more than 1048576 bytes";
    assert_eq!(reason, copied);
    // Tools that are fine by themselves.
    let tools: Vec<_> = (0..100).map(|index| tool(&format!("f{index}"), nothing(8))).collect();
    assert!(full(&[vec![tools[0].clone()]]).is_ok());
    assert_eq!(refused(&[tools]).1, copied);
}

/// A catalogue as large as any that is in use stays below the limit.
#[test]
fn ordinary_definitions_are_far_below_the_limit() {
    let address = json!({"type": "object", "properties": {
        "street": {"type": "string", "description": "Street and number"},
        "city": {"type": "string", "description": "City or town"},
    }});
    let properties: Map<_, _> = (0..40)
        .map(|index| (format!("address_{index}"), json!({"$ref": "#/$defs/Address"})))
        .collect();
    let parameters = json!({"$defs": {"Address": address}, "properties": properties});
    let tools: Vec<_> =
        (0..50).map(|index| tool(&format!("f{index}"), parameters.clone())).collect();
    assert!(full(&[tools]).is_ok());
}
