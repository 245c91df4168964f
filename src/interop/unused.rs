//! The parts of a body that nothing used, and why.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::brief::Brief;
use crate::path::Path;

/// Something in the body that nothing used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Unused {
    /// Its path: `tools[2]`, `messages[0].name`.
    #[serde(serialize_with = "as_text")]
    pub path: Path,
    /// Why nothing used it.
    #[serde(serialize_with = "as_text")]
    pub reason: UnusedReason,
}

impl Unused {
    /// Whether it is a tool that the body offers, outside its messages, and that is not run here.
    pub(super) fn is_tool_of_body(&self) -> bool {
        let of_body = ["tools", "web_search_options", "mcp_servers"]
            .iter()
            .any(|member| self.path.begins_with(member));
        of_body && matches!(self.reason, UnusedReason::ToolNotRun(_))
    }
}

/// Why nothing used a part of a body. Its text is meant for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnusedReason {
    /// This library has no use for the field.
    #[error("not used")]
    NotUsed,
    /// The field is unknown, but its name is close to that of a known one.
    #[error("not used; did you mean {0}?")]
    Misspelt(String),
    /// This server does not run tools of this type, `web_search`.
    #[error("this server does not run tools of type {:?}", Brief(.0))]
    ToolNotRun(String),
    /// Items or blocks of this type are not used, `web_search_call`.
    #[error("type {:?} is not used", Brief(.0))]
    TypeNotUsed(String),
    /// Only the engine can act on the option.
    #[error("left to the engine")]
    LeftToEngine,
    /// An earlier tool has this name.
    #[error("an earlier tool has this name")]
    DuplicateTool,
    /// A change of the tools names an unknown tool.
    #[error("no tool is named {:?}", Brief(.0))]
    UnknownTool(String),
    /// `tool_choice` requires a call, and no tool is offered.
    #[error("no tool is offered")]
    NoTool,
    /// The call was cut off and has no result.
    #[error("the call was cut off and has no result")]
    CutCall,
    /// A result that answers no call; it becomes a message of its own.
    #[error("no pending call has this result; it is a message of its own")]
    StrayResult,
    /// A word that is not a reasoning effort of the model.
    #[error("not an effort that the model knows; it counts as medium")]
    UnknownEffort,
    /// An empty stop string stops nothing.
    #[error("an empty stop string stops nothing")]
    EmptyStopString,
    /// Another server wrote the thought, in a form that only it reads.
    #[error("another server wrote it")]
    ForeignThought,
    /// The summary of a thought, which is not the thought.
    #[error("a summary is not the thought")]
    Summary,
    /// A reference to a thought that is not stored.
    #[error("the thought is not stored")]
    ThoughtNotStored,
    /// A reference to a prompt, which is not stored.
    #[error("prompts are not stored here")]
    PromptNotStored,
    /// `previous_response_id` or `conversation`, for which the server gave no history.
    #[error("the server gave no history")]
    NoHistory,
    /// `include` asks for something that answers never have.
    #[error("answers do not have it")]
    NotInAnswers,
    /// The message was to last until the next user's message, which follows it.
    #[error("a user message follows it")]
    Cleared,
    /// It changes with every request, which would invalidate every cached prefix.
    #[error("it changes with every request")]
    ChangesAlways,
    /// A message's header cannot carry the name.
    #[error("the message's header cannot carry it")]
    NameNotCarried,
    /// The last message cannot be continued.
    #[error("the last message cannot be continued")]
    NotContinuable,
}

impl UnusedReason {
    /// Whether this library has no use for the field, whatever its value.
    pub fn is_not_used(&self) -> bool {
        matches!(self, Self::NotUsed | Self::Misspelt(_))
    }
}

fn as_text<S: Serializer>(shown: &impl fmt::Display, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(shown)
}
