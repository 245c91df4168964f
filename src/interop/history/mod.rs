//! The messages before the answer, in harmony's order.
//!
//! A reader adds what it finds in the order of its API; [`History`] turns that into messages. Harmony has no ids for
//! calls, so each result goes directly after its call: c1 c2 r2 r1 becomes c1 r1 c2 r2.

mod pairs;
mod write;

use std::collections::{HashMap, HashSet};

use self::pairs::Pairs;
use self::write::{continued_call, write};
use super::field::{BodyField, BodyObject};
use super::names::{ToolId, ToolNames};
use super::texts::{IntoContents, Texts};
use super::tools::Functions;
use super::{ToolKind, Unused, UnusedReason};
use crate::Prefill;
use crate::brief::Brief;
use crate::chat::{ANALYSIS, COMMENTARY, FINAL, Message};
use crate::error::{ErrorKind, Result};
use crate::path::Path;

/// The name of a tool that a result does not name.
const UNKNOWN: &str = "unknown";

/// The messages before the answer.
#[derive(Debug, Default)]
pub(super) struct History {
    entries: Vec<Entry>,
    pairs: Pairs,
    /// The message of the body that is being read.
    source: Option<usize>,
    /// Whether a result that answers no call is an error.
    strict: bool,
    /// The results that answer no call.
    stray: Vec<Unused>,
    /// The calls with an id: their tool, and whether they are asynchronous.
    by_id: HashMap<String, (ToolId, bool)>,
}

/// An item, and the number of its message among those of the history and the body.
#[derive(Debug)]
struct Entry {
    source: Option<usize>,
    item: HistoryItem,
}

#[derive(Debug)]
enum HistoryItem {
    /// A system or developer message.
    Instructions(Texts),
    User {
        texts: Texts,
        name: Option<String>,
    },
    /// The assistant's text on a channel: a thought, a preamble or an answer.
    Said(&'static str, Texts),
    Call(HistoryCall),
    /// A result apart from its call, and its tool.
    Stray(ToolId, Texts),
    /// Deferred tools that are declared here.
    Added(Vec<ToolId>),
    /// A tool that is not offered from here on.
    Removed(ToolId),
}

/// A call, with its result once there is one.
#[derive(Debug)]
pub(super) struct HistoryCall {
    /// Its place in the body.
    path: Path,
    /// Its id, which its result names, if it has one.
    id: Option<String>,
    pub(super) tool: ToolId,
    pub(super) kind: ToolKind,
    pub(super) arguments: String,
    /// Whether the body marks the call as cut off.
    pub(super) is_cut: bool,
    /// Whether the conversation continues without its result. Each of its results is a message where it arrives.
    pub(super) is_async: bool,
    /// The result, and the number of its message.
    result: Option<(Texts, Option<usize>)>,
}

impl HistoryCall {
    /// A function's call as a reader finds it.
    pub(super) fn new(
        field: &BodyField<'_, '_>,
        id: Option<&str>,
        tool: ToolId,
        arguments: String,
    ) -> Self {
        let (path, id) = (field.path(), id.map(str::to_owned));
        let (kind, is_cut, is_async) = (ToolKind::Function, false, false);
        Self { path, id, tool, kind, arguments, is_cut, is_async, result: None }
    }

    fn is_answered(&self) -> bool {
        self.result.is_some()
    }
}

impl History {
    /// An empty history. `strict`: a result that answers no call is an error.
    pub(super) fn new(strict: bool) -> Self {
        Self { strict, ..Self::default() }
    }

    /// The entries listed for results that answer no call.
    pub(super) fn take_stray(&mut self) -> Vec<Unused> {
        std::mem::take(&mut self.stray)
    }

    /// Starts the next message of the history or the body: items added from now on belong to it.
    pub(super) fn next_message(&mut self) {
        self.source = Some(self.source.map_or(0, |source| source + 1));
    }

    /// Items added from now on belong to no message.
    pub(super) fn end_messages(&mut self) {
        self.source = None;
    }

    fn push(&mut self, item: HistoryItem) {
        self.entries.push(Entry { source: self.source, item });
    }

    /// A system or developer message; an empty one is left out.
    pub(super) fn instructions(&mut self, texts: impl Into<Texts>) {
        let texts = texts.into();
        if !texts.is_empty() {
            self.push(HistoryItem::Instructions(texts));
        }
    }

    /// A user's message; even an empty one is a turn.
    pub(super) fn user(&mut self, texts: impl Into<Texts>, name: Option<String>) {
        self.push(HistoryItem::User { texts: texts.into(), name });
    }

