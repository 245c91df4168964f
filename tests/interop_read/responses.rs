use openai_harmony::ThoughtPolicy;
use openai_harmony::interop::{Resolve, ToolKind};
use serde_json::{Value, json};

use super::{RESPONSES, error, options, prompt, said, system, turn, unused};

fn read(input: Value) -> openai_harmony::interop::Turn {
    turn(RESPONSES, json!({"input": input}))
}

#[test]
fn a_text_is_a_users_message() {
    let turn = turn(RESPONSES, json!({"instructions": "Be brief.", "input": "A"}));
    assert_eq!(
        said(&turn),
        "<|start|>developer<|message|># Instructions\n\nBe brief.<|end|>\
         <|start|>user<|message|>A<|end|>"
    );
}

#[test]
fn instructions_and_leading_messages_are_one_developer_message() {
    let turn = turn(
        RESPONSES,
        json!({"instructions": "One.", "input": [
            {"role": "developer", "content": "Two."},
            {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "Three."}]},
            {"role": "user", "content": "A"},
            {"role": "developer", "content": "Four."},
        ]}),
    );
    assert_eq!(
        said(&turn),
        "<|start|>developer<|message|># Instructions\n\nOne.\n\nTwo.\n\nThree.<|end|>\
         <|start|>user<|message|>A<|end|>\
         <|start|>developer<|message|># Instructions\n\nFour.<|end|>"
    );
}

fn message(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn call(id: &str, name: &str) -> Value {
    json!({"type": "function_call", "id": "fc_1", "call_id": id, "name": name, "arguments": "{}", "status": "completed"})
}

fn output(id: &str, text: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": text})
}

#[test]
fn items_of_a_turn() {
    let turn = read(json!([
        {"role": "user", "content": "Rain?"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "Look."}]},
        message("I look."),
        call("a", "look"),
        output("a", "wet"),
        message("It rains."),
    ]));
    assert_eq!(
        said(&turn),
        "<|start|>user<|message|>Rain?<|end|>\
         <|start|>assistant<|channel|>analysis<|message|>Look.<|end|>\
         <|start|>assistant<|channel|>commentary<|message|>I look.<|end|>\
         <|start|>assistant<|channel|>commentary to=functions.look <|constrain|>json<|message|>{}<|call|>\
         <|start|>functions.look to=assistant<|channel|>commentary<|message|>wet<|end|>\
         <|start|>assistant<|channel|>final<|message|>It rains.<|end|>"
    );
    assert!(turn.unused.is_empty(), "{:?}", turn.unused);
}

