//! What data sets write into chat messages, and the model would be trained to write if it were rendered as
//! it is.

use serde::de::IgnoredAny;

use crate::error::{Error, Result};
use crate::interop::{BodyField, BodyObject};
use crate::json::{At, Tape, Value};

/// The fields of a message for a thought.
const THOUGHTS: [&str; 3] = ["thinking", "reasoning_content", "reasoning"];

/// The author of a row's message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RowSpeaker {
    User,
    Assistant,
    Tool,
    Other,
}

impl RowSpeaker {
    pub(super) fn of(role: &str) -> Self {
        match role {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "tool" | "function" => Self::Tool,
            _ => Self::Other,
        }
    }
}

/// Writes the members of a message but those of `but`, without what must not be trained: data sets repeat a
/// thought in several fields, or at the beginning of the content, `<think>…</think>`. The row calls its content
/// `content`. An error names what cannot be decided: a channel, which chat messages do not have, arguments that are not
/// JSON, and two thoughts. A tool's result that is an object is its JSON.
pub(super) fn write_members(
    body: &mut Tape,
    message: &BodyObject<'_, '_>,
    content: &str,
    speaker: RowSpeaker,
    but: &[&str],
) -> Result<()> {
    if let Some(channel) = message.get("channel") {
        let reason = "chat messages have no channel; those with one are the format 'harmony'";
        return Err(channel.invalid(reason));
    }
    let is_own = speaker == RowSpeaker::Assistant;
    let thought = if is_own { Thought::of(message, content)? } else { Thought::default() };
    for (key, value) in message.members().iter() {
        if but.contains(&key) || thought.is_repeated(key) {
            continue;
        }
        let field = message.get_or_null(key);
        match (key, field) {
            (key, _) if key == content => {
                body.string("content");
                let index = body.end();
                match value.value() {
                    Value::Object(_) if speaker == RowSpeaker::Tool => {
                        body.string(&value.to_json());
                    }
                    _ => thought.write_content(body, value),
                }
                if content != "content" {
                    body.set_source_path(index, message.field().path().then(content.to_owned()));
                }
            }
            ("tool_calls", Some(calls)) if value.as_array().is_some() => {
                body.string(key);
                write_calls(body, &calls)?;
            }
            ("function_call", Some(call)) => {
                body.string(key);
                write_call(body, &call)?;
            }
            _ => {
                body.string(key);
                body.copy(value);
            }
        }
    }
    if let Some(inside) = thought.alone {
        body.string("thinking");
        body.string(inside);
    }
    Ok(())
}

/// Writes the calls of a list.
pub(super) fn write_calls(body: &mut Tape, calls: &BodyField<'_, '_>) -> Result<()> {
    let list = body.open();
    calls.items()?.try_for_each(|call| write_call(body, &call))?;
    body.close_array(list);
    Ok(())
}

/// Writes a call, or the function within one, without the nulls in its arguments: tables have the fields of all rows
/// in each, and null where a row has none.
pub(super) fn write_call(body: &mut Tape, call: &BodyField<'_, '_>) -> Result<()> {
    let Ok(members) = call.object() else {
        body.copy(call.at());
        return Ok(());
    };
    let opened = body.open();
    for (key, value) in members.members().iter() {
        body.string(key);
        match key {
            "function" => write_call(body, &members.required(key)?)?,
            "arguments" => write_arguments(body, &members.required(key)?)?,
            _ => body.copy(value),
        }
    }
    body.close_object(opened);
    Ok(())
}

fn write_arguments(body: &mut Tape, arguments: &BodyField<'_, '_>) -> Result<()> {
    if let Value::String(text) = arguments.value() {
        serde_json::from_str::<IgnoredAny>(text).map_err(|error| {
            let reason = format!("expected an object or its JSON text; not JSON: {error}");
            arguments.invalid(reason)
        })?;
        if !text.trim_start().starts_with('{') {
            let reason = "expected an object or its JSON text; this is the text of another value";
            return Err(arguments.invalid(reason));
        }
    }
    body.copy_without_nulls(arguments.at());
    Ok(())
}

/// The one thought of a message.
#[derive(Default)]
struct Thought<'v> {
    /// The fields that repeat it.
    repeated: Vec<&'static str>,
    /// The content's text without the thought that it begins with.
    rest: Option<&'v str>,
    /// The thought that only the content has.
    alone: Option<&'v str>,
}

impl<'v> Thought<'v> {
    /// Finds it. An error names two that differ, and a content with one of the marks alone.
    fn of(message: &BodyObject<'v, '_>, content: &str) -> Result<Self> {
        let mut found = Self::default();
        let thought = |key: &'static str| {
            let field = message.get(key)?;
            let text = field.at().as_str()?.trim();
            (!text.is_empty()).then_some((key, text))
        };
        let mut fields = THOUGHTS.into_iter().filter_map(thought);
        let first = fields.next();
        for (key, text) in fields {
            if first.is_some_and(|(_, first)| first != text) {
                return Err(another(message, key, first));
            }
            found.repeated.push(key);
        }
        let Some(field) = message.get(content) else { return Ok(found) };
        let Some((inside, rest)) = opening(field.at())
            .map(marked)
            .transpose()
            .map_err(|reason| field.invalid(reason))?
            .flatten()
        else {
            return Ok(found);
        };
        found.rest = Some(rest);
        match first {
            None => found.alone = Some(inside),
            Some((_, text)) if !inside.is_empty() && inside != text => {
                return Err(another(message, content, first));
            }
            Some(_) => {}
        }
        Ok(found)
    }

    fn is_repeated(&self, key: &str) -> bool {
        // Without other thoughts an empty one is written anew.
        self.repeated.contains(&key) || (self.alone.is_some() && key == "thinking")
    }

    /// Writes a content without the thought.
    fn write_content(&self, body: &mut Tape, content: At<'_>) {
        match (self.rest, content.value()) {
            (None, _) => body.copy(content),
            (Some(rest), Value::Array(parts)) => {
                let list = body.open();
                for (index, part) in parts.iter().enumerate() {
                    match part.as_object().filter(|_| index == 0) {
                        Some(members) => {
                            let opened = body.open();
                            for (key, value) in members.iter() {
                                body.string(key);
                                if key == "text" { body.string(rest) } else { body.copy(value) }
                            }
                            body.close_object(opened);
                        }
                        None => body.copy(part),
                    }
                }
                body.close_array(list);
            }
            (Some(rest), _) => body.string(rest),
        }
    }
}

fn another(message: &BodyObject<'_, '_>, key: &str, first: Option<(&str, &str)>) -> Error {
    let place = message.field().path().then(first.map_or("", |(key, _)| key).to_owned());
    let reason = format!("another thought than {place}; a message has one");
    match message.required(key) {
        Ok(field) => field.invalid(reason),
        Err(error) => error,
    }
}

/// The text with which a content begins: the whole of it, or that of its first part.
fn opening(content: At<'_>) -> Option<&str> {
    match content.as_array() {
        Some(parts) => parts.iter().next()?.get("text")?.as_str(),
        None => content.as_str(),
    }
}

/// The thought that begins a content, and what follows it. An error names the missing one of its two marks:
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
