//! Answers and arguments against their schemas, where they end.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use openai_harmony::grammar::{GrammarOptions, GrammarTool, ToolUse, TurnGrammar, Verdict};
use openai_harmony::tokenizer::Tokenizer;
use serde_json::{Value, json};

fn verdict(grammar: &TurnGrammar, text: &str) -> (Verdict, usize) {
    let tokens = Tokenizer::o200k_harmony().encode_with_special_tokens(text);
    (grammar.accepts(&tokens), tokens.len())
}

/// What is said of an answer, at its `<|return|>`.
fn said(schema: Value, content: &str) -> Option<String> {
    let options = GrammarOptions::new().with_response_schema(schema);
    let text = format!("<|channel|>final<|message|>{content}<|return|>");
    let (verdict, tokens) = verdict(&TurnGrammar::new([], options).unwrap(), &text);
    assert_eq!(verdict.ok, verdict.at.is_none());
    assert_eq!(verdict.at.unwrap_or(tokens - 1), tokens - 1, "{verdict:?}");
    verdict.expected
}

#[test]
fn an_answer_fits_its_schema() {
    let nested = json!({"$ref": "#/$defs/n", "$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}});
    for (schema, content) in [
        (json!({"type": "integer"}), "4"),
        (json!({"pattern": "^(a+)+$"}), "\"aaaa\""),
        (json!(true), "\"x\""),
        (nested.clone(), "[[], [[]]]"),
    ] {
        assert_eq!(said(schema, content), None, "{content}");
    }
    for (schema, content, expected) in [
        (json!({"type": "integer"}), "\"4\"", "the whole: value is not of type \"integer\""),
        (
            json!({"items": {"maxLength": 1}}),
            "[\"a\",\"bc\"]",
            "/1: value is longer than 1 character",
        ),
        (nested, "[[],[1]]", "/1/0: value is not of type \"array\""),
        (json!({"pattern": "("}), "\"a\"", "a schema that can be checked: "),
        (json!({"$ref": "https://example.com/a.json"}), "1", "a schema that can be checked: "),
        (json!(true), "1e999", "JSON whose values can be read: number out of range"),
        (json!(false), "1", "the whole: False schema does not allow value"),
    ] {
        let said = said(schema, content).unwrap();
        assert!(said.contains(expected), "{content}: {said}");
    }
}

#[test]
fn arguments_fit_the_schema_of_their_tool() {
    let schema = |kind: &str| json!({"properties": {"in": {"type": kind}}, "required": ["in"]});
    let tools = [
        GrammarTool::new("functions.a", schema("string")),
        GrammarTool::of_text("python"),
        GrammarTool::new("functions.b", schema("integer")),
    ];
    let options = GrammarOptions::new().with_tool_use(ToolUse::Required);
    let grammar = TurnGrammar::new(tools, options).unwrap();
    for (recipient, content, is_call) in [
        ("functions.a", "{\"in\": \"Oslo\"}", true),
        ("functions.a", "{\"in\": 1}", false),
        ("functions.a", "{}", false),
        ("functions.b", "{\"in\": 1}", true),
        ("functions.b", "{\"in\": \"Oslo\"}", false),
        ("python", "{\"in\": 1}", true),
    ] {
        let text = format!("<|channel|>commentary to={recipient}<|message|>{content}<|call|>");
        let (verdict, _) = verdict(&grammar, &text);
        assert_eq!(verdict.ok, is_call, "{recipient} {content}: {verdict:?}");
    }
}
