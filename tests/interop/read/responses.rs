use openai_harmony::interop::Resolve;
use serde_json::{Value, json};

use super::{RESPONSES, options, prompt, said, unused};

fn message(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
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
