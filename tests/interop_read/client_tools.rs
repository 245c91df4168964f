//! Tools that clients run themselves, and that a body names by a type only.

use openai_harmony::interop::{ToolChoice, ToolKind};
use serde_json::{Value, json};

use super::{ANTHROPIC, RESPONSES, prompt, said, turn, unused};

#[test]
fn those_of_anthropic_are_functions() {
    let cases = [
        (json!({"type": "bash_20250124", "name": "bash"}), "restart?: boolean"),
        (json!({"type": "bash_20241022", "name": "bash"}), "command?: string"),
        (
            json!({"type": "text_editor_20250124", "name": "str_replace_editor"}),
            r#"command: "view" | "create" | "str_replace" | "insert" | "undo_edit""#,
        ),
        (
            json!({"type": "text_editor_20250728", "name": "str_replace_based_edit_tool", "max_characters": 9}),
            "insert_text?: string",
        ),
        (
            json!({"type": "text_editor_20250429", "name": "str_replace_based_edit_tool"}),
            "view: the first and the last line, from 1; -1 is the end of the file.",
        ),
        (json!({"type": "memory_20250818", "name": "memory"}), "old_path?: string"),
        (
            json!({"type": "computer_20250124", "name": "computer", "display_width_px": 800, "display_height_px": 600}),
            "// Uses a computer by its mouse, keyboard and screen. Its screen has 800 times 600 pixels.",
        ),
        (
            json!({"type": "computer_20251124", "name": "computer", "display_width_px": 8, "display_height_px": 6,
                "enable_zoom": true, "display_number": 1, "cache_control": {"type": "ephemeral"}}),
            "region?: number[]",
        ),
    ];
    for (tool, text) in cases {
        let name = tool["name"].as_str().unwrap();
        let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": name, "input": {"x": 1}}]});
        let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "R"}]});
        let body = json!({"messages": [{"role": "user", "content": "A"}, call, result], "tools": [tool],
            "tool_choice": {"type": "tool", "name": name}});
        let turn = turn(ANTHROPIC, body);
        assert!(turn.unused.is_empty(), "{:?}", turn.unused);
        let [read] = (&turn.tools).into_iter().collect::<Vec<_>>()[..] else { panic!() };
        assert!(read.client_runs && read.declared && read.kind == ToolKind::Function);
        assert!(
            matches!(&turn.tool_choice, ToolChoice::Named { recipient } if *recipient == format!("functions.{name}"))
        );
        let prompt = prompt(&turn);
        assert!(prompt.contains(&format!("type {name} = (_: {{")), "{prompt}");
        assert!(prompt.contains(text), "{prompt}");
    }
}

#[test]
fn a_computer_has_the_actions_of_its_version() {
    for (version, scrolls, zooms) in
        [("20241022", false, false), ("20250124", true, false), ("20251124", true, true)]
    {
        for enabled in [false, true] {
            let tool = json!({"type": format!("computer_{version}"), "name": "computer",
                "display_width_px": 8, "display_height_px": 6, "enable_zoom": enabled});
            let text = prompt(&turn(ANTHROPIC, json!({"messages": [], "tools": [tool]})));
            let has = |word: &str| text.contains(word);
            assert_eq!((has("\"scroll\""), has("scroll_amount")), (scrolls, scrolls), "{text}");
            assert_eq!(has("\"zoom\""), zooms && enabled, "{text}");
        }
    }
}

#[test]
fn a_deferred_one_waits_like_any_other() {
    let tool = json!({"type": "bash_20250124", "name": "bash", "defer_loading": true});
    let search = json!({"role": "user", "content": [{"type": "tool_addition", "tool": {"type": "tool_reference", "name": "bash"}}]});
    let said_at = |messages: Value| {
        let turn = turn(ANTHROPIC, json!({"messages": messages, "tools": [tool]}));
        prompt(&turn).find("type bash")
    };
    assert_eq!(said_at(json!([{"role": "user", "content": "A"}])), None);
    assert!(said_at(json!([{"role": "user", "content": "A"}, search])).is_some());
}

#[test]
fn what_servers_run_is_listed() {
    for kind in
        ["bash_code_execution_20250825", "computer_toolset_20250801", "bash_2025", "text_editor"]
    {
        let turn = turn(ANTHROPIC, json!({"messages": [], "tools": [{"type": kind, "name": "x"}]}));
        assert_eq!(unused(&turn), ["tools[0]"], "{kind}");
    }
    let shell = json!({"type": "shell", "environment": {"type": "container_auto"}});
    let body = json!({"input": "A", "tools": [shell], "tool_choice": {"type": "shell"}});
    let turn = turn(RESPONSES, body);
    assert_eq!(unused(&turn), ["tools[0]", "tool_choice.type"]);
    assert_eq!(turn.tool_choice, ToolChoice::Auto);
}

