//! Which call a result answers.
//!
//! The nearest earlier call of its id that has no result yet: some servers give all calls one id. Of
//! equal ids in one message the first comes first. Results without an id go by the tool's name,
//! then by their order.

use std::collections::{HashMap, VecDeque};

/// A tool as the API names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ToolId {
    pub(super) namespace: Option<String>,
    pub(super) name: String,
}

impl ToolId {
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self { namespace: None, name: name.into() }
    }
}

/// The calls that wait for results, by what results may name.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// Counts the messages that calls come from.
    group: usize,
    /// By index of the call: whether it has a result.
    answered: HashMap<usize, bool>,
    by_id: HashMap<String, Waiting>,
    all: Calls,
    /// Those without an id, which a result with one may answer.
    without_id: Calls,
}

/// Calls by their tools, and in their order.
#[derive(Debug, Default)]
struct Calls {
    by_tool: HashMap<ToolId, Waiting>,
    in_order: Waiting,
}

impl Calls {
    fn push(&mut self, group: usize, call: usize, tool: &ToolId) {
        self.by_tool.entry(tool.clone()).or_default().push(group, call);
        self.in_order.push(group, call);
    }

    /// The call of a tool, or of any, that a result answers.
    fn take(&mut self, tool: Option<&ToolId>, answered: &HashMap<usize, bool>) -> Option<usize> {
        match tool {
            Some(tool) => self.by_tool.get_mut(tool)?.take(answered),
            None => self.in_order.take(answered),
        }
    }
}

/// Calls by their indices, in groups of those of one message.
#[derive(Debug, Default)]
struct Waiting(Vec<(usize, VecDeque<usize>)>);

impl Waiting {
    fn push(&mut self, group: usize, call: usize) {
        match self.0.last_mut() {
            Some((last, calls)) if *last == group => calls.push_back(call),
            _ => self.0.push((group, VecDeque::from([call]))),
        }
    }

    /// The first call of the last message that has calls without results. What has been answered
    /// by another key is dropped on the way, each once.
    fn take(&mut self, answered: &HashMap<usize, bool>) -> Option<usize> {
        while let Some((_, calls)) = self.0.last_mut() {
            while let Some(call) = calls.pop_front() {
                if !answered.get(&call).copied().unwrap_or(true) {
                    return Some(call);
                }
            }
            self.0.pop();
        }
        None
    }
}

impl Pairs {
    /// What follows is of another message.
    pub(super) fn end_group(&mut self) {
        self.group += 1;
    }

    /// A call, by its index among the items of the history.
    pub(super) fn call(&mut self, call: usize, id: Option<String>, tool: &ToolId) {
        self.answered.insert(call, false);
        self.all.push(self.group, call, tool);
        match id {
            Some(id) => self.by_id.entry(id).or_default().push(self.group, call),
            None => self.without_id.push(self.group, call, tool),
        }
    }

    /// The call that a result answers, which from now on has one.
    pub(super) fn answered(&mut self, id: Option<&str>, tool: Option<&ToolId>) -> Option<usize> {
        let answered = &self.answered;
        let call = match id {
            Some(id) => match self.by_id.get_mut(id) {
                Some(calls) => calls.take(answered),
                None => self.without_id.take(tool, answered),
            },
            None => self.all.take(tool, answered),
        }?;
        self.answered.insert(call, true);
        Some(call)
    }
}
