//! Fields that several APIs share: tools, effort, stop strings, sampling.

use serde_json::json;

use super::client_tools::{ClientTool, client_tool};
use super::field::{BodyField, BodyObject};
use super::names::ToolId;
use super::request::Request;
use super::tools::{DeclaredTool, INPUT};
use super::{BuiltinTool, Sampling, ToolKind, UnusedReason};
use crate::chat::ReasoningEffort;
use crate::error::Result;
use crate::json::Value;
use crate::options::Choice as _;
use crate::text_grammar::{GrammarSyntax, InputGrammar};

impl Request<'_> {
    /// Reads a function: an object with `name` and, maybe, `description` and a schema under
    /// `schema`. `is_deferred`: the model sees it only once a later message names it, if the dialect has such tools.
    pub(super) fn read_function(
        &mut self,
        function: &BodyObject<'_, '_>,
        schema: &str,
        namespace: Option<&str>,
        is_deferred: Option<bool>,
    ) -> Result<()> {
        let id = read_name(function, namespace)?;
        let description = function.text("description")?.map(str::to_owned);
        let parameters = function.object(schema)?.map(|schema| schema.field().at().to_tree());
        let tool = DeclaredTool::new(id, ToolKind::Function, description, parameters);
        self.declare(tool, function, &[schema], is_deferred)
    }

    /// Reads a tool that takes free text; `format` constrains the text. `is_deferred` as in [`Self::read_function`].
    pub(super) fn read_custom(
        &mut self,
        custom: &BodyObject<'_, '_>,
        namespace: Option<&str>,
        is_deferred: Option<bool>,
    ) -> Result<()> {
        let id = read_name(custom, namespace)?;
        let mut description = custom.text("description")?.unwrap_or_default().to_owned();
        let mut input = None;
        if let Some(format) = custom.object("format")? {
            input = read_grammar(&format, &mut description)?;
            self.list_others(&format, OF_INPUT);
            if let Some(grammar) = format.object("grammar")? {
                self.list_others(&grammar, OF_INPUT);
            }
        }
        let description = Some(description).filter(|text| !text.is_empty());
        let parameters = Some(json!({
            "type": "object",
            "properties": {INPUT: {"type": "string"}},
            "required": [INPUT],
        }));
        let tool = DeclaredTool::new(id, ToolKind::Custom, description, parameters);
        self.declare(DeclaredTool { input, ..tool }, custom, &["format"], is_deferred)
    }

    /// Declares a tool of the client that its type defines. `settings` are members for the client itself.
    pub(super) fn declare_known(
        &mut self,
        given: &BodyObject<'_, '_>,
        ClientTool { description, parameters, .. }: ClientTool,
        settings: &[&str],
        is_deferred: bool,
    ) -> Result<()> {
        let (id, kind) = (read_name(given, None)?, ToolKind::Function);
        let tool = DeclaredTool::new(id, kind, Some(description), Some(parameters));
        self.declare(tool, given, settings, Some(is_deferred))
    }

    /// Declares a tool of Responses that the client runs. A body may describe its search of tools in its own words.
    pub(super) fn declare_client(
        &mut self,
        kind: ToolKind,
        given: &BodyObject<'_, '_>,
    ) -> Result<()> {
        let known = kind.word().and_then(|word| Some((word, client_tool(word, "")?)));
        let Some((word, ClientTool { description, parameters, .. })) = known else {
            return Ok(());
        };
        let is_search = kind == ToolKind::ToolSearch;
        if let Some(environment) = given.object("environment")? {
            self.list_others(&environment, &["type"]);
        }
        let own = if is_search { &["execution", "parameters"][..] } else { &["environment"] };
        let described = given.text("description")?.filter(|_| is_search);
        let schema = given.object("parameters")?.filter(|_| is_search);
        let description = described.map_or(description, str::to_owned);
        let parameters = schema.map_or(parameters, |schema| schema.field().at().to_tree());
        let id = ToolId::new(word);
        let tool = DeclaredTool::new(id, kind, Some(description), Some(parameters));
        self.declare(tool, given, own, None)
    }

    /// Declares a tool, and lists its fields that are not read. `is_deferred` as in [`Self::read_function`].
    fn declare(
        &mut self,
        mut tool: DeclaredTool,
        given: &BodyObject<'_, '_>,
        own: &[&str],
        is_deferred: Option<bool>,
    ) -> Result<()> {
        tool.is_deferred = is_deferred.unwrap_or(false);
        tool.strict = !tool.kind.takes_object() && read_strict(given)?;
        if given.bool("async")?.unwrap_or(false) {
            self.tools.asynchronous.insert(tool.id.clone());
        }
        if !self.tools.add(tool) {
            self.list(&given.field(), UnusedReason::DuplicateTool);
        }
        let known = ["type", "name", "description", "strict", "async", "cache_control"];
        let defer = is_deferred.map_or(&[][..], |_| &["defer_loading"]);
        self.list_others(given, &[&known, own, defer].concat());
        Ok(())
    }

    /// Lists the fields of a tool outside the nested object that describes it, if there is one.
    pub(super) fn list_beside(&mut self, tool: &BodyObject<'_, '_>, nested: &str) {
        if tool.get(nested).is_some() {
            self.list_others(tool, &["type", nested, "name", "cache_control"]);
        }
    }

    /// A tool of a type that servers run; it is declared if this server runs it.
    pub(super) fn server_tool(&mut self, kind: &str, field: &BodyField<'_, '_>) {
        let declared = &mut self.tools.server_builtin;
        match BuiltinTool::of_type(kind) {
            Some(tool) if self.options.builtin_tools.contains(&tool) => {
                if !declared.contains(&tool) {
                    declared.push(tool);
                }
            }
            _ => self.list(field, UnusedReason::ToolNotRun(kind.to_owned())),
        }
    }
}

