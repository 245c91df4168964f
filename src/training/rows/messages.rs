//! A message of a row -> the message of chat completions that it means, without parts that must not be trained.

use serde::de::IgnoredAny;

use super::loss;
use super::parsed::Parsed;
use super::speakers::Speaker;
use super::thoughts::Thought;
use crate::error::{Reason, Result};
use crate::interop::{BodyField, BodyObject};
use crate::json::{At, Tape, Value};

/// Writes a message, whose author is `role` or `from` and whose text is `content` or `value`. Returns the author, and
/// whether the row says that it is trained.
pub(super) fn write_message(
    body: &mut Tape,
    message: &BodyObject<'_, '_>,
) -> Result<(Speaker, Option<bool>)> {
    let who = if message.get("role").is_none() && message.get("from").is_some() {
        "from"
    } else {
        "role"
    };
    let author = message.required(who)?;
    let name = author.text()?;
    let speaker =
        Speaker::of(name).ok_or_else(|| author.unknown("author", name, &Speaker::names()))?;
    let is_value = message.get("content").is_none() && message.get_or_null("value").is_some();
    let content = if is_value { "value" } else { "content" };
    if who == "from"
        && !is_value
        && message.get("content").is_none()
        && message.get("tool_calls").is_none()
    {
        message.required("value")?;
    }
    let trained = loss::is_trained(message, content)?;
    let opened = body.open();
    body.string("role");
    body.string(speaker.role());
    if speaker == Speaker::Caller {
        write_value_calls(body, &message.required(content)?)?;
    }
    write_members(body, message, content, speaker, who)?;
    body.close_object(opened);
    Ok((speaker, trained))
}

