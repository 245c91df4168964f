//! The dialect of Ollama, `/api/chat`: what it owns, and its bodies -> turns.

mod write;

use serde_json::json;

use super::answer::{Framing, Prefixes};
use super::builtin::is_builtin;
use super::chat_completions::{self, Messages};
use super::common::{
    read_effort, read_logprobs, read_max_tokens, read_penalties, read_sampling, read_stop,
};
use super::dialect::{Definition, Resends};
use super::field::{BodyField, BodyObject};
use super::formats::{any_object, read_format_schema, response_format};
use super::request::Request;
use super::{Dialect, Json, ReadOptions, ThoughtDisplay, Turn, UnusedReason};
use crate::chat::BROWSER;
use crate::error::Result;
use crate::json::Value;
use crate::options::words;

pub(super) const DEFINITION: Definition = Definition {
    name: "ollama",
    messages: "messages",
    instead: &[],
    fields: FIELDS,
    repeated: &[],
    known_by: &["options", "keep_alive", "think", "format"],
    collect,
    writer: |head, turn| Box::new(write::Ollama::new(head, turn)),
    prefixes: Prefixes::new("", "call_"),
    takes_objects: true,
    resends: Resends::Nothing,
    framing: Framing::Lines,
    last_frame: b"",
    error_body: |_, message, _, _| json!({"error": message}),
    unsupported: |path, content| {
        let is_image = content == "images";
        is_image.then(|| format!("{path}: this model is missing data required for image input"))
    },
    too_long: |tokens, max_tokens| {
        format!(
            "the input length exceeds the context length: {tokens} tokens > {max_tokens} maximum"
        )
    },
};

/// The fields of a body that are read; any other is listed in [`Turn::unused`].
const FIELDS: &[&str] = words!(
    "model messages tools think format options stream truncate shift keep_alive logprobs"
    "top_logprobs"
);

const OF_OPTIONS: &[&str] = words!(
    "temperature top_p top_k min_p seed num_predict presence_penalty frequency_penalty"
    "repeat_penalty stop"
);

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

fn collect(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    request.continue_last = true;
    body.each("tools", |tool| read_tool(tool, request))?;
    let options = request.options;
    let mut messages = Messages::of_ollama(request);
    options.each_message(body, "messages", |message, place| messages.read_at(message, place))?;
    messages.end(None)?;
    read_think(body, request)?;
    if let Some(format) = body.get("format") {
        request.response_format = match format.value() {
            Value::String("") => None,
            Value::String("json") => Some(any_object()),
            Value::String(word) => return Err(format.unknown("format", word, &["json"])),
            _ => Some(response_format(None, read_format_schema(&format)?, None)),
        };
    }
    if let Some(settings) = body.object("options")? {
        read_options(&settings, request)?;
    }
    request.sampling.logprobs = read_logprobs(body)?;
    request.answer.stream = body.bool("stream")?.unwrap_or(true);
    request.may_truncate = body.bool("truncate")?.unwrap_or(true);
    if let Some(shift) = body.get("shift") {
        shift.bool()?;
        request.list(&shift, UnusedReason::LeftToEngine);
    }
    Ok(())
}

/// `think`: whether thoughts are shown, or how much the model thinks.
fn read_think(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    let Some(think) = body.get("think") else { return Ok(()) };
    match think.value() {
        Value::Bool(true) => {}
        Value::Bool(false) => {
            request.effort = None;
            request.answer.thought_display = ThoughtDisplay::Hidden;
        }
        Value::String(_) => request.effort = Some(read_effort(&think, request)),
        _ => return Err(think.expected("true, false or a level")),
    }
    Ok(())
}

fn read_options(settings: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    let sampling = &mut request.sampling;
    read_sampling(settings, sampling)?;
    read_penalties(settings, sampling)?;
    sampling.repetition_penalty = settings.number("repeat_penalty")?;
    sampling.max_tokens = read_max_tokens(settings, "num_predict")?;
    read_stop(settings, "stop", request)?;
    request.list_others_as(settings, OF_OPTIONS, &UnusedReason::LeftToEngine);
    Ok(())
}

/// A tool as in chat. A function named after a tool that the model was trained with is that tool, run by the client:
/// Ollama's own template reads it so, too.
fn read_tool(tool: &BodyField<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    let object = tool.object()?;
    if object.text("type")?.is_none_or(|kind| kind == "function") {
        let name = object.nested("function")?.text("name")?;
        if let Some(name) = name.filter(|&name| name != BROWSER && is_builtin(name)) {
            request.tools.client_tool(name);
            return Ok(());
        }
    }
    chat_completions::read_tool(tool, request)
}
