//! Tools: their names both ways, their choice, and those that the model was trained with.

use openai_harmony::interop::{BuiltinTool, NamedToolChoice, ToolChoice, ToolKind, Turn};
use openai_harmony::{RenderConfig, ToolSchemaStyle};
use serde_json::{Value, json};

use super::{
    ANTHROPIC, CHAT, Dialect, RESPONSES, error, options, prompt, said, system, turn, unused,
};

fn tools(names: &[&str]) -> Value {
    let tool = |name: &&str| json!({"type": "function", "function": {"name": name}});
    names.iter().map(tool).collect()
}

fn chat(names: &[&str], more: Value) -> Value {
    let mut body = json!({"messages": [{"role": "user", "content": "A"}], "tools": tools(names)});
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

fn recipients(names: &[&str]) -> Vec<String> {
    let turn = turn(CHAT, chat(names, json!({})));
    turn.tools.iter().map(|tool| tool.recipient.clone()).collect()
}

#[test]
fn names_stay_where_harmony_can_carry_them() {
    let names =
        ["get_weather", "get-weather", "a.b", "3d", "mcp__x__y", "天气", "a/b:c", "functions"];
    let expected: Vec<_> = names.iter().map(|name| format!("functions.{name}")).collect();
    assert_eq!(recipients(&names), expected);
}

#[test]
fn other_names_get_a_spelling_of_their_own() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["get weather"], &["functions.get_weather"]),
        (&["get weather", "get_weather"], &["functions.get_weather_2", "functions.get_weather"]),
        (&["a b", "a\tb", "a_b_2"], &["functions.a_b", "functions.a_b_3", "functions.a_b_2"]),
        (&["a<|end|>b"], &["functions.a__end__b"]),
        (
            &["\u{200B}", "<|", "a=b", "a//b/c", "a;c"],
            &["functions._", "functions.__", "functions.a_b", "functions.a__b_c", "functions.a_c"],
        ),
        (
            &["python", "user", "Assistant", "final"],
            &[
                "functions.python_tool",
                "functions.user_tool",
                "functions.Assistant_tool",
                "functions.final_tool",
            ],
        ),
        (
            &["browser.search", "browser_search"],
            &["functions.browser_search_2", "functions.browser_search"],
        ),
    ];
    for (names, expected) in cases {
        assert_eq!(&recipients(names), expected, "{names:?}");
    }
}

/// Clients that have seen harmony's names, and data sets, say `functions.` themselves.
#[test]
fn names_of_harmony_have_no_second_namespace() {
    assert_eq!(
        recipients(&["functions.look", "functions."]),
        ["functions.look", "functions.functions._"]
    );
    assert_eq!(recipients(&["functions.python"]), ["functions.functions.python"]);
    let both = ["functions.look", "look"];
    assert_eq!(recipients(&both), ["functions.look", "functions.look_2"]);
    let turn = turn(CHAT, chat(&both, json!({})));
    for (recipient, name) in [("functions.look", "functions.look"), ("functions.look_2", "look")] {
        assert_eq!(turn.tools.by_recipient(recipient).unwrap().name, name);
        assert_eq!(turn.tools.by_name(name, None).unwrap().recipient, recipient);
    }
}

#[test]
fn names_come_back_from_both_spellings() {
    let turn = turn(CHAT, chat(&["get weather", "python", "a-b"], json!({})));
    let name = |recipient: &str| turn.tools.by_recipient(recipient).map(|tool| tool.name.as_str());
    for (recipient, expected) in [
        ("functions.get_weather", Some("get weather")),
        ("functions.get weather", Some("get weather")),
        ("get_weather", Some("get weather")),
        ("get weather", Some("get weather")),
        ("functions.python_tool", Some("python")),
        ("functions.python", Some("python")),
        ("python", None),
        ("a-b", Some("a-b")),
        ("functions.other", None),
        ("browser.search", None),
    ] {
        assert_eq!(name(recipient), expected, "{recipient}");
    }
    assert_eq!(turn.tools.by_name("get_weather", None).unwrap().name, "get weather");
    assert_eq!(turn.tools.recipients().count(), 3);
}

