//! The names of tools in the API and in harmony, both ways.
//!
//! Harmony calls a tool by a recipient, one word in a message's header: `functions.get_weather`.
//! Most names fit there as they are. Those that do not (blanks, control characters, marker
//! text), and those that could be mistaken for a role, a channel or a built-in tool, get
//! a spelling that no other tool of the turn has.

use std::collections::{HashMap, HashSet};

use serde::{Serialize, Serializer};

use super::builtin::is_builtin;
use crate::chat::{CHANNELS, FUNCTIONS, Role};
use crate::header::TOOL_PREFIXES;
use crate::names;
use crate::options::choices;
use crate::text_grammar::InputGrammar;

/// What a tool is in the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolKind {
    /// Arguments are a JSON object.
    Function,
    /// Responses' and chat's `custom`: the input is free text, which the model writes as
    /// `{"input": "..."}`.
    Custom,
    /// A tool that the model was trained with, `browser.search` or `python`: declared in the system message, and called
    /// under this exact recipient.
    Builtin,
    /// Responses' `apply_patch`, which the client runs: a function with arguments that the client defines.
    ApplyPatch,
    /// Responses' `shell`, likewise.
    Shell,
    /// Responses' `local_shell`, likewise.
    LocalShell,
    /// Responses' `tool_search` with `execution: client`, likewise: what it finds is declared after its result.
    ToolSearch,
}

choices! {
    ToolKind, "a kind of tool": "function" Function, "custom" Custom, "builtin" Builtin,
        "apply_patch" ApplyPatch, "shell" Shell, "local_shell" LocalShell, "tool_search" ToolSearch;
}

/// A tool's name in the API and in harmony.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property of its own")]
#[non_exhaustive]
pub struct Tool {
    /// The name in the API, `get weather`.
    pub name: String,
    /// Responses: the namespace that the tool is a member of.
    pub namespace: Option<String>,
    /// The recipient of its calls in harmony, `functions.get_weather`.
    pub recipient: String,
    /// Its kind in the API.
    pub kind: ToolKind,
    /// Whether the body declares it. Tools named only by calls in the history are not.
    pub offered: bool,
    /// Whether the prompt declares it: no tool is declared when `tool_choice` is `none`.
    pub declared: bool,
    /// Whether the client runs it, so that a call of it belongs in the answer. Calls of tools that this server runs are
    /// left to the server.
    pub client_runs: bool,
    /// Whether the body wants its schema enforced on its arguments: `strict`.
    pub strict: bool,
    /// The constraint on a custom tool's input, if the body has one.
    pub input: Option<InputGrammar>,
}

impl Tool {
    /// A tool that the client runs, before it has a recipient.
    pub(super) fn new(id: &ToolId, kind: ToolKind) -> Self {
        let ToolId { namespace, name } = id.clone();
        let recipient = String::new();
        let (strict, input) = (false, None);
        let (offered, declared, client_runs) = (true, false, true);
        Self { name, namespace, recipient, kind, offered, declared, client_runs, strict, input }
    }
}

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

    /// A member of a namespace, if there is one.
    pub(super) fn within(namespace: Option<&str>, name: &str) -> Self {
        let namespace = namespace.filter(|namespace| !namespace.is_empty());
        Self { namespace: namespace.map(str::to_owned), name: name.to_owned() }
    }

    /// Its spelling in harmony unless another tool has the same one: `get rain` and `functions.get_rain` both become
    /// `get_rain`.
    pub(super) fn spelled(&self) -> Self {
        let name = function_name(&self.name).unwrap_or(&self.name);
        let name = if is_carried(name) { name.to_owned() } else { spelled(name) };
        Self { namespace: self.namespace.clone(), name }
    }
}

/// The tools of a turn: those that the body declares, and those that calls in the history name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolNames {
    tools: Vec<Tool>,
    by_recipient: HashMap<String, usize>,
    /// By namespace and name in the API.
    by_name: HashMap<ToolId, usize>,
}

impl Serialize for ToolNames {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(&self.tools)
    }
}

impl ToolNames {
    /// All of them, the declared ones first.
    pub fn iter(&self) -> std::slice::Iter<'_, Tool> {
        self.tools.iter()
    }

    /// Whether the prompt declares any tool.
    pub fn any_declared(&self) -> bool {
        self.tools.iter().any(|tool| tool.declared)
    }

    /// Whether any tool is offered.
    pub(super) fn any_offered(&self) -> bool {
        self.tools.iter().any(|tool| tool.offered)
    }

    /// The recipients of the declared tools, which the parser gets as known tools.
    pub fn recipients(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().filter(|tool| tool.declared).map(|tool| tool.recipient.as_str())
    }

    /// The tool that a recipient means, by its spelling in harmony or in the API, with and without
    /// `functions.`. `python` and `functions.python` are two tools.
    pub fn by_recipient(&self, recipient: &str) -> Option<&Tool> {
        if let Some(&index) = self.by_recipient.get(recipient) {
            return self.tools.get(index);
        }
        let name = match function_name(recipient) {
            Some(name) => name,
            None if is_builtin(recipient) => return None,
            None => recipient,
        };
        let named = |name| self.by_name(name, None).filter(|tool| tool.kind != ToolKind::Builtin);
        let inside = || TOOL_PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix));
        named(name).or_else(|| inside().and_then(named))
    }

    /// The tool with a name in the API. The spelling in harmony is accepted, too.
    pub fn by_name(&self, name: &str, namespace: Option<&str>) -> Option<&Tool> {
        let id = ToolId::within(namespace, name);
        let index = self.by_name.get(&id).or_else(|| {
            let joined = joined(namespace, name);
            let in_harmony = [FUNCTIONS, ".", &joined].concat();
            let whole = || function_name(&joined).and_then(|_| self.by_recipient.get(&joined));
            self.by_recipient.get(&in_harmony).or_else(whole)
        })?;
        self.tools.get(*index)
    }
}

