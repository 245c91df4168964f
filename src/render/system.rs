//! The text of a system message (guide, section "System message format").

use super::blocks::Blocks;
use super::developer::write_tools;
use super::{RenderConfig, SystemFields};
use crate::chat::ChannelConfig;
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
        out.push_str("\nCalls to these tools must go to the commentary channel: 'functions'.");
    }
}
