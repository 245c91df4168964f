//! `tool_choice`: what a body says of it, and what it means once the tools have names.

use super::field::{Field, brief};
use super::names::ToolNames;
use super::options::BuiltinTool;
use super::pairs::ToolId;
use super::tools::{Declared, call_header};
use super::{ToolChoice, Unused};
use crate::Prefill;
use crate::error::{Error, Result};

/// What a body says.
#[derive(Debug, Default)]
pub(super) enum Choice {
    #[default]
    Auto,
    None,
    /// What is listed if there is no tool.
    Required(Unused),
    Named(Chosen),
    Allowed {
        tools: Vec<Chosen>,
        required: bool,
    },
}

/// A tool that a choice names.
#[derive(Debug)]
pub(super) struct Chosen {
    what: What,
    /// The error if there is no such tool.
    missing: Error,
    /// What is listed if the tool has been left out.
    left_out: Unused,
}

#[derive(Debug)]
enum What {
    Tool(ToolId),
    /// One that a server runs; `None`: of a kind that cannot run here.
    Served(Option<BuiltinTool>),
}

impl Chosen {
    /// A tool by its name, which stands in `field`.
    pub(super) fn tool(id: ToolId, field: &Field<'_, '_>) -> Self {
        let missing = field.invalid(format!("no tool is named {:?}", brief(&id.name)));
        Self { what: What::Tool(id), missing, left_out: field.unused(LEFT_OUT) }
    }

    /// A tool by its kind, which stands in `field`.
    pub(super) fn served(tool: Option<BuiltinTool>, field: &Field<'_, '_>) -> Self {
        let missing = field.invalid("no tool is of this kind");
        Self { what: What::Served(tool), missing, left_out: field.unused(LEFT_OUT) }
    }

    /// The tool's recipients; none, if it has been left out.
    fn recipients(self, names: &ToolNames, unused: &mut Vec<Unused>) -> Result<Vec<String>> {
        let recipients: Vec<String> = match &self.what {
            What::Tool(id) => {
                let tool = names.by_name(id.namespace.as_deref(), &id.name);
                let tool = tool.filter(|tool| tool.client_runs && tool.offered);
                return tool.map(|tool| vec![tool.recipient.clone()]).ok_or(self.missing);
            }
            What::Served(Some(BuiltinTool::Browser)) => starting_with(names, "browser."),
            What::Served(Some(BuiltinTool::Python)) => starting_with(names, "python"),
            What::Served(None) => Vec::new(),
        };
        if recipients.is_empty() {
            unused.push(self.left_out);
        }
        Ok(recipients)
    }
}

const LEFT_OUT: &str = "this server does not run the tool";

fn starting_with(names: &ToolNames, prefix: &str) -> Vec<String> {
    let recipients = names.iter().filter(|tool| tool.offered).map(|tool| &tool.recipient);
    recipients.filter(|recipient| recipient.starts_with(prefix)).cloned().collect()
}

impl Choice {
    /// Reads the words that all dialects share.
    pub(super) fn word(word: &str, field: &Field<'_, '_>) -> Option<Self> {
        match word {
            "auto" => Some(Self::Auto),
            "none" => Some(Self::None),
            "required" | "any" => Some(Self::Required(field.unused("no tool is offered"))),
            _ => None,
        }
    }

    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// What the choice means, with the tools' recipients.
    pub(super) fn resolve(
        self,
        declared: &Declared,
        names: &ToolNames,
        unused: &mut Vec<Unused>,
    ) -> Result<ToolChoice> {
        Ok(match self {
            Self::None => ToolChoice::None,
            Self::Auto => ToolChoice::Auto,
            // Without tools nothing can be required: they may have been left out.
            Self::Required(no_tool) if declared.is_empty() => {
                unused.push(no_tool);
                ToolChoice::Auto
            }
            Self::Required(_) => ToolChoice::Required,
            Self::Named(chosen) => {
                let mut recipients = chosen.recipients(names, unused)?;
                match recipients.len() {
                    0 => ToolChoice::Auto,
                    1 => ToolChoice::Named { recipient: recipients.remove(0) },
                    _ => ToolChoice::Allowed { recipients, required: true },
                }
            }
            Self::Allowed { tools, required } => {
                let mut recipients = Vec::with_capacity(tools.len());
                for tool in tools {
                    recipients.extend(tool.recipients(names, unused)?);
                }
                if recipients.is_empty() && required {
                    return Ok(ToolChoice::Auto);
                }
                ToolChoice::Allowed { recipients, required }
            }
        })
    }
}

/// The beginning of a call of the named tool.
pub(super) fn prefill(choice: &ToolChoice, names: &ToolNames) -> Option<Prefill> {
    let ToolChoice::Named { recipient } = choice else { return None };
    let (channel, content_type) = call_header(names.by_recipient(recipient)?);
    Some(
        Prefill::new()
            .with_channel(channel)
            .with_recipient(recipient.as_str())
            .with_content_type(content_type),
    )
}
