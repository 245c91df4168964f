//! The prompts of an engine that renders the body itself. What is expected was rendered by vLLM 0.33.

use openai_harmony::interop::{Prompts, Turn};
use serde_json::{Value, json};

use super::{CHAT, options, prompt};

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
