//! Anthropic's tools that are declared later, and come and go.

use openai_harmony::interop::ToolChoice;
use serde_json::{Value, json};

use super::{ANTHROPIC, RESPONSES, error, prompt, said, turn, unused};

/// A search for tools that names one, which the body defers.
fn searched(tools: Value) -> Value {
    json!({
        "tools": tools,
        "messages": [
            {"role": "user", "content": "Rain?"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "find", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": [
                    {"type": "tool_reference", "tool_name": "rain"},
                    {"type": "tool_reference", "tool_name": "nobody"},
                ]},
                {"type": "text", "text": "And?"},
            ]},
        ],
    })
}

#[test]
fn a_deferred_tool_is_declared_behind_the_result_that_names_it() {
    let find = json!({"name": "find", "input_schema": {"type": "object"}});
    let rain = json!({"name": "rain", "defer_loading": true, "input_schema": {"type": "object"}});
    let snow = json!({"name": "snow", "defer_loading": true, "input_schema": {"type": "object"}});
    let body = searched(json!([find, rain, snow]));
    let read = turn(ANTHROPIC, body.clone());
    assert_eq!(unused(&read), [""; 0]);
    let text = said(&read);
    let declared = "<|start|>functions.find to=assistant<|channel|>commentary<|message|>rain\n\nnobody<|end|>\
         <|start|>developer<|message|># Tools\n\n## functions\n\nnamespace functions {\n\n\
         type rain = () => any;\n\n} // namespace functions<|end|><|start|>user<|message|>And?<|end|>";
    assert!(text.contains(declared), "{text}");
    assert!(!text.contains("snow"), "{text}");
    let names: Vec<_> = read.tools.iter().map(|tool| (&*tool.name, tool.declared)).collect();
    assert_eq!(names, [("find", true), ("rain", true), ("snow", false)]);

    // The prompt so far is the beginning of the prompt with the tool.
    let mut before = body;
    before["messages"].as_array_mut().unwrap().truncate(1);
    let before = said(&turn(ANTHROPIC, before));
    assert!(text.starts_with(&before), "{before}\n{text}");

    let mut none = searched(json!([find, rain]));
    none["tool_choice"] = json!({"type": "none"});
    assert!(!said(&turn(ANTHROPIC, none)).contains("namespace functions"));
}

#[test]
fn tools_come_and_go() {
    let rain = json!({"name": "rain", "defer_loading": true});
    let changes = json!([
        {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "rain"}},
        {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {"name": "snow"}}},
        {"type": "text", "text": "New tools."},
    ]);
    let gone =
        json!([{"type": "tool_removal", "tool": {"type": "tool_reference", "name": "rain"}}]);
    let read = turn(
        ANTHROPIC,
        json!({"tools": [rain], "messages": [
            {"role": "user", "content": "A"},
            {"role": "system", "content": changes},
            {"role": "system", "content": changes},
            {"role": "assistant", "content": "B"},
            {"role": "user", "content": [gone[0], {"type": "text", "text": "C"}]},
        ]}),
    );
    let text = said(&read);
    for (once, count) in [("type rain =", 1), ("type snow =", 1), ("New tools.", 2)] {
        assert_eq!(text.matches(once).count(), count, "{once}: {text}");
    }
    let order = [
        "A<|end|>",
        "New tools.",
        "type rain =",
        "type snow =",
        "final<|message|>B",
        "The tool functions.rain is not available any longer.",
        "C<|end|>",
    ];
    let places: Vec<_> = order.iter().map(|part| text.find(part).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
    // A definition cannot go.
    let kinds = json!([{"type": "tool_removal", "tool": {"type": "tool_definition", "definition": {"name": "hail"}}}]);
    let listed = turn(ANTHROPIC, json!({"messages": [{"role": "system", "content": kinds}]}));
    assert_eq!(unused(&listed).len(), 1);
    assert!(!said(&listed).contains("hail"));
    let kinds = json!([{"type": "tool_addition", "tool": {"type": "mcp_tool_reference"}}]);
    let listed = turn(ANTHROPIC, json!({"messages": [{"role": "system", "content": kinds}]}));
    assert_eq!(unused(&listed), ["messages[0].content[0]"]);
}

