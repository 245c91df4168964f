//! The prompts of vLLM 0.33.
//!
//! Compared with this library's: messages keep the body's order, a preamble before its thought; the thoughts before the
//! last answer are left out, no matter who speaks after it; parts are encoded one by one; images leave nothing; only the
//! first system message shares its message with the tools, which are declared whatever `tool_choice` is; nothing is
//! begun for the model, and formats and users' names are left out.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

use crate::chat::{ANALYSIS, COMMENTARY, FINAL, Message, ReasoningEffort, Role};
use crate::error::Result;
use crate::interop::field::{BodyField, BodyObject};
use crate::interop::request::{Prompt, Request, developer};
use crate::interop::texts::{IntoContents, Texts};
use crate::interop::{Dialect, Json, ReadOptions, Turn, Unsupported, Unused, UnusedReason};
use crate::json::At;
use crate::path::Path;
use crate::{HeaderStyle, RenderConfig, ThoughtPolicy, ToolSchemaStyle};

pub(super) const CONFIG: RenderConfig = RenderConfig {
    thoughts: ThoughtPolicy::Keep,
    conversation_has_function_tools: false,
    header_style: HeaderStyle::RecipientInRole,
    tool_schema: ToolSchemaStyle::Compat,
    validate: false,
};

pub(super) fn read(dialect: Dialect, body: &Json, options: &ReadOptions) -> Result<Turn> {
    let options = ReadOptions { unsupported: Unsupported::Placeholder, ..options.clone() };
    let mut request = dialect.request(body, &options)?;
    let effort: &[&str] = match dialect {
        Dialect::Responses => &["reasoning", "effort"],
        Dialect::Anthropic => &["output_config", "effort"],
        _ => &["reasoning_effort"],
    };
    set_effort(&mut request, body, &[effort])?;
    if dialect == Dialect::Responses {
        // vLLM reads no `phase`.
        request.history.answer_with_preambles();
    }
    if dialect == Dialect::Anthropic {
        if is_disabled(body) {
            request.effort = Some(ReasoningEffort::Low);
        }
        // Their arguments are written again, as by Python.
        for call in request.history.calls_mut() {
            if let Ok(arguments) = serde_json::from_str(&call.arguments) {
                call.arguments = spaced_json(&arguments);
            }
        }
    }
    let contents = |texts: Texts| {
        let parts = texts.0.into_iter().filter(|part| !part.is_placeholder);
        let parts: Vec<_> = parts.map(|part| part.text).collect();
        if parts.is_empty() { vec![String::new()] } else { parts }
    };
    let mut turn = turn(request, contents, CONFIG)?;
    let calls = turn.conversation.messages.iter_mut().filter(|message| is_call(message));
    calls.for_each(|message| message.content_type = Some("json".to_owned()));
    Ok(turn)
}

/// Sets the effort to the first of these members that the body has.
pub(super) fn set_effort(
    request: &mut Request<'_>,
    body: &Json,
    members: &[&[&str]],
) -> Result<()> {
    fn word(object: &BodyObject<'_, '_>, member: &[&str]) -> Result<Option<ReasoningEffort>> {
        let (key, inner) = match member {
            [key] => (key, None),
            [outer, key] => (key, Some(object.object(outer)?)),
            _ => return Ok(None),
        };
        let object = match &inner {
            None => object,
            Some(Some(inner)) => inner,
            Some(None) => return Ok(None),
        };
        let efforts = [ReasoningEffort::Low, ReasoningEffort::Medium, ReasoningEffort::High];
        let word = object.one_of(key, &efforts.map(ReasoningEffort::as_str))?;
        Ok(efforts.into_iter().find(|effort| Some(effort.as_str()) == word))
    }
    let path = Path::default();
    let body = BodyField::root(&path, body)?.object()?;
    let mut found = None;
    for member in members {
        found = found.or(word(&body, member)?);
    }
    (request.effort, request.latest_effort) = (found.or(Some(ReasoningEffort::Medium)), None);
    Ok(())
}

/// The turn of a request, with the messages in the body's order.
pub(super) fn turn(
    mut request: Request<'_>,
    contents: IntoContents,
    config: RenderConfig,
) -> Result<Turn> {
    request.continue_last = false;
    let mut tools = request.name_tools(true)?;
    let lead = request.history.take_lead(|source| source <= Some(0)).into_iter();
    let functions = tools.functions.first.take();
    let developer = developer(lead.map(|texts| texts.whole(contents)), functions, None);
    let history = std::mem::take(&mut request.history);
    let (sources, messages) = history.into_messages(&tools.names, &mut tools.functions, contents);
    let mut placed: Vec<_> = sources.into_iter().zip(messages).collect();
    placed.sort_by_key(|(source, message)| {
        (source.unwrap_or(usize::MAX), !is_said_on(message, COMMENTARY))
    });
    let last_answer = placed.iter().rposition(|(_, message)| is_said_on(message, FINAL));
    let mut at = 0..last_answer.unwrap_or(0);
    placed.retain(|(_, message)| at.next().is_none() || !is_said_on(message, ANALYSIS));
    let messages = placed.into_iter().unzip();
    let config = request.options.config.unwrap_or(config);
    let prompt = Prompt { developer, messages, prefill: None, config };
    let mut turn = request.turn(tools, prompt);
    for index in 0..turn.conversation.messages.len() {
        let path = turn.source(index);
        let message = &mut turn.conversation.messages[index];
        match message.author.role {
            Role::User if message.author.name.take().is_some() => {
                let path = path.unwrap_or_default().then("name".to_owned());
                turn.unused.push(Unused { path, reason: UnusedReason::NameNotCarried });
            }
            // Results have their recipient after the channel.
            Role::Tool => {
                let channel = message.channel.as_deref().unwrap_or(COMMENTARY);
                let recipient = message.recipient.take().unwrap_or_default();
                message.channel = Some(format!("{channel} to={recipient}"));
            }
            _ => {}
        }
    }
    Ok(turn)
}

/// Whether a body of Anthropic's switches thinking off, which vLLM reads as the lowest effort.
fn is_disabled(body: &Json) -> bool {
    let kind = body.at().get("thinking").and_then(|thinking| thinking.get("type"));
    kind.and_then(At::as_str) == Some("disabled")
}

fn is_call(message: &Message) -> bool {
    message.author.role == Role::Assistant && message.recipient.is_some()
}

/// Whether the assistant says this to the user or itself, on this channel.
fn is_said_on(message: &Message, channel: &str) -> bool {
    message.author.role == Role::Assistant
        && message.recipient.is_none()
        && message.channel.as_deref() == Some(channel)
}

/// JSON as Python's `json.dumps` writes it: a space after commas and colons, and non-ASCII characters as escapes.
fn spaced_json(value: &Value) -> String {
    let mut bytes = Vec::new();
    // Writing a value that was read from JSON into memory cannot fail.
    _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, Spaced));
    let mut escaped = String::with_capacity(bytes.len());
    for character in String::from_utf8_lossy(&bytes).chars() {
        if character.is_ascii() {
            escaped.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
