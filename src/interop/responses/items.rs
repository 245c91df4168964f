//! The items so far.

use std::collections::HashSet;

use super::tools::{kind_of_call, read_tool_id, read_tools};
use crate::error::Result;
use crate::interop::brief::brief;
use crate::interop::content::{Carrying, Texts, read_content};
use crate::interop::field::{BodyField, BodyObject};
use crate::interop::history::{NewCall, NewResult};
use crate::interop::options::Resolve;
use crate::interop::request::Request;
use crate::interop::settings::{read_effort, read_response_format};
use crate::interop::thought_blob::read_thought;
use crate::interop::tools::{custom_arguments, read_arguments};
use crate::interop::{ReadOptions, ToolKind, UnusedReason};
use crate::json::{Array, At};
use crate::path::Path;

/// What items of each type may have; what is not read has no meaning to the model.
const OF_ITEM: &[&str] = &[
    "type",
    "id",
    "role",
    "content",
    "status",
    "phase",
    "summary",
    "encrypted_content",
    "call_id",
    "name",
    "namespace",
    "arguments",
    "input",
    "output",
    "caller",
    "tools",
    "reasoning",
    "text",
];

/// Reads items, those of the history first.
pub(super) struct Items<'o> {
    options: &'o ReadOptions,
    /// The ids of the history's items.
    ids: HashSet<&'o str>,
    carrying: Carrying,
}

impl<'o> Items<'o> {
    /// Reads the history and the body's `input`.
    pub(super) fn read(
        body: &BodyObject<'_, '_>,
        options: &'o ReadOptions,
        request: &mut Request,
    ) -> Result<()> {
        let reader = Self {
            options,
            ids: options.history.iter().filter_map(|item| item.text("id")).collect(),
            carrying: Carrying::message(options.unsupported),
        };
        let input = body.get("input");
        let list = input.as_ref().filter(|input| input.at().as_str().is_none());
        let items = list
            .map(|input| {
                input.items_or("a string or a list of items").map(Iterator::collect::<Vec<_>>)
            })
            .transpose()?;
        let items = items.unwrap_or_default();
        let history = Path::of("history");
        let paths: Vec<_> =
            (0..options.history.len()).map(|index| history.clone().then(index)).collect();
        let history = paths.iter().zip(&options.history);
        let history = history.map(|(path, item)| BodyField::root(path, item));
        let mut all = history.collect::<Result<Vec<_>>>()?;
        all.extend(items);
        let calls_follow = calls_follow(&all);
        for (item, call_follows) in all.iter().zip(calls_follow) {
            request.history.next_message();
            reader.item(item, call_follows, request)?;
        }
        match input.as_ref().and_then(|input| input.at().as_str()) {
            Some(text) => {
                request.history.end_messages();
                request.history.user(text.to_owned(), None);
            }
            None => request.continue_last = all.last().is_some_and(is_unfinished),
        }
        Ok(())
    }

    fn item(
        &self,
        field: &BodyField<'_, '_>,
        call_follows: bool,
        request: &mut Request,
    ) -> Result<()> {
        let item = field.object()?;
        let kind = item_type(field.at());
        let read = match kind {
            Some("message") => self.message(&item, call_follows, request),
            Some("reasoning") => self.reasoning(&item, request),
            Some("function_call" | "custom_tool_call") => read_call(&item, request),
            Some("function_call_output" | "custom_tool_call_output") => read_result(&item, request),
            Some("item_reference") => return self.reference(&item, call_follows, request),
            Some("additional_tools" | "tool_search_output") => {
                read_tools(&item.required("tools")?, self.options, request)
            }
            Some("configuration_update") => read_update(&item, request),
            Some(kind) if is_of_servers(kind) => {
                request.unused.push(field.type_not_used(kind));
                return Ok(());
            }
            Some(kind) => return Err(item.required("type")?.unknown("type of an item", kind, &[])),
            None => item.required("type").map(|_| ()),
        };
        read?;
        request.unused.extend(item.others(OF_ITEM).map(|field| field.not_read()));
        Ok(())
    }

    fn message(
        &self,
        item: &BodyObject<'_, '_>,
        call_follows: bool,
        request: &mut Request,
    ) -> Result<()> {
        let role = item.required("role")?;
        let content = item.required("content")?;
        match role.text()? {
            "system" | "developer" => {
                let text = read_content(&content, self.carrying)?;
                request.history.instructions(text);
            }
            "user" => request.history.user(read_content(&content, self.carrying)?, None),
            "assistant" => {
                let text = if content.is_null() {
                    String::new()
                } else {
                    read_content(&content, self.carrying)?
                };
                let phase = item.get("phase");
                match phase.as_ref().map(BodyField::text).transpose()? {
                    Some("final_answer") => request.history.answer(text),
                    None if !call_follows => request.history.answer(text),
                    Some("commentary") | None => request.history.preamble(text),
                    Some(other) => {
                        return Err(phase.unwrap_or(role).unknown(
                            "phase",
                            other,
                            &["commentary", "final_answer"],
                        ));
                    }
                }
            }
            other => {
                return Err(role.unknown(
                    "role",
                    other,
                    &["system", "developer", "user", "assistant"],
                ));
            }
        }
        Ok(())
    }

