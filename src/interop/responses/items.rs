//! The items of a history and of `input`.

use std::collections::HashSet;

use super::client_items::{self, is_client_call, is_of_servers, is_unfinished, made};
use super::tools::{Loading, Tools};
use crate::brief::Brief;
use crate::chat::{COMMENTARY, FINAL};
use crate::error::Result;
use crate::interop::common::read_reasoning;
use crate::interop::field::{BodyField, BodyObject};
use crate::interop::history::HistoryCall;
use crate::interop::names::ToolId;
use crate::interop::parts::read_content;
use crate::interop::request::Request;
use crate::interop::texts::Texts;
use crate::interop::thought_blob::{read_compaction, read_thought};
use crate::interop::tools::{custom_arguments, read_arguments};
use crate::interop::{Json, ToolKind, UnusedReason};
use crate::json::{Array, At};
use crate::options::words;
use crate::path::Path;

/// The fields that items of each type may have; those that are not read mean nothing to the model.
const OF_ITEM: &[&str] = words!(
    "type id role content status phase summary encrypted_content call_id name namespace arguments"
    "input output caller tools reasoning text operation action environment max_output_length"
    "async execution server_label error"
);

/// The type of a reference to an item.
const REFERENCE: &str = "item_reference";

/// Reads items, those of the history first.
pub(super) struct Items<'r, 'o, 'h> {
    request: &'r mut Request<'o>,
    /// The ids of the history's items.
    ids: HashSet<&'h str>,
}

impl<'r, 'o, 'h> Items<'r, 'o, 'h> {
    /// Reads the history, the items up to the previous response, and the body's `input`.
    pub(super) fn read(
        body: &BodyObject<'h, '_>,
        previous: Option<&'h Json>,
        request: &'r mut Request<'o>,
    ) -> Result<()>
    where
        'o: 'h,
    {
        let options = request.options;
        let history = &options.history;
        let paths: Vec<_> =
            (0..history.len()).map(|index| Path::of("history").then(index)).collect();
        let items = paths.iter().zip(history).map(|(path, item)| BodyField::root(path, item));
        let mut all = items.collect::<Result<Vec<_>>>()?;
        let path = Path::of("previous");
        let previous = previous.map(|items| BodyField::root(&path, items)).transpose()?;
        if let Some(previous) = &previous {
            all.extend(previous.items_or("a list of items")?);
        }
        request.history_len = all.len();
        // A reference in the history has the id of what it names, which may be elsewhere.
        let own = all.iter().filter(|item| item_type(item.at()) != Some(REFERENCE));
        let ids = own.filter_map(|item| text_of(item.at(), "id")).collect();
        let mut reader = Self { request, ids };
        let input = body.get("input");
        let text = input.and_then(|input| input.at().as_str());
        if let Some(input) = input.as_ref().filter(|_| text.is_none()) {
            all.extend(input.items_or("a string or a list of items")?);
        }
        let paths: Vec<_> = all.iter().map(BodyField::path).collect();
        let lists: Vec<_> = all.iter().map(compacted).collect();
        let lists = paths
            .iter()
            .zip(&lists)
            .map(|(path, list)| list.as_ref().map(|list| BodyField::root(path, list)).transpose());
        let lists = lists.collect::<Result<Vec<_>>>()?;
        // Each item, or those that a compaction has, with its number.
        let mut items: Vec<(usize, BodyField<'_, '_>)> = Vec::with_capacity(all.len());
        for (number, (item, list)) in all.iter().zip(&lists).enumerate() {
            match list {
                Some(list) => items.extend(list.items()?.map(|item| (number, item))),
                None => items.push((number, *item)),
            }
        }
        let found: Vec<_> = items.iter().map(|(_, item)| reader.find(item)).collect();
        let read = items.iter().zip(&found);
        let read: Vec<_> =
            read.map(|((_, item), found)| found.as_ref().map_or(item.at(), Json::at)).collect();
        let newest = read.iter().rposition(|item| is_of_user(*item));
        let newest = newest.filter(|&index| items[index].0 >= reader.request.history_len);
        let places = items.iter().zip(&found).zip(calls_follow(&read)).enumerate();
        let mut numbers = 0..all.len();
        for (index, (((number, item), found), call_follows)) in places {
            while numbers.start <= *number {
                numbers.next();
                reader.request.history.next_message();
            }
            reader.request.unsupported = options.unsupported_in(newest == Some(index));
            if item_type(item.at()) == Some(REFERENCE) {
                reader.reference(&item.object()?, found.as_ref(), call_follows)?;
            } else {
                reader.item(item, call_follows)?;
            }
        }
        if let Some(text) = text {
            reader.request.history.end_messages();
            reader.request.history.user(text.to_owned(), None);
        } else {
            reader.request.continue_last = read.last().is_some_and(|item| is_unfinished(*item));
        }
        Ok(())
    }

