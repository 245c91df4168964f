//! What is continued: the end of the last message alone.

use openai_harmony::interop::{ReadOptions, Resolve};
use serde_json::{Value, json};

use super::{RESPONSES, options};

fn user() -> Value {
    json!({"role": "user", "content": "Q"})
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
