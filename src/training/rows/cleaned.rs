//! What data sets write into chat messages, and the model would be trained to write if it were rendered as
//! it is.

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::invalid;
use super::path::Path;
use crate::error::Result;

/// Cleans a message. An error names what cannot be told: a channel, which chat messages do not have, and
/// arguments that are not JSON.
pub(super) fn clean(path: &Path<'_>, message: &mut Map<String, Value>) -> Result<()> {
    if message.get("channel").is_some_and(|channel| !channel.is_null()) {
        let reason = "chat messages have no channel; those with one are the format \"harmony\"";
        return Err(invalid(Path::Member(path, "channel"), reason));
    }
    if message.get("role").and_then(Value::as_str) == Some("assistant") {
        take_thought(message);
    }
    let calls = Path::Member(path, "tool_calls");
    if let Some(Value::Array(items)) = message.get_mut("tool_calls") {
        for (index, item) in items.iter_mut().enumerate() {
            clean_call(&Path::Item(&calls, index), item)?;
        }
    }
    match message.get_mut("function_call") {
        Some(call) => clean_call(&Path::Member(path, "function_call"), call),
        None => Ok(()),
    }
}

/// Cleans a call's arguments.
pub(super) fn clean_call(path: &Path<'_>, call: &mut Value) -> Result<()> {
    let is_nested = call.get("function").is_some_and(Value::is_object);
    let nested = Path::Member(path, "function");
    let (path, function) = if is_nested { (&nested, &mut call["function"]) } else { (path, call) };
    match function.get_mut("arguments") {
        Some(Value::String(text)) => {
            serde_json::from_str::<IgnoredAny>(text).map(drop).map_err(|error| {
                let reason = format!("expected an object or its JSON text; not JSON: {error}");
                invalid(Path::Member(path, "arguments"), reason)
            })
        }
        Some(arguments) => {
            remove_nulls(arguments);
            Ok(())
        }
        None => Ok(()),
    }
}

/// Removes the members of objects that are null. Tables have the fields of all rows in each, and null
/// where a row has none.
pub(super) fn remove_nulls(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(remove_nulls);
        }
        _ => {}
    }
}

/// Moves a thought that begins the content, `<think>…</think>`, to where thoughts are read, unless the
/// message has one there.
fn take_thought(message: &mut Map<String, Value>) {
    const FIELDS: [&str; 3] = ["thinking", "reasoning_content", "reasoning"];
    let says = |key: &str| message.get(key).and_then(Value::as_str).is_some_and(|s| !s.is_empty());
    let Some(content) = message.get("content").and_then(Value::as_str) else { return };
    let inside = content.trim_start().strip_prefix("<think>");
    let Some((thought, rest)) = inside.and_then(|inside| inside.split_once("</think>")) else {
        return;
    };
    if FIELDS.into_iter().any(says) {
        return;
    }
    let (thought, rest) = (thought.trim().to_owned(), rest.trim_start().to_owned());
    message.insert("thinking".to_owned(), thought.into());
    message.insert("content".to_owned(), rest.into());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cleaned(message: Value) -> Result<Value> {
        let Value::Object(mut message) = message else { return Ok(Value::Null) };
        clean(&Path::Row, &mut message).map(|()| message.into())
    }

    #[test]
    fn a_thought_in_the_content_is_a_thought() {
        let message = |content: &str| json!({"role": "assistant", "content": content});
        let split = |thought: &str, rest: &str| {
            Ok(json!({"role": "assistant", "content": rest, "thinking": thought}))
        };
        assert_eq!(cleaned(message("<think>\nHm.\n</think>\n\n4.")), split("Hm.", "4."));
        assert_eq!(cleaned(message(" <think></think>4.")), split("", "4."));
        let same = ["4.", "4. <think>Hm.</think>", "<think>Hm.", ""];
        for content in same {
            assert_eq!(cleaned(message(content)), Ok(message(content)));
        }
        let both = json!({"role": "assistant", "content": "<think>a</think>b", "thinking": "c"});
        assert_eq!(cleaned(both.clone()), Ok(both));
        let user = json!({"role": "user", "content": "<think>a</think>b"});
        assert_eq!(cleaned(user.clone()), Ok(user));
    }

    #[test]
    fn nulls_of_arguments_are_fields_left_out() {
        let call = |arguments: Value| json!({"role": "assistant", "tool_calls": [{"function": {"arguments": arguments}}]});
        let padded = json!({"city": "Oslo", "unit": null, "in": [{"a": null, "b": 1}, null]});
        let expected = json!({"city": "Oslo", "in": [{"b": 1}, null]});
        assert_eq!(cleaned(call(padded)), Ok(call(expected)));
        let text = json!(r#"{"unit": null}"#);
        assert_eq!(cleaned(call(text.clone())), Ok(call(text)));
    }

    #[test]
    fn what_cannot_be_told_is_an_error() {
        for (message, path) in [
            (json!({"role": "assistant", "channel": "final"}), "channel"),
            (
                json!({"role": "assistant", "tool_calls": [{"function": {"arguments": "{"}}]}),
                "tool_calls[0].function.arguments",
            ),
            (
                json!({"role": "assistant", "tool_calls": [{"arguments": ""}]}),
                "tool_calls[0].arguments",
            ),
            (
                json!({"role": "assistant", "function_call": {"arguments": "x"}}),
                "function_call.arguments",
            ),
        ] {
            let error = cleaned(message).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.starts_with(&format!("Invalid row: {path}: ")), "{error}");
        }
    }
}
