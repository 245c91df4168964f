//! The messages before the answer, in harmony's order.
//!
//! A reader adds what it finds in the order of its API; [`History`] makes messages of it. Harmony has
//! no ids for calls, so each result goes directly after its call: c1 c2 r2 r1 becomes c1 r1 c2 r2.

use std::collections::{HashMap, HashSet, VecDeque};

use super::field::{BodyField, BodyObject};
use super::names::{Tool, ToolId, ToolNames};
use super::prompts::PromptForm;
use super::texts::Texts;
use super::tools::{Functions, NO_ARGUMENTS, arguments_in_harmony, call_header, call_prefill};
use super::{ToolKind, Unused, UnusedReason};
use crate::Prefill;
use crate::brief::Brief;
use crate::chat::{ANALYSIS, Author, COMMENTARY, DeveloperContent, FINAL, Message, Role};
use crate::error::{ErrorKind, Result};
use crate::path::Path;

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
    Instructions(String),
    User {
        texts: Texts,
        name: Option<String>,
    },
    /// What the assistant said in a channel: a thought, a preamble or an answer.
    Said(&'static str, Texts),
    Call(HistoryCall),
    /// A result that answers no call, and the tool that it names.
    Stray(ToolId, String),
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
    /// The id that its result names, if it has any.
    id: Option<String>,
    tool: ToolId,
    pub(super) kind: ToolKind,
    arguments: String,
    /// Whether the body marks the call as cut off.
    pub(super) is_cut: bool,
    /// The result, and the number of its message.
    result: Option<(String, Option<usize>)>,
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
        Self { path, id, tool, kind: ToolKind::Function, arguments, is_cut: false, result: None }
    }

    fn is_answered(&self) -> bool {
        self.result.is_some()
    }
}

/// The messages of a history.
pub(super) struct HistoryMessages {
    /// The texts of the leading system and developer messages.
    pub(super) instructions: Vec<String>,
    /// The messages after them.
    pub(super) messages: Vec<Message>,
    /// The number of the body's message that each of these comes from.
    pub(super) sources: Vec<Option<usize>>,
    /// The beginning of the message that the model continues.
    pub(super) prefill: Option<Prefill>,
}

impl History {
    /// An empty one. `strict`: a result that answers no call is an error.
    pub(super) fn new(strict: bool) -> Self {
        Self { strict, ..Self::default() }
    }

    /// What is listed of the results that answer no call.
    pub(super) fn take_stray(&mut self) -> Vec<Unused> {
        std::mem::take(&mut self.stray)
    }

    /// What follows belongs to the next message of the history or the body.
    pub(super) fn next_message(&mut self) {
        self.source = Some(self.source.map_or(0, |source| source + 1));
    }

    /// What follows belongs to no message.
    pub(super) fn end_messages(&mut self) {
        self.source = None;
    }

    fn push(&mut self, item: HistoryItem) {
        self.entries.push(Entry { source: self.source, item });
    }

    /// A system or developer message; an empty one is left out.
    pub(super) fn instructions(&mut self, text: String) {
        if !text.is_empty() {
            self.push(HistoryItem::Instructions(text));
        }
    }

    /// A user's message; an empty one is a turn all the same.
    pub(super) fn user(&mut self, texts: impl Into<Texts>, name: Option<String>) {
        self.push(HistoryItem::User { texts: texts.into(), name });
    }

    /// A thought of the assistant; an empty one is left out.
    pub(super) fn thought(&mut self, text: &str) {
        self.say(ANALYSIS, text.to_owned());
    }

    /// The assistant's text to the user, in the channel of a preamble or an answer; an empty one is left out.
    pub(super) fn say(&mut self, channel: &'static str, texts: impl Into<Texts>) {
        let texts = texts.into();
        if !texts.is_empty() {
            self.push(HistoryItem::Said(channel, texts));
        }
    }

    /// The assistant's text, and calls behind it: with calls it is a preamble, without it is the answer.
    pub(super) fn say_and_call(&mut self, texts: impl Into<Texts>, calls: Vec<HistoryCall>) {
        match texts.into() {
            texts if calls.is_empty() => self.say(FINAL, texts),
            texts => self.say(COMMENTARY, texts.into_text()),
        }
        for call in calls {
            self.call(call);
        }
    }

