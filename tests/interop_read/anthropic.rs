use openai_harmony::interop::{ThoughtDisplay, Unsupported};
use serde_json::{Value, json};

use super::{ANTHROPIC, error, options, prompt, said, system, turn, unused};

fn read(messages: Value) -> openai_harmony::interop::Turn {
    turn(ANTHROPIC, json!({"messages": messages}))
}

#[test]
fn system_texts_are_instructions() {
    let plain = turn(ANTHROPIC, json!({"system": "Be brief.", "messages": []}));
    assert_eq!(said(&plain), "<|start|>developer<|message|># Instructions\n\nBe brief.<|end|>");
    let blocks = turn(
        ANTHROPIC,
        json!({
            "system": [
                {"type": "text", "text": "x-anthropic-billing-header: cc_version=1; cch=2"},
                {"type": "text", "text": "One.", "cache_control": {"type": "ephemeral"}},
                {"type": "text", "text": "Two."},
            ],
            "messages": [
                {"role": "system", "content": "Three."},
                {"role": "user", "content": "A"},
                {"role": "system", "content": [{"type": "text", "text": "Four."}]},
            ],
        }),
    );
    assert_eq!(
        said(&blocks),
        "<|start|>developer<|message|># Instructions\n\nOne.\n\nTwo.\n\nThree.<|end|>\
         <|start|>user<|message|>A<|end|>\
         <|start|>developer<|message|># Instructions\n\nFour.<|end|>"
    );
    assert_eq!(unused(&blocks), ["system[0]"]);
}

#[test]
fn a_system_message_is_cleared_at_the_next_user_message() {
    let messages = |last: &str| {
        json!([
            {"role": "user", "content": "A"},
            {"role": "system", "clear_at": "next_user_message", "content": "Now."},
            {"role": last, "content": "B"},
        ])
    };
    assert!(!said(&read(messages("user"))).contains("Now."));
    assert!(said(&read(messages("assistant"))).contains("Now."));
}

#[test]
fn an_assistant_message_is_thought_preamble_call() {
    let turn = read(json!([
        {"role": "user", "content": [{"type": "text", "text": "Rain?"}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Look.", "signature": "x"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "a", "name": "look", "input": {"x": [1]}},
            {"type": "tool_use", "id": "b", "name": "look", "input": {}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "dry"}]},
            {"type": "tool_result", "tool_use_id": "a", "content": "wet"},
            {"type": "text", "text": "And?"},
        ]},
    ]));
    assert_eq!(
        said(&turn),
        "<|start|>user<|message|>Rain?<|end|>\
         <|start|>assistant<|channel|>analysis<|message|>Look.<|end|>\
         <|start|>assistant<|channel|>commentary<|message|>I look.<|end|>\
         <|start|>assistant<|channel|>commentary to=functions.look <|constrain|>json<|message|>\
         {\"x\":[1]}<|call|>\
         <|start|>functions.look to=assistant<|channel|>commentary<|message|>wet<|end|>\
         <|start|>assistant<|channel|>commentary to=functions.look <|constrain|>json<|message|>\
         {}<|call|>\
         <|start|>functions.look to=assistant<|channel|>commentary<|message|>dry<|end|>\
         <|start|>user<|message|>And?<|end|>"
    );
}

#[test]
fn thoughts_of_other_servers_without_text_are_listed() {
    let turn = read(json!([
        {"role": "user", "content": "A"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "", "signature": "Eq8B"},
            {"type": "redacted_thinking", "data": "Ew8B"},
            {"type": "thinking", "thinking": "", "signature": "harmony-thought-1.TG9vay4"},
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "text", "text": "B"},
        ]},
    ]));
    assert_eq!(unused(&turn), ["messages[1].content[0].signature", "messages[1].content[1].data"]);
    assert!(prompt(&turn).contains("analysis<|message|>Look.<|end|>"), "{}", prompt(&turn));
}

