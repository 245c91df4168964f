//! A request's body -> a turn.

use crate::chat::BROWSER;
use crate::error::Result;
use crate::interop::builtin::is_builtin;
use crate::interop::content::{Carrying, Texts, read_content};
use crate::interop::field::{BodyField, BodyObject};
use crate::interop::history::{NewCall, NewResult};
use crate::interop::pairs::ToolId;
use crate::interop::request::Request;
use crate::interop::settings::{
    any_object, read_count, read_effort, read_format_schema, read_logprobs, read_penalties,
    read_sampling, read_stop, response_format,
};
use crate::interop::tools::read_object_arguments;
use crate::interop::{Dialect, Json, ReadOptions, Thoughts, ToolKind, Turn, UnusedReason};
use crate::json::Value;
use crate::path::Path;

/// The fields of a body that are read; any other is listed in [`Turn::unused`].
pub(super) const FIELDS: &[&str] = &[
    "model",
    "messages",
    "tools",
    "think",
    "format",
    "options",
    "stream",
    "keep_alive",
    "logprobs",
    "top_logprobs",
];

const OF_MESSAGE: &[&str] =
    &["role", "content", "thinking", "images", "tool_calls", "tool_name", "name", "tool_call_id"];

const ROLES: &[&str] = &["system", "developer", "user", "assistant", "tool"];

const OF_OPTIONS: &[&str] = &[
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "seed",
    "num_predict",
    "presence_penalty",
    "frequency_penalty",
    "repeat_penalty",
    "stop",
];

/// Reads the body of a chat.
///
/// # Errors
///
/// [`ErrorKind::InvalidRequest`](crate::ErrorKind::InvalidRequest) with the path of what the API does
/// not allow, [`ErrorKind::UnsupportedContent`](crate::ErrorKind::UnsupportedContent) with that of
/// what harmony cannot carry.
///
/// # Example
///
/// ```
/// use openai_harmony::interop::{ReadOptions, ollama};
/// use serde_json::json;
///
/// let body = json!({"messages": [{"role": "user", "content": "Hello"}], "think": "low"});
/// let turn = ollama::read(&body, &ReadOptions::default())?;
/// assert!(turn.answer.stream);
/// # Ok::<(), openai_harmony::Error>(())
/// ```
pub fn read(body: impl Into<Json>, options: &ReadOptions) -> Result<Turn> {
    Dialect::Ollama.read(body, options)
}

pub(super) fn collect(
    body: &BodyObject<'_, '_>,
    options: &ReadOptions,
    request: &mut Request,
) -> Result<()> {
    request.continue_last = true;
    if let Some(tools) = body.get("tools") {
        for tool in tools.items()? {
            read_tool(&tool, request)?;
        }
    }
    let reader = Messages { carrying: Carrying::message(options.unsupported) };
    for (index, message) in options.history.iter().enumerate() {
        let path = Path::of("history").then(index);
        request.history.next_message();
        reader.message(&BodyField::root(&path, message)?, request)?;
    }
    let messages = body.get("messages");
    if let Some(messages) = &messages {
        for message in messages.items()? {
            request.history.next_message();
            reader.message(&message, request)?;
        }
    }
    read_think(body, request)?;
    if let Some(format) = body.get("format") {
        request.response_format = match format.value() {
            Value::String("") => None,
            Value::String("json") => Some(any_object()),
            Value::String(word) => return Err(format.unknown("format", word, &["json"])),
            _ => Some(response_format(None, read_format_schema(&format)?, None)),
        };
    }
    if let Some(settings) = body.get("options") {
        read_options(&settings.object()?, request)?;
    }
    request.sampling.logprobs = read_logprobs(body)?;
    request.answer.stream = body.bool("stream")?.unwrap_or(true);
    Ok(())
}

/// `think`: whether thoughts are shown, or how much the model thinks.
fn read_think(body: &BodyObject<'_, '_>, request: &mut Request) -> Result<()> {
    let Some(think) = body.get("think") else { return Ok(()) };
    match think.value() {
        Value::Bool(true) => {}
        Value::Bool(false) => {
            request.effort = None;
            request.answer.thoughts = Thoughts::Hidden;
        }
        Value::String(_) => request.effort = Some(read_effort(&think, &mut request.unused)),
        _ => return Err(think.expected("true, false or a level")),
    }
    Ok(())
}

