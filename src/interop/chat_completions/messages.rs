//! Messages: what was said so far.

use crate::error::Result;
use crate::interop::content::{Carrying, Texts, read_content, read_part};
use crate::interop::field::{BodyField, BodyObject};
use crate::interop::history::{NewCall, NewResult};
use crate::interop::pairs::ToolId;
use crate::interop::request::Request;
use crate::interop::tools::{custom_arguments, read_arguments};
use crate::interop::{ReadOptions, ToolKind, UnusedReason};
use crate::json::{Array, Value};
use crate::names;
use crate::path::Path;

/// What a message may have; what is not read has no meaning to the model.
const OF_MESSAGE: &[&str] = &[
    "role",
    "content",
    "name",
    "tool_calls",
    "tool_call_id",
    "function_call",
    "refusal",
    "audio",
    "reasoning_content",
    "reasoning",
    "thinking",
    "prefix",
    "annotations",
    "cache_control",
    "id",
];

const ROLES: &[&str] = &["system", "developer", "user", "assistant", "tool", "function"];

/// Reads the history and the body's `messages`.
pub(super) fn read_messages(
    body: &BodyObject<'_, '_>,
    options: &ReadOptions,
    request: &mut Request,
) -> Result<()> {
    let reader = Messages { carrying: Carrying::message(options.unsupported) };
    for (index, message) in options.history.iter().enumerate() {
        let path = Path::of("history").then(index);
        request.history.next_message();
        reader.message(&BodyField::root(&path, message)?, request)?;
    }
    let messages = body.required("messages")?;
    let mut last = None;
    for message in messages.items()? {
        request.history.next_message();
        reader.message(&message, request)?;
        last = Some(message);
    }
    let last = last.as_ref().map(BodyField::object).transpose()?;
    let flags = [
        last.as_ref().and_then(|message| message.get("prefix")),
        body.get("continue_final_message"),
    ];
    for flag in flags.into_iter().flatten() {
        if !flag.bool()? {
            continue;
        }
        if request.history.open_last() {
            request.continue_last = true;
        } else {
            request.unused.push(flag.unused(UnusedReason::NotContinuable));
        }
    }
    Ok(())
}

struct Messages {
    carrying: Carrying,
}

impl Messages {
    fn message(&self, field: &BodyField<'_, '_>, request: &mut Request) -> Result<()> {
        let message = field.object()?;
        let role = message.required("role")?;
        request.history.end_group();
        match role.text()? {
            "system" | "developer" => {
                let text = read_content(&message.required("content")?, self.carrying)?;
                request.history.instructions(text);
            }
            "user" => {
                let text = read_content(&message.required("content")?, self.carrying)?;
                let name = message.text("name")?.filter(|name| is_word(name));
                request.history.user(text, name.map(str::to_owned));
                if name.is_some() {
                    list_unread(&message, request);
                    return Ok(());
                }
            }
            "assistant" => self.assistant(&message, request)?,
            "tool" | "function" => return read_result(&message, request),
            other => return Err(role.unknown("role", other, ROLES)),
        }
        if let Some(name) = message.get("name") {
            request.unused.push(name.unused(UnusedReason::NameNotCarried));
        }
        list_unread(&message, request);
        Ok(())
    }