/// Whether the schema must be enforced. Some clients write the flag as a word.
pub(super) fn read_strict(object: &BodyObject<'_, '_>) -> Result<bool> {
    let Some(strict) = object.get("strict") else { return Ok(false) };
    match strict.value() {
        Value::String("true") => Ok(true),
        Value::String("false") => Ok(false),
        _ => strict.bool(),
    }
}

fn read_name(tool: &BodyObject<'_, '_>, namespace: Option<&str>) -> Result<ToolId> {
    let field = tool.required("name")?;
    let name = field.text()?;
    if name.is_empty() {
        return Err(field.invalid("a tool needs a name"));
    }
    Ok(ToolId::within(namespace, name))
}

/// The fields that the format of a free-form tool's input may have, and those of the grammar within it.
const OF_INPUT: &[&str] = &["type", "grammar", "definition", "syntax"];

/// The constraint on a free-form tool's text; it is added to the tool's description, too. Chat nests the grammar,
/// Responses does not.
fn read_grammar(
    format: &BodyObject<'_, '_>,
    description: &mut String,
) -> Result<Option<InputGrammar>> {
    let kind = format.required("type")?;
    match kind.text()? {
        "text" => return Ok(None),
        "grammar" => {}
        other => return Err(kind.unknown("format", other, &["text", "grammar"])),
    }
    let grammar = format.object_or_self("grammar")?;
    let definition = grammar.required("definition")?;
    let (syntax, word) = match grammar.get("syntax") {
        None => (GrammarSyntax::Lark, "lark"),
        Some(field) => {
            let word = field.text()?;
            let known = GrammarSyntax::ALL.iter().find(|(name, _)| *name == word);
            let unknown = || field.unknown("syntax", word, &["lark", "regex"]);
            let (word, syntax) = known.ok_or_else(unknown)?;
            (*syntax, *word)
        }
    };
    let text = definition.text()?;
    if !description.is_empty() {
        description.push('\n');
    }
    description.extend(["The input follows this grammar (", word, "):\n", text]);
    let read = InputGrammar::read(syntax, text.to_owned());
    read.map(Some).map_err(|reason| definition.invalid(reason))
}

