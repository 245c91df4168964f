//! Calls and results: each result directly after the call that it answers.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{CHAT, said, turn};

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
