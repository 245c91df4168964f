//! Which call a result answers.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::interop::names::ToolId;

/// The pending calls, by what results may name.
///
/// A result answers the nearest earlier call with its id that has no result yet: some servers give all calls one id. If
/// several such calls have no result between them, in one message or in several, the oldest comes first. Results
/// without an id are matched by the tool's name, then by their order. So are results with an id that no call has, among
/// the calls without an id.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// Counts the results that were read: calls between two of them are a group.
    group: usize,
    /// The indices of the calls without a result.
    unanswered: HashSet<usize>,
    waiting: HashMap<PairKey, Waiting>,
}

/// The keys by which a call is found. A tool goes by its name, or by the spelling that harmony may have given it;
/// `bool`: only among the calls without an id.
#[derive(Debug, PartialEq, Eq, Hash)]
enum PairKey {
    Id(String),
    Tool(ToolId, bool),
    Spelled(ToolId, bool),
    Order(bool),
}

impl PairKey {
    fn of_tool(tool: &ToolId, without_id: bool) -> [Self; 2] {
        [Self::Tool(tool.clone(), without_id), Self::Spelled(tool.spelled(), without_id)]
    }
}

/// Calls by their indices, in groups of those with no result in between.
#[derive(Debug, Default)]
struct Waiting(Vec<(usize, VecDeque<usize>)>);

impl Waiting {
    fn push(&mut self, group: usize, call: usize) {
        match self.0.last_mut() {
            Some((last, calls)) if *last == group => calls.push_back(call),
            _ => self.0.push((group, VecDeque::from([call]))),
        }
    }

    /// The first call of the last group that has calls without results. Calls that were answered by another key are
    /// dropped on the way, each once.
    fn take(&mut self, unanswered: &HashSet<usize>) -> Option<usize> {
        while let Some((_, calls)) = self.0.last_mut() {
            while let Some(call) = calls.pop_front() {
                if unanswered.contains(&call) {
                    return Some(call);
                }
            }
            self.0.pop();
        }
        None
    }
}

impl Pairs {
    /// A call, by its index among the items of the history.
    pub(super) fn call(&mut self, call: usize, id: Option<&String>, tool: &ToolId) {
        self.unanswered.insert(call);
        let by_name = |without_id| {
            let [exact, spelled] = PairKey::of_tool(tool, without_id);
            [exact, spelled, PairKey::Order(without_id)]
        };
        let by_id = id.map(|id| PairKey::Id(id.clone()));
        let without_id = id.is_none().then(|| by_name(true));
        for key in by_name(false).into_iter().chain(by_id).chain(without_id.into_iter().flatten()) {
            self.waiting.entry(key).or_default().push(self.group, call);
        }
    }

    /// The call that a result answers; from now on it has a result.
    pub(super) fn answered(&mut self, id: Option<&str>, tool: Option<&ToolId>) -> Option<usize> {
        self.group += 1;
        let by_id = id.map(|id| PairKey::Id(id.to_owned()));
        let by_id = by_id.filter(|key| self.waiting.contains_key(key));
        let keys = match (by_id, tool) {
            (Some(key), _) => vec![key],
            (None, Some(tool)) => PairKey::of_tool(tool, id.is_some()).into(),
            (None, None) => vec![PairKey::Order(id.is_some())],
        };
        let call = keys.iter().find_map(|key| self.waiting.get_mut(key)?.take(&self.unanswered))?;
        self.unanswered.remove(&call);
        Some(call)
    }
}
