//! What a turn has of its body so that a server reads the body once.

use openai_harmony::interop::Resolve;
use serde_json::json;

use super::{RESPONSES, options, said, unused};

#[test]
fn what_was_said_up_to_a_response_is_found_by_its_id() {
    let items =
        json!([{"id": "m", "role": "user", "content": "A"}, {"role": "assistant", "content": "B"}]);
    let find = Resolve::new(move |id| (id == "resp_1").then(|| items.clone()));
    let options = options().with_previous(find);
    let body = json!({"input": [{"type": "item_reference", "id": "m"}, {"role": "user", "content": "C"}],
        "previous_response_id": "resp_1"});
    let turn = RESPONSES.read(&body, &options).unwrap();
    assert_eq!(turn.previous_response_id.as_deref(), Some("resp_1"));
    let text = said(&turn);
    assert!(text.find(">A<") < text.find(">B<") && text.find(">B<") < text.find(">C<"), "{text}");
    assert!(turn.unused.is_empty());
    let sources = (1..turn.conversation.messages.len()).map(|index| turn.source(index));
    let sources: Vec<_> = sources.map(|source| source.unwrap().to_string()).collect();
    assert_eq!(sources, ["history[0]", "history[1]", "input[1]"]);

    let unknown = RESPONSES.read(json!({"input": "A", "previous_response_id": "x"}), &options);
    let expected = "previous_response_id: no response with the id \"x\" is stored";
    assert!(unknown.unwrap_err().to_string().ends_with(expected));
    let without = super::turn(RESPONSES, json!({"input": "A", "previous_response_id": "x"}));
    assert_eq!(unused(&without), ["previous_response_id"]);
    assert_eq!(without.previous_response_id.as_deref(), Some("x"));
}