fn read_options(settings: &BodyObject<'_, '_>, request: &mut Request) -> Result<()> {
    let sampling = &mut request.sampling;
    read_sampling(settings, sampling)?;
    read_penalties(settings, sampling)?;
    sampling.repetition_penalty = settings.number("repeat_penalty")?;
    if let Some(most) = settings.get("num_predict") {
        // -1 is without a limit, -2 until the context is full.
        if most.integer()? >= 0 {
            sampling.max_tokens = Some(read_count(&most)?);
        }
    }
    if let Some(stop) = settings.get("stop") {
        request.stop_strings = read_stop(&stop, &mut request.unused)?;
    }
    let others = settings.others(OF_OPTIONS);
    request.unused.extend(others.map(|field| field.unused(UnusedReason::LeftToEngine)));
    Ok(())
}

/// A function. Under the names of the tools that the model was trained with it is that tool, which
/// the client runs: so Ollama's own template reads them.
fn read_tool(tool: &BodyField<'_, '_>, request: &mut Request) -> Result<()> {
    let tool = tool.object()?;
    let nested = tool.get("function");
    let nested = nested.as_ref().map(BodyField::object).transpose()?;
    if nested.is_none() && tool.get("name").is_none() {
        return tool.required("function").map(drop);
    }
    let function = nested.as_ref().unwrap_or(&tool);
    match function.text("name")? {
        Some(name) if name != BROWSER && is_builtin(name) => {
            request.tools.client_tool(name);
            Ok(())
        }
        _ => request.tools.function(function, "parameters", None, &mut request.unused),
    }
}

/// The text, and what becomes of the images.
fn read_text(message: &BodyObject<'_, '_>, carrying: Carrying) -> Result<String> {
    let mut texts = Texts::default();
    if let Some(images) = message.get("images") {
        for image in images.items()? {
            texts.add(&carrying.omitted(&image, "image")?);
        }
    }
    if let Some(content) = message.get("content") {
        texts.add(&read_content(&content, carrying)?);
    }
    Ok(texts.into_text())
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
                request.history.instructions(read_text(&message, self.carrying)?);
            }
            "user" => request.history.user(read_text(&message, self.carrying)?, None),
            "assistant" => self.assistant(&message, request)?,
            "tool" => {
                let id = message.get("tool_call_id");
                let tool = message.get("tool_name").or_else(|| message.get("name"));
                request.history.result(NewResult {
                    path: id.as_ref().or(tool.as_ref()).unwrap_or(field).path(),
                    id: id.as_ref().map(BodyField::text).transpose()?.map(str::to_owned),
                    tool: tool.as_ref().map(BodyField::text).transpose()?.map(ToolId::new),
                    text: read_text(&message, Carrying::result())?,
                })?;
            }
            other => return Err(role.unknown("role", other, ROLES)),
        }
        request.unused.extend(message.others(OF_MESSAGE).map(|field| field.not_read()));
        Ok(())
    }

    /// Thought, preamble, calls, in this order; text without calls is the answer.
    fn assistant(&self, message: &BodyObject<'_, '_>, request: &mut Request) -> Result<()> {
        request.history.thought(message.text("thinking")?.unwrap_or_default().to_owned());
        let text = read_text(message, self.carrying)?;
        let calls = message.get("tool_calls");
        let calls = calls.as_ref().map(BodyField::items).transpose()?;
        let mut calls = calls.into_iter().flatten().peekable();
        if calls.peek().is_some() {
            request.history.preamble(text);
        } else {
            request.history.answer(text);
        }
        for call in calls {
            let call = call.object()?;
            let function = call.required("function")?;
            let function = function.object()?;
            request.history.call(NewCall {
                path: call.field().path(),
                id: call.text("id")?.map(str::to_owned),
                tool: ToolId::new(function.required("name")?.text()?),
                kind: ToolKind::Function,
                arguments: read_object_arguments(&function, "arguments")?,
                is_cut: false,
            });
        }
        Ok(())
    }
}
