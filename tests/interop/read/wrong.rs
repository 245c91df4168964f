//! Bodies that are not what their API says: an error with its path, never a panic.

use openai_harmony::ErrorKind;
use openai_harmony::interop::parse_body;
use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, Dialect, OLLAMA, RESPONSES, error, turn};

#[test]
fn there_may_be_so_many_stop_strings() {
    let most = [json!(["a".repeat(131_072)]), json!(vec!["a"; 1_024])];
    for stop in most {
        let read =
            turn(CHAT, json!({"messages": [{"role": "user", "content": "Hi"}], "stop": stop}));
        assert_eq!(json!(read.stop_strings), stop);
    }
    let many = error(ANTHROPIC, json!({"messages": [], "stop_sequences": vec!["a"; 1_025]}));
    let expected = "stop_sequences: expected at most 1024 stop strings, got 1025";
    assert!(many.to_string().ends_with(expected), "{many}");
    let long = json!({"options": {"stop": ["a".repeat(131_000), "b".repeat(73)]}});
    let expected = "options.stop: expected at most 131072 bytes of stop strings, got 131073";
    assert!(error(OLLAMA, long).to_string().ends_with(expected));
}

#[test]
fn any_json_gives_a_turn_or_an_error_of_the_request() {
    // Each value in each place of bodies that are right.
    let rows = [
        json!({"messages": [{"role": "assistant", "content": [{"type": "text", "text": "A"}], "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "a", "content": "B"}],
            "tools": [{"type": "function", "function": {"name": "f", "description": "F", "parameters": {"type": "object"}}}],
            "tool_choice": {"type": "function", "function": {"name": "f"}}, "stop": ["a"], "options": {"seed": 1, "stop": ["x"]}, "think": true,
            "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}}, "stream_options": {"include_usage": true}, "format": {}}),
        json!({"input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "A"}]},
            {"type": "reasoning", "content": [], "summary": [], "encrypted_content": "x"},
            {"type": "function_call", "name": "f", "namespace": "n", "call_id": "a", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": []}],
            "tools": [{"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]}, {"type": "custom", "name": "c", "format": {"type": "text"}}],
            "text": {"format": {"type": "json_object"}}, "reasoning": {"effort": "low", "context": "auto"}, "include": ["x"]}),
        json!({"system": [{"type": "text", "text": "A"}], "messages": [{"role": "assistant", "content": [
            {"type": "thinking", "thinking": "", "signature": "s"}, {"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "is_error": true, "content": [{"type": "text", "text": "x"}]},
            {"type": "document", "source": {"type": "text", "data": "D"}}]}],
            "thinking": {"type": "enabled", "budget_tokens": 5, "display": "omitted"}, "output_config": {"effort": "low", "format": {"type": "json_object"}},
            "tool_choice": {"type": "auto"}, "max_tokens": 1}),
    ];
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(""),
        json!("x"),
        json!([]),
        json!([[]]),
        json!({}),
        json!({"type": {}}),
    ];
    let mut tried = 0;
    for row in &rows {
        for pointer in pointers(row, String::new()) {
            for value in &values {
                let mut body = row.clone();
                *body.pointer_mut(&pointer).unwrap() = value.clone();
                for &dialect in Dialect::ALL {
                    tried += 1;
                    match dialect.read(&body, &super::options()) {
                        Ok(turn) => drop(turn.prompt(&super::encoding())),
                        Err(error) => assert!(
                            matches!(
                                error.kind(),
                                ErrorKind::InvalidRequest { .. }
                                    | ErrorKind::UnsupportedContent { .. }
                            ),
                            "{error}"
                        ),
                    }
                }
            }
        }
    }
    assert!(tried > 3_000, "{tried}");
}

/// All places of a value, as JSON pointers.
fn pointers(value: &Value, at: String) -> Vec<String> {
    let inside: Vec<_> = match value {
        Value::Object(map) => {
            map.iter().flat_map(|(key, value)| pointers(value, format!("{at}/{key}"))).collect()
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(index, value)| pointers(value, format!("{at}/{index}")))
            .collect(),
        _ => Vec::new(),
    };
    std::iter::once(at).chain(inside).collect()
}

#[test]
fn deep_and_long_bodies() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(parse_body(&deep).is_err());
    let mut nested = json!("x");
    for _ in 0..1_000 {
        nested = Value::Array(vec![nested]);
    }
    for &dialect in Dialect::ALL {
        let error = dialect.read(&nested, &super::options()).unwrap_err().to_string();
        assert_eq!(error, "Invalid request: nested more than 127 levels deep");
    }
    let history = super::options().with_history([nested]);
    let text = CHAT.read(json!({"messages": []}), &history).unwrap_err().to_string();
    assert!(text.contains("history[0]: nested more than"), "{text}");
    let messages: Vec<_> = (0..100_000).map(|_| json!({"role": "user", "content": "A"})).collect();
    for (dialect, key) in
        [(CHAT, "messages"), (ANTHROPIC, "messages"), (OLLAMA, "messages"), (RESPONSES, "input")]
    {
        assert_eq!(turn(dialect, json!({key: messages})).conversation.messages.len(), 100_001);
    }
}
