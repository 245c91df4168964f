//! Calls of the tools of Responses that clients run: items of their own, which come complete.

use super::*;

fn body(kind: &str) -> Value {
    json!({"input": "A", "tools": [{"type": kind, "execution": "client"}, {"type": "function", "name": "f"}]})
}

fn call(tool: &str, arguments: &str) -> String {
    format!(
        "<|channel|>commentary to=functions.{tool} <|constrain|>json<|message|>{arguments}<|call|>"
    )
}

#[test]
fn the_next_prompt_begins_with_what_was_sampled() {
    let arguments = r#"{"commands":["ls"]}"#;
    let body = body("shell");
    let sampled = [THOUGHT, &call("shell", arguments)].concat();
    let mut output = answered(RESPONSES, &body, &[&sampled])["output"].as_array().unwrap().clone();
    let result = json!({"type": "shell_call_output", "call_id": output[1]["call_id"], "output": [{"stdout": "R"}]});
    output.insert(0, json!({"role": "user", "content": "A"}));
    output.push(result);
    let first = turn(RESPONSES, &body).prompt(&encoding()).unwrap();
    let next = turn(RESPONSES, &with(body, json!({"input": output}))).prompt(&encoding()).unwrap();
    let begun = [first, tokens(&sampled)].concat();
    assert_eq!(&next[..begun.len()], begun);
}
