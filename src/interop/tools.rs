//! Tools as harmony declares and calls them.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::{Value as Tree, json};

use super::ToolKind;
use super::body::parse_arguments;
use super::builtin::BuiltinTool;
use super::field::BodyObject;
use super::names::{self, Tool, ToolId, ToolNames};
use crate::Prefill;
use crate::chat::{
    ANALYSIS, COMMENTARY, FUNCTIONS, PYTHON, SystemContent, ToolDescription, ToolNamespaceConfig,
};
use crate::error::Result;
use crate::json::{self, Value};
use crate::text_grammar::InputGrammar;

/// The content type of JSON arguments.
const JSON: &str = "<|constrain|>json";

/// The content type of code for `python`, as the model writes it.
const CODE: &str = "code";

/// The only argument of a tool that takes free text.
pub(crate) const INPUT: &str = "input";

/// The tools that a body declares.
#[derive(Debug, Default)]
pub(super) struct Declared {
    tools: Vec<DeclaredTool>,
    seen: HashSet<ToolId>,
    /// The first tool of each spelling, and how many tools have been indexed: few bodies need it, so it grows on
    /// demand.
    spelled: (HashMap<ToolId, ToolId>, usize),
    /// Lines about namespaces, `crm: Customer records.`
    pub(super) namespaces: Vec<String>,
    /// The built-in tools that this server runs and the body asks for.
    pub(super) server_builtin: Vec<BuiltinTool>,
    /// The tools with calls that may never get a result.
    pub(super) asynchronous: HashSet<ToolId>,
    /// The recipients of the built-in tools that the client runs.
    client_builtin: BTreeSet<String>,
}

/// A tool that a body declares.
#[derive(Debug)]
pub(super) struct DeclaredTool {
    pub(super) id: ToolId,
    pub(super) kind: ToolKind,
    pub(super) description: Option<String>,
    pub(super) parameters: Option<Tree>,
    /// Whether it is declared only once a later message names it.
    pub(super) is_deferred: bool,
    /// Whether the schema must be enforced on its arguments.
    pub(super) strict: bool,
    /// The constraint on a custom tool's input.
    pub(super) input: Option<InputGrammar>,
}

impl DeclaredTool {
    pub(super) fn new(
        id: ToolId,
        kind: ToolKind,
        description: Option<String>,
        parameters: Option<Tree>,
    ) -> Self {
        let (is_deferred, strict, input) = (false, false, None);
        Self { id, kind, description, parameters, is_deferred, strict, input }
    }
}

/// Functions as harmony declares them.
#[derive(Debug, Default)]
pub(super) struct Functions {
    /// The namespace that the first developer message declares; `None` without tools.
    pub(super) first: Option<ToolNamespaceConfig>,
    /// The deferred functions, which wait for something that names them.
    later: HashMap<ToolId, ToolDescription>,
    /// The functions that were declared so far.
    declared: HashSet<ToolId>,
    /// The declared functions that are not offered at the moment.
    removed: HashSet<ToolId>,
}

impl Functions {
    /// The ones among these tools that are not declared yet.
    pub(super) fn take_later(&mut self, tools: &[ToolId]) -> Option<ToolNamespaceConfig> {
        let Self { later, declared, .. } = self;
        let tools = tools.iter().filter_map(|id| {
            let tool = later.remove(id)?;
            declared.insert(id.clone());
            Some(tool)
        });
        namespace(None, tools.collect())
    }

    /// Stops offering the tool; `false` if it is not offered anyway.
    pub(super) fn remove(&mut self, tool: ToolId) -> bool {
        self.declared.contains(&tool) && self.removed.insert(tool)
    }

    /// Offers the tool again; returns whether it had been removed.
    pub(super) fn is_back(&mut self, tool: &ToolId) -> bool {
        self.removed.remove(tool)
    }
}