#[test]
fn results_say_that_they_are_errors() {
    let result = |result: Value| {
        let turn = read(json!([
            {"role": "user", "content": "A"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
            {"role": "user", "content": [result]},
        ]));
        let text = said(&turn);
        text.rsplit_once("<|message|>").unwrap().1.trim_end_matches("<|end|>").to_owned()
    };
    let block = |content: Value, is_error: bool| json!({"type": "tool_result", "tool_use_id": "a", "content": content, "is_error": is_error});
    assert_eq!(result(block(json!("no file"), true)), "Error: no file");
    for says_so in ["error: no file", "<error>no file", "[Errors: 1] Error", "no: Error: file"] {
        let says_error = says_so != "[Errors: 1] Error";
        let expected = if says_error { says_so.to_owned() } else { format!("Error: {says_so}") };
        assert_eq!(result(block(json!(says_so), true)), expected);
    }
    assert_eq!(result(block(json!(null), true)), "Error");
    assert_eq!(result(block(json!("fine"), false)), "fine");
    assert_eq!(result(json!({"type": "tool_result", "tool_use_id": "a"})), "");
    let image =
        json!([{"type": "text", "text": "x"}, {"type": "image", "source": {"type": "base64"}}]);
    assert_eq!(result(block(image, false)), "x\n\n[image omitted]");
    assert_eq!(result(block(json!([{"type": "tool_reference", "tool_name": "g"}]), false)), "g");
}

#[test]
fn documents_and_search_results_that_are_text_are_text() {
    let text = |block: Value| said(&read(json!([{"role": "user", "content": [block]}])));
    let document = json!({"type": "document", "title": "T", "context": "C", "citations": {"enabled": true},
        "source": {"type": "text", "media_type": "text/plain", "data": "D"}});
    assert_eq!(text(document), "<|start|>user<|message|>T\n\nC\n\nD<|end|>");
    let blocks = json!({"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "D"}]}});
    assert_eq!(text(blocks), "<|start|>user<|message|>D<|end|>");
    let search = json!({"type": "search_result", "title": "T", "source": "https://a", "content": [{"type": "text", "text": "D"}]});
    assert_eq!(text(search), "<|start|>user<|message|>T\n\nhttps://a\n\nD<|end|>");
}

#[test]
fn what_cannot_be_carried_is_an_error_with_its_path() {
    let cases = [
        (json!({"type": "image", "source": {"type": "url", "url": "https://a"}}), "image"),
        (json!({"type": "document", "source": {"type": "base64", "data": ""}}), "document"),
    ];
    for (block, content) in cases {
        let body = json!({"messages": [{"role": "user", "content": [block]}]});
        let path = "messages[0].content[0].source";
        let expected = format!("Unsupported content: {path}: the format cannot carry {content}s");
        assert_eq!(error(ANTHROPIC, body.clone()).to_string(), expected);
        let placeholder = options().with_unsupported(Unsupported::Placeholder);
        let text = said(&ANTHROPIC.read(&body, &placeholder).unwrap());
        assert_eq!(text, format!("<|start|>user<|message|>[{content} omitted]<|end|>"));
    }
}

#[test]
fn blocks_of_servers_are_listed() {
    let turn = read(json!([
        {"role": "user", "content": "A"},
        {"role": "assistant", "content": [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
            {"type": "text", "text": "B"},
        ]},
        {"role": "user", "content": "C"},
    ]));
    assert_eq!(unused(&turn), ["messages[1].content[0]", "messages[1].content[1]"]);
    assert!(said(&turn).contains("final<|message|>B<|end|>"));
}

/// A block that is not read is listed, or has a placeholder, as a whole; fields of the others are listed one by one.
#[test]
fn unknown_fields_of_blocks_are_listed() {
    let content = [
        json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}, "odd": 1}),
        json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": [], "odd": 1}),
        json!({"type": "image", "source": {"type": "base64"}, "odd": 1}),
        json!({"type": "text", "text": "B", "odd": 1}),
        json!({"type": "tool_use", "id": "a", "name": "f", "input": {}}),
    ];
    let turn = read(json!([
        {"role": "user", "content": "A"},
        {"role": "assistant", "content": content},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "R", "odd": 1}]},
    ]));
    let expected = [
        "messages[1].content[0]",
        "messages[1].content[1]",
        "messages[1].content[3].odd",
        "messages[2].content[0].odd",
    ];
    assert_eq!(unused(&turn), expected);
}

