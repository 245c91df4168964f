//! Calls and results: each result directly after the call that it answers.

use openai_harmony::interop::ReadOptions;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, OLLAMA, RESPONSES, error, said, turn, unused};

/// Calls and results in their order: `c1` is a call with the argument 1, `r1` a result that says 1.
fn order(text: &str) -> String {
    let mut order = Vec::new();
    for message in text.split("<|start|>").skip(1) {
        let (header, content) = message.split_once("<|message|>").unwrap();
        let content = content.trim_end_matches("<|end|>").trim_end_matches("<|call|>");
        if header.starts_with("functions.") {
            order.push(format!("r{content}"));
        } else if header.contains("to=functions.") {
            let digits: String = content.chars().filter(char::is_ascii_digit).collect();
            order.push(format!("c{digits}"));
        }
    }
    order.join(" ")
}

fn call(id: &str, name: &str, number: u32) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": format!("[{number}]")}})
}

fn result(id: &str, number: u32) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": number.to_string()})
}

fn chat(messages: &[Value]) -> Value {
    let mut all = vec![json!({"role": "user", "content": "A"})];
    all.extend_from_slice(messages);
    json!({"messages": all})
}

fn calls(calls: &[Value]) -> Value {
    json!({"role": "assistant", "tool_calls": calls})
}

#[test]
fn results_stand_behind_their_calls() {
    let cases = [
        (
            vec![calls(&[call("a", "f", 1), call("b", "g", 2)]), result("b", 2), result("a", 1)],
            "c1 r1 c2 r2",
        ),
        (
            vec![calls(&[call("a", "f", 1), call("b", "g", 2)]), result("a", 1), result("b", 2)],
            "c1 r1 c2 r2",
        ),
        // One id for all calls, in one message and in several.
        (
            vec![calls(&[call("a", "f", 1), call("a", "f", 2)]), result("a", 1), result("a", 2)],
            "c1 r1 c2 r2",
        ),
        (
            vec![
                calls(&[call("a", "f", 1)]),
                result("a", 1),
                calls(&[call("a", "f", 2)]),
                result("a", 2),
            ],
            "c1 r1 c2 r2",
        ),
        // Of several with no result in between the oldest comes first, whatever stands between them.
        (
            vec![
                calls(&[call("a", "f", 1)]),
                calls(&[call("a", "f", 2)]),
                result("a", 1),
                result("a", 2),
            ],
            "c1 r1 c2 r2",
        ),
    ];
    for (messages, expected) in cases {
        assert_eq!(order(&said(&turn(CHAT, chat(&messages)))), expected, "{messages:?}");
    }
}

#[test]
fn without_ids_the_name_counts_then_the_order() {
    let call =
        |name: &str, number: u32| json!({"function": {"name": name, "arguments": {"n": number}}});
    let named = |name: &str, number: u32| json!({"role": "tool", "tool_name": name, "content": number.to_string()});
    let plain = |number: u32| json!({"role": "tool", "content": number.to_string()});
    let cases = [
        (vec![calls(&[call("f", 1), call("g", 2)]), named("g", 2), named("f", 1)], "c1 r1 c2 r2"),
        (vec![calls(&[call("f", 1), call("f", 2)]), named("f", 1), named("f", 2)], "c1 r1 c2 r2"),
        (vec![calls(&[call("f", 1), call("g", 2)]), plain(1), plain(2)], "c1 r1 c2 r2"),
        (vec![calls(&[call("f", 1)]), plain(1), calls(&[call("f", 2)]), plain(2)], "c1 r1 c2 r2"),
    ];
    for (messages, expected) in cases {
        assert_eq!(order(&said(&turn(OLLAMA, chat(&messages)))), expected, "{messages:?}");
    }
    // A result with an id, calls without: the name counts, too.
    let messages = [
        calls(&[call("f", 1), call("g", 2)]),
        json!({"role": "tool", "tool_call_id": "x", "tool_name": "g", "content": "2"}),
        json!({"role": "tool", "tool_call_id": "y", "content": "1"}),
    ];
    assert_eq!(order(&said(&turn(OLLAMA, chat(&messages)))), "c1 r1 c2 r2");
}