/// Whether a tool with this schema takes no arguments: the guide declares it as `() => any`.
pub(super) fn takes_nothing(schema: &Tree) -> bool {
    let is_empty = |value: &Tree| match value {
        Tree::Null | Tree::Bool(false) => true,
        Tree::Array(items) => items.is_empty(),
        Tree::Object(members) => members.is_empty(),
        _ => false,
    };
    schema.as_object().is_some_and(|schema| {
        schema.iter().all(|(key, value)| match key.as_str() {
            "type" => value == "object",
            "properties" | "required" | "additionalProperties" => is_empty(value),
            "$schema" | "title" | "strict" => true,
            _ => value.is_null(),
        })
    })
}

/// The namespace `functions`; `None` without tools.
fn namespace(
    description: Option<String>,
    tools: Vec<ToolDescription>,
) -> Option<ToolNamespaceConfig> {
    (!tools.is_empty()).then(|| ToolNamespaceConfig::new(FUNCTIONS, description, tools))
}

impl Declared {
    /// Declares a tool; `false` if its name is taken.
    pub(super) fn add(&mut self, tool: DeclaredTool) -> bool {
        let is_new = self.seen.insert(tool.id.clone());
        if is_new {
            self.tools.push(tool);
        }
        is_new
    }

    /// The schemas of the tools' arguments.
    pub(super) fn schemas_mut(&mut self) -> impl Iterator<Item = &mut Option<Tree>> {
        self.tools.iter_mut().map(|tool| &mut tool.parameters)
    }

    /// The declared tool with a name in the API or in harmony; the name itself if there is none.
    pub(super) fn declared_id(&mut self, id: ToolId) -> ToolId {
        if self.seen.contains(&id) {
            return id;
        }
        let (spelled, count) = &mut self.spelled;
        for tool in &self.tools[*count..] {
            spelled.entry(tool.id.spelled()).or_insert_with(|| tool.id.clone());
        }
        *count = self.tools.len();
        spelled.get(&id.spelled()).cloned().unwrap_or(id)
    }

    /// Declares a tool with the others, if it was deferred.
    pub(super) fn load(&mut self, id: &ToolId) {
        if let Some(tool) = self.tools.iter_mut().find(|tool| tool.id == *id) {
            tool.is_deferred = false;
        }
    }

    /// Whether the body declares a tool of this name.
    pub(super) fn has(&self, id: &ToolId) -> bool {
        self.seen.contains(id)
    }

    /// A built-in tool that the client runs, by its recipient.
    pub(super) fn client_tool(&mut self, recipient: &str) {
        self.client_builtin.insert(recipient.to_owned());
    }

    /// Gives all tools their names: those declared, then those that calls in the history name.
    pub(super) fn names<'a>(
        &self,
        called: impl Iterator<Item = (&'a ToolId, ToolKind)>,
        added: &HashSet<&ToolId>,
        removed: &HashSet<&ToolId>,
        declared: bool,
    ) -> ToolNames {
        let builtin = |name: &str, client_runs| Tool {
            declared,
            client_runs,
            ..Tool::new(&ToolId::new(name), ToolKind::Builtin)
        };
        let client_builtin = self.client_builtin.iter().map(|name| builtin(name, true));
        let server_builtin = self.server_builtin.iter().flat_map(|tool| tool.recipients());
        let server_builtin = server_builtin.map(|name| builtin(name, false));
        let functions = self.tools.iter().map(|tool| {
            let offered = !removed.contains(&tool.id);
            let is_loaded = !tool.is_deferred || added.contains(&tool.id);
            Tool {
                offered,
                declared: declared && offered && is_loaded,
                strict: tool.strict,
                input: tool.input.clone(),
                ..Tool::new(&tool.id, tool.kind)
            }
        });
        let called = called.map(|(id, kind)| Tool { offered: false, ..Tool::new(id, kind) });
        names::assign(client_builtin.chain(functions).chain(server_builtin), called)
    }

    /// The namespace `functions` as the developer message declares it, and what is declared later.
    pub(super) fn functions(self, names: &ToolNames) -> Functions {
        let description = Some(self.namespaces.join("\n")).filter(|text| !text.is_empty());
        let (mut first, mut later, mut declared) = (Vec::new(), HashMap::new(), HashSet::new());
        for tool in self.tools {
            let DeclaredTool { id, description, parameters, is_deferred, .. } = tool;
            let tool = names.by_name(&id.name, id.namespace.as_deref());
            let Some(name) = tool.and_then(|tool| names::function_name(&tool.recipient)) else {
                continue;
            };
            let tool = ToolDescription { name: name.to_owned(), description, parameters };
            if is_deferred {
                later.insert(id, tool);
            } else {
                declared.insert(id);
                first.push(tool);
            }
        }
        let first = namespace(description, first);
        Functions { first, later, declared, removed: HashSet::new() }
    }

