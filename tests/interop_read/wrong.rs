//! Bodies that are not what their API says: an error with its path, never a panic.

use openai_harmony::ErrorKind;
use openai_harmony::interop::parse_body;
use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, Dialect, OLLAMA, RESPONSES, error, turn};

const OF_ANTHROPIC: &str = "this is a body of another API: read it with anthropic.read";
const OF_RESPONSES: &str = "this is a body of another API: read it with responses.read";

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn paths_and_reasons() {
    let chat = |message: Value| json!({"messages": [{"role": "user", "content": "A"}, message]});
    let item = |item: Value| json!({"input": [item]});
    let cases: Vec<(Dialect, Value, &str, &str)> = vec![
        (CHAT, json!([]), "", "expected an object, got a list"),
        (CHAT, json!({}), "messages", "is missing"),
        (CHAT, json!({"messages": {}}), "messages", "expected a list, got an object"),
        (CHAT, json!({"messages": ["x"]}), "messages[0]", "expected an object, got a string"),
        (CHAT, chat(json!({})), "messages[1].role", "is missing"),
        (CHAT, chat(json!({"role": 1})), "messages[1].role", "expected a string, got a number"),
        (
            CHAT,
            chat(json!({"role": "bot"})),
            "messages[1].role",
            "unknown role \"bot\" (known: system, developer, user, assistant, tool, function)",
        ),
        (CHAT, chat(json!({"role": "user"})), "messages[1].content", "is missing"),
        (
            RESPONSES,
            json!({"input": "?", "tools": [{"type": "custom", "name": "f", "format": {
                "type": "grammar", "syntax": "lark", "definition": "start: a\na: \"x\"\n  | b"}}]}),
            "tools[0].format.definition",
            "line 3, column 5: no rule or terminal is called b",
        ),
        (
            CHAT,
            json!({"messages": [], "tools": [{"type": "custom", "custom": {"name": "f", "format": {
                "type": "grammar", "grammar": {"syntax": "ebnf", "definition": "x"}}}}]}),
            "tools[0].custom.format.grammar.syntax",
            "unknown syntax \"ebnf\" (known: lark, regex)",
        ),
        (
            CHAT,
            chat(json!({"role": "user", "content": null})),
            "messages[1].content",
            "expected a string or a list of parts, got null",
        ),
        (
            CHAT,
            chat(json!({"role": "user", "content": [5]})),
            "messages[1].content[0]",
            "expected an object, got a number",
        ),
        (
            CHAT,
            chat(json!({"role": "user", "content": [{}]})),
            "messages[1].content[0].type",
            "is missing",
        ),
        (
            CHAT,
            chat(json!({"role": "user", "content": [{"type": "smell"}]})),
            "messages[1].content[0].type",
            "unknown type of a part \"smell\"",
        ),
        (
            CHAT,
            chat(json!({"role": "user", "content": [{"type": "text"}]})),
            "messages[1].content[0].text",
            "is missing",
        ),
        (
            CHAT,
            chat(json!({"role": "assistant", "tool_calls": {}})),
            "messages[1].tool_calls",
            "expected a list, got an object",
        ),
        (
            CHAT,
            chat(json!({"role": "assistant", "tool_calls": [{}]})),
            "messages[1].tool_calls[0].function",
            "is missing",
        ),
        (
            CHAT,
            chat(
                json!({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": 5}}]}),
            ),
            "messages[1].tool_calls[0].function.arguments",
            "expected a string or an object, got a number",
        ),
        (
            CHAT,
            chat(json!({"role": "assistant", "reasoning": 5})),
            "messages[1].reasoning",
            "expected a string, got a number",
        ),
        (
            CHAT,
            json!({"messages": [], "tools": [{"type": "function", "function": {}}]}),
            "tools[0].function.name",
            "is missing",
        ),
        (
            CHAT,
            json!({"messages": [], "tools": [{"type": "function", "function": {"name": ""}}]}),
            "tools[0].function.name",
            "a tool needs a name",
        ),
        (
            CHAT,
            json!({"messages": [], "tools": [{"function": {"name": "f", "parameters": []}}]}),
            "tools[0].function.parameters",
            "expected an object, got a list",
        ),
        (CHAT, json!({"messages": [], "tools": [{}]}), "tools[0].function", "is missing"),
        (
            CHAT,
            json!({"messages": [], "tools": [{"type": "custom"}]}),
            "tools[0].custom",
            "is missing",
        ),
        (
            CHAT,
            json!({"messages": [], "tool_choice": {"type": "function"}}),
            "tool_choice.function",
            "is missing",
        ),
        (
            CHAT,
            json!({"messages": [], "tool_choice": {"type": "any"}}),
            "tool_choice.function",
            "is missing",
        ),
        (
            RESPONSES,
            json!({"input": "A", "tools": [{"type": "function"}]}),
            "tools[0].name",
            "is missing",
        ),
        (
            RESPONSES,
            json!({"input": "A", "tools": [{"type": "custom"}]}),
            "tools[0].name",
            "is missing",
        ),
        (
            RESPONSES,
            json!({"input": "A", "tool_choice": {"type": "function"}}),
            "tool_choice.name",
            "is missing",
        ),
        (
            RESPONSES,
            json!({"input": "A", "tool_choice": {"name": "f"}}),
            "tool_choice.type",
            "is missing",
        ),
        (
            CHAT,
            json!({"messages": [], "tool_choice": "all"}),
            "tool_choice",
            "unknown choice \"all\" (known: auto, none, required)",
        ),
        (
            CHAT,
            json!({"messages": [], "temperature": "hot"}),
            "temperature",
            "expected a number, got a string",
        ),
        (
            CHAT,
            json!({"messages": [], "temperature": -1}),
            "temperature",
            "expected a number of at least 0, got -1",
        ),
        (
            CHAT,
            json!({"messages": [], "top_p": 1.5}),
            "top_p",
            "expected a number from 0 to 1, got 1.5",
        ),
        (
            CHAT,
            json!({"messages": [], "max_tokens": 0}),
            "max_tokens",
            "expected a whole number of at least 1, got 0",
        ),
        (
            CHAT,
            json!({"messages": [], "max_tokens": 1.5}),
            "max_tokens",
            "expected a whole number, got 1.5",
        ),
        (
            CHAT,
            json!({"messages": [], "seed": 1_u64 << 63}),
            "seed",
            "expected a whole number from -2^63 to 2^63 - 1, got 9223372036854775808",
        ),
        (
            CHAT,
            json!({"messages": [], "seed": 1e30}),
            "seed",
            "expected a whole number from -2^63 to 2^63 - 1, got 1e+30",
        ),
        (
            CHAT,
            json!({"messages": [], "n": -1}),
            "n",
            "expected a whole number of at least 1, got -1",
        ),
        (CHAT, json!({"messages": [], "stop": [1]}), "stop[0]", "expected a string, got a number"),
        (
            ANTHROPIC,
            json!({"messages": [], "stop_sequences": vec!["a"; 1_025]}),
            "stop_sequences",
            "expected at most 1024 stop strings, got 1025",
        ),
        (
            OLLAMA,
            json!({"options": {"stop": ["a".repeat(131_000), "b".repeat(73)]}}),
            "options.stop",
            "expected at most 131072 bytes of stop strings, got 131073",
        ),
        (RESPONSES, json!({"instructions": "Be brief."}), "input", "is missing"),
        (CHAT, json!({"input": "A"}), "input", OF_RESPONSES),
        (ANTHROPIC, json!({"input": [], "max_tokens": 9}), "input", OF_RESPONSES),
        (OLLAMA, json!({"model": "m", "input": "A"}), "input", OF_RESPONSES),
        (
            RESPONSES,
            json!({"messages": [{"role": "user", "content": "A"}]}),
            "messages",
            "this is a body of another API: read it with chat_completions.read",
        ),
        (
            RESPONSES,
            json!({"messages": [], "system": "S", "max_tokens": 9}),
            "messages",
            OF_ANTHROPIC,
        ),
        (
            RESPONSES,
            json!({"messages": [], "options": {"num_ctx": 9}}),
            "messages",
            "this is a body of another API: read it with ollama.read",
        ),
        (CHAT, json!({"messages": [], "system": "S"}), "system", OF_ANTHROPIC),
        (OLLAMA, json!({"messages": [], "system": [], "max_tokens": 9}), "system", OF_ANTHROPIC),
        (
            CHAT,
            json!({"messages": [], "stream": "yes"}),
            "stream",
            "expected true or false, got a string",
        ),
        (
            CHAT,
            json!({"messages": [], "logit_bias": {"a": 1}}),
            "logit_bias.a",
            "the key is not a token id",
        ),
        (
            CHAT,
            json!({"messages": [], "response_format": {"type": "xml"}}),
            "response_format.type",
            "unknown response format \"xml\" (known: text, json_object, json_schema)",
        ),
        (
            CHAT,
            json!({"messages": [], "response_format": {"type": "json_schema"}}),
            "response_format.json_schema",
            "is missing",
        ),
        (
            RESPONSES,
            json!({"input": "A", "text": {"format": {"type": "json_schema", "shema": {}}}}),
            "text.format.schema",
            "is missing",
        ),
        (
            CHAT,
            json!({"messages": [], "response_format": {"type": "json_schema", "json_schema": {"name": "a\nb"}}}),
            "response_format.json_schema.name",
            "the name of a response format must be one line",
        ),
        (
            RESPONSES,
            json!({"input": 5}),
            "input",
            "expected a string or a list of items, got a number",
        ),
        (
            RESPONSES,
            json!({"instructions": ["x"]}),
            "instructions",
            "expected a string, got a list",
        ),
        (RESPONSES, item(json!({})), "input[0].type", "is missing"),
        (
            RESPONSES,
            item(json!({"type": 5, "role": "user", "content": "A"})),
            "input[0].type",
            "expected a string, got a number",
        ),
        (
            RESPONSES,
            item(json!({"type": "song"})),
            "input[0].type",
            "unknown type of an item \"song\"",
        ),
        (
            RESPONSES,
            item(json!({"role": "tool", "content": "x"})),
            "input[0].role",
            "unknown role \"tool\" (known: system, developer, user, assistant)",
        ),
        (
            RESPONSES,
            item(json!({"type": "function_call", "call_id": "a"})),
            "input[0].name",
            "is missing",
        ),
        (
            RESPONSES,
            item(json!({"type": "custom_tool_call", "name": "a"})),
            "input[0].input",
            "is missing",
        ),
        (RESPONSES, json!({"input": [], "tools": [{"name": "f"}]}), "tools[0].type", "is missing"),
        (
            RESPONSES,
            json!({"input": [], "tools": [{"type": "namespace", "name": ""}]}),
            "tools[0].name",
            "a namespace needs a name",
        ),
        (
            ANTHROPIC,
            json!({"messages": [{"role": "user", "content": 5}]}),
            "messages[0].content",
            "expected a string or a list of blocks, got a number",
        ),
        (
            ANTHROPIC,
            json!({"messages": [{"role": "tool", "content": "x"}]}),
            "messages[0].role",
            "unknown role \"tool\" (known: user, assistant, system)",
        ),
        (
            ANTHROPIC,
            json!({"messages": [{"role": "user", "content": [{"type": "song"}]}]}),
            "messages[0].content[0].type",
            "unknown type of a block \"song\"",
        ),
        (
            ANTHROPIC,
            json!({"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": [1]}]}]}),
            "messages[0].content[0].input",
            "expected an object, got a list",
        ),
        (
            ANTHROPIC,
            json!({"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": "[1]"}]}]}),
            "messages[0].content[0].input",
            "got a string that is not a JSON object",
        ),
        (
            ANTHROPIC,
            json!({"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}),
            "messages[0].content[0].tool_use_id",
            "is missing",
        ),
        (
            ANTHROPIC,
            json!({"messages": [], "tool_choice": {"type": "all"}}),
            "tool_choice.type",
            "unknown choice \"all\" (known: auto, any, tool, none)",
        ),
        (
            ANTHROPIC,
            json!({"messages": [], "thinking": {"type": "deep"}}),
            "thinking.type",
            "unknown kind of thinking \"deep\" (known: enabled, disabled, adaptive, between_tools)",
        ),
        (
            ANTHROPIC,
            json!({"messages": [], "system": 5}),
            "system",
            "expected a string or a list of blocks, got a number",
        ),
        (OLLAMA, json!({"messages": [], "tools": [{}]}), "tools[0].function", "is missing"),
        (
            OLLAMA,
            json!({"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "x"}}]}]}),
            "messages[0].tool_calls[0].function.arguments",
            "got a string that is not a JSON object",
        ),
        (
            OLLAMA,
            json!({"messages": [], "format": "xml"}),
            "format",
            "unknown format \"xml\" (known: json)",
        ),
        (OLLAMA, json!({"messages": [], "format": 5}), "format", "expected a schema, got a number"),
        (
            OLLAMA,
            json!({"messages": [], "think": 5}),
            "think",
            "expected true, false or a level, got a number",
        ),
        (
            OLLAMA,
            json!({"messages": [{"role": "user", "content": "A"}, {"role": "assistant", "tool_calls": [{"id": "f"}]}]}),
            "messages[1].tool_calls[0].function",
            "is missing",
        ),
    ];
    for (dialect, body, path, reason) in cases {
        let between = if reason.starts_with("is ") { " " } else { ": " };
        let place = if path.is_empty() { String::new() } else { format!("{path}{between}") };
        let error = error(dialect, body.clone());
        assert_eq!(error.to_string(), format!("Invalid request: {place}{reason}"), "{body}");
        assert_eq!(error.kind().path().map(ToString::to_string).as_deref(), Some(path));
    }
}

#[test]
fn what_harmony_cannot_carry() {
    let part = |part: Value| json!({"messages": [{"role": "user", "content": "A"}, {"role": "user", "content": [part]}]});
    let cases: Vec<(Dialect, Value, &str, &str)> = vec![
        (
            CHAT,
            part(json!({"type": "image_url", "image_url": {"url": "x"}})),
            "messages[1].content[0].image_url",
            "images",
        ),
        (
            CHAT,
            part(json!({"type": "input_audio", "input_audio": {}})),
            "messages[1].content[0].input_audio",
            "audio",
        ),
        (CHAT, part(json!({"type": "file", "file": {}})), "messages[1].content[0].file", "files"),
        (
            CHAT,
            json!({"messages": [], "modalities": ["text", "audio"]}),
            "modalities[1]",
            "answers as audio",
        ),
    ];
    for (dialect, body, path, content) in cases {
        let expected = format!("Unsupported content: {path}: the format cannot carry {content}");
        assert_eq!(error(dialect, body.clone()).to_string(), expected, "{body}");
    }
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

#[test]
fn what_is_unused_has_a_reason_that_names_it() {
    let search = json!({"type": "web_search_preview"});
    let cases: Vec<(Dialect, Value, &str, &str)> = vec![
        (CHAT, json!({"messages": [], "store": true}), "store", "not used"),
        (
            CHAT,
            json!({"messages": [], "web_search_options": {}}),
            "web_search_options",
            "this server does not run tools of type \"web_search\"",
        ),
        (
            RESPONSES,
            json!({"input": "A", "tools": [{"type": "mcp", "server_label": "l"}]}),
            "tools[0]",
            "this server does not run tools of type \"mcp\"",
        ),
        (
            RESPONSES,
            json!({"input": "A", "tool_choice": search}),
            "tool_choice.type",
            "this server does not run tools of type \"web_search_preview\"",
        ),
        (
            RESPONSES,
            json!({"input": [{"type": "mcp_call"}]}),
            "input[0]",
            "type \"mcp_call\" is not used",
        ),
        (
            ANTHROPIC,
            json!({"messages": [{"role": "assistant", "content": [{"type": "web_fetch_tool_result"}]}]}),
            "messages[0].content[0]",
            "type \"web_fetch_tool_result\" is not used",
        ),
        (OLLAMA, json!({"options": {"num_ctx": 4096}}), "options.num_ctx", "left to the engine"),
    ];
    for (dialect, body, path, reason) in cases {
        let unused = turn(dialect, body).unused;
        let unused: Vec<_> = unused
            .iter()
            .map(|unused| (unused.path.to_string(), unused.reason.to_string()))
            .collect();
        assert_eq!(unused, [(path.to_owned(), reason.to_owned())]);
    }
}
