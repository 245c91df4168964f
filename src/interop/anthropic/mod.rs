//! The dialect of Anthropic Messages, `/v1/messages`, and its token count: what it owns, and its bodies -> turns.

mod blocks;
mod client_tools;
mod tools;
mod toolsets;
mod write;

use serde_json::{Value, json};

use self::blocks::{list_others_of_blocks, read_message, read_system};
use self::tools::{is_search_of_servers, read_tool};
use super::answer::{Framing, Prefixes};
use super::choice::{Choice, Chosen};
use super::common::{read_effort, read_max_tokens, read_sampling, read_stop, read_thinking_budget};
use super::dialect::{Definition, Resends};
use super::field::{BodyField, BodyObject};
use super::names::ToolId;
use super::request::Request;
use super::{Dialect, Json, ReadOptions, ThoughtDisplay, Turn, UnusedReason};
use crate::chat::ReasoningEffort;
use crate::error::{ErrorKind, Result};
use crate::options::words;

pub(super) const DEFINITION: Definition = Definition {
    name: "anthropic",
    messages: "messages",
    instead: &[],
    fields: FIELDS,
    repeated: &[],
    known_by: &["system", "stop_sequences", "thinking", "anthropic_version"],
    collect,
    writer: |head, turn| Box::new(write::Anthropic::new(head, turn)),
    prefixes: Prefixes::new("msg_", "toolu_"),
    takes_objects: true,
    resends: Resends::Thoughts,
    framing: Framing::NamedEvents,
    last_frame: b"",
    error_body,
    unsupported: |path, content| {
        let place = place_of(path, block_of(content)?);
        Some(format!("{place}: this model reads text, and cannot take {content}"))
    },
    too_long: |tokens, max_tokens| {
        format!("prompt is too long: {tokens} tokens > {max_tokens} maximum")
    },
};

/// The type of a block with this content.
fn block_of(content: &str) -> Option<&'static str> {
    Some(match content {
        "images" => "image",
        "documents" => "document",
        "files" => "container_upload",
        _ => return None,
    })
}

/// A block's path as the API writes it, with the block's type: `messages.3.content.0.image.source`. Claude Code uses it
/// to find what to remove.
fn place_of(path: &str, block: &str) -> String {
    let end = path.rfind(']').map_or(path.len(), |end| end + 1);
    let [index, rest] = [&path[..end], &path[end..]];
    let index = index.replace('[', ".").replace(']', "");
    format!("{index}.{block}{rest}")
}

/// The fields of a body that are read; any other is listed in [`Turn::unused`].
const FIELDS: &[&str] = words!(
    "model messages system max_tokens tools mcp_servers tool_choice thinking output_config"
    "output_format temperature top_p top_k min_p stop_sequences stream cache_control"
    "context_management"
);

/// Reads the body of a message, or of a count of its tokens.
///
/// # Errors
///
/// [`ErrorKind::InvalidRequest`] with the path of what the API does not allow, [`ErrorKind::UnsupportedContent`] with
/// the path of what harmony cannot carry.
///
/// # Example
///
/// ```
/// use openai_harmony::interop::{ReadOptions, anthropic};
/// use serde_json::json;
///
/// let body = json!({
///     "max_tokens": 1024,
///     "messages": [
///         {"role": "user", "content": "The Greek name of the sun?"},
///         {"role": "assistant", "content": "It is"},
///     ],
/// });
/// let turn = anthropic::read(&body, &ReadOptions::default())?;
/// assert_eq!(turn.prefill.and_then(|prefill| prefill.text).as_deref(), Some("It is"));
/// # Ok::<(), openai_harmony::Error>(())
/// ```
pub fn read(body: impl Into<Json>, options: &ReadOptions) -> Result<Turn> {
    Dialect::Anthropic.read(body, options)
}

fn collect(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    if let Some(thread) = body.get("thread") {
        // The SDK's tool runner continues without it.
        let (path, code) = (thread.path(), "thread_unsupported_request");
        return Err(ErrorKind::UnsupportedField { path, code }.into());
    }
    request.continue_last = true;
    request.unsupported = request.options.unsupported_in(false);
    if let Some(system) = body.get("system") {
        read_system(&system, request)?;
        list_others_of_blocks(&system, request)?;
    }
    let mut defers = true;
    body.each("tools", |tool| {
        defers &= !is_search_of_servers(tool);
        Ok(())
    })?;
    body.each("tools", |tool| read_tool(tool, defers, request))?;
    body.each("mcp_servers", |server| {
        request.list(server, UnusedReason::ToolNotRun("mcp".to_owned()));
        Ok(())
    })?;
    // After the tools, since messages may define more.
    read_messages(body, request)?;
    if let Some(choice) = body.get("tool_choice") {
        request.choice = read_choice(&choice)?;
        request.list_others_of_choice(&choice);
    }
    read_thinking(body, request)?;
    read_settings(body, request)?;
    read_edits(body, request)?;
    request.answer.stream = body.bool("stream")?.unwrap_or(false);
    Ok(())
}

