//! Tools: their names both ways, their choice, and those that the model was trained with.

use serde_json::{Value, json};

use super::{CHAT, turn};

fn tools(names: &[&str]) -> Value {
    let tool = |name: &&str| json!({"type": "function", "function": {"name": name}});
    names.iter().map(tool).collect()
}

fn chat(names: &[&str], more: Value) -> Value {
    let mut body = json!({"messages": [{"role": "user", "content": "A"}], "tools": tools(names)});
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

#[test]
fn names_come_back_from_both_spellings() {
    let turn = turn(CHAT, chat(&["get weather", "python", "a-b"], json!({})));
    let name = |recipient: &str| turn.tools.by_recipient(recipient).map(|tool| tool.name.as_str());
    for (recipient, expected) in [
        ("functions.get_weather", Some("get weather")),
        ("functions.get weather", Some("get weather")),
        ("get_weather", Some("get weather")),
        ("get weather", Some("get weather")),
        ("functions.python_tool", Some("python")),
        ("functions.python", Some("python")),
        ("tool:python", Some("python")),
        ("tools.python_tool", Some("python")),
        ("python", None),
        ("a-b", Some("a-b")),
        ("functions.other", None),
        ("browser.search", None),
    ] {
        assert_eq!(name(recipient), expected, "{recipient}");
    }
    assert_eq!(turn.tools.by_name("get_weather", None).unwrap().name, "get weather");
    assert_eq!(turn.tools.recipients().count(), 3);
}