    /// A summary of all messages so far, which takes their place as a user's message. The instructions at the beginning
    /// stay, and the tools that are offered.
    pub(super) fn summary(&mut self, text: String) {
        let is_lead = |entry: &Entry| matches!(entry.item, HistoryItem::Instructions(_));
        let lead = self.entries.iter().take_while(|entry| is_lead(entry)).count();
        let mut index = 0;
        self.entries.retain(|entry| {
            index += 1;
            index <= lead || matches!(entry.item, HistoryItem::Added(_) | HistoryItem::Removed(_))
        });
        (self.pairs, self.by_id) = (Pairs::default(), HashMap::new());
        self.stray.clear();
        self.user(text, None);
    }

    /// A thought of the assistant; an empty one is left out.
    pub(super) fn thought(&mut self, text: &str) {
        self.say(ANALYSIS, text.to_owned());
    }

    /// The assistant's text to the user, a preamble or an answer; an empty one is left out.
    pub(super) fn say(&mut self, channel: &'static str, texts: impl Into<Texts>) {
        let texts = texts.into();
        if !texts.is_empty() {
            self.push(HistoryItem::Said(channel, texts));
        }
    }

    /// The assistant's text, and calls after it. With calls it is a preamble, without them the answer.
    pub(super) fn say_and_call(&mut self, texts: impl Into<Texts>, calls: Vec<HistoryCall>) {
        match texts.into() {
            texts if calls.is_empty() => self.say(FINAL, texts),
            texts => self.say(COMMENTARY, texts),
        }
        for call in calls {
            self.call(call);
        }
    }

    /// Declares deferred tools here, unless they were declared before.
    pub(super) fn added(&mut self, tools: Vec<ToolId>) {
        if !tools.is_empty() {
            self.push(HistoryItem::Added(tools));
        }
    }

    /// A tool is not offered from here on.
    pub(super) fn removed(&mut self, tool: ToolId) {
        self.push(HistoryItem::Removed(tool));
    }

    /// The tools that are declared somewhere.
    pub(super) fn all_added(&self) -> HashSet<&ToolId> {
        let added = self.entries.iter().filter_map(|entry| match &entry.item {
            HistoryItem::Added(tools) => Some(tools),
            _ => None,
        });
        added.flatten().collect()
    }

    /// The tools that are not offered at the end.
    pub(super) fn all_removed(&self) -> HashSet<&ToolId> {
        let mut removed = HashSet::new();
        for entry in &self.entries {
            match &entry.item {
                HistoryItem::Removed(tool) => _ = removed.insert(tool),
                HistoryItem::Added(tools) => tools.iter().for_each(|tool| _ = removed.remove(tool)),
                _ => {}
            }
        }
        removed
    }

    pub(super) fn call(&mut self, call: HistoryCall) {
        if let Some(id) = &call.id {
            self.by_id.insert(id.clone(), (call.tool.clone(), call.is_async));
        }
        if !call.is_async {
            self.pairs.call(self.entries.len(), call.id.as_ref(), &call.tool);
        }
        self.push(HistoryItem::Call(call));
    }

    /// Attaches a result to the nearest earlier call that it answers: by the call's id, which is under this key, or by
    /// the tool that it names. A result that answers no call is a message of its own.
    pub(super) fn result(
        &mut self,
        result: &BodyObject<'_, '_>,
        id: &str,
        tool: Option<(ToolId, BodyField<'_, '_>)>,
        texts: impl Into<Texts>,
    ) -> Result<()> {
        let texts = texts.into();
        let (tool, name) = tool.unzip();
        let given = result.get(id).or(name).unwrap_or(result.field());
        let id = result.text(id)?;
        let called = id.and_then(|id| self.by_id.get(id)).cloned();
        if let Some((tool, true)) = called {
            self.push(HistoryItem::Stray(tool, texts));
            return Ok(());
        }
        let answered = self.pairs.answered(id, tool.as_ref());
        let answered = answered.and_then(|index| self.entries.get_mut(index));
        if let Some(Entry { item: HistoryItem::Call(call), .. }) = answered {
            call.result = Some((texts, self.source));
            return Ok(());
        }
        if !self.strict {
            self.stray.push(given.unused(UnusedReason::StrayResult));
            let tool = called.map(|(tool, _)| tool).or(tool);
            self.push(HistoryItem::Stray(tool.unwrap_or_else(|| ToolId::new(UNKNOWN)), texts));
            return Ok(());
        }
        Err(given.invalid(match (id, &tool) {
            (Some(id), _) => format!("no pending call has the id {:?}", Brief(id)),
            (None, Some(tool)) => format!("no call of {:?} is pending", Brief(&tool.name)),
            (None, None) => "no call is pending for this result".to_owned(),
        }))
    }

    /// The last item, if it belongs to the message that was read last: nothing can continue earlier messages.
    fn end_of_last_message(&mut self) -> Option<&mut HistoryItem> {
        let last = self.entries.last_mut().filter(|entry| entry.source == self.source)?;
        Some(&mut last.item)
    }