    /// Deferred tools are declared here, as far as they were not before.
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
        self.pairs.call(self.entries.len(), call.id.as_ref(), &call.tool);
        self.push(HistoryItem::Call(call));
    }

    /// Puts a result to the nearest earlier call that it answers: by the call's id, which stands under this key, or by
    /// the tool that it names. One that answers none is a message of its own.
    pub(super) fn result(
        &mut self,
        result: &BodyObject<'_, '_>,
        id: &str,
        tool: Option<(ToolId, BodyField<'_, '_>)>,
        text: String,
    ) -> Result<()> {
        let (tool, name) = tool.unzip();
        let given = result.get(id).or(name).unwrap_or(result.field());
        let id = result.text(id)?;
        let answered = self.pairs.answered(id, tool.as_ref());
        let answered = answered.and_then(|index| self.entries.get_mut(index));
        if let Some(Entry { item: HistoryItem::Call(call), .. }) = answered {
            call.result = Some((text, self.source));
            return Ok(());
        }
        if !self.strict {
            self.stray.push(given.unused(UnusedReason::StrayResult));
            self.push(HistoryItem::Stray(tool.unwrap_or_else(|| ToolId::new(UNKNOWN)), text));
            return Ok(());
        }
        Err(given.invalid(match (id, &tool) {
            (Some(id), _) => format!("no pending call has the id {:?}", Brief(id)),
            (None, Some(tool)) => format!("no call of {:?} is pending", Brief(&tool.name)),
            (None, None) => "no call is pending for this result".to_owned(),
        }))
    }

    /// The last item, if it is of the message that was read last: nothing continues what is before that.
    fn end_of_last_message(&mut self) -> Option<&mut HistoryItem> {
        let last = self.entries.last_mut().filter(|entry| entry.source == self.source)?;
        Some(&mut last.item)
    }

    /// Whether the last message ends with a text, a thought or a call of the assistant, so that it can be
    /// continued. Then a call counts as cut off.
    pub(super) fn open_last(&mut self) -> bool {
        match self.end_of_last_message() {
            Some(HistoryItem::Said(..)) => true,
            Some(HistoryItem::Call(call)) if !call.is_answered() => {
                call.is_cut = true;
                true
            }
            _ => false,
        }
    }

    /// Leaves out calls that were cut off and that nothing continues: harmony has no word for half a call.
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

    /// The tools that were called or that results name, with the kind that their calls are of.
    pub(super) fn called(&self) -> impl Iterator<Item = (&ToolId, ToolKind)> {
        self.entries.iter().filter_map(|entry| match &entry.item {
            HistoryItem::Call(call) => Some((&call.tool, call.kind)),
            HistoryItem::Stray(tool, _) => Some((tool, ToolKind::Function)),
            _ => None,
        })
    }

    /// The messages. `continue_last`: the text or thought of the assistant at the end of the last message is continued,
    /// and a call that was cut off.
    ///
    /// # Errors
    ///
    /// A call without a result that is not the last item.
    pub(super) fn into_messages(
        mut self,
        names: &ToolNames,
        functions: &mut Functions,
        continue_last: bool,
        form: &PromptForm,
    ) -> Result<HistoryMessages> {
        if !form.allows_open_calls {
            self.check_all_answered()?;
        }
        let prefill = continue_last.then(|| self.take_prefill(names)).flatten();
        let is_instructions = |entry: &Entry| matches!(entry.item, HistoryItem::Instructions(_));
        let is_lead = |entry: &Entry| {
            is_instructions(entry) && (!form.has_one_instructions || entry.source <= Some(0))
        };
        let lead = self.entries.iter().position(|entry| !is_lead(entry));
        let behind = self.entries.split_off(lead.unwrap_or(self.entries.len()));
        let instructions = self.entries.into_iter().filter_map(|entry| match entry.item {
            HistoryItem::Instructions(text) => Some(text),
            _ => None,
        });
        let mut messages = Vec::with_capacity(behind.len() + 2);
        let mut sources = Vec::with_capacity(behind.len() + 2);
        for Entry { source, item } in behind {
            let of_result = match &item {
                HistoryItem::Call(HistoryCall { result: Some((_, source)), .. }) => *source,
                _ => source,
            };
            let first = messages.len();
            write(item, names, functions, &mut messages);
            // Of a call with a result the second message is the result.
            sources.extend(
                (first..messages.len()).map(|at| if at == first { source } else { of_result }),
            );
        }
        let instructions = instructions.collect();
        let mut found = HistoryMessages { instructions, messages, sources, prefill };
        form.arrange(&mut found.sources, &mut found.messages);
        Ok(found)
    }

    fn check_all_answered(&self) -> Result<()> {
        let unanswered = |entry: &Entry| match &entry.item {
            HistoryItem::Call(call) if !call.is_answered() => Some(call.path.clone()),
            _ => None,
        };
        let end = self.entries.iter().rposition(|entry| unanswered(entry).is_none()).unwrap_or(0);
        let Some(path) = self.entries[..end].iter().find_map(unanswered) else { return Ok(()) };
        let reason = "this call has no result, but more messages follow".into();
        Err(ErrorKind::InvalidRequest { path, reason }.into())
    }

    fn take_prefill(&mut self, names: &ToolNames) -> Option<Prefill> {
        self.end_of_last_message()?;
        let Entry { source, item } = self.entries.pop()?;
        match item {
            HistoryItem::Said(channel, texts) => {
                Some(Prefill::new().with_channel(channel).with_text(texts.into_text()))
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

/// The beginning of a call that the model continues.
fn continued_call(call: HistoryCall, names: &ToolNames) -> Option<Prefill> {
    let tool = names.by_name(&call.tool.name, call.tool.namespace.as_deref())?;
    let mut arguments = call.arguments;
    if arguments == NO_ARGUMENTS {
        // There were none yet.
        arguments.clear();
    } else if call.kind == ToolKind::Custom {
        // The end of the string that the input is in, and of the object.
        arguments.truncate(arguments.len() - "\"}".len());
    }
    Some(call_prefill(tool).with_text(arguments))
}

/// Writes an item as messages.
fn write(
    item: HistoryItem,
    names: &ToolNames,
    functions: &mut Functions,
    messages: &mut Vec<Message>,
) {
    let developer = |content| Message::from_role_and_content(Role::Developer, content);
    messages.push(match item {
        HistoryItem::Instructions(text) => {
            developer(DeveloperContent::new().with_instructions(text))
        }
        HistoryItem::Added(tools) => {
            let Some(content) = added(&tools, names, functions) else { return };
            developer(content)
        }
        HistoryItem::Removed(id) => {
            let Some(tool) = names.by_name(&id.name, None) else { return };
            if !functions.remove(id) {
                return;
            }
            let text = format!("The tool {} is not available any longer.", tool.recipient);
            developer(DeveloperContent::new().with_instructions(text))
        }
        HistoryItem::User { texts, name } => {
            let message = Message::from_role_and_contents(Role::User, texts.into_contents());
            Message { author: Author { role: Role::User, name }, ..message }
        }
        HistoryItem::Said(channel, texts) => {
            let message = Message::from_role_and_contents(Role::Assistant, texts.into_contents());
            message.with_channel(channel)
        }
        HistoryItem::Call(call) => return write_call(call, names, messages),
        HistoryItem::Stray(tool, text) => {
            // All tools of the history have names.
            let Some(tool) = names.by_name(&tool.name, tool.namespace.as_deref()) else { return };
            result_of(tool, text)
        }
    });
}

/// The result of a tool.
fn result_of(tool: &Tool, text: String) -> Message {
    let (channel, _) = call_header(tool);
    Message::from_author_and_content(Author::new(Role::Tool, tool.recipient.as_str()), text)
        .with_recipient(Role::Assistant.as_str())
        .with_channel(channel)
}

/// The name of a tool that a result does not name.
const UNKNOWN: &str = "unknown";

/// Declares tools, or announces that they are back.
fn added(
    tools: &[ToolId],
    names: &ToolNames,
    functions: &mut Functions,
) -> Option<DeveloperContent> {
    let back = tools.iter().filter(|tool| functions.is_back(tool));
    let back = back.filter_map(|tool| names.by_name(&tool.name, None));
    let back = back.map(|tool| format!("The tool {} is available again.", tool.recipient));
    let back: Vec<_> = back.collect();
    let mut content = DeveloperContent::new();
    if !back.is_empty() {
        content = content.with_instructions(back.join("\n"));
    }
    if let Some(tools) = functions.take_later(tools) {
        content = content.with_tools(tools);
    }
    (content != DeveloperContent::new()).then_some(content)
}

/// Writes a call, and its result after it.
fn write_call(call: HistoryCall, names: &ToolNames, messages: &mut Vec<Message>) {
    let HistoryCall { tool, arguments, result, .. } = call;
    // All tools that were called have names.
    let Some(tool) = names.by_name(&tool.name, tool.namespace.as_deref()) else { return };
    let (channel, content_type) = call_header(tool);
    let text = arguments_in_harmony(tool, arguments);
    messages.push(
        Message::from_role_and_content(Role::Assistant, text)
            .with_channel(channel)
            .with_recipient(tool.recipient.as_str())
            .with_content_type(content_type),
    );
    if let Some((result, _)) = result {
        messages.push(result_of(tool, result));
    }
}

/// The calls that wait for results, by what results may name.
///
/// A result answers the nearest earlier call of its id that has no result yet: some servers give all calls one id. Of
/// several with no result in between, in one message or in several, the oldest comes first. Results without an id go by
/// the tool's name, then by their order, and so do those with an id that no call has, among the calls without one.
#[derive(Debug, Default)]
struct Pairs {
    /// Counts the results that were read: calls between two of them are a group.
    group: usize,
    /// The indices of the calls without a result.
    unanswered: HashSet<usize>,
    waiting: HashMap<PairKey, Waiting>,
}

/// What a call is found by, the tool by its name, or by the spelling that harmony may have given it; `bool`: among the
/// calls without an id.
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

    /// The first call of the last group that has calls without results. What has been answered
    /// by another key is dropped on the way, each once.
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
    fn call(&mut self, call: usize, id: Option<&String>, tool: &ToolId) {
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

    /// The call that a result answers, which from now on has one.
    fn answered(&mut self, id: Option<&str>, tool: Option<&ToolId>) -> Option<usize> {
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
