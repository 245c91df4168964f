//! The text of a system message (guide, section "System message format").

use super::blocks::Blocks;
use super::developer::write_tools;
use super::{RenderConfig, SystemFields, has_function_tools};
use crate::chat::{ChannelConfig, Content, Message, Role};
use crate::error::Result;
use crate::typescript::Budget;

/// The text: identity and dates, reasoning, tools, channels.
pub(super) fn text(
    content: SystemFields<'_>,
    config: RenderConfig,
    budget: &mut Budget,
) -> Result<String> {
    let mut blocks = Blocks::default();
    write_identity(content, &mut blocks);
    if let Some(effort) = content.reasoning_effort {
        blocks.begin().extend(["Reasoning: ", effort.as_str()]);
    }
    write_tools(content.tools, config, budget, &mut blocks)?;
    if let Some(channels) = content.channel_config {
        write_channels(channels, config.conversation_has_function_tools, &mut blocks);
    }
    Ok(blocks.into_text())
}

/// Identity and dates: one block of up to three lines.
fn write_identity(content: SystemFields<'_>, blocks: &mut Blocks) {
    let lines = [
        ("", content.model_identity),
        ("Knowledge cutoff: ", content.knowledge_cutoff),
        ("Current date: ", content.conversation_start_date),
    ];
    let mut lines = lines.into_iter().filter_map(|(label, value)| Some((label, value?)));
    let Some((label, value)) = lines.next() else { return };
    let out = blocks.begin();
    out.extend([label, value]);
    for (label, value) in lines {
        out.extend(["\n", label, value]);
    }
}

fn write_channels(config: &ChannelConfig, has_function_tools: bool, blocks: &mut Blocks) {
    if config.valid_channels.is_empty() {
        return;
    }
    let out = blocks.begin();
    out.extend(["# Valid channels: ", &config.valid_channels.join(", "), "."]);
    if config.channel_required {
        out.push_str(" Channel must be included for every message.");
    }
    if has_function_tools {
        out.extend(["\n", FUNCTIONS_LINE]);
    }
}

/// The last line of a system message, if the conversation has function tools.
const FUNCTIONS_LINE: &str = "Calls to these tools must go to the commentary channel: 'functions'.";

/// Whether the leading system message lacks the line about function tools, and would get it if the conversation
/// declared some. Later system messages may be the model's own.
pub(crate) fn must_announce_function_tools(messages: &[&Message]) -> bool {
    messages.first().is_some_and(|system| lists_channels(system) && !has_functions_line(system))
        && !messages.iter().any(|message| has_function_tools(*message))
}

/// Adds the line about function tools to the text of a system message, as it was parsed, that lists channels.
pub(crate) fn announce_function_tools(message: &mut Message) {
    if lists_channels(message)
        && !has_functions_line(message)
        && let [Content::Text(content)] = &mut message.content[..]
    {
        content.text.extend(["\n", FUNCTIONS_LINE]);
    }
}

/// Whether the text of a message, as it was parsed, ends with the line.
fn has_functions_line(message: &Message) -> bool {
    let has_line = |part: &Content| matches!(part, Content::Text(content) if content.text.ends_with(FUNCTIONS_LINE));
    message.content.iter().any(has_line)
}

/// Whether a system message, as it was parsed or to be rendered, lists channels.
fn lists_channels(message: &Message) -> bool {
    let lists_channels = |part: &Content| match part {
        Content::Text(content) => content.text.contains("# Valid channels: "),
        Content::SystemContent(content) => {
            let channels = content.channel_config.as_ref();
            channels.is_some_and(|channels| !channels.valid_channels.is_empty())
        }
        Content::DeveloperContent(_) => false,
    };
    message.author.role == Role::System && message.content.iter().any(lists_channels)
}