    /// Whether the last message ends with a text, a thought or a call of the assistant, so that it can be
    /// continued. Then a call counts as cut off.
    pub(super) fn open_last(&mut self) -> bool {
        match self.end_of_last_message() {
            Some(HistoryItem::Said(..)) => true,
            Some(HistoryItem::Call(call)) => {
                call.is_cut = true;
                true
            }
            _ => false,
        }
    }

    /// Leaves out calls that were cut off and are not continued: harmony cannot express half a call.
    pub(super) fn drop_cut_calls(&mut self, continue_last: bool, unused: &mut Vec<Unused>) {
        let is_continued = continue_last && self.end_of_last_message().is_some();
        let end = self.entries.len() - usize::from(is_continued);
        let mut index = 0;
        self.entries.retain(|entry| {
            index += 1;
            let HistoryItem::Call(call) = &entry.item else { return true };
            let is_dropped = call.is_cut && !call.is_answered() && index <= end;
            if is_dropped {
                unused.push(Unused { path: call.path.clone(), reason: UnusedReason::CutCall });
            }
            !is_dropped
        });
    }

    /// The tools that were called or that results name, with the kind of their calls.
    pub(super) fn called(&self) -> impl Iterator<Item = (&ToolId, ToolKind)> {
        self.entries.iter().filter_map(|entry| match &entry.item {
            HistoryItem::Call(call) => Some((&call.tool, call.kind)),
            HistoryItem::Stray(tool, _) => Some((tool, ToolKind::Function)),
            _ => None,
        })
    }

    /// The calls.
    pub(super) fn calls_mut(&mut self) -> impl Iterator<Item = &mut HistoryCall> {
        self.entries.iter_mut().filter_map(|entry| match &mut entry.item {
            HistoryItem::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Makes all preambles answers.
    pub(super) fn answer_with_preambles(&mut self) {
        for entry in &mut self.entries {
            if let HistoryItem::Said(channel, _) = &mut entry.item
                && *channel == COMMENTARY
            {
                *channel = FINAL;
            }
        }
    }

    /// Takes the system and developer messages at the beginning, up to the first from a source that is not `is_lead`.
    pub(super) fn take_lead(&mut self, is_lead: impl Fn(Option<usize>) -> bool) -> Vec<Texts> {
        let is_lead = |entry: &Entry| {
            matches!(entry.item, HistoryItem::Instructions(_)) && is_lead(entry.source)
        };
        let end = self.entries.iter().position(|entry| !is_lead(entry));
        let lead = self.entries.drain(..end.unwrap_or(self.entries.len()));
        let texts = lead.filter_map(|entry| match entry.item {
            HistoryItem::Instructions(texts) => Some(texts),
            _ => None,
        });
        texts.collect()
    }

    /// Each message, and the number of the body's message that it comes from. `contents` makes the contents of one from
    /// its parts.
    pub(super) fn into_messages(
        self,
        names: &ToolNames,
        functions: &mut Functions,
        contents: IntoContents,
    ) -> (Vec<Option<usize>>, Vec<Message>) {
        let mut messages = Vec::with_capacity(self.entries.len() + 2);
        let mut sources = Vec::with_capacity(self.entries.len() + 2);
        for Entry { source, item } in self.entries {
            let of_result = match &item {
                HistoryItem::Call(HistoryCall { result: Some((_, source)), .. }) => *source,
                _ => source,
            };
            let first = messages.len();
            write(item, names, functions, contents, &mut messages);
            // The second message of a call with a result is the result.
            sources.extend(
                (first..messages.len()).map(|at| if at == first { source } else { of_result }),
            );
        }
        (sources, messages)
    }

    /// Refuses a call without a result that is not the last item.
    pub(super) fn check_all_answered(&self) -> Result<()> {
        let unanswered = |entry: &Entry| match &entry.item {
            HistoryItem::Call(call) if !call.is_answered() && !call.is_async => {
                Some(call.path.clone())
            }
            _ => None,
        };
        let end = self.entries.iter().rposition(|entry| unanswered(entry).is_none()).unwrap_or(0);
        let Some(path) = self.entries[..end].iter().find_map(unanswered) else { return Ok(()) };
        let reason = "this call has no result, but more messages follow".into();
        Err(ErrorKind::InvalidRequest { path, reason }.into())
    }

    /// The beginning of the message that the model continues: the assistant's text or thought at the end of the last
    /// message, or a call that was cut off.
    pub(super) fn take_prefill(&mut self, names: &ToolNames) -> Option<Prefill> {
        self.end_of_last_message()?;
        let Entry { source, item } = self.entries.pop()?;
        match item {
            HistoryItem::Said(channel, texts) => {
                Some(Prefill::new().with_channel(channel).with_text(texts.joined()))
            }
            HistoryItem::Call(call) if call.is_cut && !call.is_answered() => {
                continued_call(call, names)
            }
            item => {
                self.entries.push(Entry { source, item });
                None
            }
        }
    }
}