#[test]
fn what_an_api_does_not_have_does_not_name_the_call() {
    let result = json!({"role": "tool", "name": "f", "namespace": "n", "content": "1"});
    let turn = turn(CHAT, chat(&[calls(&[call("a", "f", 1)]), result]));
    assert_eq!(order(&said(&turn)), "c1 r1");
    assert_eq!(turn.unused[0].path.to_string(), "messages[2].namespace");
}

#[test]
fn a_name_beside_the_id_of_anthropics_result_is_not_read() {
    let turn = turn(
        ANTHROPIC,
        json!({"messages": [
            {"role": "user", "content": "A"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"n": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "name": 5, "content": "1"}]},
        ]}),
    );
    assert_eq!(order(&said(&turn)), "c1 r1");
}

/// Some clients drop the calls of an earlier answer and keep the results.
#[test]
fn a_result_without_a_call_is_a_message_of_its_own() {
    let user = json!({"role": "user", "content": "A"});
    let output = json!({"type": "function_call_output", "call_id": "a", "output": "R"});
    let block = json!([{"type": "tool_result", "tool_use_id": "a", "content": "R"}]);
    let two = [
        calls(&[call("a", "f", 1)]),
        result("a", 1),
        json!({"role": "tool", "tool_call_id": "a", "content": "R"}),
    ];
    let cases = [
        (
            CHAT,
            chat(&[json!({"role": "tool", "tool_call_id": "a", "content": "R"})]),
            "unknown",
            "messages[1].tool_call_id",
            "no pending call has the id \"a\"",
        ),
        (CHAT, chat(&two), "f", "messages[3].tool_call_id", "no pending call has the id \"a\""),
        (
            CHAT,
            chat(&[json!({"role": "function", "name": "f", "content": "R"})]),
            "f",
            "messages[1].name",
            "no call of \"f\" is pending",
        ),
        (
            CHAT,
            chat(&[json!({"role": "tool", "content": "R"})]),
            "unknown",
            "messages[1]",
            "no call is pending for this result",
        ),
        (
            RESPONSES,
            json!({"input": [user, output]}),
            "unknown",
            "input[1].call_id",
            "no pending call has the id \"a\"",
        ),
        (
            ANTHROPIC,
            json!({"messages": [user, {"role": "user", "content": block}]}),
            "unknown",
            "messages[1].content[0].tool_use_id",
            "no pending call has the id \"a\"",
        ),
        (
            OLLAMA,
            chat(&[json!({"role": "tool", "tool_name": "get rain", "content": "R"})]),
            "get_rain",
            "messages[1].tool_name",
            "no call of \"get rain\" is pending",
        ),
    ];
    for (dialect, body, tool, path, reason) in cases {
        let turn = turn(dialect, body.clone());
        let expected = format!(
            "<|start|>functions.{tool} to=assistant<|channel|>commentary<|message|>R<|end|>"
        );
        let text = said(&turn);
        assert!(text.ends_with(&expected), "{body}: {text}");
        assert_eq!(turn.unused.len(), 1, "{body}");
        assert_eq!(turn.unused[0].path.to_string(), path);
        let strict = super::options().with_strict(true);
        let error = dialect.read(&body, &strict).unwrap_err().to_string();
        assert_eq!(error, format!("Invalid request: {path}: {reason}"));
    }
}