    /// Thought, preamble, calls, in this order; text without calls is the answer.
    fn assistant(&self, message: &BodyObject<'_, '_>, request: &mut Request) -> Result<()> {
        let mut thoughts: Vec<&str> = Vec::new();
        for key in ["reasoning_content", "reasoning", "thinking"] {
            let thought = message.text(key)?.unwrap_or_default();
            if !thoughts.contains(&thought) {
                thoughts.push(thought);
            }
        }
        let mut texts = Texts::default();
        let mut more = Vec::new();
        match message.get("content") {
            Some(content) if content.at().as_array().is_some() => {
                for part in content.items()? {
                    self.assistant_part(&part, &mut texts, &mut more)?;
                }
            }
            Some(content) => texts.add(content.text_or("a string or a list of parts")?),
            None => {}
        }
        texts.add(message.text("refusal")?.unwrap_or_default());
        if let Some(audio) = message.get("audio") {
            let part = audio.object()?;
            texts.add(&self.carrying.placeholder(&part, "audio")?);
        }
        for thought in thoughts {
            request.history.thought(thought.to_owned());
            more.retain(|other| other != thought);
        }
        for thought in more {
            request.history.thought(thought);
        }
        let calls = message.get("tool_calls");
        let has_calls =
            calls.as_ref().is_some_and(|calls| !calls.at().as_array().is_some_and(Array::is_empty));
        let function_call = message.get("function_call");
        let text = texts.into_text();
        if has_calls || function_call.is_some() {
            request.history.preamble(text);
        } else {
            request.history.answer(text);
        }
        if let Some(calls) = &calls {
            for call in calls.items()? {
                read_call(&call, request)?;
            }
        }
        if let Some(call) = &function_call {
            read_function(&call.object()?, call, None, request)?;
        }
        Ok(())
    }

    /// A part of the assistant's content: thoughts may be among them.
    fn assistant_part(
        &self,
        part: &BodyField<'_, '_>,
        texts: &mut Texts,
        thoughts: &mut Vec<String>,
    ) -> Result<()> {
        if let Value::String(text) = part.value() {
            texts.add(text);
            return Ok(());
        }
        let part = part.object()?;
        match part.text("type")? {
            Some(key @ ("thinking" | "reasoning")) => {
                thoughts.push(read_content(&part.required(key)?, self.carrying)?);
            }
            _ => texts.add(&read_part(&part, self.carrying)?),
        }
        Ok(())
    }
}

fn read_result(message: &BodyObject<'_, '_>, request: &mut Request) -> Result<()> {
    let text = match message.get("content") {
        Some(content) => read_content(&content, Carrying::result())?,
        None => String::new(),
    };
    let (id, name) = (message.get("tool_call_id"), message.get("name"));
    request.history.result(NewResult {
        path: id.as_ref().or(name.as_ref()).unwrap_or(&message.field()).path(),
        id: id.as_ref().map(BodyField::text).transpose()?.map(str::to_owned),
        tool: name.as_ref().map(BodyField::text).transpose()?.map(ToolId::new),
        text,
    })?;
    list_unread(message, request);
    Ok(())
}

fn list_unread(message: &BodyObject<'_, '_>, request: &mut Request) {
    request.unused.extend(message.others(OF_MESSAGE).map(|field| field.not_read()));
}

/// Whether a user's name can stand in a header.
fn is_word(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    names::flaw(name).is_none() && name.chars().all(is_plain)
}

/// A call: nested as the API has it, or flat.
fn read_call(call: &BodyField<'_, '_>, request: &mut Request) -> Result<()> {
    let call = call.object()?;
    let id = call.text("id")?.map(str::to_owned);
    if let Some(custom) = call.get("custom") {
        let custom = custom.object()?;
        request.history.call(NewCall {
            path: call.field().path(),
            id,
            tool: ToolId::new(custom.required("name")?.text()?),
            kind: ToolKind::Custom,
            arguments: custom_arguments(custom.required("input")?.text()?),
            is_cut: false,
        });
        return Ok(());
    }
    match call.get("function") {
        Some(function) => read_function(&function.object()?, &call.field(), id, request),
        None if call.get("name").is_some() => read_function(&call, &call.field(), id, request),
        None => call.required("function").map(|_| ()),
    }
}

fn read_function(
    function: &BodyObject<'_, '_>,
    call: &BodyField<'_, '_>,
    id: Option<String>,
    request: &mut Request,
) -> Result<()> {
    request.history.call(NewCall {
        path: call.path(),
        id,
        tool: ToolId::new(function.required("name")?.text()?),
        kind: ToolKind::Function,
        arguments: read_arguments(function, "arguments")?,
        is_cut: false,
    });
    Ok(())
}