    /// The item that a reference names; nothing if it is in the history, where it is read anyway.
    fn find(&self, item: &BodyField<'_, '_>) -> Option<Json> {
        let is_reference = item_type(item.at()) == Some(REFERENCE);
        let id = text_of(item.at(), "id").filter(|id| is_reference && !self.ids.contains(id))?;
        self.request.options.resolve.as_ref()?.find(id)
    }

    fn item(&mut self, field: &BodyField<'_, '_>, call_follows: bool) -> Result<()> {
        let item = field.object()?;
        match item_type(field.at()) {
            Some("message") => self.message(&item, call_follows)?,
            Some("reasoning") => self.reasoning(&item)?,
            Some(kind @ ("function_call" | "custom_tool_call")) => {
                let mut call = read_call(&item, kind == "custom_tool_call")?;
                call.is_async |= self.request.tools.asynchronous.contains(&call.tool);
                self.request.history.call(call);
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                let output = item.get("output");
                let rules = self.request.options.unsupported_in(false);
                let text = output.map(|output| read_content(&output, rules));
                let text = text.transpose()?.unwrap_or_default();
                let namespace = item.text("namespace")?;
                let tool = item.text("name")?.map(|name| ToolId::within(namespace, name));
                let tool = tool.zip(item.get("name"));
                self.request.history.result(&item, "call_id", tool, text)?;
            }
            Some(kind) if is_client_call(kind) && !is_of_servers(&item) => {
                let call = client_items::read_call(&item, kind)?;
                self.request.history.call(call);
            }
            Some("tool_search_output") if !is_of_servers(&item) => {
                item.required("tools")?;
                let Tools { found, mut text, .. } =
                    Tools::read(&item, Loading::Found, self.request)?;
                if found.is_empty() {
                    "No tool was found.".clone_into(&mut text);
                }
                self.request.history.result(&item, "call_id", None, text)?;
                self.request.history.added(found);
            }
            Some(kind) if kind.strip_suffix("_output").is_some_and(is_client_call) => {
                client_items::read_output(&item, kind, self.request)?;
            }
            Some("additional_tools" | "tool_search_output") => {
                item.required("tools")?;
                Tools::read(&item, Loading::Now, self.request)?;
            }
            Some("configuration_update") => read_reasoning_and_text(&item, self.request)?,
            Some("mcp_call") if client_items::is_done(&item) => {
                client_items::read_mcp_call(&item, self.request)?;
            }
            // Another server's own items have names with a colon.
            Some(kind) if OF_SERVERS.contains(&kind) || kind.contains(':') => {
                self.request.list(field, UnusedReason::TypeNotUsed(kind.to_owned()));
                return Ok(());
            }
            Some(kind) => return Err(item.required("type")?.unknown("type of an item", kind, &[])),
            None => item.required("type")?.text().map(|_| ())?,
        }
        self.request.list_others(&item, OF_ITEM);
        for key in ["content", "output"] {
            if let Some(content) = item.get(key) {
                self.request.list_others_of_parts(&content)?;
            }
        }
        Ok(())
    }

    fn message(&mut self, item: &BodyObject<'_, '_>, call_follows: bool) -> Result<()> {
        const ROLES: &[&str] = &["system", "developer", "user", "assistant"];
        const PHASES: &[&str] = &["commentary", "final_answer"];
        let role = item.required("role")?;
        let content = item.required("content")?;
        let rules = self.request.unsupported;
        let text = || read_content(&content, rules);
        match role.text()? {
            "system" | "developer" => self.request.history.instructions(text()?),
            "user" => self.request.history.user(text()?, None),
            "assistant" => {
                let channel = match item.one_of("phase", PHASES)? {
                    Some("commentary") => COMMENTARY,
                    None if call_follows => COMMENTARY,
                    _ => FINAL,
                };
                if !content.is_null() {
                    self.request.history.say(channel, text()?);
                }
            }
            other => return Err(role.unknown("role", other, ROLES)),
        }
        Ok(())
    }