impl<'a> IntoIterator for &'a ToolNames {
    type Item = &'a Tool;
    type IntoIter = std::slice::Iter<'a, Tool>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Gives each tool a recipient: first those whose names harmony can carry, so that no other takes them, then the others
/// in their order. If two tools have one name, the first counts. `called` lists the tools that calls in the history
/// name; one that was not offered but has the harmony spelling of an offered one is that tool.
pub(super) fn assign(
    offered: impl Iterator<Item = Tool>,
    called: impl Iterator<Item = Tool>,
) -> ToolNames {
    let mut assigning = Assigning::default();
    assigning.add_all(offered.collect());
    let names = &assigning.names;
    let is_new = |tool: &Tool| names.by_name(&tool.name, tool.namespace.as_deref()).is_none();
    let called = called.filter(is_new).collect();
    assigning.add_all(called);
    assigning.names
}

#[derive(Debug, Default)]
struct Assigning {
    names: ToolNames,
    taken: HashSet<String>,
    /// The last number tried for a spelling, so that many similar names do not take quadratic time.
    counts: HashMap<String, usize>,
}

impl Assigning {
    /// Reserves the recipients of names that harmony can carry for their tools.
    fn add_all(&mut self, tools: Vec<Tool>) {
        self.taken.extend(tools.iter().filter_map(own_recipient));
        for tool in tools {
            self.add(tool);
        }
    }

    fn add(&mut self, mut tool: Tool) {
        let Self { names, taken, counts } = self;
        let id = ToolId { namespace: tool.namespace.clone(), name: tool.name.clone() };
        // A built-in tool that this server runs has no name in the API.
        let in_api = tool.kind != ToolKind::Builtin || tool.client_runs;
        if in_api && names.by_name.contains_key(&id) {
            return;
        }
        let own = own_recipient(&tool).filter(|own| !names.by_recipient.contains_key(own));
        tool.recipient = own.unwrap_or_else(|| free(&tool, taken, counts));
        names.by_recipient.insert(tool.recipient.clone(), names.tools.len());
        if in_api {
            names.by_name.insert(id, names.tools.len());
        }
        names.tools.push(tool);
    }
}

/// The recipient of a tool with a name that harmony can carry as it is, or is itself a recipient.
fn own_recipient(tool: &Tool) -> Option<String> {
    let name = joined(tool.namespace.as_deref(), &tool.name);
    match tool.kind {
        ToolKind::Builtin => Some(name),
        _ if function_name(&name).is_some_and(is_carried) => Some(name),
        _ if is_carried(&name) => Some([FUNCTIONS, ".", &name].concat()),
        _ => None,
    }
}

/// A recipient that no other tool has: the name with `_` for each character that a header cannot carry, and a number
/// if need be.
fn free(tool: &Tool, taken: &mut HashSet<String>, counts: &mut HashMap<String, usize>) -> String {
    let name = joined(tool.namespace.as_deref(), &tool.name);
    let wanted = [FUNCTIONS, ".", &spelled(&name)].concat();
    let mut recipient = wanted.clone();
    let count = counts.entry(wanted.clone()).or_insert(1);
    while !taken.insert(recipient.clone()) {
        *count += 1;
        recipient = format!("{wanted}_{count}");
    }
    recipient
}

fn joined(namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) => [namespace, ".", name].concat(),
        None => name.to_owned(),
    }
}

/// The name after `functions.`.
pub(super) fn function_name(recipient: &str) -> Option<&str> {
    recipient.strip_prefix(FUNCTIONS)?.strip_prefix('.')
}

/// Whether a name can follow `functions.` as it is.
fn is_carried(name: &str) -> bool {
    !is_word_of_the_format(name)
        && names::flaw(name).is_none()
        && !name.ends_with('.')
        && !begins_comment(name)
        && name.chars().all(can_stand)
}

/// The name in characters that a header can carry, and never a word of the format.
fn spelled(name: &str) -> String {
    if is_builtin(name) && name.contains('.') {
        return name.replace('.', "_");
    }
    if is_word_of_the_format(name) {
        return [name, "_tool"].concat();
    }
    let no_slash = begins_comment(name);
    let spelled =
        name.chars().map(|c| if can_stand(c) && !(no_slash && c == '/') { c } else { '_' });
    let spelled: String = spelled.collect();
    // A recipient does not end with its namespace.
    let last = if spelled.is_empty() || spelled.ends_with('.') { "_" } else { "" };
    [&spelled, last].concat()
}

/// Characters that end a word of a header or are invisible, that lenient parsing reads as the start of something else,
/// or that could end the tool's declaration.
fn can_stand(c: char) -> bool {
    const STRUCTURE: [char; 14] =
        ['=', ';', '(', ')', '[', ']', '{', '}', '<', '>', '|', '"', '\'', '`'];
    !names::is_invisible(c) && !STRUCTURE.contains(&c)
}

fn begins_comment(name: &str) -> bool {
    name.contains("//") || name.contains("/*")
}

fn is_word_of_the_format(name: &str) -> bool {
    let roles = Role::ALL.map(|role| role.as_str());
    roles.iter().chain(&CHANNELS).any(|word| word.eq_ignore_ascii_case(name)) || is_builtin(name)
}
