//! The messages so far.

use crate::error::Result;
use crate::interop::content::{Carrying, Texts, read_content, read_part};
use crate::interop::field::{BodyField, BodyObject};
use crate::interop::history::{NewCall, NewResult};
use crate::interop::pairs::ToolId;
use crate::interop::request::Request;
use crate::interop::tools::{custom_arguments, read_arguments};
use crate::interop::{ReadOptions, ToolKind, Unused, UnusedReason};
use crate::json::{Array, Value};
use crate::names;

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

/// Reads messages one after the other: those of a request's body, or of a row of a data set.
pub(crate) struct Messages<'r> {
    request: &'r mut Request,
    carrying: Carrying,
    /// The `prefix` of the last message.
    prefix: Option<Flag>,
}

/// A flag that asks to continue the last message.
struct Flag {
    is_set: Result<bool>,
    /// What is listed if the message cannot be continued.
    unused: Unused,
}

impl Flag {
    fn read(field: &BodyField<'_, '_>) -> Self {
        Self { is_set: field.bool(), unused: field.unused(UnusedReason::NotContinuable) }
    }
}

impl<'r> Messages<'r> {
    pub(crate) fn new(options: &ReadOptions, request: &'r mut Request) -> Self {
        Self { request, carrying: Carrying::message(options.unsupported), prefix: None }
    }

    /// Reads the next message.
    pub(crate) fn read(&mut self, field: &BodyField<'_, '_>) -> Result<()> {
        let message = field.object()?;
        let role = message.required("role")?;
        self.request.history.next_message();
        self.request.history.end_group();
        let mut reads_name = false;
        match role.text()? {
            "system" | "developer" => {
                let text = read_content(&message.required("content")?, self.carrying)?;
                self.request.history.instructions(text);
            }
            "user" => {
                let text = read_content(&message.required("content")?, self.carrying)?;
                let name = message.text("name")?.filter(|name| is_word(name));
                reads_name = name.is_some();
                self.request.history.user(text, name.map(str::to_owned));
            }
            "assistant" => self.assistant(&message)?,
            "tool" | "function" => {
                read_result(&message, self.request)?;
                reads_name = true;
            }
            other => return Err(role.unknown("role", other, ROLES)),
        }
        let name = message.get("name").filter(|_| !reads_name);
        let unused = &mut self.request.unused;
        unused.extend(name.map(|name| name.unused(UnusedReason::NameNotCarried)));
        unused.extend(message.others(OF_MESSAGE).map(|field| field.not_read()));
        self.prefix = message.get("prefix").as_ref().map(Flag::read);
        Ok(())
    }

    /// No message follows. `continue_last`: the body's flag to continue the last one.
    pub(crate) fn end(self, continue_last: Option<&BodyField<'_, '_>>) -> Result<()> {
        for Flag { is_set, unused } in self.prefix.into_iter().chain(continue_last.map(Flag::read))
        {
            if !is_set? {
                continue;
            }
            if self.request.history.open_last() {
                self.request.continue_last = true;
            } else {
                self.request.unused.push(unused);
            }
        }
        Ok(())
    }

    /// Thought, preamble, calls, in this order; text without calls is the answer.
    fn assistant(&mut self, message: &BodyObject<'_, '_>) -> Result<()> {
        let request = &mut *self.request;
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
                    assistant_part(&part, self.carrying, &mut texts, &mut more)?;
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
}

/// A part of the assistant's content: thoughts may be among them.
fn assistant_part(
    part: &BodyField<'_, '_>,
    carrying: Carrying,
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
            thoughts.push(read_content(&part.required(key)?, carrying)?);
        }
        _ => texts.add(&read_part(&part, carrying)?),
    }
    Ok(())
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
    })
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