    /// The thought is in `content`, else in this library's own `encrypted_content`.
    fn reasoning(&mut self, item: &BodyObject<'_, '_>) -> Result<()> {
        let request = &mut *self.request;
        let content = item.get("content");
        let text = content.map(|content| read_content(&content, request.unsupported));
        let text = text.transpose()?.map(Texts::joined).unwrap_or_default();
        if !text.is_empty() {
            request.history.thought(&text);
        } else if let Some(field) = item.get("encrypted_content") {
            match read_thought(field.text()?) {
                Some(thought) => request.history.thought(&thought),
                None => request.list(&field, UnusedReason::ForeignThought),
            }
        } else if let Some(summary) = item.get("summary")
            && !summary.at().as_array().is_some_and(Array::is_empty)
        {
            request.list(&summary, UnusedReason::Summary);
        }
        Ok(())
    }

    /// An item of the history is there already; `resolve` finds others. Thoughts that it does not find are dropped.
    fn reference(
        &mut self,
        item: &BodyObject<'_, '_>,
        found: Option<&Json>,
        call_follows: bool,
    ) -> Result<()> {
        let id = item.required("id")?;
        let text = id.text()?;
        if self.ids.contains(text) {
            return Ok(());
        }
        let Some(found) = found else {
            if text.starts_with("rs_") {
                self.request.list(&item.field(), UnusedReason::ThoughtNotStored);
                return Ok(());
            }
            return Err(id.invalid(format!("no item with the id {:?} is stored", Brief(text))));
        };
        let path = item.field().path();
        let found = BodyField::root(&path, found)?;
        if item_type(found.at()) == Some(REFERENCE) {
            return Err(id.invalid("the stored item is a reference itself"));
        }
        self.item(&found, call_follows)
    }
}

/// The items that a compaction of this library's gateway has.
fn compacted(item: &BodyField<'_, '_>) -> Option<Json> {
    let is_compaction = item_type(item.at()) == Some("compaction");
    read_compaction(text_of(item.at(), "encrypted_content").filter(|_| is_compaction)?)
}

/// The type of an item; messages may leave it out, and so may references.
fn item_type(item: At<'_>) -> Option<&str> {
    match item.get("type").filter(|kind| !At::is_null(*kind)) {
        Some(kind) => kind.as_str(),
        None if item.get("role").is_some() => Some("message"),
        None if item.get("id").is_some() => Some(REFERENCE),
        None => None,
    }
}

/// Per item: whether a call of the same turn follows it.
fn calls_follow(items: &[At<'_>]) -> Vec<bool> {
    let mut follows = vec![false; items.len()];
    let mut call_follows = false;
    for (follows, item) in follows.iter_mut().zip(items).rev() {
        *follows = call_follows;
        match item_type(*item) {
            Some("function_call" | "custom_tool_call") => call_follows = true,
            Some(kind) if is_client_call(kind) => call_follows = true,
            Some("message") if text_of(*item, "role") != Some("assistant") => {
                call_follows = false;
            }
            _ => {}
        }
    }
    follows
}

/// Whether an item is a message of the user.
fn is_of_user(item: At<'_>) -> bool {
    item_type(item) == Some("message") && text_of(item, "role") == Some("user")
}

fn text_of<'v>(item: At<'v>, key: &str) -> Option<&'v str> {
    item.get(key)?.as_str()
}

fn read_call(item: &BodyObject<'_, '_>, is_custom: bool) -> Result<HistoryCall> {
    let name = item.required("name")?;
    let name = name.text()?;
    let tool = ToolId::within(item.text("namespace")?, name);
    let (kind, arguments) = if is_custom {
        (ToolKind::Custom, custom_arguments(item.required("input")?.text()?))
    } else {
        (ToolKind::Function, read_arguments(item, "arguments", false)?)
    };
    let mut call = made(item, tool, kind, arguments)?;
    call.is_async = item.bool("async")?.unwrap_or(false);
    Ok(call)
}

/// Reads `reasoning`, and `text`, the format of the answer: those of a body, or those that apply from an item on.
pub(super) fn read_reasoning_and_text(
    object: &BodyObject<'_, '_>,
    request: &mut Request<'_>,
) -> Result<()> {
    if let Some(reasoning) = object.object("reasoning")? {
        read_reasoning(&reasoning, request, &[])?;
    }
    if let Some(text) = object.object("text")? {
        if let Some(format) = text.get("format") {
            request.read_response_format(&format)?;
        }
        request.list_others(&text, &["format"]);
    }
    Ok(())
}

/// The types of items about tools and services that servers run.
const OF_SERVERS: &[&str] = words!(
    "file_search_call computer_call computer_call_output web_search_call image_generation_call"
    "code_interpreter_call mcp_list_tools mcp_approval_request mcp_approval_response mcp_call"
    "tool_search_call compaction compaction_trigger program program_output"
);