/// A message before a call is a preamble only if the call belongs to the same turn: thoughts and results may stand
/// between them, a user's message ends the turn.
#[test]
fn calls_of_a_later_turn_make_no_preamble() {
    let user = json!({"role": "user", "content": "Rain?"});
    let thought = json!({"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "Look."}]});
    let channel_of_first = |items: &[&Value]| {
        let mut input = vec![&user];
        input.extend(items);
        let text = said(&read(json!(input)));
        let (before, _) = text.split_once("<|message|>I look.").unwrap();
        before.rsplit_once("<|channel|>").unwrap().1.to_owned()
    };
    let (first, call, output) = (message("I look."), call("a", "look"), output("a", "wet"));
    assert_eq!(channel_of_first(&[&first, &call, &output]), "commentary");
    assert_eq!(channel_of_first(&[&first, &thought, &call, &output]), "commentary");
    assert_eq!(channel_of_first(&[&first, &message("Then."), &call, &output]), "commentary");
    assert_eq!(channel_of_first(&[&first, &user, &call, &output]), "final");
    assert_eq!(channel_of_first(&[&call, &output, &first]), "final");
}

#[test]
fn a_phase_says_what_a_message_is() {
    let phased = |phase: &str, text: &str| {
        let mut item = message(text);
        item["phase"] = json!(phase);
        item
    };
    let text = said(&read(json!([
        {"role": "user", "content": "A"},
        phased("final_answer", "F"), phased("commentary", "P"), call("a", "f"), output("a", "x"),
        {"role": "user", "content": "B"},
        message("G"),
        {"role": "user", "content": "C"},
        call("b", "f"),
    ])));
    assert!(text.contains("final<|message|>F<|end|>"), "{text}");
    assert!(text.contains("commentary<|message|>P<|end|>"), "{text}");
    // The call after it is of the next turn.
    assert!(text.contains("final<|message|>G<|end|>"), "{text}");
    let unknown = error(RESPONSES, json!({"input": [phased("prologue", "x")]}));
    assert!(unknown.to_string().contains("input[0].phase: unknown phase"), "{unknown}");
}

#[test]
fn free_form_calls_and_namespaces() {
    let turn = turn(
        RESPONSES,
        json!({
            "tools": [
                {"type": "custom", "name": "patch", "description": "Patches.",
                    "format": {"type": "grammar", "syntax": "regex", "definition": "x+"}},
                {"type": "namespace", "name": "crm", "description": "Customers.", "tools": [
                    {"type": "function", "name": "find", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}},
                    {"type": "custom", "name": "note"},
                ]},
            ],
            "input": [
                {"role": "user", "content": "A"},
                {"type": "custom_tool_call", "call_id": "a", "name": "patch", "input": "x\n"},
                {"type": "custom_tool_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "ok"}]},
                {"type": "function_call", "call_id": "b", "name": "find", "namespace": "crm", "arguments": "{}"},
                {"type": "function_call_output", "name": "find", "namespace": "crm", "output": "none"},
            ],
        }),
    );
    let text = said(&turn);
    assert!(text.contains("// crm: Customers.\nnamespace functions {"), "{text}");
    assert!(
        text.contains("// Patches.\n// The input follows this grammar (regex):\n// x+\ntype patch"),
        "{text}"
    );
    assert!(text.contains("type crm.find = (_: {"), "{text}");
    assert!(text.contains("to=functions.patch <|constrain|>json<|message|>{\"input\":\"x\\n\"}<|call|><|start|>functions.patch to="), "{text}");
    assert!(text.contains("to=functions.crm.find <|constrain|>json<|message|>{}<|call|><|start|>functions.crm.find to="), "{text}");
    let find = turn.tools.by_recipient("functions.crm.find").unwrap();
    assert_eq!((find.name.as_str(), find.namespace.as_deref()), ("find", Some("crm")));
    let note = turn.tools.by_name("note", Some("crm")).unwrap();
    assert_eq!((note.recipient.as_str(), note.kind), ("functions.crm.note", ToolKind::Custom));
}

#[test]
fn thoughts_are_in_content_or_this_librarys_own_blob() {
    let reasoning = |mut item: Value| {
        item["type"] = json!("reasoning");
        read(json!([{"role": "user", "content": "A"}, item]))
    };
    let content = json!([{"type": "reasoning_text", "text": "T"}]);
    let own = "harmony-thought-1.VA";
    for item in [
        json!({"content": content, "summary": []}),
        json!({"content": content, "encrypted_content": "foreign"}),
        json!({"content": null, "encrypted_content": own}),
        json!({"encrypted_content": own}),
    ] {
        let turn = reasoning(item);
        assert!(said(&turn).ends_with("analysis<|message|>T<|end|>"));
        assert!(turn.unused.is_empty());
    }
    let foreign = reasoning(json!({"encrypted_content": "gAAAAAB", "summary": []}));
    assert_eq!(unused(&foreign), ["input[1].encrypted_content"]);
    let summary = reasoning(json!({"summary": [{"type": "summary_text", "text": "S"}]}));
    assert_eq!(unused(&summary), ["input[1].summary"]);
    assert!(reasoning(json!({"summary": [], "content": []})).unused.is_empty());
}

#[test]
fn history_is_said_before_the_input() {
    let kept = vec![
        json!({"id": "m1", "role": "user", "content": "A"}),
        message("B"),
        json!({
        "type": "reasoning", "id": "rs_7", "content": [{"type": "reasoning_text", "text": "T"}]}),
    ];
    let with = options().with_history(kept);
    let body = json!({"instructions": "I.", "previous_response_id": "resp_1", "input": "C"});
    let turn = RESPONSES.read(&body, &with).unwrap();
    let text = said(&turn);
    assert!(text.starts_with(
        "<|start|>developer<|message|># Instructions\n\nI.<|end|><|start|>user<|message|>A"
    ));
    assert!(
        text.contains("final<|message|>B<|end|>") && text.ends_with("user<|message|>C<|end|>"),
        "{text}"
    );
    assert_eq!(turn.answer.repeated["previous_response_id"], "resp_1");
    assert_eq!(unused(&turn), [""; 0]);
    // What the history has, a reference does not say again.
    let body = json!({"input": [{"type": "item_reference", "id": "rs_7"}, {"id": "m1"}, {"role": "user", "content": "C"}]});
    assert_eq!(prompt(&RESPONSES.read(&body, &with).unwrap()).matches("message|>A<").count(), 1);
    // A reference that is kept in the history names what is elsewhere.
    let with = options()
        .with_history([json!({"type": "item_reference", "id": "msg_9"})])
        .with_resolve(Resolve::new(|id: &str| (id == "msg_9").then(|| message("R"))));
    assert!(prompt(&RESPONSES.read(json!({"input": "C"}), &with).unwrap()).contains("message|>R<"));
    let wrong = options().with_history([json!({"type": "nonsense"})]);
    let text = RESPONSES.read(json!({"input": "C"}), &wrong).unwrap_err().to_string();
    assert!(text.contains("history[0].type: unknown type of an item"), "{text}");
}

#[test]
fn references_are_resolved() {
    let find = |id: &str| match id {
        "msg_9" => Some(json!({"role": "user", "content": "found"})),
        "msg_8" => Some(json!({"role": "bot", "content": "found"})),
        "fc_7" => {
            Some(json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}))
        }
        _ => None,
    };
    let with = options().with_resolve(Resolve::new(find));
    let read =
        |id: &str| RESPONSES.read(json!({"input": [{"type": "item_reference", "id": id}]}), &with);
    assert_eq!(said(&read("msg_9").unwrap()), "<|start|>user<|message|>found<|end|>");
    // A text before a call is its preamble.
    let result = json!({"type": "function_call_output", "call_id": "c", "output": "1"});
    let input = json!([message("P"), {"type": "item_reference", "id": "fc_7"}, result.clone()]);
    let text = said(&RESPONSES.read(json!({"input": input}), &with).unwrap());
    assert!(text.contains("<|start|>assistant<|channel|>commentary<|message|>P<|end|>"), "{text}");
    let input = json!([message("P"), {"id": "msg_9"}, {"id": "fc_7"}, result]);
    let text = said(&RESPONSES.read(json!({"input": input}), &with).unwrap());
    assert!(text.contains("<|channel|>final<|message|>P<|end|><|start|>user"), "{text}");
    // A reference does not repeat an item of the history.
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"});
    let kept = vec![call, result.clone(), message("Done")];
    let with_history = with.clone().with_history(kept);
    let input = json!([{"id": "fc_1"}, {"role": "user", "content": "B"}]);
    let text = said(&RESPONSES.read(json!({"input": input}), &with_history).unwrap());
    assert!(text.contains("<|channel|>final<|message|>Done<|end|>"), "{text}");
    // Nor is anything looked up for it, or for an item that has an id of its own.
    let never = Resolve::new(|id: &str| -> Option<Value> { panic!("{id}") });
    let never = options().with_resolve(never).with_history([message("Done")]);
    let mut other = message("P");
    other["id"] = json!("msg_2");
    let input = json!([{"id": "msg_1"}, other, {"role": "user", "content": "B"}]);
    let text = said(&RESPONSES.read(json!({"input": input}), &never).unwrap());
    assert!(text.contains("<|channel|>final<|message|>P<|end|>"), "{text}");
    let lost = read("rs_1").unwrap();
    assert_eq!(said(&lost), "");
    assert_eq!(unused(&lost), ["input[0]"]);
    let text = read("msg_1").unwrap_err().to_string();
    assert!(text.contains("input[0].id: no item with the id \"msg_1\" is stored"), "{text}");
    let text = read("msg_8").unwrap_err().to_string();
    assert!(text.contains("input[0].role: unknown role"), "{text}");
}