/// Results of calls with no result in between, in one message or in several, with equal ids, equal names or none.
#[test]
fn results_of_parallel_calls_come_in_their_order() {
    let called = |id: Option<&str>, name: &str, number: u32| {
        let function = json!({"name": name, "arguments": {"n": number}});
        match id {
            Some(id) => json!({"id": id, "function": function}),
            None => json!({"function": function}),
        }
    };
    let answered = |id: Option<&str>, number: u32| {
        let content = number.to_string();
        match id {
            Some(id) => json!({"role": "tool", "tool_call_id": id, "content": content}),
            None => json!({"role": "tool", "content": content}),
        }
    };
    for id in [None, Some("call_0")] {
        for names in [["f", "f"], ["f", "g"]] {
            let [one, two] = [called(id, names[0], 1), called(id, names[1], 2)];
            let results = [answered(id, 1), answered(id, 2)];
            let together = [&[calls(&[one.clone(), two.clone()])][..], &results].concat();
            let apart = [
                &[calls(std::slice::from_ref(&one)), calls(std::slice::from_ref(&two))][..],
                &results,
            ];
            let [r1, r2] = results.clone();
            let in_turn = [calls(&[one]), r1, calls(&[two]), r2].to_vec();
            for messages in [together, apart.concat(), in_turn] {
                for dialect in [CHAT, OLLAMA] {
                    let said = said(&turn(dialect, chat(&messages)));
                    assert_eq!(order(&said), "c1 r1 c2 r2", "{messages:?}");
                }
            }
        }
    }
}

#[test]
fn a_result_may_name_its_tool_by_the_recipient() {
    for (called, named) in [("f", "functions.f"), ("functions.f", "f")] {
        let call = json!({"role": "assistant", "tool_calls": [{"function": {"name": called, "arguments": {}}}]});
        let result = json!({"role": "tool", "tool_name": named, "content": "x"});
        let read = turn(OLLAMA, chat(&[call, result]));
        assert!(said(&read).contains("<|start|>functions.f to=assistant"), "{called} {named}");
    }
}

#[test]
fn a_result_may_name_its_tool_by_either_spelling() {
    let declared = json!([{"type": "function", "function": {"name": "get rain"}}]);
    for (called, named) in [("get_rain", "get rain"), ("get rain", "functions.get_rain")] {
        let call = json!({"function": {"name": called, "arguments": {}}});
        let turn = turn(
            OLLAMA,
            json!({"tools": declared, "messages": [
                {"role": "user", "content": "Q"},
                {"role": "assistant", "tool_calls": [call]},
                {"role": "tool", "tool_name": named, "content": "R"},
            ]}),
        );
        assert!(said(&turn).ends_with(
            "<|start|>functions.get_rain to=assistant<|channel|>commentary<|message|>R<|end|>"
        ));
    }
    // Of two tools that this could mean, it is the one with the very name.
    let declared = json!([
        {"type": "function", "function": {"name": "f"}},
        {"type": "function", "function": {"name": "functions.f"}},
    ]);
    let call = |name: &str| json!({"function": {"name": name, "arguments": {"of": name}}});
    let turn = turn(
        OLLAMA,
        json!({"tools": declared, "messages": [
            {"role": "user", "content": "Q"},
            {"role": "assistant", "tool_calls": [call("f"), call("functions.f")]},
            {"role": "tool", "tool_name": "functions.f", "content": "R2"},
            {"role": "tool", "tool_name": "f", "content": "R1"},
        ]}),
    );
    let said = said(&turn);
    let order = ["{\"of\":\"f\"}", "R1", "{\"of\":\"functions.f\"}", "R2"]
        .map(|part| said.find(part).unwrap());
    assert!(order.is_sorted(), "{said}");
}