/// The effort that a word means; words beyond the model's range mean its highest or lowest effort.
pub(super) fn read_effort(field: &BodyField<'_, '_>, request: &mut Request<'_>) -> ReasoningEffort {
    let word = field.at().as_str().unwrap_or_default();
    match word.to_ascii_lowercase().as_str() {
        "none" | "minimal" | "low" => ReasoningEffort::Low,
        "medium" => ReasoningEffort::Medium,
        "high" | "xhigh" | "max" | "ultra" => ReasoningEffort::High,
        _ => {
            request.list(field, UnusedReason::UnknownEffort);
            ReasoningEffort::Medium
        }
    }
}

/// Reads the `reasoning` of Responses and of some clients of chat: effort, the most tokens of thoughts, and whether the
/// thoughts of all turns stay.
///
/// `own` are fields that the dialect itself reads.
pub(super) fn read_reasoning(
    reasoning: &BodyObject<'_, '_>,
    request: &mut Request<'_>,
    own: &[&str],
) -> Result<()> {
    if let Some(effort) = reasoning.get("effort") {
        request.effort = Some(read_effort(&effort, request));
    }
    let budget = read_thinking_budget(reasoning, "max_tokens")?;
    request.thinking_budget = budget.or(request.thinking_budget);
    let context = request.word(reasoning, "context", &["auto", "current_turn", "all_turns"])?;
    request.keep_thoughts |= context == Some("all_turns");
    request.list_others(reasoning, &[&["effort", "max_tokens", "context"], own].concat());
    Ok(())
}

/// How many stop strings a body may have, and how many bytes in all. Clients send far less; the search for that many
/// takes some milliseconds to build.
const MAX_STOP_STRINGS: usize = 1_024;
const MAX_STOP_BYTES: usize = 131_072;

/// Reads stop strings: one, or a list.
pub(super) fn read_stop(
    body: &BodyObject<'_, '_>,
    key: &str,
    request: &mut Request<'_>,
) -> Result<()> {
    let Some(stop) = body.get(key) else { return Ok(()) };
    let strings = &mut request.stop_strings;
    let mut add = |field: &BodyField<'_, '_>| -> Result<()> {
        match field.text()? {
            "" => request.unused.push(field.unused(UnusedReason::EmptyStopString)),
            text => strings.push(text.to_owned()),
        }
        Ok(())
    };
    if stop.at().as_str().is_some() {
        add(&stop)?;
    } else {
        stop.items()?.try_for_each(|item| add(&item))?;
    }
    let bytes: usize = strings.iter().map(String::len).sum();
    let (what, most, count) = match strings.len() {
        count if count > MAX_STOP_STRINGS => ("stop strings", MAX_STOP_STRINGS, count),
        _ if bytes > MAX_STOP_BYTES => ("bytes of stop strings", MAX_STOP_BYTES, bytes),
        _ => return Ok(()),
    };
    Err(stop.invalid(format!("expected at most {most} {what}, got {count}")))
}

/// Reads the sampling fields that chat, Responses and Anthropic have under the same names.
pub(super) fn read_sampling(body: &BodyObject<'_, '_>, sampling: &mut Sampling) -> Result<()> {
    let read = |key, most| read_within(body, key, most);
    sampling.temperature = read("temperature", None)?.unwrap_or(sampling.temperature);
    sampling.top_p = read("top_p", Some(1.0))?.unwrap_or(sampling.top_p);
    sampling.min_p = read("min_p", Some(1.0))?.unwrap_or(sampling.min_p);
    if let Some(top_k) = body.get("top_k") {
        sampling.top_k = read_top_k(&top_k)?;
    }
    Ok(())
}

/// 0 and -1 are off.
fn read_top_k(top_k: &BodyField<'_, '_>) -> Result<u64> {
    let value = top_k.integer()?;
    if value < -1 {
        return Err(top_k.invalid("expected a whole number of at least -1"));
    }
    Ok(u64::try_from(value).unwrap_or(0))
}