#[test]
fn one_mapping_for_declarations_calls_results_and_choices() {
    let turn = turn(
        CHAT,
        json!({
            "tools": tools(&["get weather"]),
            "tool_choice": {"type": "function", "function": {"name": "get weather"}},
            "messages": [
                {"role": "user", "content": "A"},
                {"role": "assistant", "tool_calls": [
                    {"id": "a", "function": {"name": "get weather", "arguments": "{}"}},
                    {"id": "b", "function": {"name": "get_weather", "arguments": "{}"}},
                    {"id": "c", "function": {"name": "no more", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "a", "content": "x"},
                {"role": "tool", "tool_call_id": "b", "content": "y"},
                {"role": "tool", "tool_call_id": "c", "content": "z"},
            ],
        }),
    );
    let text = prompt(&turn);
    assert!(text.contains("type get_weather = () => any;"), "{text}");
    assert_eq!(text.matches("to=functions.get_weather <|constrain|>json").count(), 3, "{text}");
    assert_eq!(text.matches("<|start|>functions.get_weather to=assistant").count(), 2, "{text}");
    assert!(text.contains("<|start|>functions.no_more to=assistant"), "{text}");
    let old = turn.tools.by_recipient("functions.no_more").unwrap();
    assert!(!old.offered && !old.declared);
    assert_eq!(turn.tools.recipients().collect::<Vec<_>>(), ["functions.get_weather"]);
}

#[test]
fn tools_may_be_nested_or_flat() {
    let parameters =
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let nested = json!([{"type": "function", "function": {"name": "f", "description": "F.", "parameters": parameters, "strict": true}}]);
    let flat = json!([{"type": "function", "name": "f", "description": "F.", "parameters": parameters, "strict": true}]);
    let anthropic = json!([{"name": "f", "description": "F.", "input_schema": parameters}]);
    let chat = |tools: &Value| said(&turn(CHAT, json!({"messages": [], "tools": tools})));
    let expected = "<|start|>developer<|message|># Tools\n\n## functions\n\nnamespace functions {\n\n\
                    // F.\ntype f = (_: {\na: string,\n}) => any;\n\n} // namespace functions<|end|>";
    assert_eq!(chat(&nested), expected);
    assert_eq!(chat(&flat), expected);
    let mut null = flat.clone();
    null[0]["type"] = json!(null);
    for tools in [&nested, &flat, &null] {
        assert_eq!(said(&turn(RESPONSES, json!({"input": [], "tools": tools}))), expected);
    }
    assert_eq!(said(&turn(ANTHROPIC, json!({"messages": [], "tools": anthropic}))), expected);
}

#[test]
fn tools_without_arguments_are_declared_as_the_guide_says() {
    for parameters in [
        json!(null),
        json!({}),
        json!({"type": "object"}),
        json!({"type": "object", "properties": {}}),
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false}),
        json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "F", "type": "object",
            "properties": {}, "required": null, "strict": true, "items": null}),
    ] {
        let body = json!({"messages": [], "tools": [{"type": "function", "function": {"name": "f", "parameters": parameters}}]});
        // As 0.0.8 writes schemas, too, which has no such declaration for an empty one.
        for schema in [ToolSchemaStyle::Full, ToolSchemaStyle::Compat] {
            let config = RenderConfig::new().with_tool_schema(schema);
            let read = CHAT.read(&body, &options().with_config(config)).unwrap();
            assert!(said(&read).contains("type f = () => any;"), "{schema:?} {parameters}");
        }
    }
}

/// Without named properties a tool may take others all the same.
#[test]
fn tools_that_take_any_arguments_declare_them() {
    for (others, declared) in [(json!(true), "any"), (json!({"type": "string"}), "string")] {
        let parameters =
            json!({"type": "object", "properties": {}, "additionalProperties": others});
        let body = json!({"messages": [], "tools": [{"type": "function", "function": {"name": "f", "parameters": parameters}}]});
        let declared = format!("type f = (_: Record<string, {declared}>) => any;");
        assert!(said(&turn(CHAT, body)).contains(&declared), "{parameters}");
    }
}

#[test]
fn equal_names_are_declared_once() {
    let turn = turn(CHAT, chat(&["f", "f"], json!({})));
    assert_eq!(said(&turn).matches("type f = ").count(), 1);
    assert_eq!(unused(&turn), ["tools[1].function"]);
}