#[test]
fn effort_counts_before_the_budget() {
    let cases = [
        (json!({}), "medium"),
        (json!({"thinking": {"type": "disabled"}}), "low"),
        (json!({"thinking": {"type": "adaptive"}}), "medium"),
        (json!({"thinking": {"type": "enabled", "budget_tokens": 2047}}), "low"),
        (json!({"thinking": {"type": "enabled", "budget_tokens": 2048}}), "medium"),
        (json!({"thinking": {"type": "enabled", "budget_tokens": 16383}}), "medium"),
        (json!({"thinking": {"type": "enabled", "budget_tokens": 16384}}), "high"),
        (
            json!({"thinking": {"type": "enabled", "budget_tokens": 1024}, "output_config": {"effort": "max"}}),
            "high",
        ),
    ];
    for (mut body, effort) in cases {
        body["messages"] = json!([]);
        let turn = turn(ANTHROPIC, body.clone());
        assert!(system(&turn).contains(&format!("Reasoning: {effort}\n")), "{body}");
    }
}

#[test]
fn thoughts_are_shown_if_thinking_asks_for_them() {
    let cases = [
        (json!({}), ThoughtDisplay::Hidden),
        (json!({"type": "disabled"}), ThoughtDisplay::Hidden),
        (json!({"type": "enabled", "budget_tokens": 5000}), ThoughtDisplay::Shown),
        (json!({"type": "adaptive", "display": "summarized"}), ThoughtDisplay::Shown),
        (json!({"type": "adaptive", "display": "omitted"}), ThoughtDisplay::Omitted),
        (json!({"type": "adaptive", "display": "updates"}), ThoughtDisplay::Shown),
    ];
    for (thinking, thoughts) in cases {
        let mut body = json!({"messages": []});
        if thinking != json!({}) {
            body["thinking"] = thinking.clone();
        }
        assert_eq!(turn(ANTHROPIC, body).answer.thought_display, thoughts, "{thinking}");
    }
}

#[test]
fn unknown_words_and_fields_are_listed() {
    let body = json!({
        "thinking": {"type": "disabled", "display": "updates", "effort": "low"},
        "messages": [{"role": "system", "content": "A", "clear_at": "tomorrow"}],
    });
    let turn = turn(ANTHROPIC, body);
    assert_eq!(unused(&turn), ["messages[0].clear_at", "thinking.display", "thinking.effort"]);
}

#[test]
fn formats_are_read_from_both_fields() {
    let schema = json!({"type": "object"});
    let format = json!({"type": "json_schema", "schema": schema});
    for body in [
        json!({"messages": [], "output_config": {"format": format}}),
        json!({"messages": [], "output_format": format}),
    ] {
        let turn = turn(ANTHROPIC, body);
        assert!(said(&turn).contains("## response\n\n{\"type\":\"object\"}"));
        assert_eq!(turn.response_format.unwrap().schema, schema);
    }
}

#[test]
fn sampling_and_what_is_left() {
    let turn = turn(
        ANTHROPIC,
        json!({
            "model": "m", "max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "top_k": 40,
            "stop_sequences": ["a", "b"], "stream": true, "metadata": {"user_id": "u"},
            "service_tier": "auto", "cache_control": {"type": "ephemeral"}, "messages": [],
        }),
    );
    assert_eq!(turn.sampling.max_tokens, Some(9));
    assert_eq!(
        (turn.sampling.temperature, turn.sampling.top_p, turn.sampling.top_k),
        (0.5, 0.9, 40)
    );
    assert_eq!(turn.stop_strings, ["a", "b"]);
    assert!(turn.answer.stream);
    assert_eq!(unused(&turn), ["metadata", "service_tier"]);
}

#[test]
fn a_last_assistant_message_is_continued() {
    let turn = read(json!([
        {"role": "user", "content": "A"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "T", "signature": ""}, {"type": "text", "text": "It is"}]},
    ]));
    assert!(prompt(&turn).ends_with(
        "analysis<|message|>T<|end|><|start|>assistant<|channel|>final<|message|>It is"
    ));
    let thought = read(json!([
        {"role": "user", "content": "A"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "T", "signature": ""}]},
    ]));
    assert!(prompt(&thought).ends_with("<|start|>assistant<|channel|>analysis<|message|>T"));
    let call = read(json!([
        {"role": "user", "content": "A"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
    ]));
    assert!(prompt(&call).ends_with("{}<|call|><|start|>assistant"));
}

