//! `tool_choice`: its value in a body, and its meaning once the tools have names.

use super::field::{BodyField, BodyObject};
use super::names::{ToolId, ToolNames};
use super::tools::call_prefill;
use super::{BuiltinTool, ToolChoice, Unused, UnusedReason};
use crate::Prefill;
use crate::brief::Brief;
use crate::error::{Error, Result};
use crate::json::Value;

/// The choice in a body.
#[derive(Debug, Default)]
pub(super) enum Choice {
    #[default]
    Auto,
    None,
    /// The unused entry to list if there is no tool.
    Required(Unused),
    Named(Chosen),
    Allowed {
        tools: Vec<Chosen>,
        required: bool,
    },
}

/// A tool that a choice names.
#[derive(Debug)]
pub(super) enum Chosen {
    /// By its name, with the error to raise if there is no such tool.
    Tool(ToolId, Error),
    /// By the type of a tool that servers run, `None` for one that cannot run here; with the entry to list if it has
    /// been left out.
    Builtin(Option<BuiltinTool>, Unused),
    /// By the type of a tool that the client runs, which is also its name; with the entry to list if it has been left
    /// out.
    OfClient(ToolId, Unused),
}

impl Chosen {
    /// A tool by its name, the value of `field`.
    pub(super) fn tool(id: ToolId, field: &BodyField<'_, '_>) -> Self {
        let missing = field.invalid(format!("no tool is named {:?}", Brief(&id.name)));
        Self::Tool(id, missing)
    }

    /// A tool as chat completions name it: `{"type": "function", "function": {"name": ...}}`, or flat.
    pub(super) fn read(chosen: &BodyObject<'_, '_>) -> Result<Self> {
        let key = if chosen.get("custom").is_some() { "custom" } else { "function" };
        let named = chosen.nested(key)?;
        let name = named.required("name")?;
        Ok(Self::tool(ToolId::new(name.text()?), &name))
    }

    /// The tool's recipients; empty if it has been left out.
    fn recipients(self, names: &ToolNames, unused: &mut Vec<Unused>) -> Result<Vec<String>> {
        match self {
            Self::Tool(id, missing) => {
                let tool = names.by_name(&id.name, id.namespace.as_deref());
                let tool = tool.filter(|tool| tool.client_runs && tool.offered);
                tool.map(|tool| vec![tool.recipient.clone()]).ok_or(missing)
            }
            Self::OfClient(id, left_out) => {
                let tool = names.by_name(&id.name, None).filter(|tool| tool.offered);
                if tool.is_none() {
                    unused.push(left_out);
                }
                Ok(tool.map(|tool| tool.recipient.clone()).into_iter().collect())
            }
            Self::Builtin(builtin, left_out) => {
                let own = builtin.map_or(&[][..], BuiltinTool::recipients);
                let offered = own.iter().filter_map(|name| names.by_recipient(name));
                let offered = offered.filter(|tool| tool.offered);
                let recipients: Vec<_> = offered.map(|tool| tool.recipient.clone()).collect();
                if recipients.is_empty() {
                    unused.push(left_out);
                }
                Ok(recipients)
            }
        }
    }
}

impl Choice {
    /// Reads the choice of chat completions and Responses; `chosen` reads the tool that it names.
    pub(super) fn read(
        choice: &BodyField<'_, '_>,
        chosen: fn(&BodyObject<'_, '_>) -> Result<Chosen>,
    ) -> Result<Self> {
        let known = &["auto", "none", "required"];
        if let Value::String(word) = choice.value() {
            return Self::word(word, choice).ok_or_else(|| choice.unknown("choice", word, known));
        }
        let object = choice.object()?;
        let kind = object.text("type")?;
        let word = kind.filter(|word| known.contains(word));
        if let Some(word) = word.and_then(|word| Self::word(word, choice)) {
            return Ok(word);
        }
        if kind != Some("allowed_tools") {
            return chosen(&object).map(Self::Named);
        }
        let allowed = object.object_or_self("allowed_tools")?;
        let list = allowed.required("tools")?;
        let tools = list.items()?.map(|tool| chosen(&tool.object()?));
        let tools = tools.collect::<Result<Vec<_>>>()?;
        let required = allowed.one_of("mode", &["auto", "required"])? == Some("required");
        if required && tools.is_empty() {
            return Err(list.invalid("a call is required, but no tool is allowed"));
        }
        Ok(Self::Allowed { tools, required })
    }

    /// Reads the words that all dialects share.
    pub(super) fn word(word: &str, field: &BodyField<'_, '_>) -> Option<Self> {
        match word {
            "auto" => Some(Self::Auto),
            "none" => Some(Self::None),
            "required" | "any" => Some(Self::Required(field.unused(UnusedReason::NoTool))),
            _ => None,
        }
    }

    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// Whether the model must call a tool.
    pub(super) fn demands_call(&self) -> bool {
        match self {
            Self::Auto | Self::None => false,
            Self::Required(_) | Self::Named(_) => true,
            Self::Allowed { required, .. } => *required,
        }
    }

    /// The one tool that is to be called, by its name.
    pub(super) fn named(&self) -> Option<&ToolId> {
        match self {
            Self::Named(Chosen::Tool(id, _)) => Some(id),
            _ => None,
        }
    }

    /// What the choice means, with the tools' recipients.
    pub(super) fn resolve(self, names: &ToolNames, unused: &mut Vec<Unused>) -> Result<ToolChoice> {
        Ok(match self {
            Self::None => ToolChoice::None,
            Self::Auto => ToolChoice::Auto,
            // Without tools no call can be required: they may have been left out.
            Self::Required(no_tool) if !names.any_declared() => {
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
                match (recipients.is_empty(), required) {
                    (false, _) => ToolChoice::Allowed { recipients, required },
                    // None of the allowed tools can run. The declared ones stay, for the prompt's cached prefix.
                    (true, false) => ToolChoice::None,
                    (true, true) => ToolChoice::Auto,
                }
            }
        })
    }
}

/// The beginning of a call of the named tool.
pub(super) fn prefill(choice: &ToolChoice, names: &ToolNames) -> Option<Prefill> {
    let ToolChoice::Named { recipient } = choice else { return None };
    Some(call_prefill(names.by_recipient(recipient)?))
}