#[test]
fn a_call_without_a_result_is_the_last_thing_said() {
    let last = turn(CHAT, chat(&[calls(&[call("a", "f", 1), call("b", "f", 2)])]));
    assert_eq!(order(&said(&last)), "c1 c2");
    let half = turn(CHAT, chat(&[calls(&[call("a", "f", 1), call("b", "f", 2)]), result("a", 1)]));
    assert_eq!(order(&said(&half)), "c1 r1 c2");
    let user = json!({"role": "user", "content": "B"});
    let elsewhere =
        error(CHAT, chat(&[calls(&[call("a", "f", 1), call("b", "f", 2)]), result("a", 1), user]));
    assert!(elsewhere.to_string().contains("messages[1].tool_calls[1]: this call has no result"));
    let before =
        error(CHAT, chat(&[calls(&[call("a", "f", 1), call("b", "f", 2)]), result("b", 2)]));
    assert!(before.to_string().contains("messages[1].tool_calls[0]: this call has no result"));
}

#[test]
fn arguments_are_passed_on() {
    let arguments = |arguments: Value| {
        let call = json!({"id": "a", "function": {"name": "f", "arguments": arguments}});
        let text = said(&turn(CHAT, chat(&[calls(&[call])])));
        text.rsplit_once("<|message|>").unwrap().1.trim_end_matches("<|call|>").to_owned()
    };
    let odd = "{\"a\" :\t1, no json \\u00e9";
    assert_eq!(arguments(json!(odd)), odd);
    assert_eq!(arguments(json!("")), "{}");
    assert_eq!(
        arguments(json!({"b": [1, 2.5], "a": {"é": null}})),
        r#"{"b":[1,2.5],"a":{"é":null}}"#
    );
    assert_eq!(arguments(json!(null)), "{}");
}

#[test]
fn a_hundred_thousand_calls_take_linear_time() {
    // All with one id, each answered: what a search through the past would make quadratic.
    let mut messages = vec![json!({"role": "user", "content": "A"})];
    for number in 0..50_000 {
        messages.push(calls(&[call("same", "f", number)]));
        messages.push(result("same", number));
    }
    let long = turn(CHAT, json!({"messages": messages}));
    assert_eq!(long.conversation.messages.len(), 100_002);
    // Answered backwards.
    let all: Vec<_> = (0..50_000).map(|number| call(&format!("i{number}"), "f", number)).collect();
    let mut messages = vec![json!({"role": "user", "content": "A"}), calls(&all)];
    messages.extend((0..50_000).rev().map(|number| result(&format!("i{number}"), number)));
    let long = turn(CHAT, json!({"messages": messages}));
    assert_eq!(long.conversation.messages.len(), 100_002);
}

/// A call or a result, with its id and its tool's name, if it has them.
#[derive(Debug, Clone)]
enum Step {
    Call(Option<&'static str>, &'static str),
    Result(Option<&'static str>, Option<&'static str>),
}

fn step() -> impl Strategy<Value = Step> {
    let id = |ids: &'static [&'static str]| prop::option::of(prop::sample::select(ids));
    let name = || prop::sample::select(&["f", "g"][..]);
    prop_oneof![
        (id(&["a", "b"]), name()).prop_map(|(id, name)| Step::Call(id, name)),
        (id(&["a", "b", "z"]), prop::option::of(name()))
            .prop_map(|(id, name)| Step::Result(id, name)),
    ]
}

/// The number of the call that each result answers, found by looking at all: of the open calls that it may mean those
/// behind the latest result that has one, and of these the first.
fn paired(steps: &[Step]) -> Vec<Option<usize>> {
    let mut open: Vec<(usize, usize, Option<&str>, &str)> = Vec::new();
    let (mut calls, mut results, mut known, mut found) = (0, 0, Vec::new(), Vec::new());
    for step in steps {
        match *step {
            Step::Call(id, name) => {
                open.push((results, calls, id, name));
                known.extend(id);
                calls += 1;
            }
            Step::Result(id, name) => {
                results += 1;
                let is_known = id.is_some_and(|id| known.contains(&id));
                let may_be = |call: &&(usize, usize, Option<&str>, &str)| match (id, name) {
                    (Some(id), _) if is_known => call.2 == Some(id),
                    (id, Some(name)) => call.3 == name && (id.is_none() || call.2.is_none()),
                    (id, None) => id.is_none() || call.2.is_none(),
                };
                let group = open.iter().filter(may_be).map(|call| call.0).max();
                let mut meant = open.iter().filter(may_be).filter(|call| Some(call.0) == group);
                let answered = meant.next().map(|call| call.1);
                open.retain(|call| Some(call.1) != answered);
                found.push(answered);
            }
        }
    }
    found
}

