//! The prompts of an engine that renders the body itself. What is expected was rendered by vLLM 0.33.

use openai_harmony::interop::{Prompts, Turn};
use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, RESPONSES, options, prompt};

fn read(body: &Value) -> Turn {
    read_as(Prompts::Vllm0_33, body)
}

fn read_as(prompts: Prompts, body: &Value) -> Turn {
    CHAT.read(body, &options().with_prompts(prompts)).unwrap()
}

/// The prompt after the system message.
fn after_system(turn: &Turn) -> String {
    prompt(turn).split_once("<|end|>").unwrap().1.to_owned()
}

#[test]
fn a_loop_of_tools_stands_as_in_the_body() {
    let call = |id: &str, name: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}});
    let body = json!({"messages": [
        {"role": "user", "content": "U"},
        {"role": "assistant", "content": "P", "reasoning": "T", "tool_calls": [call("a", "f"), call("b", "g")]},
        {"role": "tool", "tool_call_id": "b", "content": "G"},
        {"role": "tool", "tool_call_id": "a", "content": "F"},
    ]});
    let calls = [
        (Prompts::Vllm0_33, " to=functions.f<|channel|>commentary json"),
        (Prompts::VllmRs0_33, "<|channel|>commentary to=functions.f <|constrain|>json"),
    ];
    for (prompts, call) in calls {
        let other = call.replace(".f", ".g");
        let expected = format!(
            "<|start|>user<|message|>U<|end|>\
             <|start|>assistant<|channel|>commentary<|message|>P<|end|>\
             <|start|>assistant<|channel|>analysis<|message|>T<|end|>\
             <|start|>assistant{call}<|message|>{{}}<|call|>\
             <|start|>assistant{other}<|message|>{{}}<|call|>\
             <|start|>functions.g<|channel|>commentary to=assistant<|message|>G<|end|>\
             <|start|>functions.f<|channel|>commentary to=assistant<|message|>F<|end|>\
             <|start|>assistant"
        );
        assert_eq!(after_system(&read_as(prompts, &body)), expected);
    }
}

#[test]
fn parts_names_formats_and_system_messages() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let body = json!({
        "messages": [
            {"role": "system", "content": "S"},
            {"role": "system", "content": "R"},
            {"role": "user", "name": "bob", "content": [
                text("17"), {"type": "image_url", "image_url": {"url": "x"}}, text("17"),
            ]},
            {"role": "assistant", "content": "A", "prefix": true},
        ],
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}},
    });
    assert_eq!(
        after_system(&read(&body)),
        "<|start|>developer<|message|># Instructions\n\nS<|end|>\
         <|start|>developer<|message|># Instructions\n\nR<|end|>\
         <|start|>user<|message|>1717<|end|>\
         <|start|>assistant<|channel|>final<|message|>A<|end|>\
         <|start|>assistant"
    );
    // Each part is encoded on its own: "1717" would be two other tokens.
    let turn = read(&body);
    let user = turn.conversation.messages.iter().find(|message| message.content.len() == 2);
    assert!(user.is_some());
    assert!(turn.response_format.is_some() && turn.prefill.is_none());
    assert_eq!(turn.unused[0].path.to_string(), "messages[2].name");
    // The front end in Rust joins them, and takes no image.
    let rust = options().with_prompts(Prompts::VllmRs0_33);
    let error = CHAT.read(&body, &rust).unwrap_err().to_string();
    assert!(error.contains("messages[2].content[1].image_url"), "{error}");
    let body = json!({"messages": [{"role": "user", "content": [text("17"), text("17")]}]});
    let turn = CHAT.read(&body, &rust).unwrap();
    assert_eq!(turn.conversation.messages[1].content.len(), 1);
    assert!(after_system(&turn).contains("<|message|>1717<|end|>"));
}

#[test]
fn tools_are_declared_with_empty_schemas_and_although_none_may_be_called() {
    let parameters = json!({"type": "object", "properties": {}});
    let body = json!({
        "messages": [{"role": "user", "content": "U"}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": parameters}}],
        "tool_choice": "none",
    });
    let declared =
        "namespace functions {\n\ntype f = (_: {\n}) => any;\n\n} // namespace functions";
    let found = after_system(&read(&body));
    assert!(found.contains(declared), "{found}");
    let named = json!({"type": "function", "function": {"name": "f"}});
    let body = json!({"messages": body["messages"], "tools": body["tools"], "tool_choice": named});
    assert!(after_system(&read(&body)).ends_with("<|start|>assistant"));
}

#[test]
fn thoughts_before_the_last_answer_are_left_out() {
    let body = json!({"messages": [
        {"role": "user", "content": "U"},
        {"role": "assistant", "reasoning": "T", "content": "A"},
    ]});
    assert!(!prompt(&read(&body)).contains("analysis<|message|>"));
    assert!(prompt(&CHAT.read(&body, &options()).unwrap()).contains("analysis<|message|>T"));
}

#[test]
fn other_efforts_are_errors() {
    let body = |effort: &str| json!({"messages": [], "reasoning_effort": effort});
    for effort in ["none", "minimal", "xhigh", "High", ""] {
        let error =
            CHAT.read(body(effort), &options().with_prompts(Prompts::Vllm0_33)).unwrap_err();
        assert!(error.to_string().contains("known: low, medium, high"), "{error}");
    }
    assert!(prompt(&read(&body("high"))).contains("Reasoning: high"));
}

#[test]
fn arguments_of_anthropic_are_written_as_python_writes_them() {
    let body = json!({"messages": [
        {"role": "user", "content": "U"},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "t", "name": "f", "input": {"a": ["\u{e9}\"", 1.5, true], "b": {}}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "R"}]},
    ]});
    let read = |prompts| prompt(&ANTHROPIC.read(&body, &options().with_prompts(prompts)).unwrap());
    let spaced = r#"json<|message|>{"a": ["\u00e9\"", 1.5, true], "b": {}}<|call|>"#;
    assert!(read(Prompts::Vllm0_33).contains(spaced));
    assert!(
        read(Prompts::Harmony)
            .contains("json<|message|>{\"a\":[\"\u{e9}\\\"\",1.5,true],\"b\":{}}<|call|>")
    );
}

/// vLLM reads no `phase`.
#[test]
fn a_preamble_of_responses_is_an_answer() {
    let said =
        json!({"type": "message", "role": "assistant", "phase": "commentary", "content": "P"});
    let body = json!({"input": [{"role": "user", "content": "U"}, said, {"role": "user", "content": "V"}]});
    for (prompts, channel) in [(Prompts::Vllm0_33, "final"), (Prompts::Harmony, "commentary")] {
        let text = prompt(&RESPONSES.read(&body, &options().with_prompts(prompts)).unwrap());
        assert!(text.contains(&format!("<|channel|>{channel}<|message|>P<|end|>")), "{text}");
    }
}