#[test]
fn those_of_responses_are_functions() {
    let cases = [
        (json!({"type": "apply_patch"}), ToolKind::ApplyPatch, "diff?: string"),
        (json!({"type": "shell"}), ToolKind::Shell, "commands: string[]"),
        (
            json!({"type": "shell", "environment": {"type": "local"}}),
            ToolKind::Shell,
            "timeout_ms?",
        ),
        (json!({"type": "local_shell"}), ToolKind::LocalShell, "working_directory?: string"),
    ];
    for (tool, kind, text) in cases {
        let word = tool["type"].as_str().unwrap();
        let body = json!({"input": "A", "tools": [tool], "tool_choice": {"type": word}});
        let turn = turn(RESPONSES, body);
        assert!(turn.unused.is_empty(), "{:?}", turn.unused);
        let read = turn.tools.iter().next().unwrap();
        assert_eq!((read.kind, read.name.as_str(), read.client_runs), (kind, word, true));
        assert!(
            matches!(&turn.tool_choice, ToolChoice::Named { recipient } if *recipient == format!("functions.{word}"))
        );
        let prompt = prompt(&turn);
        assert!(
            prompt.contains(&format!("type {word} = (_: {{")) && prompt.contains(text),
            "{prompt}"
        );
    }
}

#[test]
fn calls_of_them_and_their_results_come_back() {
    let exit = |code: i32| json!({"type": "exit", "exit_code": code});
    let cases = [
        (
            json!({"type": "shell_call", "action": {"commands": ["ls"], "timeout_ms": null, "max_output_length": 9}}),
            json!({"type": "shell_call_output", "output": [
                {"stdout": "a", "stderr": "", "outcome": exit(0)},
                {"stdout": "", "stderr": "b", "outcome": exit(2)},
                {"stdout": "c", "stderr": "", "outcome": {"type": "timeout"}}]}),
            r#"{"commands":["ls"],"max_output_length":9}"#,
            "a\n\nb\n\nExit code: 2\n\nc\n\nThe command timed out.",
        ),
        (
            json!({"type": "local_shell_call", "action": {"type": "exec", "command": ["ls"], "env": {}}}),
            json!({"type": "local_shell_call_output", "output": "R"}),
            r#"{"command":["ls"],"env":{}}"#,
            "R",
        ),
        // Parts, as the results of functions have them.
        (
            json!({"type": "local_shell_call", "action": {"type": "exec", "command": ["ls"]}}),
            json!({"type": "local_shell_call_output", "output": [
                {"type": "input_text", "text": "R"}, {"type": "input_image", "image_url": "data:,"}]}),
            r#"{"command":["ls"]}"#,
            "R\n\n[image omitted]",
        ),
        (
            json!({"type": "apply_patch_call", "operation": {"type": "delete_file", "path": "a"}}),
            json!({"type": "apply_patch_call_output", "status": "completed"}),
            r#"{"type":"delete_file","path":"a"}"#,
            "completed",
        ),
        (
            json!({"type": "apply_patch_call", "operation": {"type": "update_file", "path": "a", "diff": "+b"}}),
            json!({"type": "apply_patch_call_output", "status": "failed", "output": "no such line"}),
            r#"{"type":"update_file","path":"a","diff":"+b"}"#,
            "Error: no such line",
        ),
        (
            json!({"type": "apply_patch_call", "operation": {"type": "delete_file", "path": "a"}}),
            json!({"type": "apply_patch_call_output", "status": "failed", "output": ""}),
            r#"{"type":"delete_file","path":"a"}"#,
            "Error",
        ),
        (
            json!({"type": "tool_search_call", "arguments": {"query": "rain", "limit": null}, "execution": "client"}),
            json!({"type": "tool_search_output", "tools": [], "execution": "client"}),
            r#"{"query":"rain","limit":null}"#,
            "No tool was found.",
        ),
    ];
    for (mut call, mut output, arguments, result) in cases {
        let word = call["type"].as_str().unwrap().trim_end_matches("_call").to_owned();
        (call["call_id"], call["id"], call["status"]) =
            (json!("c"), json!("x"), json!("completed"));
        let preamble = json!({"role": "assistant", "content": "I look."});
        // The output of a local shell has the call's id as its own.
        output[if word == "local_shell" { "id" } else { "call_id" }] = json!("c");
        let input = json!([{"role": "user", "content": "A"}, preamble, call, output]);
        let text = said(&turn(RESPONSES, json!({"input": input})));
        let expected = format!(
            "commentary<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.{word} \
             <|constrain|>json<|message|>{arguments}<|call|><|start|>functions.{word} to=assistant<|channel|>commentary\
             <|message|>{result}<|end|>"
        );
        assert!(text.ends_with(&expected), "{text}");
    }
}