#[test]
fn context_says_which_thoughts_stay() {
    let read = |context: Value| {
        turn(
            RESPONSES,
            json!({"reasoning": {"context": context, "effort": "high", "summary": "auto"}, "input": [
                {"role": "user", "content": "A"},
                {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "old"}]},
                message("B"),
                {"role": "user", "content": "C"},
            ]}),
        )
    };
    let all = read(json!("all_turns"));
    assert!(said(&all).contains("analysis<|message|>old"));
    assert_eq!(all.config.thoughts, ThoughtPolicy::Keep);
    assert_eq!(unused(&read(json!("always"))), ["reasoning.context", "reasoning.summary"]);
    for context in [json!("current_turn"), json!("auto"), json!(null)] {
        let turn = read(context);
        assert!(!said(&turn).contains("old"));
        assert!(system(&turn).contains("Reasoning: high\n"));
        assert_eq!(unused(&turn), ["reasoning.summary"]);
    }
}

#[test]
fn an_unfinished_last_item_is_continued() {
    let unfinished = |mut item: Value, status: &str| {
        item["status"] = json!(status);
        prompt(&read(json!([{"role": "user", "content": "A"}, item])))
    };
    for status in ["incomplete", "in_progress"] {
        let text = unfinished(message("It is"), status);
        assert!(text.ends_with("<|start|>assistant<|channel|>final<|message|>It is"), "{text}");
    }
    assert!(unfinished(message("It is"), "completed").ends_with("It is<|end|><|start|>assistant"));
    let thought =
        json!({"type": "reasoning", "content": [{"type": "reasoning_text", "text": "T"}]});
    assert!(unfinished(thought, "incomplete").ends_with("<|channel|>analysis<|message|>T"));
    let call = json!({"type": "function_call", "call_id": "a", "name": "f", "arguments": "{\"x"});
    let header = "assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>";
    assert!(unfinished(call.clone(), "incomplete").ends_with(&format!("{header}{{\"x")));
    assert!(unfinished(call, "completed").ends_with("{\"x<|call|><|start|>assistant"));
    let custom = json!({"type": "custom_tool_call", "call_id": "a", "name": "f", "input": "a\"b"});
    let text = unfinished(custom, "in_progress");
    assert!(text.ends_with(&format!("{header}{{\"input\":\"a\\\"b")), "{text}");
}

