//! What data sets write into chat messages, and the model would be trained to write if it were rendered as
//! it is.

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::invalid;
use super::path::Path;
use crate::error::Result;

/// Cleans a message, whose content the row calls `content`. An error names what cannot be told: a channel,
/// which chat messages do not have, arguments that are not JSON, and two thoughts.
pub(super) fn clean(
    path: &Path<'_>,
    content: &str,
    message: &mut Map<String, Value>,
) -> Result<()> {
    if message.get("channel").is_some_and(|channel| !channel.is_null()) {
        let reason = "chat messages have no channel; those with one are the format 'harmony'";
        return Err(invalid(Path::Member(path, "channel"), reason));
    }
    if message.get("role").and_then(Value::as_str) == Some("assistant") {
        clean_thought(path, content, message)?;
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

/// The fields of a message that say a thought.
const THOUGHTS: [&str; 3] = ["thinking", "reasoning_content", "reasoning"];

/// Leaves a message one thought, in a field where thoughts are read: data sets say the same one in several
/// fields, or at the beginning of the content, `<think>…</think>`. An error names two that differ, and a content
/// with one of the marks alone.
fn clean_thought(path: &Path<'_>, content: &str, message: &mut Map<String, Value>) -> Result<()> {
    let says = |key: &&str| !thought(message, key).is_empty();
    let field = THOUGHTS.into_iter().find(says);
    let differs = |key: &str, field: &str| {
        let other = Path::Member(path, field);
        invalid(Path::Member(path, key), format!("another thought than {other}; a message has one"))
    };
    if let Some(field) = field {
        for other in THOUGHTS.into_iter().filter(|key| *key != field) {
            let (said, again) = (thought(message, field), thought(message, other));
            if !again.is_empty() && said != again {
                return Err(differs(other, field));
            }
            if !again.is_empty() {
                message.remove(other);
            }
        }
    }
    let Some(text) = message.get_mut("content").and_then(opening) else { return Ok(()) };
    let (inside, rest) = match marked(text) {
        Ok(Some((inside, rest))) => (inside.to_owned(), rest.to_owned()),
        Ok(None) => return Ok(()),
        Err(reason) => return Err(invalid(Path::Member(path, content), reason)),
    };
    *text = rest;
    if let Some(field) = field.filter(|_| !inside.is_empty())
        && inside != thought(message, field)
    {
        return Err(differs(content, field));
    }
    if field.is_none() {
        message.insert("thinking".to_owned(), inside.into());
    }
    Ok(())
}

/// The text with which a content begins: the whole of it, or that of its first part.
fn opening(content: &mut Value) -> Option<&mut String> {
    let text = match content {
        Value::Array(parts) => parts.first_mut()?.get_mut("text")?,
        text => text,
    };
    if let Value::String(text) = text { Some(text) } else { None }
}

/// What a field says, without the blanks around it.
fn thought<'m>(message: &'m Map<String, Value>, key: &str) -> &'m str {
    message.get(key).and_then(Value::as_str).unwrap_or_default().trim()
}

/// The thought that begins a content, and what follows it. An error says which of its two marks is missing:
/// whatever they enclose would be trained as an answer.
fn marked(content: &str) -> std::result::Result<Option<(&str, &str)>, &'static str> {
    const BEGIN: &str = "<think>";
    let (before, after) = match content.split_once("</think>") {
        Some((before, after)) => (before, Some(after)),
        None => (content, None),
    };
    match (before.trim_start().strip_prefix(BEGIN), after) {
        (Some(inside), Some(after)) => Ok(Some((inside.trim(), after.trim_start()))),
        (Some(_), None) => Err("begins with <think> and has no </think>: a thought without an end"),
        (None, Some(_)) if !before.contains(BEGIN) => {
            Err("has </think> without a <think> before it: is what comes first a thought?")
        }
        (None, _) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cleaned(message: Value) -> Result<Value> {
        let Value::Object(mut message) = message else { return Ok(Value::Null) };
        clean(&Path::Row, "content", &mut message).map(|()| message.into())
    }

    #[test]
    fn a_thought_in_the_content_is_a_thought() {
        let message = |content: &str| json!({"role": "assistant", "content": content});
        let split = |thought: &str, rest: &str| {
            Ok(json!({"role": "assistant", "content": rest, "thinking": thought}))
        };
        assert_eq!(cleaned(message("<think>\nHm.\n</think>\n\n4.")), split("Hm.", "4."));
        assert_eq!(cleaned(message(" <think></think>4.")), split("", "4."));
        let same = ["4.", "4. <think>Hm.</think>", "4. <think>", ""];
        for content in same {
            assert_eq!(cleaned(message(content)), Ok(message(content)));
        }
        let both = |inside: &str| json!({"role": "assistant", "content": format!("<think>{inside}</think>b"), "reasoning": "c"});
        let once = json!({"role": "assistant", "content": "b", "reasoning": "c"});
        assert_eq!(cleaned(both("\nc ")), Ok(once.clone()));
        assert_eq!(cleaned(both("\n\n")), Ok(once));
        let user = json!({"role": "user", "content": "<think>a</think>b"});
        assert_eq!(cleaned(user.clone()), Ok(user));
    }

    #[test]
    fn a_thought_in_the_first_part_is_a_thought() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let message = |parts: Value| json!({"role": "assistant", "content": parts});
        let split =
            |parts: Value| Ok(json!({"role": "assistant", "content": parts, "thinking": "Hm."}));
        let whole = message(json!([text("<think>Hm.</think>\n4."), text("b")]));
        assert_eq!(cleaned(whole), split(json!([text("4."), text("b")])));
        let alone = message(json!([text("<think>Hm.</think>"), text("4.")]));
        assert_eq!(cleaned(alone), split(json!([text(""), text("4.")])));
        for same in [json!([]), json!([null]), json!([{"type": "image_url"}]), json!([text("a")])] {
            assert_eq!(cleaned(message(same.clone())), Ok(message(same)));
        }
    }

    #[test]
    fn a_thought_that_is_said_twice_is_one() {
        let twice = json!({"role": "assistant", "thinking": "", "reasoning_content": "c\n", "reasoning": "c", "content": "b"});
        let once = json!({"role": "assistant", "thinking": "", "reasoning_content": "c\n", "content": "b"});
        assert_eq!(cleaned(twice), Ok(once));
        let user = json!({"role": "user", "thinking": "a", "reasoning": "b"});
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
            (
                json!({"role": "assistant", "reasoning": "a", "thinking": "b"}),
                "reasoning: another thought than thinking",
            ),
            (
                json!({"role": "assistant", "reasoning": "a", "content": "<think>b</think>"}),
                "content: another thought than reasoning",
            ),
            (
                json!({"role": "assistant", "content": "\n<think>b"}),
                "content: begins with <think> and has no </think>",
            ),
            (
                json!({"role": "assistant", "content": [{"type": "text", "text": "b</think>c"}]}),
                "content: has </think> without a <think> before it",
            ),
        ] {
            let error = cleaned(message).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.starts_with(&format!("Invalid row: {path}")), "{error}");
        }
    }
}