    /// Declares the built-in tools in the system message.
    pub(super) fn write_builtin(&self, mut system: SystemContent) -> SystemContent {
        let is_of_browser = |name: &String| BuiltinTool::Browser.recipients().contains(&&**name);
        if self.server_builtin.contains(&BuiltinTool::Browser) {
            system = system.with_browser_tool();
        } else if self.client_builtin.iter().any(is_of_browser) {
            // Made only on demand: it takes half as long as reading a whole request.
            let mut namespace = ToolNamespaceConfig::browser();
            let recipient = |name: &str| ["browser.", name].concat();
            namespace.tools.retain(|tool| self.client_builtin.contains(&recipient(&tool.name)));
            system = system.with_tools(namespace);
        }
        if self.server_builtin.contains(&BuiltinTool::Python)
            || self.client_builtin.contains(PYTHON)
        {
            system = system.with_python_tool();
        }
        system
    }
}

/// The channel and the content type of a tool's calls (guide, sections "Receiving tool calls" and
/// "Built-in tools").
pub(super) fn call_header(tool: &Tool) -> (&'static str, &'static str) {
    match (tool.kind, tool.recipient.as_str()) {
        (ToolKind::Builtin, PYTHON) => (ANALYSIS, CODE),
        (ToolKind::Builtin, _) => (ANALYSIS, JSON),
        _ => (COMMENTARY, JSON),
    }
}

/// The beginning of a tool's call, up to its arguments.
pub(super) fn call_prefill(tool: &Tool) -> Prefill {
    let (channel, content_type) = call_header(tool);
    let prefill = Prefill::new().with_channel(channel).with_content_type(content_type);
    prefill.with_recipient(tool.recipient.as_str())
}

/// The text of a call's content. `python` takes code: the only text of its arguments, if that is all
/// they are.
pub(super) fn arguments_in_harmony(tool: &Tool, arguments: String) -> String {
    if tool.kind != ToolKind::Builtin || tool.recipient != PYTHON {
        return arguments;
    }
    let Some(object) = parse_arguments(&arguments) else { return arguments };
    let mut values = object.at().as_object().into_iter().flat_map(json::Object::iter);
    let code = match (values.next(), values.next()) {
        (Some((_, value)), None) => value.as_str().map(str::to_owned),
        _ => None,
    };
    code.unwrap_or(arguments)
}

/// The arguments of a call without any.
pub(super) const NO_ARGUMENTS: &str = "{}";

/// A call's arguments: text byte for byte, except that an empty text means no arguments; an object as compact JSON. If
/// the API's arguments are objects (`objects_only`), an object's JSON text is accepted too, since some clients forward
/// what was streamed; no call of the API has any other text.
pub(super) fn read_arguments(
    call: &BodyObject<'_, '_>,
    key: &str,
    objects_only: bool,
) -> Result<String> {
    let Some(arguments) = call.get(key) else { return Ok(NO_ARGUMENTS.to_owned()) };
    match arguments.value() {
        Value::String(text) if text.trim_ascii().is_empty() => Ok(NO_ARGUMENTS.to_owned()),
        Value::String(text) if objects_only && !is_object(text) => {
            Err(arguments.invalid("got a string that is not a JSON object"))
        }
        Value::String(text) => Ok(text.to_owned()),
        Value::Object(_) => Ok(arguments.at().to_json()),
        _ if objects_only => Err(arguments.expected("an object")),
        _ => Err(arguments.expected("a string or an object")),
    }
}

/// Whether a text is a JSON object.
pub(super) fn is_object(text: &str) -> bool {
    parse_arguments(text).is_some()
}

/// The arguments of a free-form tool's call.
pub(super) fn custom_arguments(input: &str) -> String {
    json!({INPUT: input}).to_string()
}