fn read_messages(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    let options = request.options;
    options.each_message(body, "messages", |message, place| {
        request.unsupported = place.unsupported;
        read_message(message, place.user_follows, request)
    })
}

fn read_settings(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    if let Some(format) = body.get("output_format") {
        request.read_response_format(&format)?;
    }
    if let Some(output) = body.object("output_config")? {
        if let Some(format) = output.get("format") {
            request.read_response_format(&format)?;
        }
        if let Some(effort) = output.get("effort") {
            request.effort = Some(read_effort(&effort, request));
        }
        request.list_others(&output, &["format", "effort"]);
    }
    read_stop(body, "stop_sequences", request)?;
    read_sampling(body, &mut request.sampling)?;
    request.sampling.max_tokens = read_max_tokens(body, "max_tokens")?;
    Ok(())
}

/// `thinking`: whether thoughts are shown, and how much the model thinks.
fn read_thinking(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    /// Budgets in tokens: the effort is low below the first, and high from the second on.
    const LOW_BELOW: usize = 2_048;
    const HIGH_FROM: usize = 16_384;
    const THINKING: &[&str] = &["enabled", "disabled", "adaptive", "between_tools"];
    request.answer.thought_display = ThoughtDisplay::Hidden;
    let Some(thinking) = body.object("thinking")? else { return Ok(()) };
    let kind = thinking.required("type")?;
    let display = request.word(&thinking, "display", &["summarized", "omitted"])?;
    request.answer.thought_display = match display {
        Some("omitted") => ThoughtDisplay::Omitted,
        _ => ThoughtDisplay::Shown,
    };
    match kind.text()? {
        "disabled" => {
            request.effort = Some(ReasoningEffort::Low);
            request.answer.thought_display = ThoughtDisplay::Hidden;
        }
        "enabled" => {
            request.thinking_budget = read_thinking_budget(&thinking, "budget_tokens")?;
            request.effort = Some(match request.thinking_budget {
                Some(..LOW_BELOW) => ReasoningEffort::Low,
                Some(HIGH_FROM..) => ReasoningEffort::High,
                _ => ReasoningEffort::Medium,
            });
        }
        "adaptive" | "between_tools" => {}
        other => return Err(kind.unknown("kind of thinking", other, THINKING)),
    }
    request.list_others(&thinking, &["type", "budget_tokens", "display"]);
    Ok(())
}

/// Whether `context_management` keeps the thoughts of all turns. Its other edits are listed as unused.
fn read_edits(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    let Some(management) = body.object("context_management")? else { return Ok(()) };
    management.each("edits", |edit| {
        let object = edit.object()?;
        let kind = object.required("type")?.text()?;
        let keeps_all = object.get("keep").is_some_and(|keep| {
            let kind = keep.at().get("type").unwrap_or(keep.at());
            kind.as_str() == Some("all")
        });
        if kind.starts_with("clear_thinking") && keeps_all {
            request.keep_thoughts = true;
            request.list_others(&object, &["type", "keep"]);
        } else {
            request.list(edit, UnusedReason::TypeNotUsed(kind.to_owned()));
        }
        Ok(())
    })?;
    request.list_others(&management, &["edits"]);
    Ok(())
}

fn read_choice(choice: &BodyField<'_, '_>) -> Result<Choice> {
    let object = choice.object()?;
    let kind = object.required("type")?;
    match kind.text()? {
        "tool" => {
            let name = object.required("name")?;
            Ok(Choice::Named(Chosen::tool(ToolId::new(name.text()?), &name)))
        }
        word => Choice::word(word, &kind)
            .ok_or_else(|| kind.unknown("choice", word, &["auto", "any", "tool", "none"])),
    }
}

fn error_body(status: u16, message: &str, _path: Option<&str>, code: Option<&str>) -> Value {
    let kind = match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        503 | 529 => "overloaded_error",
        504 => "timeout_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let mut body = json!({"type": "error", "error": {"type": kind, "message": message}});
    // Anthropic's API has no error type for a context that is too long.
    if let Some(code) = code.filter(|code| *code != ErrorKind::CONTEXT_LENGTH) {
        body["error"]["details"] = json!({"error_code": code});
    }
    body
}