#[test]
fn built_in_tools_are_declared_if_asked_for_and_offered() {
    let asks: [(Dialect, Value); 7] = [
        (CHAT, json!({"messages": [], "web_search_options": {}})),
        (CHAT, json!({"messages": [], "tools": [{"type": "browser_search"}]})),
        (CHAT, json!({"messages": [], "tools": [{"type": "code_interpreter"}]})),
        (RESPONSES, json!({"input": [], "tools": [{"type": "web_search_preview"}]})),
        (
            RESPONSES,
            json!({"input": [], "tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]}),
        ),
        (
            ANTHROPIC,
            json!({"messages": [], "tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
        ),
        (
            ANTHROPIC,
            json!({"messages": [], "tools": [{"type": "code_execution_20250825", "name": "code_execution"}]}),
        ),
    ];
    let both = options().with_builtin_tools([BuiltinTool::Browser, BuiltinTool::Python]);
    for (dialect, body) in asks {
        let offered = dialect.read(&body, &both).unwrap();
        let text = system(&offered);
        let is_python = body.to_string().contains("code_");
        assert_eq!(text.contains("## python\n"), is_python, "{body}");
        assert_eq!(text.contains("namespace browser {"), !is_python, "{body}");
        assert!(offered.unused.is_empty() && !text.contains("Calls to these tools"));
        let recipient = if is_python { "python" } else { "browser.search" };
        let tool = offered.tools.by_recipient(recipient).unwrap();
        assert!(tool.kind == ToolKind::Builtin && !tool.client_runs && tool.declared);
        let not = turn(dialect, body.clone());
        assert!(!system(&not).contains("# Tools"), "{body}");
        assert_eq!(not.unused.len(), 1);
    }
    let other = json!({"messages": [], "tools": [{"type": "advisor_20260301", "name": "advisor"}]});
    let other = ANTHROPIC.read(other, &both).unwrap();
    assert_eq!(
        (unused(&other), system(&other).contains("# Tools")),
        (vec!["tools[0]".to_owned()], false)
    );
    let not_asked = CHAT.read(json!({"messages": []}), &both).unwrap();
    assert!(!system(&not_asked).contains("# Tools"));
}

#[test]
fn a_function_named_python_is_not_the_models_python() {
    let both = options().with_builtin_tools([BuiltinTool::Python]);
    let mut body = chat(&["python"], json!({}));
    body["tools"].as_array_mut().unwrap().push(json!({"type": "code_interpreter"}));
    let turn = CHAT.read(&body, &both).unwrap();
    assert!(system(&turn).contains("## python\n") && said(&turn).contains("type python_tool = "));
    assert_eq!(turn.tools.by_recipient("python").unwrap().kind, ToolKind::Builtin);
    assert_eq!(turn.tools.by_recipient("functions.python").unwrap().kind, ToolKind::Function);
}

#[test]
fn what_else_a_tool_has_is_listed() {
    let chat = json!({"messages": [], "tools": [{"type": "function", "function": {"name": "f", "strict": true, "odd": 1}}]});
    assert_eq!(unused(&turn(CHAT, chat)), ["tools[0].function.odd"]);
    let anthropic = json!({"messages": [], "tools": [
        {"name": "f", "input_schema": {}, "input_examples": [{}], "cache_control": {"type": "ephemeral"}}]});
    assert_eq!(unused(&turn(ANTHROPIC, anthropic)), ["tools[0].input_examples"]);
    let responses = json!({"input": [], "tools": [
        {"type": "custom", "name": "c", "defer_loading": true, "format": {"type": "text"}}]});
    assert_eq!(unused(&turn(RESPONSES, responses)), ["tools[0].defer_loading"]);
}

#[test]
fn kinds_that_cannot_run_here_are_listed() {
    let chat = turn(CHAT, json!({"messages": [], "tools": [{"type": "mcp"}]}));
    assert_eq!(unused(&chat), ["tools[0]"]);
    let responses = turn(
        RESPONSES,
        json!({"input": [], "tools": [
        {"type": "image_generation"}, {"type": "file_search"}, {"type": "computer_use_preview"}, {"type": "tool_search"}]}),
    );
    assert_eq!(unused(&responses), ["tools[0]", "tools[1]", "tools[2]", "tools[3]"]);
    let anthropic = turn(
        ANTHROPIC,
        json!({"messages": [], "tools": [{"type": "mcp_toolset", "mcp_server_name": "m"}]}),
    );
    assert_eq!(unused(&anthropic), ["tools[0]"]);
    assert!(!anthropic.tools.any_declared());
}

fn choice(dialect: Dialect, choice: Value) -> Turn {
    let mut body = json!({"messages": [], "input": [], "tool_choice": choice});
    body["tools"] = ["f", "g"].iter().map(|name| json!({"type": if dialect == ANTHROPIC { "custom" } else { "function" }, "name": name})).collect();
    turn(dialect, body)
}

#[test]
fn choices() {
    let named = || ToolChoice::Named { recipient: "functions.f".to_owned() };
    let allowed =
        |required| ToolChoice::Allowed { recipients: vec!["functions.g".to_owned()], required };
    let cases: Vec<(Dialect, Value, ToolChoice)> = vec![
        (CHAT, json!("auto"), ToolChoice::Auto),
        (CHAT, json!(null), ToolChoice::Auto),
        (CHAT, json!("none"), ToolChoice::None),
        (CHAT, json!("required"), ToolChoice::Required),
        (CHAT, json!({"type": "function", "function": {"name": "f"}}), named()),
        (
            CHAT,
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [
            {"type": "function", "function": {"name": "g"}}]}}),
            allowed(true),
        ),
        (RESPONSES, json!("required"), ToolChoice::Required),
        (RESPONSES, json!({"type": "function", "name": "f"}), named()),
        (
            RESPONSES,
            json!({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "g"}]}),
            allowed(false),
        ),
        (RESPONSES, json!({"type": "allowed_tools", "mode": null, "tools": []}), ToolChoice::None),
        (
            RESPONSES,
            json!({"type": "allowed_tools", "tools": [{"type": "image_generation"}]}),
            ToolChoice::None,
        ),
        (
            RESPONSES,
            json!({"type": "allowed_tools", "mode": "required", "tools": [{"type": "image_generation"}]}),
            ToolChoice::Auto,
        ),
        (RESPONSES, json!({"type": "image_generation"}), ToolChoice::Auto),
        (ANTHROPIC, json!({"type": "auto", "disable_parallel_tool_use": true}), ToolChoice::Auto),
        (ANTHROPIC, json!({"type": "any"}), ToolChoice::Required),
        (ANTHROPIC, json!({"type": "tool", "name": "f"}), named()),
        (ANTHROPIC, json!({"type": "none"}), ToolChoice::None),
    ];
    for (dialect, given, expected) in cases {
        assert_eq!(choice(dialect, given.clone()).tool_choice, expected, "{given}");
    }
}

