//! Messages and their blocks.

use super::tools::{is_change, read_change, read_changes};
use crate::error::Result;
use crate::interop::content::{Carrying, Texts};
use crate::interop::field::{BodyField, BodyObject};
use crate::interop::history::{NewCall, NewResult};
use crate::interop::pairs::ToolId;
use crate::interop::request::Request;
use crate::interop::settings::read_effort;
use crate::interop::thought_blob::read_thought;
use crate::interop::tools::read_object_arguments;
use crate::interop::{ReadOptions, ToolKind, Unused, UnusedReason};
use crate::json::{Array, At, Value};
use crate::path::Path;

/// Changes with every request, which would end every cached prefix.
const BILLING: &str = "x-anthropic-billing-header";

/// The system text: a text, or blocks.
pub(super) fn read_system(
    system: &BodyField<'_, '_>,
    options: &ReadOptions,
    unused: &mut Vec<Unused>,
) -> Result<String> {
    if let Value::String(text) = system.value() {
        return Ok(text.to_owned());
    }
    let carrying = Carrying::message(options.unsupported);
    let mut texts = Texts::default();
    for field in system.items_or("a string or a list of blocks")? {
        let block = field.object()?;
        let kind = block.required("type")?.text()?;
        if is_change(kind) {
            continue;
        }
        let text = read_block(&block, carrying)?;
        if options.keep_billing_header || !text.starts_with(BILLING) {
            texts.add(&text);
        } else {
            unused.push(field.unused(UnusedReason::ChangesAlways));
        }
    }
    Ok(texts.into_text())
}

/// Reads messages, those of the history first.
pub(super) struct Messages<'o> {
    options: &'o ReadOptions,
    carrying: Carrying,
}

impl<'o> Messages<'o> {
    /// Reads the history and the body's `messages`.
    pub(super) fn read(
        body: &BodyObject<'_, '_>,
        options: &'o ReadOptions,
        request: &mut Request,
    ) -> Result<()> {
        let reader = Self { options, carrying: Carrying::message(options.unsupported) };
        for (index, message) in options.history.iter().enumerate() {
            let path = Path::of("history").then(index);
            request.history.next_message();
            reader.message(&BodyField::root(&path, message)?, false, request)?;
        }
        let messages = body.required("messages")?;
        let is_user = |message: At<'_>| message.get("role").and_then(At::as_str) == Some("user");
        let users = messages.items()?.map(|message| is_user(message.at()));
        let last_user = users.enumerate().filter(|(_, is_user)| *is_user).last();
        let last_user = last_user.map_or(0, |(index, _)| index);
        for (index, message) in messages.items()?.enumerate() {
            request.history.next_message();
            reader.message(&message, index < last_user, request)?;
        }
        Ok(())
    }

    /// `user_follows`: some message after this one is a user's.
    fn message(
        &self,
        field: &BodyField<'_, '_>,
        user_follows: bool,
        request: &mut Request,
    ) -> Result<()> {
        let message = field.object()?;
        let role = message.required("role")?;
        request.history.end_group();
        let content = message.required("content");
        match role.text()? {
            "user" => self.user(&content?, request)?,
            "assistant" => self.assistant(&content?, request)?,
            "system" => {
                let clear_at = message.text("clear_at")?;
                if user_follows && clear_at == Some("next_user_message") {
                    request.unused.push(field.unused(UnusedReason::Cleared));
                    return Ok(());
                }
                if let Some(content) = message.get("content") {
                    let text = read_system(&content, self.options, &mut request.unused)?;
                    request.history.instructions(text);
                    read_changes(&content, self.options, request)?;
                }
            }
            other => return Err(role.unknown("role", other, &["user", "assistant", "system"])),
        }
        if let Some(config) = message.get("output_config") {
            let config = config.object()?;
            if let Some(effort) = config.get("effort") {
                request.latest_effort = Some(read_effort(&effort, &mut request.unused));
            }
            request.unused.extend(config.others(&["effort"]).map(|field| field.not_read()));
        }
        let read = ["role", "content", "clear_at", "id", "cache_control", "output_config"];
        let others = message.others(&read);
        request.unused.extend(others.map(|field| field.not_read()));
        Ok(())
    }

    /// The results of tools, then the texts as one message.
    fn user(&self, content: &BodyField<'_, '_>, request: &mut Request) -> Result<()> {
        if let Value::String(text) = content.value() {
            request.history.user(text.to_owned(), None);
            return Ok(());
        }
        let mut texts = Texts::default();
        let mut only_results = !content.at().as_array().is_some_and(Array::is_empty);
        for field in content.items_or("a string or a list of blocks")? {
            let block = field.object()?;
            match block.required("type")?.text()? {
                "tool_result" => read_result(&block, request)?,
                kind if is_change(kind) => read_change(&field, self.options, request)?,
                kind if is_of_servers(kind) => request.unused.push(field.type_not_used(kind)),
                _ => {
                    texts.add(&read_block(&block, self.carrying)?);
                    only_results = false;
                }
            }
        }
        if !only_results {
            request.history.user(texts.into_text(), None);
        }
        Ok(())
    }

