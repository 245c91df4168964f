//! What is continued: the end of the last message alone.

use openai_harmony::interop::{ReadOptions, Resolve};
use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, Dialect, OLLAMA, RESPONSES, options, turn, unused};

fn user() -> Value {
    json!({"role": "user", "content": "Q"})
}

fn call() -> Value {
    json!({"type": "tool_use", "id": "a", "name": "f", "input": {}})
}

/// An answer is complete where another message follows it, whatever that one has written.
#[test]
fn a_message_that_others_follow_is_not_continued() {
    let done = json!({"role": "assistant", "content": "Done."});
    let message =
        json!({"type": "message", "role": "assistant", "content": [], "status": "incomplete"});
    let foreign = json!({"type": "reasoning", "summary": [], "encrypted_content": "gAAA", "status": "incomplete"});
    let search = json!({"type": "web_search_call", "id": "w", "status": "in_progress"});
    let output = json!({"type": "function_call_output", "call_id": "a", "output": "R", "status": "incomplete"});
    let called = json!({"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"});
    let found = json!([{"type": "web_search_tool_result", "tool_use_id": "x", "content": []}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "a", "content": "R"}]);
    let waits = json!({"role": "assistant", "content": "Wait."});
    let cases: [(Dialect, Value); 8] = [
        (RESPONSES, json!({"input": [user(), done, message]})),
        (RESPONSES, json!({"input": [user(), done, foreign]})),
        (RESPONSES, json!({"input": [user(), done, search]})),
        (RESPONSES, json!({"input": [user(), called, done, output]})),
        (
            CHAT,
            json!({"messages": [user(), done, {"role": "assistant", "content": "", "prefix": true}]}),
        ),
        (ANTHROPIC, json!({"messages": [user(), done, {"role": "user", "content": found}]})),
        (
            ANTHROPIC,
            json!({"messages": [user(), {"role": "assistant", "content": [call()]}, waits, {"role": "user", "content": result}]}),
        ),
        (OLLAMA, json!({"messages": [user(), done, {"role": "system", "content": ""}]})),
    ];
    for (dialect, body) in cases {
        let turn = turn(dialect, body.clone());
        assert_eq!(turn.prefill, None, "{dialect}: {body}");
        if dialect == CHAT {
            assert_eq!(unused(&turn), ["messages[2].prefix"]);
        }
    }
}

#[test]
fn an_item_that_a_reference_names_is_continued() {
    let half = json!({
        "type": "message", "id": "msg_1", "role": "assistant", "status": "incomplete",
        "content": [{"type": "output_text", "text": "I was say"}],
    });
    let cut = json!({
        "type": "function_call", "call_id": "a", "name": "f", "arguments": "{\"a", "status": "incomplete",
    });
    for (item, text) in [(half, "I was say"), (cut, "{\"a")] {
        let options: ReadOptions =
            options().with_resolve(Resolve::new(move |_| Some(item.clone())));
        let body = json!({"input": [user(), {"type": "item_reference", "id": "msg_1"}]});
        let prefill = RESPONSES.read(body, &options).unwrap().prefill.unwrap();
        assert_eq!(prefill.text.as_deref(), Some(text));
    }
}
