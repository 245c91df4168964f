//! Messages and their blocks.

use super::tools::{is_change, read_change};
use crate::error::Result;
use crate::interop::common::read_effort;
use crate::interop::field::{BodyField, BodyObject};
use crate::interop::history::HistoryCall;
use crate::interop::names::ToolId;
use crate::interop::request::Request;
use crate::interop::texts::{TextPart, Texts};
use crate::interop::thought_blob::read_thought;
use crate::interop::tools::read_arguments;
use crate::interop::{Unsupported, UnusedReason};
use crate::json::{Array, Value};
use crate::options::words;

/// The prefix of a text that changes with every request, which would invalidate every cached prompt prefix.
const BILLING: &str = "x-anthropic-billing-header";

/// Reads the system prompt, a text or blocks, and the tool changes among its blocks.
pub(super) fn read_system(system: &BodyField<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    if let Value::String(text) = system.value() {
        request.history.instructions(text.to_owned());
        return Ok(());
    }
    let rules = request.unsupported;
    let mut texts = Texts::default();
    let mut changes = Vec::new();
    for field in system.items_or("a string or a list of blocks")? {
        let block = field.object()?;
        if is_change(block.required("type")?.text()?) {
            changes.push(field);
            continue;
        }
        let text = read_block(&block, rules)?;
        if text.text.starts_with(BILLING) {
            request.list(&field, UnusedReason::ChangesAlways);
        } else {
            texts.add(text);
        }
    }
    request.history.instructions(texts);
    changes.iter().try_for_each(|change| read_change(change, request))
}

/// Reads a message. `user_follows`: a user's message comes later.
pub(super) fn read_message(
    field: &BodyField<'_, '_>,
    user_follows: bool,
    request: &mut Request<'_>,
) -> Result<()> {
    let message = field.object()?;
    let role = message.required("role")?;
    request.history.next_message();
    let content = message.required("content");
    match role.text()? {
        "user" => read_user(&content?, request)?,
        "assistant" => read_assistant(&content?, request)?,
        "system" => {
            let clear_at = request.word(&message, "clear_at", &["next_user_message", "never"])?;
            if user_follows && clear_at == Some("next_user_message") {
                request.list(field, UnusedReason::Cleared);
                return Ok(());
            }
            if let Some(content) = message.get("content") {
                read_system(&content, request)?;
            }
        }
        other => return Err(role.unknown("role", other, &["user", "assistant", "system"])),
    }
    if let Some(config) = message.object("output_config")? {
        if let Some(effort) = config.get("effort") {
            request.latest_effort = Some(read_effort(&effort, request));
        }
        request.list_others(&config, &["effort"]);
    }
    let read = ["role", "content", "clear_at", "id", "cache_control", "output_config"];
    request.list_others(&message, &read);
    message.get("content").map_or(Ok(()), |content| list_others_of_blocks(&content, request))
}

/// The fields that blocks of each type may have; those that are not read mean nothing to the model.
const OF_BLOCK: &[&str] = words!(
    "type text thinking signature data id name input caller tool_use_id toolset_name content"
    "is_error source title context tool tool_name citations cache_control"
);

/// The fields that a source, or a tool that comes or goes, may have.
const WITHIN_BLOCK: &[&str] = &["type", "data", "media_type", "content", "name", "definition"];

/// Lists the fields that are not read, of blocks that are.
pub(super) fn list_others_of_blocks(
    content: &BodyField<'_, '_>,
    request: &mut Request<'_>,
) -> Result<()> {
    if content.at().as_array().is_none() {
        return Ok(());
    }
    for field in content.items()? {
        let block = field.object()?;
        let kind = block.text("type")?.unwrap_or_default();
        if is_of_servers(kind) || OMITTED.contains(&kind) {
            continue;
        }
        request.list_others(&block, OF_BLOCK);
        for key in ["source", "tool"] {
            if let Some(nested) = block.get(key).and_then(|nested| nested.object().ok()) {
                request.list_others(&nested, WITHIN_BLOCK);
            }
        }
        if let Some(content) = block.get("content") {
            list_others_of_blocks(&content, request)?;
        }
    }
    Ok(())
}

/// The types of blocks that have a placeholder, or forms of their own.
const OMITTED: [&str; 4] = ["image", "container_upload", "browser_state", "compaction"];