#[test]
fn the_latest_effort_counts() {
    let message =
        |effort: &str| json!({"role": "user", "content": "A", "output_config": {"effort": effort}});
    let body = json!({
        "output_config": {"effort": "low"},
        "messages": [message("low"), message("high"), {"role": "user", "content": "B"}],
    });
    let turn = turn(ANTHROPIC, body);
    assert!(system(&turn).contains("Reasoning: high\n"));
    assert_eq!(unused(&turn), [""; 0]);
}

#[test]
fn thoughts_of_all_turns_are_kept_if_the_body_says_so() {
    let body = |keep: Value| {
        json!({
            "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": keep}]},
            "messages": [
                {"role": "user", "content": "A"},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": ""},
                    {"type": "text", "text": "B"},
                ]},
                {"role": "user", "content": "C"},
            ],
        })
    };
    for all in [json!("all"), json!({"type": "all"})] {
        let turn = turn(ANTHROPIC, body(all));
        assert!(said(&turn).contains("Hm."));
        assert_eq!(unused(&turn), [""; 0]);
    }
    let some = turn(ANTHROPIC, body(json!({"type": "thinking_turns", "value": 1})));
    assert!(!said(&some).contains("Hm."));
    assert_eq!(unused(&some), ["context_management.edits[0]"]);
}

/// A summary takes the place of all messages before it; the system prompt and the tools stay.
#[test]
fn compacted_messages() {
    let messages = json!([
        {"role": "user", "content": "A"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
        {"role": "assistant", "content": [{"type": "text", "text": "lost"}, {"type": "compaction", "content": "Sums."}, {"type": "text", "text": "So"}]},
        {"role": "user", "content": "B"},
    ]);
    let body = json!({"system": "Be brief.", "messages": messages});
    let summed = turn(ANTHROPIC, body.clone());
    assert_eq!(
        said(&summed),
        "<|start|>developer<|message|># Instructions\n\nBe brief.<|end|><|start|>user<|message|>Sums.<|end|>\
         <|start|>assistant<|channel|>final<|message|>So<|end|><|start|>user<|message|>B<|end|>"
    );
    assert!(summed.unused.is_empty(), "{:?}", summed.unused);
    let mut failed = body;
    failed["messages"][1]["content"] = json!("X");
    failed["messages"][2]["content"][1]["content"] = json!(null);
    let failed = turn(ANTHROPIC, failed);
    assert_eq!(unused(&failed), ["messages[2].content[1]"]);
    assert!(said(&failed).contains("lost\n\nSo"));
}

#[test]
fn toolsets_are_namespaces() {
    let tools = json!([{"type": "computer_toolset_20260801", "configs": {"zoom": {"enabled": false}}},
        {"type": "browser_toolset_20260801", "configs": {"read_console": {"enabled": true}, "wait": {"enabled": true, "odd": 1}, "fly": {}}}]);
    let used = json!({"type": "tool_use", "id": "a", "name": "wait", "toolset_name": "computer", "input": {"duration": 1}});
    let state = json!({"type": "browser_state", "tabs": [{"tab_id": "1", "title": "T", "url": "https://a", "active": true}, {"tab_id": "2", "title": "", "url": ""}],
        "state_changes": [{"type": "tab_opened", "tab_id": "2"}, {"type": "download_completed", "download_id": "d", "url": "u", "size_bytes": 5}]});
    let result = json!({"type": "tool_result", "tool_use_id": "a", "toolset_name": "computer", "content": [state]});
    let messages = json!([{"role": "user", "content": "A"}, {"role": "assistant", "content": [used]}, {"role": "user", "content": [result]}]);
    let turn = turn(ANTHROPIC, json!({"messages": messages, "tools": tools}));
    assert_eq!(unused(&turn), ["tools[1].configs.wait.odd", "tools[1].configs.fly"]);
    let text = said(&turn);
    for part in [
        "type computer.wait = (_: {",
        "type browser.read_console = (_: {",
        "assistant<|channel|>commentary to=functions.computer.wait <|constrain|>json<|message|>{\"duration\":1}<|call|>",
        "<|message|>Tab 1 T https://a (active)\nTab 2\ntab opened: 2\ndownload completed: d u 5 bytes<|end|>",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("computer.zoom") && !text.contains("browser.file_upload"), "{text}");
}