/// Writes the members of a message except its author. Data sets repeat a thought in several fields, or at the beginning
/// of the content. Ambiguous members are an error: a channel, which chat messages do not have, arguments that are not
/// JSON, and two different thoughts. A tool's result that is an object is written as JSON text.
fn write_members(
    body: &mut Tape,
    message: &BodyObject<'_, '_>,
    content: &str,
    speaker: Speaker,
    who: &str,
) -> Result<()> {
    if let Some(channel) = message.get("channel") {
        let reason = "chat messages have no channel; for those with one use the format 'harmony'";
        return Err(channel.invalid(reason));
    }
    let is_caller = speaker == Speaker::Caller;
    let thought = match speaker {
        Speaker::Assistant => Thought::of(message, Some(content))?,
        Speaker::Caller => Thought::of(message, None)?,
        _ => Thought::default(),
    };
    for (key, value) in message.members().iter() {
        let is_written = key == who || (is_caller && key == content);
        let is_null = value.is_null() && key != content;
        if is_written || is_null || loss::is_flag(key) || thought.is_repeated(key) {
            continue;
        }
        let Some(field) = message.get_or_null(key) else { continue };
        match key {
            _ if key == content => write_content(body, &field, speaker, &thought)?,
            "tool_calls" if is_caller => {
                if field.items()?.next().is_some() {
                    return Err(field.invalid(format!("the message's calls are in {content:?}")));
                }
            }
            "tool_calls" => {
                body.string(key);
                write_calls(body, &Parsed::of(field, "a list")?.field()?)?;
            }
            "function_call" => {
                body.string(key);
                write_call(body, &field)?;
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

fn write_content(
    body: &mut Tape,
    content: &BodyField<'_, '_>,
    speaker: Speaker,
    thought: &Thought<'_>,
) -> Result<()> {
    body.string("content");
    let index = body.end();
    match (content.value(), thought.rest) {
        (Value::Object(_), _) if speaker == Speaker::Tool => body.string(&content.at().to_json()),
        (Value::Array(_), rest) => {
            let list = body.open();
            for (number, part) in content.items()?.enumerate() {
                write_part(body, &part, rest.filter(|_| number == 0))?;
            }
            body.close_array(list);
        }
        (_, Some(rest)) => body.string(rest),
        (_, None) => body.copy(content.at()),
    }
    if content.key() != Some("content") {
        body.set_source_path(index, content.path());
    }
    write_calls_in(body, content)
}

/// The parts of a content that are calls, in LLaMA-Factory's rows.
const CALL_PART: &str = "tool_call";

/// Writes a part of a content; some data sets call its text `value`. `rest`: its text without the thought.
fn write_part(body: &mut Tape, part: &BodyField<'_, '_>, rest: Option<&str>) -> Result<()> {
    let Ok(members) = part.object() else {
        body.copy(part.at());
        return Ok(());
    };
    let kind = members.get("type");
    let kind = kind.as_ref().and_then(|kind| kind.at().as_str()).unwrap_or("text");
    let text = match kind {
        CALL_PART => return Ok(()),
        "tool_use" | "tool_result" => {
            let reason =
                "a block of Anthropic's API; for rows with blocks use the format 'anthropic'";
            return Err(part.invalid(reason));
        }
        "reasoning" | "thinking" => kind,
        _ => "text",
    };
    let is_named = members.get(text).is_some();
    let opened = body.open();
    for (key, value) in members.members().iter().filter(|(key, _)| !loss::is_flag(key)) {
        let is_text = key == text || (!is_named && matches!(key, "value" | "content"));
        body.string(if is_text { text } else { key });
        match rest.filter(|_| is_text) {
            Some(rest) => body.string(rest),
            None => body.copy(value),
        }
    }
    body.close_object(opened);
    Ok(())
}

/// Writes the calls that are parts of a content.
fn write_calls_in(body: &mut Tape, content: &BodyField<'_, '_>) -> Result<()> {
    let is_call =
        |part: &BodyField<'_, '_>| part.at().get("type").and_then(At::as_str) == Some(CALL_PART);
    if content.at().as_array().is_none() || !content.items()?.any(|part| is_call(&part)) {
        return Ok(());
    }
    body.string("tool_calls");
    body.set_source_path(body.end(), content.path());
    let list = body.open();
    for part in content.items()?.filter(is_call) {
        let part = part.object()?;
        let key = if part.get("value").is_some() { "value" } else { CALL_PART };
        write_call(body, &Parsed::of(part.required(key)?, "a call")?.field()?)?;
    }
    body.close_array(list);
    Ok(())
}

/// Writes the calls that are the whole content of a message: one, or a list of them.
pub(super) fn write_value_calls(body: &mut Tape, value: &BodyField<'_, '_>) -> Result<()> {
    let parsed = Parsed::of(*value, "a call or a list of calls")?;
    let calls = parsed.field()?;
    body.string("tool_calls");
    let index = body.end();
    match calls.value() {
        Value::Array(items) if items.is_empty() => return Err(calls.invalid(Reason::is("empty"))),
        Value::Array(_) => write_calls(body, &calls)?,
        _ => {
            let list = body.open();
            body.set_source_path(body.end(), calls.path());
            write_call(body, &calls)?;
            body.close_array(list);
            return Ok(());
        }
    }
    body.set_source_path(index, calls.path());
    Ok(())
}

/// Writes the calls of a list.
fn write_calls(body: &mut Tape, calls: &BodyField<'_, '_>) -> Result<()> {
    let list = body.open();
    calls.items()?.try_for_each(|call| write_call(body, &call))?;
    body.close_array(list);
    Ok(())
}

/// Writes a call, or the function within one, without the nulls in its arguments: in a table each row has the fields of
/// all rows, and null for those of others.
fn write_call(body: &mut Tape, call: &BodyField<'_, '_>) -> Result<()> {
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
        if text.trim().is_empty() {
            body.string("{}");
            return Ok(());
        }
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

/// The two messages of a pair, `{"human": …, "assistant": …}`, in ms-swift's format. `None` for other messages.
pub(super) fn pair<'v, 's>(
    item: &'s BodyObject<'v, '_>,
) -> Option<[(Speaker, BodyField<'v, 's>); 2]> {
    if item.get_or_null("role").is_some() || item.get_or_null("from").is_some() {
        return None;
    }
    let found = |wanted: Speaker| {
        let mut keys = Speaker::names().into_iter();
        keys.find_map(|key| {
            let field = item.get(key).filter(|_| Speaker::of(key) == Some(wanted))?;
            Some((wanted, field))
        })
    };
    Some([found(Speaker::User)?, found(Speaker::Assistant)?])
}