    /// Thoughts, preamble, calls, in this order; text without calls is the answer.
    fn assistant(&self, content: &BodyField<'_, '_>, request: &mut Request) -> Result<()> {
        if let Value::String(text) = content.value() {
            request.history.answer(text.to_owned());
            return Ok(());
        }
        let mut texts = Texts::default();
        let mut calls = Vec::new();
        for field in content.items_or("a string or a list of blocks")? {
            let block = field.object()?;
            match block.required("type")?.text()? {
                "thinking" => read_thinking(&block, "signature", request)?,
                "redacted_thinking" => read_thinking(&block, "data", request)?,
                "tool_use" => calls.push(read_call(&block)?),
                kind if is_of_servers(kind) => request.unused.push(field.type_not_used(kind)),
                _ => texts.add(&read_block(&block, self.carrying)?),
            }
        }
        if calls.is_empty() {
            request.history.answer(texts.into_text());
        } else {
            request.history.preamble(texts.into_text());
        }
        for call in calls {
            request.history.call(call);
        }
        Ok(())
    }
}

/// The thought is in `thinking`, else in this library's own signature.
fn read_thinking(block: &BodyObject<'_, '_>, sealed: &str, request: &mut Request) -> Result<()> {
    let text = block.text("thinking")?.unwrap_or_default();
    if !text.is_empty() {
        request.history.thought(text.to_owned());
        return Ok(());
    }
    let Some(field) = block.get(sealed) else { return Ok(()) };
    match read_thought(field.text()?) {
        Some(thought) => request.history.thought(thought),
        None if field.text()?.is_empty() => {}
        None => request.unused.push(field.unused(UnusedReason::ForeignThought)),
    }
    Ok(())
}

fn read_call(block: &BodyObject<'_, '_>) -> Result<NewCall> {
    Ok(NewCall {
        path: block.field().path(),
        id: block.text("id")?.map(str::to_owned),
        tool: ToolId::new(block.required("name")?.text()?),
        kind: ToolKind::Function,
        arguments: read_object_arguments(block, "input")?,
        is_cut: false,
    })
}

fn read_result(block: &BodyObject<'_, '_>, request: &mut Request) -> Result<()> {
    let mut text = match block.get("content") {
        Some(content) => read_blocks(&content, Carrying::result())?,
        None => String::new(),
    };
    let is_marked = text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"));
    if block.bool("is_error")?.unwrap_or(false) && !is_marked {
        text.insert_str(0, if text.is_empty() { "Error" } else { "Error: " });
    }
    let id = block.required("tool_use_id")?;
    let (path, id) = (id.path(), Some(id.text()?.to_owned()));
    request.history.result(NewResult { path, id, tool: None, text })?;
    // Tools that a search found are declared behind its result.
    let found = block.get("content").filter(|content| content.at().as_array().is_some());
    let mut tools = Vec::new();
    for part in found.iter().flat_map(|content| content.items()).flatten() {
        let part = part.object()?;
        if part.text("type")? == Some("tool_reference") {
            tools.push(ToolId::new(part.required("tool_name")?.text()?));
        }
    }
    request.history.added(tools);
    Ok(())
}

/// A text, or blocks of texts and of what has a text.
fn read_blocks(content: &BodyField<'_, '_>, carrying: Carrying) -> Result<String> {
    if let Value::String(text) = content.value() {
        return Ok(text.to_owned());
    }
    let mut texts = Texts::default();
    for block in content.items_or("a string or a list of blocks")? {
        texts.add(&read_block(&block.object()?, carrying)?);
    }
    Ok(texts.into_text())
}

/// The text of a block.
fn read_block(block: &BodyObject<'_, '_>, carrying: Carrying) -> Result<String> {
    let kind = block.required("type")?;
    match kind.text()? {
        "text" => Ok(block.required("text")?.text()?.to_owned()),
        "document" => read_document(block, carrying),
        "search_result" => {
            let mut texts = Texts::default();
            texts.add(block.text("title")?.unwrap_or_default());
            texts.add(block.text("source")?.unwrap_or_default());
            texts.add(&read_blocks(&block.required("content")?, carrying)?);
            Ok(texts.into_text())
        }
        "tool_reference" => Ok(block.required("tool_name")?.text()?.to_owned()),
        "image" => carrying.placeholder(block, "image"),
        "container_upload" => carrying.placeholder(block, "file"),
        "browser_state" => carrying.placeholder(block, "browser state"),
        other => Err(kind.unknown("type of a block", other, &[])),
    }
}

/// A document that is text: its title, what it is about, and itself.
fn read_document(block: &BodyObject<'_, '_>, carrying: Carrying) -> Result<String> {
    let source = block.required("source")?;
    let source = source.object()?;
    let kind = source.required("type")?;
    let text = match kind.text()? {
        "text" => source.required("data")?.text()?.to_owned(),
        "content" => read_blocks(&source.required("content")?, carrying)?,
        "base64" | "url" | "file" => return carrying.placeholder(block, "document"),
        other => {
            let known = &["text", "content", "base64", "url", "file"];
            return Err(kind.unknown("type of a source", other, known));
        }
    };
    let mut texts = Texts::default();
    texts.add(block.text("title")?.unwrap_or_default());
    texts.add(block.text("context")?.unwrap_or_default());
    texts.add(&text);
    Ok(texts.into_text())
}

/// Blocks about tools and services that Anthropic's servers run.
fn is_of_servers(kind: &str) -> bool {
    const KINDS: &[&str] = &[
        "server_tool_use",
        "mcp_tool_use",
        "mcp_tool_listing",
        "web_fetch",
        "fallback",
        "compaction",
    ];
    // `tool_result` itself has been looked at before.
    KINDS.contains(&kind) || kind.ends_with("_tool_result")
}