#[test]
fn a_choice_of_no_tool_is_an_error() {
    let text = error(
        CHAT,
        chat(&["f"], json!({"tool_choice": {"type": "function", "function": {"name": "h"}}})),
    );
    assert!(
        text.to_string().contains("tool_choice.function.name: no tool is named \"h\""),
        "{text}"
    );
    let text = error(CHAT, chat(&["f"], json!({"tool_choice": "perhaps"})));
    assert!(text.to_string().contains("tool_choice: unknown choice \"perhaps\""), "{text}");
    let mode = json!({"type": "allowed_tools", "mode": "Required", "tools": []});
    let text = error(RESPONSES, json!({"input": "A", "tool_choice": mode})).to_string();
    assert!(text.contains("tool_choice.mode: unknown mode \"Required\" (known: auto, required)"));
    let nothing = json!({"type": "allowed_tools", "mode": "required", "tools": []});
    let text = error(RESPONSES, json!({"input": "A", "tool_choice": nothing})).to_string();
    assert!(text.contains("tool_choice.tools: a call is required, but no tool is allowed"));
    let none = turn(CHAT, json!({"messages": [], "tool_choice": "required"}));
    assert_eq!(none.tool_choice, ToolChoice::Auto);
}

#[test]
fn a_named_tool_begins_at_the_end_of_the_prompt() {
    let body =
        chat(&["f"], json!({"tool_choice": {"type": "function", "function": {"name": "f"}}}));
    let prefilled = turn(CHAT, body.clone());
    assert!(prompt(&prefilled).ends_with(
        "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>"
    ));
    assert_eq!(prefilled.prefill.unwrap().text, None);
    let grammar = options().with_named(NamedToolChoice::Grammar);
    let turn = CHAT.read(&body, &grammar).unwrap();
    assert!(prompt(&turn).ends_with("<|start|>user<|message|>A<|end|><|start|>assistant"));
    assert_eq!(turn.tool_choice, ToolChoice::Named { recipient: "functions.f".to_owned() });
}

#[test]
fn none_declares_no_tools() {
    let body = chat(&["f"], json!({"tool_choice": "none"}));
    let plain = turn(CHAT, body.clone());
    assert_eq!(said(&plain), "<|start|>user<|message|>A<|end|>");
    assert!(!plain.tools.any_declared() && plain.tool_choice == ToolChoice::None);
    assert!(plain.tools.by_name("f", None).unwrap().offered);
}

#[test]
fn a_namespace_of_responses_has_tools_of_the_client_alone() {
    let namespace = json!({"type": "namespace", "name": "n", "tools": [
        {"type": "function", "name": "f"}, {"type": "web_search"},
    ]});
    let options = options().with_builtin_tools([BuiltinTool::Browser]);
    let responses = RESPONSES.read(json!({"input": "A", "tools": [namespace]}), &options).unwrap();
    assert_eq!(unused(&responses), ["tools[0].tools[1]"]);
    let turn = turn(CHAT, chat(&[], json!({"tools": [namespace]})));
    assert_eq!((unused(&turn), turn.tools.any_declared()), (vec!["tools[0]".to_owned()], false));
}
