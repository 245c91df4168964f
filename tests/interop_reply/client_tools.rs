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
fn they_have_the_form_that_clients_wait_for() {
    let shell = |commands: Value, timeout: Value| json!({"action": {"commands": commands, "timeout_ms": timeout, "max_output_length": null}});
    let local = |command: Value, directory: Value| json!({"action": {"type": "exec", "command": command, "env": {}, "timeout_ms": null, "working_directory": directory, "user": null}});
    let patch = json!({"operation": {"type": "update_file", "path": "a", "diff": "+b"}});
    let cases = [
        (
            "shell",
            r#"{"commands":["ls","pwd"],"timeout_ms":5}"#,
            "sh_",
            shell(json!(["ls", "pwd"]), json!(5)),
        ),
        ("shell", r#"{"command":"ls"}"#, "sh_", shell(json!(["ls"]), json!(null))),
        (
            "local_shell",
            r#"{"command":["ls"],"working_directory":"/"}"#,
            "lsh_",
            local(json!(["ls"]), json!("/")),
        ),
        (
            "local_shell",
            r#"{"command":"ls | wc"}"#,
            "lsh_",
            local(json!(["bash", "-lc", "ls | wc"]), json!(null)),
        ),
        ("apply_patch", r#"{"type":"update_file","path":"a","diff":"+b"}"#, "apc_", patch.clone()),
        (
            "apply_patch",
            r#"{"operation":{"type":"update_file","path":"a","diff":"+b"}}"#,
            "apc_",
            patch,
        ),
        (
            "apply_patch",
            r#"{"type":"delete_file","path":"a"}"#,
            "apc_",
            json!({"operation": {"type": "delete_file", "path": "a"}}),
        ),
        (
            "tool_search",
            r#"{"query":"rain"}"#,
            "tsc_",
            json!({"arguments": {"query": "rain"}, "execution": "client"}),
        ),
    ];
    for (tool, arguments, prefix, called) in cases {
        let sampled = [THOUGHT, &call(tool, arguments)];
        let response = answered(RESPONSES, &body(tool), &sampled);
        let item = &response["output"][1];
        assert_eq!(item["type"], format!("{tool}_call"), "{response}");
        assert!(item["id"].as_str().unwrap().starts_with(prefix), "{item}");
        assert!(item["call_id"].as_str().unwrap().starts_with("call_"), "{item}");
        assert_eq!(item["status"], "completed");
        for (field, value) in called.as_object().unwrap() {
            assert_eq!(&item[field], value, "{item}");
        }
        let events = sent(RESPONSES, &body(tool), &sampled, FinishReason::Stop);
        let of_item = |name: &str| {
            let found =
                events.iter().find(|event| event["type"] == name && event["output_index"] == 1);
            found.unwrap()["item"].clone()
        };
        let done = of_item("response.output_item.done");
        assert_eq!(&done, item);
        let mut added = of_item("response.output_item.added");
        assert_eq!(added["status"], "in_progress");
        added["status"] = json!("completed");
        assert_eq!(added, done);
        let kinds = events.iter().filter(|event| event["output_index"] == 1).count();
        assert_eq!(kinds, 2, "{events:?}");
    }
}

#[test]
fn what_cannot_be_run_is_text() {
    let cases = [
        ("shell", "ls"),
        ("shell", "{}"),
        ("shell", r#"{"commands":[]}"#),
        ("shell", r#"{"commands":[1]}"#),
        ("local_shell", r#"{"command":[]}"#),
        ("apply_patch", r#"{"type":"update_file","path":"a"}"#),
        ("apply_patch", r#"{"type":"move_file","path":"a","diff":""}"#),
    ];
    for (tool, arguments) in cases {
        let reply = ended(RESPONSES, &body(tool), &[&call(tool, arguments)], FinishReason::Stop);
        let response = reply.response();
        assert_eq!(response["output"][0]["content"][0]["text"], arguments, "{response}");
        assert_eq!(
            reply.repairs().last().map(|repair| <&str>::from(repair.kind)),
            Some("call_as_text")
        );
    }
    let cut = ended(
        RESPONSES,
        &body("shell"),
        &[call("shell", r#"{"commands":["l"#).trim_end_matches("<|call|>")],
        FinishReason::Length,
    );
    assert_eq!(cut.response()["output"][0]["type"], "message");
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
