//! The items of a history as messages.

use super::{HistoryCall, HistoryItem};
use crate::Prefill;
use crate::chat::{Author, COMMENTARY, Content, DeveloperContent, Message, Role};
use crate::interop::ToolKind;
use crate::interop::names::{Tool, ToolId, ToolNames};
use crate::interop::texts::IntoContents;
use crate::interop::tools::{
    Functions, NO_ARGUMENTS, arguments_in_harmony, call_header, call_prefill,
};

/// The beginning of a call that the model continues.
pub(super) fn continued_call(call: HistoryCall, names: &ToolNames) -> Option<Prefill> {
    let tool = names.by_name(&call.tool.name, call.tool.namespace.as_deref())?;
    let mut arguments = call.arguments;
    if arguments == NO_ARGUMENTS {
        // The call has no arguments yet.
        arguments.clear();
    } else if call.kind == ToolKind::Custom {
        // The end of the string that the input is in, and of the object.
        arguments.truncate(arguments.len() - "\"}".len());
    }
    Some(call_prefill(tool).with_text(arguments))
}

/// Writes an item as messages.
pub(super) fn write(
    item: HistoryItem,
    names: &ToolNames,
    functions: &mut Functions,
    contents: IntoContents,
    messages: &mut Vec<Message>,
) {
    let developer = |content| Message::from_role_and_content(Role::Developer, content);
    messages.push(match item {
        HistoryItem::Instructions(texts) => {
            developer(DeveloperContent::new().with_instructions(texts.whole(contents)))
        }
        HistoryItem::Added(tools) => {
            let Some(content) = added(&tools, names, functions) else { return };
            developer(content)
        }
        HistoryItem::Removed(id) => {
            let Some(tool) = names.by_name(&id.name, None) else { return };
            if !functions.remove(id) {
                return;
            }
            let text = format!("The tool {} is not available any longer.", tool.recipient);
            developer(DeveloperContent::new().with_instructions(text))
        }
        HistoryItem::User { texts, name } => {
            let contents = contents(texts).into_iter().map(Content::from);
            let message = Message::from_role_and_contents(Role::User, contents);
            Message { author: Author { role: Role::User, name }, ..message }
        }
        HistoryItem::Said(channel, texts) => {
            let contents = match channel {
                // Text before calls.
                COMMENTARY => vec![texts.whole(contents)],
                _ => contents(texts),
            };
            if contents.iter().all(String::is_empty) {
                return;
            }
            let contents = contents.into_iter().map(Content::from);
            Message::from_role_and_contents(Role::Assistant, contents).with_channel(channel)
        }
        HistoryItem::Call(call) => return write_call(call, names, contents, messages),
        HistoryItem::Stray(tool, texts) => {
            // All tools of the history have names.
            let Some(tool) = names.by_name(&tool.name, tool.namespace.as_deref()) else { return };
            result_of(tool, texts.whole(contents))
        }
    });
}

/// The result of a tool.
fn result_of(tool: &Tool, text: String) -> Message {
    let (channel, _) = call_header(tool);
    Message::from_author_and_content(Author::new(Role::Tool, tool.recipient.as_str()), text)
        .with_recipient(Role::Assistant.as_str())
        .with_channel(channel)
}

/// Declares tools, or announces that they are available again.
fn added(
    tools: &[ToolId],
    names: &ToolNames,
    functions: &mut Functions,
) -> Option<DeveloperContent> {
    let back = tools.iter().filter(|tool| functions.is_back(tool));
    let back = back.filter_map(|tool| names.by_name(&tool.name, None));
    let back = back.map(|tool| format!("The tool {} is available again.", tool.recipient));
    let back: Vec<_> = back.collect();
    let mut content = DeveloperContent::new();
    if !back.is_empty() {
        content = content.with_instructions(back.join("\n"));
    }
    if let Some(tools) = functions.take_later(tools) {
        content = content.with_tools(tools);
    }
    (content != DeveloperContent::new()).then_some(content)
}

/// Writes a call, and its result after it.
fn write_call(
    call: HistoryCall,
    names: &ToolNames,
    contents: IntoContents,
    messages: &mut Vec<Message>,
) {
    let HistoryCall { tool, arguments, result, .. } = call;
    // All tools that were called have names.
    let Some(tool) = names.by_name(&tool.name, tool.namespace.as_deref()) else { return };
    let (channel, content_type) = call_header(tool);
    let text = arguments_in_harmony(tool, arguments);
    messages.push(
        Message::from_role_and_content(Role::Assistant, text)
            .with_channel(channel)
            .with_recipient(tool.recipient.as_str())
            .with_content_type(content_type),
    );
    if let Some((result, _)) = result {
        messages.push(result_of(tool, result.whole(contents)));
    }
}