/// The results of tools, then the texts as one message.
fn read_user(content: &BodyField<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    if let Value::String(text) = content.value() {
        request.history.user(text.to_owned(), None);
        return Ok(());
    }
    let rules = request.unsupported;
    let mut texts = Texts::default();
    let mut only_results = !content.at().as_array().is_some_and(Array::is_empty);
    for field in content.items_or("a string or a list of blocks")? {
        let block = field.object()?;
        match block.required("type")?.text()? {
            "tool_result" => read_result(&block, request)?,
            kind if is_change(kind) => read_change(&field, request)?,
            "compaction" if read_compaction(&field, request)? => texts = Texts::default(),
            kind if is_of_servers(kind) => {
                request.list(&field, UnusedReason::TypeNotUsed(kind.to_owned()));
            }
            _ => {
                texts.add(read_block(&block, rules)?);
                only_results = false;
            }
        }
    }
    if !only_results {
        request.history.user(texts, None);
    }
    Ok(())
}

/// Thoughts, preamble, calls, in this order; text without calls is the answer.
fn read_assistant(content: &BodyField<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    let rules = request.unsupported;
    let mut texts = Texts::default();
    let mut calls = Vec::new();
    if let Value::String(text) = content.value() {
        request.history.say_and_call(text.to_owned(), calls);
        return Ok(());
    }
    for field in content.items_or("a string or a list of blocks")? {
        let block = field.object()?;
        match block.required("type")?.text()? {
            "thinking" => read_thinking(&block, "signature", request)?,
            "redacted_thinking" => read_thinking(&block, "data", request)?,
            "tool_use" => {
                let name = block.required("name")?;
                let tool = ToolId::within(block.text("toolset_name")?, name.text()?);
                let input = read_arguments(&block, "input", true)?;
                calls.push(HistoryCall::new(&field, block.text("id")?, tool, input));
            }
            "compaction" if read_compaction(&field, request)? => {
                texts = Texts::default();
                calls.clear();
            }
            kind if is_of_servers(kind) => {
                request.list(&field, UnusedReason::TypeNotUsed(kind.to_owned()));
            }
            _ => texts.add(read_block(&block, rules)?),
        }
    }
    request.history.say_and_call(texts, calls);
    Ok(())
}

/// The thought is in `thinking`, else in this library's own signature.
fn read_thinking(
    block: &BodyObject<'_, '_>,
    sealed: &str,
    request: &mut Request<'_>,
) -> Result<()> {
    let text = block.text("thinking")?.unwrap_or_default();
    if !text.is_empty() {
        request.history.thought(text);
        return Ok(());
    }
    let Some(field) = block.get(sealed) else { return Ok(()) };
    match read_thought(field.text()?) {
        Some(thought) => request.history.thought(&thought),
        None if field.text()?.is_empty() => {}
        None => request.list(&field, UnusedReason::ForeignThought),
    }
    Ok(())
}

/// A summary takes the place of all messages before it; `false` if there is none, since compaction failed.
fn read_compaction(field: &BodyField<'_, '_>, request: &mut Request<'_>) -> Result<bool> {
    let block = field.object()?;
    let Some(summary) = block.text("content")?.filter(|summary| !summary.is_empty()) else {
        return Ok(false);
    };
    request.history.summary(summary.to_owned());
    block.each("tool_changes", |change| read_change(change, request))?;
    Ok(true)
}

fn read_result(block: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    let content = block.get("content");
    let rules = request.options.unsupported_in(false);
    let texts = content.map(|content| read_blocks(&content, rules)).transpose()?;
    let mut texts = texts.unwrap_or_default();
    if block.bool("is_error")?.unwrap_or(false) {
        match texts.0.first_mut() {
            Some(first) if says_error(&first.text) => {}
            Some(first) => first.text.insert_str(0, "Error: "),
            None => texts = "Error".into(),
        }
    }
    block.required("tool_use_id")?.text()?;
    request.history.result(block, "tool_use_id", None, texts)?;
    // Tools that a search found are declared after its result.
    let mut found = Vec::new();
    if content.is_some_and(|content| content.at().as_array().is_some()) {
        block.each("content", |part| {
            let part = part.object()?;
            if part.text("type")? == Some("tool_reference") {
                let tool = ToolId::new(part.required("tool_name")?.text()?);
                found.push(request.tools.declared_id(tool));
            }
            Ok(())
        })?;
    }
    request.history.added(found);
    Ok(())
}

