//! Where a message belongs in the answer.

use std::collections::HashMap;

use serde_json::Value;

use crate::chat::{ANALYSIS, Author, COMMENTARY, Role};
use crate::interop::answer::TextKind;
use crate::interop::builtin::BuiltinTool;
use crate::interop::names::{ToolId, function_name};
use crate::interop::{Tool, ToolChoice, ToolKind, ToolNames, Turn};

/// The turn's rules for routing messages.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
pub(super) struct RouteRules {
    tools: ToolNames,
    /// Whether calls can go to the client at all: tools were offered, and may be called.
    calls: bool,
    /// Whether calls are allowed at all.
    may_call: bool,
    /// Whether an answer may have only one call: chat's old `function_call`.
    one_call: bool,
    /// Whether calls take only JSON objects, so that they are held back until they are complete.
    pub(super) objects: bool,
    /// Whether preambles are shown as thoughts.
    preambles_as_thoughts: bool,
    /// The schemas of the functions' arguments by recipient, if calls are held back.
    schemas: HashMap<String, Value>,
}

/// Where a message belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    Text(TextKind),
    /// A call that has no place in the answer, so its text becomes content.
    CallAsText,
    /// A call of a tool that the client runs, or of an unknown tool.
    Call(Tool),
    /// A call of a tool that the model was trained with and this server offered: left to the server.
    Builtin,
    /// A message that the model made up for another author: not part of the answer.
    Foreign,
}

impl RouteRules {
    pub(super) fn new(turn: &Turn) -> Self {
        let objects = turn.dialect.definition().takes_objects;
        let offered = turn.tools.iter().any(|tool| tool.offered && tool.client_runs);
        let declared = turn.schemas().filter(|(name, _)| objects && function_name(name).is_some());
        let declared = declared.filter_map(|(name, schema)| Some((name, schema?.clone())));
        let may_call = turn.tool_choice != ToolChoice::None;
        Self {
            tools: turn.tools.clone(),
            calls: offered && may_call,
            may_call,
            one_call: turn.answer.function_call,
            objects,
            schemas: declared.collect(),
            // The SDKs' helpers parse all texts joined, so these must contain only the answer.
            preambles_as_thoughts: turn.response_format.is_some(),
        }
    }

    /// The schema of a tool's arguments.
    pub(super) fn schema(&self, tool: &Tool) -> Option<&Value> {
        self.schemas.get(&tool.recipient)
    }

    /// The tools of the turn.
    pub(super) fn tools(&self) -> &ToolNames {
        &self.tools
    }

    /// Where a message with this header belongs, given the number of calls before it.
    pub(super) fn route(
        &self,
        author: &Author,
        channel: Option<&str>,
        recipient: Option<&str>,
        calls: usize,
    ) -> Route {
        if author.role != Role::Assistant {
            return Route::Foreign;
        }
        match recipient {
            // A role as the recipient means no tool.
            Some(recipient) if !is_role(recipient) => self.route_call(recipient, calls),
            _ => Route::Text(self.kind(channel)),
        }
    }

    fn kind(&self, channel: Option<&str>) -> TextKind {
        // A thought is never visible text, however its channel is spelled.
        match channel.map(str::to_ascii_lowercase).as_deref() {
            Some(ANALYSIS) => TextKind::Thought,
            Some(COMMENTARY) if self.preambles_as_thoughts => TextKind::Thought,
            Some(COMMENTARY) => TextKind::Preamble,
            _ => TextKind::Answer,
        }
    }

    fn route_call(&self, recipient: &str, calls: usize) -> Route {
        let tool = match self.tools.by_recipient(recipient) {
            Some(tool) => tool.client_runs.then_some(tool),
            // A built-in tool that is not declared: a function may have its name.
            None => self.tools.by_name(recipient, None),
        };
        if tool.is_none() && self.may_call && self.server_offers(recipient) {
            return Route::Builtin;
        }
        if !self.calls || self.one_call && calls > 0 {
            return Route::CallAsText;
        }
        let name = function_name(recipient).unwrap_or(recipient);
        let unknown = || Tool::new(&ToolId::new(name), ToolKind::Function);
        Route::Call(tool.cloned().unwrap_or_else(unknown))
    }

    /// Whether a recipient belongs to a built-in tool that this server runs and the request asks for.
    fn server_offers(&self, recipient: &str) -> bool {
        let called = BuiltinTool::of_recipient(recipient);
        let is_it = |tool: &Tool| BuiltinTool::of_recipient(&tool.recipient) == called;
        self.tools.iter().any(|tool| !tool.client_runs && is_it(tool))
    }
}

fn is_role(recipient: &str) -> bool {
    Role::try_from(recipient).is_ok() || recipient == "all"
}
