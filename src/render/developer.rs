//! The text of a developer message (guide, section "Developer message format"), and the
//! section on tools that it shares with the system message.

use std::collections::HashSet;

use super::blocks::Blocks;
use super::{AsTools, DeveloperFields, RenderConfig};
use crate::chat::ResponseFormat;
use crate::error::{ErrorKind, Result};
use crate::typescript::{
    Budget, check_depth, is_line_end, write_comment, write_json_as_is, write_tool_section,
};

/// The text: instructions, tools, response formats.
pub(super) fn text(
    content: DeveloperFields<'_>,
    config: RenderConfig,
    budget: &mut Budget,
) -> Result<String> {
    let mut blocks = Blocks::default();
    if let Some(instructions) = content.instructions {
        blocks.begin().extend(["# Instructions\n\n", instructions]);
    }
    write_tools(content.tools, config, budget, &mut blocks)?;
    write_formats(content.response_formats, &mut blocks)?;
    Ok(blocks.into_text())
}

/// The section `# Tools`, if there is any namespace.
pub(super) fn write_tools(
    tools: Option<&dyn AsTools>,
    config: RenderConfig,
    budget: &mut Budget,
    blocks: &mut Blocks,
) -> Result<()> {
    let namespaces = tools.map(AsTools::namespaces).unwrap_or_default();
    if namespaces.is_empty() {
        return Ok(());
    }
    write_tool_section(blocks.begin(), namespaces, config.tool_schema, budget)
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

/// A format is identified by its name, so no two may have the same.
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
        return Err(
            ErrorKind::InvalidResponseFormat { name: name.clone(), reason: reason.into() }.into()
        );
    }
    Ok(())
}