proptest! {
    #[test]
    fn results_answer_the_calls_that_they_mean(mut steps in prop::collection::vec(step(), 0..14)) {
        let answered = paired(&steps).iter().flatten().count();
        let calls = steps.iter().filter(|step| matches!(step, Step::Call(..))).count();
        // So that each call has a result.
        steps.extend((answered..calls).map(|_| Step::Result(None, None)));
        let (mut call, mut number) = (0, 0);
        let messages: Vec<Value> = steps.iter().map(|step| match step {
            Step::Call(id, name) => {
                call += 1;
                let function = json!({"name": name, "arguments": {"n": call - 1}});
                json!({"role": "assistant", "tool_calls": [{"id": id, "function": function}]})
            }
            Step::Result(id, name) => {
                number += 1;
                let content = (number - 1).to_string();
                json!({"role": "tool", "tool_call_id": id, "name": name, "content": content})
            }
        }).collect();
        let found = paired(&steps);
        let mut expected = Vec::new();
        let (mut call, mut number) = (0, 0);
        for step in &steps {
            match step {
                Step::Call(..) => {
                    expected.push(format!("c{call}"));
                    let result = found.iter().position(|answered| *answered == Some(call));
                    expected.extend(result.map(|result| format!("r{result}")));
                    call += 1;
                }
                Step::Result(..) => {
                    expected.extend(found[number].is_none().then(|| format!("r{number}")));
                    number += 1;
                }
            }
        }
        let turn = turn(CHAT, chat(&messages));
        prop_assert_eq!(order(&said(&turn)), expected.join(" "));
        prop_assert_eq!(turn.unused.len(), found.iter().filter(|answered| answered.is_none()).count());
    }
}

/// Responses: an asynchronous call may have no result, one that comes later, or several.
#[test]
fn asynchronous_calls() {
    let call = |id: &str, flag: Value| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}", "async": flag});
    let output = |id: &str, text: &str| json!({"type": "function_call_output", "call_id": id, "output": text});
    let user = |text: &str| json!({"role": "user", "content": text});
    let called = "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>";
    let result = |text: &str| {
        format!("<|start|>functions.f to=assistant<|channel|>commentary<|message|>{text}<|end|>")
    };
    let asked = |text: &str| format!("<|start|>user<|message|>{text}<|end|>");
    let input =
        json!([user("A"), call("c", json!(true)), user("B"), output("c", "1"), output("c", "2")]);
    let expected = [&asked("A"), called, &asked("B"), &result("1"), &result("2")].concat();
    let body = json!({"input": input});
    for body in [body.clone(), {
        let mut declared = body;
        declared["input"][1]["async"] = json!(null);
        declared["tools"] = json!([{"type": "function", "name": "f", "async": true}]);
        declared
    }] {
        let turn = RESPONSES.read(body, &ReadOptions::new().with_strict(true)).unwrap();
        assert!(said(&turn).ends_with(&expected), "{}", said(&turn));
        assert!(turn.unused.is_empty(), "{:?}", turn.unused);
    }
    // A second result of another call is that tool's, and is listed.
    let input = json!([user("A"), call("c", json!(false)), output("c", "1"), output("c", "2")]);
    let second = turn(RESPONSES, json!({"input": input}));
    assert!(said(&second).ends_with(&[called, &result("1"), &result("2")].concat()));
    assert_eq!(unused(&second), ["input[3].call_id"]);
    let open = json!([user("A"), call("c", json!(false)), user("B")]);
    assert!(error(RESPONSES, json!({"input": open})).to_string().contains("has no result"));
}