/// Whether a text begins with the word "error", or has `Error:` in its first line, as in
/// `<tool_use_error>InputValidationError:`.
fn says_error(text: &str) -> bool {
    let line = text.trim_start().lines().next().unwrap_or_default().to_ascii_lowercase();
    let first = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_word = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    first.strip_prefix("error").is_some_and(is_word) || line.contains("error:")
}

/// A text, or blocks that are or contain texts.
fn read_blocks(content: &BodyField<'_, '_>, rules: Unsupported) -> Result<Texts> {
    if let Value::String(text) = content.value() {
        return Ok(text.into());
    }
    let mut texts = Texts::default();
    for block in content.items_or("a string or a list of blocks")? {
        texts.add(read_block(&block.object()?, rules)?);
    }
    Ok(texts)
}

/// The text of a block.
fn read_block(block: &BodyObject<'_, '_>, rules: Unsupported) -> Result<TextPart> {
    let kind = block.required("type")?;
    match kind.text()? {
        "text" => Ok(block.required("text")?.text()?.into()),
        "document" => read_document(block, rules),
        "search_result" => {
            let mut texts = Texts::default();
            texts.add(block.text("title")?.unwrap_or_default());
            texts.add(block.text("source")?.unwrap_or_default());
            texts.0.extend(read_blocks(&block.required("content")?, rules)?.0);
            Ok(texts.joined().into())
        }
        "tool_reference" => Ok(block.required("tool_name")?.text()?.into()),
        "image" => rules.placeholder(block, "image"),
        "container_upload" => rules.placeholder(block, "file"),
        "browser_state" => browser_state(block),
        other => Err(kind.unknown("type of a block", other, &[])),
    }
}

/// The tabs of a browser, and what a call changed.
fn browser_state(block: &BodyObject<'_, '_>) -> Result<TextPart> {
    let mut lines = Vec::new();
    let text_of = |object: &BodyObject<'_, '_>, keys: &[&str]| -> Result<String> {
        let texts: Result<Vec<_>> = keys.iter().map(|key| object.text(key)).collect();
        let texts = texts?.into_iter().flatten().filter(|text| !text.is_empty());
        Ok(texts.collect::<Vec<_>>().join(" "))
    };
    block.each("tabs", |tab| {
        let tab = tab.object()?;
        let mark = if tab.bool("active")?.unwrap_or(false) { " (active)" } else { "" };
        lines.push(format!("Tab {}{mark}", text_of(&tab, &["tab_id", "title", "url"])?));
        Ok(())
    })?;
    block.each("state_changes", |change| {
        let change = change.object()?;
        let keys = ["tab_id", "download_id", "url", "path", "error"];
        let kind = change.required("type")?.text()?.replace('_', " ");
        let size = change.get("size_bytes").map(|size| size.integer()).transpose()?;
        let size = size.map_or(String::new(), |size| format!(" {size} bytes"));
        lines.push(format!("{kind}: {}{size}", text_of(&change, &keys)?));
        Ok(())
    })?;
    Ok(lines.join("\n").into())
}

/// A text document: its title, its context, and its text.
fn read_document(block: &BodyObject<'_, '_>, rules: Unsupported) -> Result<TextPart> {
    let source = block.required("source")?.object()?;
    let kind = source.required("type")?;
    let text = match kind.text()? {
        "text" => source.required("data")?.text()?.to_owned(),
        "content" => read_blocks(&source.required("content")?, rules)?.joined(),
        "base64" | "url" | "file" => return rules.placeholder(block, "document"),
        other => {
            let known = &["text", "content", "base64", "url", "file"];
            return Err(kind.unknown("type of a source", other, known));
        }
    };
    let mut texts = Texts::default();
    texts.add(block.text("title")?.unwrap_or_default());
    texts.add(block.text("context")?.unwrap_or_default());
    texts.add(text);
    Ok(texts.joined().into())
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
    KINDS.contains(&kind) || kind.ends_with("_tool_result")
}