#[test]
fn a_tool_that_the_body_declares_is_not_defined_again() {
    let define = |description: &str| {
        let definition = json!({"name": "snow", "description": description});
        let tool = json!({"type": "tool_definition", "definition": definition});
        json!({"role": "system", "content": [{"type": "tool_addition", "tool": tool}]})
    };
    let asked = json!({"role": "user", "content": "A"});
    for (tools, kept, listed) in [
        (
            json!([{"name": "snow", "description": "First"}]),
            "// First\ntype snow =",
            [0, 1].as_slice(),
        ),
        (json!([]), "// Second\ntype snow =", &[1]),
    ] {
        let messages = json!([asked, define("Second"), define("Third"), asked]);
        let read = turn(ANTHROPIC, json!({"tools": tools, "messages": messages}));
        let text = said(&read);
        assert!(text.contains(kept), "{text}");
        assert_eq!(text.matches("type snow =").count(), 1, "{text}");
        let place = |index| format!("messages[{}].content[0].tool.definition", index + 1);
        assert_eq!(unused(&read), listed.iter().map(place).collect::<Vec<_>>());
    }
}

#[test]
fn a_removed_tool_is_not_offered() {
    let gone = json!({"role": "system", "content": [
        {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "rain"}},
    ]});
    let user = json!({"role": "user", "content": "A"});
    let body = |tools: Value, choice: Value| json!({"tools": tools, "messages": [user, gone, gone, user], "tool_choice": choice});
    let (rain, snow) = (json!({"name": "rain"}), json!({"name": "snow"}));
    let both = json!([rain, snow]);
    let read = turn(ANTHROPIC, body(both.clone(), json!(null)));
    let declared: Vec<_> = read.tools.recipients().collect();
    assert_eq!(declared, ["functions.snow"]);
    assert_eq!(said(&read).matches("is not available any longer.").count(), 1);
    let named = body(both.clone(), json!({"type": "tool", "name": "rain"}));
    assert!(
        error(ANTHROPIC, named)
            .to_string()
            .ends_with("tool_choice.name: no tool is named \"rain\"")
    );
    // What the model never saw need not be taken back.
    for body in [
        body(both, json!({"type": "none"})),
        body(json!([{"name": "rain", "defer_loading": true}, snow]), json!(null)),
    ] {
        assert!(!said(&turn(ANTHROPIC, body)).contains("is not available"));
    }
}

#[test]
fn a_tool_that_is_removed_by_its_spelling_is_not_offered() {
    for (name, spelled) in [("rain", "functions.rain"), ("get rain", "get_rain")] {
        let gone =
            json!([{"type": "tool_removal", "tool": {"type": "tool_reference", "name": spelled}}]);
        let messages =
            json!([{"role": "user", "content": "A"}, {"role": "system", "content": gone}]);
        let read = turn(ANTHROPIC, json!({"tools": [{"name": name}], "messages": messages}));
        assert_eq!(read.tools.recipients().count(), 0);
        assert!(said(&read).contains("is not available any longer."));
    }
}

/// Of two that are spelled alike, the one with the very name.
#[test]
fn the_named_one_of_two_deferred_tools_is_declared() {
    let deferred = |name: &str| json!({"name": name, "defer_loading": true});
    let tools = json!([deferred("get rain"), deferred("get_rain"), {"name": "other"}]);
    let choice = json!({"type": "tool", "name": "get_rain"});
    let messages = json!([{"role": "user", "content": "A"}]);
    let text = said(&turn(
        ANTHROPIC,
        json!({"tools": tools, "messages": messages, "tool_choice": choice}),
    ));
    assert!(text.contains("type get_rain ="), "{text}");
    assert!(!text.contains("get_rain_2"), "{text}");
}