#[test]
fn a_call_that_was_cut_off_ends_no_session() {
    let cut = json!({"type": "function_call", "call_id": "a", "name": "f", "arguments": "{\"x", "status": "incomplete"});
    let user = json!({"role": "user", "content": "B"});
    let turn = read(json!([{"role": "user", "content": "A"}, cut, user]));
    assert_eq!(said(&turn), format!("{0}A<|end|>{0}B<|end|>", super::USER));
    assert_eq!(unused(&turn), ["input[1]"]);
    // What has a result came to its end, whatever its status says.
    let result = json!({"type": "function_call_output", "call_id": "a", "output": "R"});
    let turn = read(json!([cut, result, user]));
    assert!(said(&turn).contains("{\"x<|call|><|start|>functions.f to=assistant"));
    assert_eq!(turn.unused, []);
}

#[test]
fn formats_efforts_and_tools_may_change_on_the_way() {
    let turn = read(json!([
        {"role": "user", "content": "A"},
        {"type": "configuration_update", "reasoning": {"effort": "low"}, "text": {"format":
            {"type": "json_schema", "name": "n", "schema": {"type": "object"}}}},
        {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "f", "parameters": null}]},
        {"type": "tool_search_output", "tools": [{"type": "function", "name": "g", "parameters": {}}]},
    ]));
    assert!(system(&turn).contains("Reasoning: low\n"));
    let text = said(&turn);
    assert!(text.contains("type f = () => any;") && text.contains("type g = () => any;"), "{text}");
    assert!(text.contains("## n\n\n{\"type\":\"object\"}"), "{text}");
}

#[test]
fn the_text_format() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let turn = turn(
        RESPONSES,
        json!({"input": "A", "text": {"verbosity": "low", "format":
        {"type": "json_schema", "name": "plan", "description": "A plan.", "schema": schema, "strict": true}}}),
    );
    assert!(said(&turn).contains("# Response Formats\n\n## plan\n\n// A plan.\n{\"type\":"));
    assert_eq!(unused(&turn), ["text.verbosity"]);
}

#[test]
fn what_the_response_repeats_and_what_nothing_uses() {
    let turn = turn(
        RESPONSES,
        json!({
            "model": "m", "input": "A", "stream": true, "stream_options": {"include_obfuscation": false},
            "include": ["reasoning.encrypted_content", "file_search_call.results"],
            "metadata": {"a": "b"}, "store": false, "parallel_tool_calls": true, "user": "u", "truncation": "auto",
            "max_output_tokens": 50, "temperature": 0.5, "top_p": 0.25, "prompt_cache_key": "k", "odd": 1,
        }),
    );
    assert!(turn.answer.stream && turn.answer.encrypted_thoughts);
    assert_eq!(unused(&turn), ["stream_options.include_obfuscation", "include[1]", "odd"]);
    let repeated: Vec<_> = turn.answer.repeated.keys().map(String::as_str).collect();
    assert_eq!(
        repeated,
        [
            "metadata",
            "store",
            "parallel_tool_calls",
            "user",
            "truncation",
            "max_output_tokens",
            "temperature",
            "top_p",
            "prompt_cache_key"
        ]
    );
    assert_eq!(turn.sampling.max_tokens, Some(50));
    assert_eq!((turn.sampling.temperature, turn.sampling.top_p), (0.5, 0.25));
}

#[test]
fn items_of_servers_are_listed() {
    let turn = read(json!([
        {"type": "web_search_call", "id": "w", "status": "completed"},
        {"type": "compaction", "encrypted_content": "x"},
        {"role": "user", "content": "A"},
    ]));
    assert_eq!(unused(&turn), ["input[0]", "input[1]"]);
}

#[test]
fn what_cannot_be_carried_is_an_error_or_a_placeholder() {
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,"});
    let body = json!({"input": [{"role": "user", "content": [{"type": "input_text", "text": "A"}, image]}]});
    let path = "input[0].content[1].image_url";
    assert_eq!(
        error(RESPONSES, body).to_string(),
        format!("Unsupported content: {path}: the format cannot carry images")
    );
    let text = said(&read(json!([
        {"role": "user", "content": "A"}, call("a", "f"),
        {"type": "function_call_output", "call_id": "a", "output": [image, {"type": "input_text", "text": "B"}, {"type": "input_file", "file_id": "x"}]},
    ])));
    assert!(text.ends_with("<|message|>[image omitted]\n\nB\n\n[file omitted]<|end|>"), "{text}");
}
