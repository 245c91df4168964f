//! The text of a developer message (guide, section "Developer message format"), and the
//! section on tools that it shares with the system message.

use std::collections::{BTreeMap, HashSet};

use super::RenderOptions;
use super::blocks::Blocks;
use crate::chat::{DeveloperContent, ResponseFormat, ToolNamespaceConfig};
use crate::error::{ErrorKind, Result};
use crate::typescript::{
    Namespace, Tool, check_depth, is_line_end, write_comment, write_json_as_is, write_tool_section,
};

/// The text: instructions, tools, response formats.
pub(super) fn text(content: &DeveloperContent, options: RenderOptions) -> Result<String> {
    let mut blocks = Blocks::default();
    if let Some(instructions) = &content.instructions {
        blocks.begin().extend(["# Instructions\n\n", instructions]);
    }
    write_tools(content.tools.as_ref(), options, &mut blocks)?;
    write_formats(&content.response_formats, &mut blocks)?;
    Ok(blocks.into_text())
}

/// The section `# Tools`, if there is any namespace. They stand in the order of their keys,
/// which are their names wherever builders made them.
pub(super) fn write_tools(
    tools: Option<&BTreeMap<String, ToolNamespaceConfig>>,
    options: RenderOptions,
    blocks: &mut Blocks,
) -> Result<()> {
    let Some(tools) = tools.filter(|tools| !tools.is_empty()) else { return Ok(()) };
    write_tool_section(blocks.begin(), tools.values().map(namespace), options.tool_schema)
}

/// The parts of a namespace that are written.
fn namespace(config: &ToolNamespaceConfig) -> Namespace<'_, impl Iterator<Item = Tool<'_>>> {
    Namespace {
        name: &config.name,
        description: config.description.as_deref(),
        tools: config.tools.iter().map(|tool| Tool {
            name: &tool.name,
            description: tool.description.as_deref(),
            parameters: tool.parameters.as_ref(),
        }),
    }
}

/// The section `# Response Formats` (guide, section "Structured output").
fn write_formats(formats: &[ResponseFormat], blocks: &mut Blocks) -> Result<()> {
    if formats.is_empty() {
        return Ok(());
    }
    check_names(formats)?;
    let out = blocks.begin();
    out.push_str("# Response Formats");
    for ResponseFormat { name, description, schema } in formats {
        out.extend(["\n\n## ", name, "\n\n"]);
        write_comment(out, description.as_deref().unwrap_or_default(), 0);
        check_depth(name, schema)?;
        write_json_as_is(out, schema);
    }
    Ok(())
}

/// A format is called by its name, so each has one of its own.
fn check_names(formats: &[ResponseFormat]) -> Result<()> {
    let mut seen = HashSet::new();
    for ResponseFormat { name, .. } in formats {
        let reason = if name.trim().is_empty() {
            "has no name"
        } else if name.contains(is_line_end) {
            "has a name of more than one line"
        } else if !seen.insert(name) {
            "has the name of another"
        } else {
            continue;
        };
        return Err(ErrorKind::InvalidResponseFormat { name: name.clone(), reason }.into());
    }
    Ok(())
}