#[test]
fn a_deferred_tool_that_is_named_by_its_spelling_is_declared() {
    for (name, choice) in [("python", "python_tool"), ("f", "functions.f")] {
        let choice = json!({"type": "tool", "name": choice});
        let tools = json!([{"name": name, "defer_loading": true}, {"name": "other"}]);
        let messages = json!([{"role": "user", "content": "A"}]);
        let read =
            turn(ANTHROPIC, json!({"tools": tools, "messages": messages, "tool_choice": choice}));
        let recipient = read.prefill.as_ref().unwrap().recipient.clone().unwrap();
        assert!(
            said(&read)
                .contains(&format!("type {} = ", recipient.trim_start_matches("functions.")))
        );
    }
}

#[test]
fn a_removed_tool_comes_back() {
    let change = |kind: &str, name: &str| {
        let tool = json!({"type": "tool_reference", "name": name});
        json!({"role": "system", "content": [{"type": kind, "tool": tool}]})
    };
    let (rain, snow) = (json!({"name": "rain"}), json!({"name": "snow", "defer_loading": true}));
    let turn = turn(
        ANTHROPIC,
        json!({"tools": [rain, snow], "messages": [
            {"role": "user", "content": "A"},
            change("tool_removal", "rain"),
            change("tool_addition", "rain"),
            change("tool_addition", "snow"),
            change("tool_removal", "snow"),
            {"role": "user", "content": "B"},
            change("tool_addition", "snow"),
            change("tool_addition", "snow"),
            change("tool_removal", "nobody"),
            change("tool_addition", "none"),
        ]}),
    );
    let text = said(&turn);
    let order = [
        "The tool functions.rain is not available any longer.",
        "The tool functions.rain is available again.",
        "type snow =",
        "The tool functions.snow is not available any longer.",
        "The tool functions.snow is available again.",
    ];
    let places: Vec<_> = order.iter().map(|part| text.find(part).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
    assert_eq!((text.matches("again").count(), text.matches("type snow").count()), (2, 1));
    assert!(turn.tools.iter().all(|tool| tool.offered));
    // A tool that the body does not have cannot come or go.
    let names = ["messages[8].content[0].tool.name", "messages[9].content[0].tool.name"];
    assert_eq!(unused(&turn), names);
    assert_eq!(turn.unused[0].reason.to_string(), "no tool is named \"nobody\"");
}

#[test]
fn a_deferred_tool_that_has_to_be_called_is_declared() {
    let body = json!({
        "tools": [{"name": "rain", "defer_loading": true}, {"name": "snow", "defer_loading": true}],
        "tool_choice": {"type": "tool", "name": "rain"},
        "messages": [{"role": "user", "content": "A"}],
    });
    let named = prompt(&turn(ANTHROPIC, body.clone()));
    assert!(named.contains("type rain = ") && !named.contains("snow"), "{named}");
    assert!(named.ends_with("to=functions.rain <|constrain|>json<|message|>"), "{named}");

    // Nothing that the model sees could be called.
    let mut any = body;
    any["tool_choice"] = json!({"type": "any"});
    let any = turn(ANTHROPIC, any);
    assert_eq!(
        (&any.tool_choice, unused(&any)),
        (&ToolChoice::Auto, vec!["tool_choice.type".to_owned()])
    );
}

#[test]
fn a_tool_that_is_declared_again_does_not_hide_the_first() {
    let (now, later) = (json!({"name": "rain"}), json!({"name": "rain", "defer_loading": true}));
    let turn = turn(ANTHROPIC, json!({"tools": [now, later], "messages": []}));
    assert!(said(&turn).contains("type rain = "));
    assert_eq!(unused(&turn), ["tools[1]"]);
}

/// Nothing here runs it, so its tools would never be found.
#[test]
fn tools_that_wait_for_a_search_of_the_servers_are_declared() {
    let search =
        json!({"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"});
    let rain = json!({"name": "rain", "defer_loading": true});
    let turn = turn(ANTHROPIC, json!({"tools": [rain, search], "messages": []}));
    assert!(said(&turn).contains("type rain = "));
    assert_eq!(unused(&turn), ["tools[1]"]);
}

#[test]
fn what_is_no_edit_is_an_error() {
    let body = |edits: Value| json!({"messages": [], "context_management": {"edits": edits}});
    let text = error(ANTHROPIC, body(json!(5))).to_string();
    assert_eq!(text, "Invalid request: context_management.edits: expected a list, got a number");
    let thinking = json!({"type": "enabled", "budget_tokens": -1});
    let text = error(ANTHROPIC, json!({"messages": [], "thinking": thinking})).to_string();
    let expected = "thinking.budget_tokens: expected a whole number of at least 1, got -1";
    assert_eq!(text, format!("Invalid request: {expected}"));
}

/// Responses: what a search by the client found is declared after its result.
#[test]
fn tools_that_a_client_searched() {
    let f = json!({"type": "function", "name": "f", "defer_loading": true});
    let g = json!({"type": "function", "name": "g", "defer_loading": false});
    let crm = json!({"type": "namespace", "name": "crm", "description": "Customers.", "tools": [
        {"type": "function", "name": "find", "description": "Finds.", "defer_loading": true}]});
    let search = |execution: &str| {
        json!({"type": "tool_search", "execution": execution, "description": "S.",
        "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}})
    };
    let input = json!([
        {"role": "user", "content": "A"},
        {"type": "tool_search_call", "call_id": "c", "execution": "client", "arguments": {"q": "x"}},
        {"type": "tool_search_output", "call_id": "c", "execution": "client", "tools": [f, crm]},
        {"type": "function_call", "call_id": "d", "name": "find", "namespace": "crm", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "d", "output": "R"},
    ]);
    let body = json!({"input": input, "tools": [f, g, search("client")]});
    let found = turn(RESPONSES, body.clone());
    assert_eq!(unused(&found), [""; 0]);
    let declared = |functions: &str| {
        format!(
            "# Tools\n\n## functions\n\nnamespace functions {{\n\n{functions}\n\n}} // namespace functions<|end|>"
        )
    };
    let search_tool = "// S.\ntype tool_search = (_: {\n// optional\nq?: string,\n}) => any;";
    let search_tool = search_tool.replace("// optional\n", "");
    assert_eq!(
        said(&found),
        [
            "<|start|>developer<|message|>",
            &declared(&["type g = () => any;\n\n", &search_tool].concat()),
            "<|start|>user<|message|>A<|end|>",
            "<|start|>assistant<|channel|>commentary to=functions.tool_search <|constrain|>json<|message|>{\"q\":\"x\"}<|call|>",
            "<|start|>functions.tool_search to=assistant<|channel|>commentary<|message|>f\ncrm: Customers.\ncrm.find<|end|>",
            "<|start|>developer<|message|>",
            &declared("type f = () => any;\n\n// Finds.\ntype crm.find = () => any;"),
            "<|start|>assistant<|channel|>commentary to=functions.crm.find <|constrain|>json<|message|>{}<|call|>",
            "<|start|>functions.crm.find to=assistant<|channel|>commentary<|message|>R<|end|>",
        ]
        .concat()
    );
    assert!(found.tools.by_name("find", Some("crm")).unwrap().declared);
    // Nothing loads tools later if a server searches: they are declared at once.
    let served = turn(RESPONSES, with(body, "tools", json!([f, search("server")])));
    assert_eq!(unused(&served), ["tools[0].defer_loading", "tools[1]"]);
    assert!(said(&served).starts_with(
        "<|start|>developer<|message|># Tools\n\n## functions\n\nnamespace functions {\n\ntype f ="
    ));
}

fn with(mut body: Value, key: &str, value: Value) -> Value {
    body[key] = value;
    body
}