    /// The thought is in `content`, else in this library's own `encrypted_content`.
    fn reasoning(&self, item: &BodyObject<'_, '_>, request: &mut Request) -> Result<()> {
        let mut texts = Texts::default();
        if let Some(content) = item.get("content") {
            texts.add(&read_content(&content, self.carrying)?);
        }
        let text = texts.into_text();
        if !text.is_empty() {
            request.history.thought(text);
            return Ok(());
        }
        let carried = item.text("encrypted_content")?;
        match carried.map(read_thought) {
            Some(Some(thought)) => request.history.thought(thought),
            Some(None) => {
                let field = item.required("encrypted_content")?;
                request.unused.push(field.unused(UnusedReason::ForeignThought));
            }
            None => {
                let is_empty =
                    |field: &BodyField<'_, '_>| field.at().as_array().is_some_and(Array::is_empty);
                let summary = item.get("summary").filter(|summary| !is_empty(summary));
                let unused = summary.map(|field| field.unused(UnusedReason::Summary));
                request.unused.extend(unused);
            }
        }
        Ok(())
    }

    /// An item of the history is there already; `resolve` finds another. Thoughts that it does not
    /// find are dropped.
    fn reference(
        &self,
        item: &BodyObject<'_, '_>,
        call_follows: bool,
        request: &mut Request,
    ) -> Result<()> {
        let id = item.required("id")?;
        let text = id.text()?;
        if self.ids.contains(text) {
            return Ok(());
        }
        let Some(found) = self.options.resolve.as_ref().and_then(|find| Resolve::find(find, text))
        else {
            if text.starts_with("rs_") {
                request.unused.push(item.field().unused(UnusedReason::ThoughtNotStored));
                return Ok(());
            }
            return Err(id.invalid(format!("no item with the id {:?} is stored", brief(text))));
        };
        let path = item.field().path();
        let found = BodyField::root(&path, &found)?;
        if item_type(found.at()) == Some("item_reference") {
            return Err(id.invalid("the stored item is a reference itself"));
        }
        self.item(&found, call_follows, request)
    }
}

/// The type of an item; messages may leave it out, and so may references.
fn item_type(item: At<'_>) -> Option<&str> {
    match item.get("type").filter(|kind| !At::is_null(*kind)) {
        Some(kind) => kind.as_str(),
        None if item.get("role").is_some() => Some("message"),
        None if item.get("id").is_some() => Some("item_reference"),
        None => None,
    }
}

/// Of each item, whether a call of the same turn follows it.
fn calls_follow(items: &[BodyField<'_, '_>]) -> Vec<bool> {
    let mut follows = vec![false; items.len()];
    let mut call_follows = false;
    for (follows, item) in follows.iter_mut().zip(items).rev() {
        *follows = call_follows;
        match item_type(item.at()) {
            Some("function_call" | "custom_tool_call") => call_follows = true,
            Some("message") if text_of(item, "role") != Some("assistant") => {
                call_follows = false;
            }
            _ => {}
        }
    }
    follows
}

fn text_of<'v>(item: &BodyField<'v, '_>, key: &str) -> Option<&'v str> {
    item.at().get(key)?.as_str()
}

/// Whether the assistant was cut off in an item.
fn is_unfinished(item: &BodyField<'_, '_>) -> bool {
    matches!(text_of(item, "status"), Some("incomplete" | "in_progress"))
}

fn read_call(item: &BodyObject<'_, '_>, request: &mut Request) -> Result<()> {
    item.required("name")?.text()?;
    let Some(tool) = read_tool_id(item)? else { return Ok(()) };
    let kind = kind_of_call(item_type(item.field().at()).unwrap_or_default());
    let arguments = match kind {
        ToolKind::Custom => custom_arguments(item.required("input")?.text()?),
        _ => read_arguments(item, "arguments")?,
    };
    let id = item.text("call_id")?.map(str::to_owned);
    let (path, is_cut) = (item.field().path(), is_unfinished(&item.field()));
    request.history.call(NewCall { path, id, tool, kind, arguments, is_cut });
    Ok(())
}

fn read_result(item: &BodyObject<'_, '_>, request: &mut Request) -> Result<()> {
    let text = match item.get("output") {
        Some(output) => read_content(&output, Carrying::result())?,
        None => String::new(),
    };
    let id = item.get("call_id");
    request.history.result(NewResult {
        path: id.as_ref().unwrap_or(&item.field()).path(),
        id: id.as_ref().map(BodyField::text).transpose()?.map(str::to_owned),
        tool: read_tool_id(item)?,
        text,
    })
}

/// Effort and format from here on.
fn read_update(item: &BodyObject<'_, '_>, request: &mut Request) -> Result<()> {
    if let Some(reasoning) = item.get("reasoning") {
        let reasoning = reasoning.object()?;
        if let Some(effort) = reasoning.get("effort") {
            request.effort = Some(read_effort(&effort, &mut request.unused));
        }
    }
    if let Some(text) = item.get("text") {
        let text = text.object()?;
        if let Some(format) = text.get("format") {
            request.response_format = read_response_format(&format)?;
        }
    }
    Ok(())
}

/// The types of items about tools and services that servers run.
fn is_of_servers(kind: &str) -> bool {
    const KINDS: &[&str] = &[
        "file_search_call",
        "computer_call",
        "computer_call_output",
        "web_search_call",
        "image_generation_call",
        "code_interpreter_call",
        "local_shell_call",
        "local_shell_call_output",
        "shell_call",
        "shell_call_output",
        "apply_patch_call",
        "apply_patch_call_output",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
        "mcp_call",
        "tool_search_call",
        "compaction",
        "compaction_trigger",
        "program",
        "program_output",
    ];
    KINDS.contains(&kind)
}