/// Reads the sampling fields that chat and Ollama have under the same names.
pub(super) fn read_penalties(body: &BodyObject<'_, '_>, sampling: &mut Sampling) -> Result<()> {
    sampling.presence_penalty = body.number("presence_penalty")?;
    sampling.frequency_penalty = body.number("frequency_penalty")?;
    sampling.seed = body.get("seed").map(|seed| seed.integer()).transpose()?;
    Ok(())
}

/// The most tokens of thoughts: `budget_tokens` of Anthropic's `thinking`, `max_tokens` in the `reasoning` of some
/// clients of chat and Responses.
pub(super) fn read_thinking_budget(
    thinking: &BodyObject<'_, '_>,
    key: &str,
) -> Result<Option<usize>> {
    let most = read_count(thinking, key)?;
    Ok(most.map(|most| usize::try_from(most).unwrap_or(usize::MAX)))
}

/// Reads how many tokens may be sampled; -1 and -2 mean no limit, as in llama.cpp and Ollama.
pub(super) fn read_max_tokens(body: &BodyObject<'_, '_>, key: &str) -> Result<Option<u64>> {
    let unlimited = |field: BodyField<'_, '_>| matches!(field.integer(), Ok(-2 | -1));
    if body.get(key).is_some_and(unlimited) { Ok(None) } else { read_count(body, key) }
}

/// Reads a count of at least one.
pub(super) fn read_count(body: &BodyObject<'_, '_>, key: &str) -> Result<Option<u64>> {
    let Some(field) = body.get(key) else { return Ok(None) };
    let count = field.integer()?;
    match u64::try_from(count) {
        Ok(count @ 1..) => Ok(Some(count)),
        _ => Err(field.invalid(format!("expected a whole number of at least 1, got {count}"))),
    }
}

/// Reads a number of at least 0.
fn read_within(body: &BodyObject<'_, '_>, key: &str, most: Option<f64>) -> Result<Option<f64>> {
    let Some(field) = body.get(key) else { return Ok(None) };
    let value = field.number()?;
    if value >= 0.0 && most.is_none_or(|most| value <= most) {
        return Ok(Some(value));
    }
    let range = match most {
        Some(most) => format!("from 0 to {most}"),
        None => "of at least 0".to_owned(),
    };
    Err(field.invalid(format!("expected a number {range}, got {value}")))
}

/// Reads `logprobs` and `top_logprobs`, which chat and Ollama have: how many alternatives of each token are requested,
/// if log-probabilities are. Some clients give the count as `logprobs`, as in the old completions.
pub(super) fn read_logprobs(body: &BodyObject<'_, '_>) -> Result<Option<usize>> {
    let top = read_top_logprobs(body)?;
    let logprobs = body.get("logprobs");
    let count = match &logprobs {
        None => None,
        Some(field) if matches!(field.value(), Value::Number(_)) => {
            Some(read_alternatives(field)?).filter(|&count| count > 0)
        }
        Some(field) => field.bool()?.then_some(0),
    };
    match (count, top) {
        (None, None | Some(0)) => Ok(None),
        (None, Some(_)) => {
            Err(body.required("top_logprobs")?.invalid("needs `logprobs` to be true"))
        }
        (Some(count), top) => Ok(Some(top.unwrap_or(count))),
    }
}

/// `top_logprobs`, a count of alternatives.
pub(super) fn read_top_logprobs(body: &BodyObject<'_, '_>) -> Result<Option<usize>> {
    body.get("top_logprobs").map(|field| read_alternatives(&field)).transpose()
}

/// The most alternatives of a token in the specification of chat completions; engines have the same limit.
const MAX_ALTERNATIVES: i64 = 20;

fn read_alternatives(field: &BodyField<'_, '_>) -> Result<usize> {
    let count = field.integer()?;
    let known = usize::try_from(count).ok().filter(|_| count <= MAX_ALTERNATIVES);
    known.ok_or_else(|| {
        field.invalid(format!("expected a whole number from 0 to {MAX_ALTERNATIVES}, got {count}"))
    })
}
