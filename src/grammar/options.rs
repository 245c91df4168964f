//! What a turn may hold.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::invalid;
use crate::Prefill;
use crate::brief::Brief;
use crate::error::{Reason, Result};
use crate::interop::{INPUT, ToolChoice};
use crate::names;
use crate::options::{choices, options};
use crate::path::Path;
use crate::text_grammar::InputGrammar;
use crate::typescript::{MAX_DEPTH, is_too_deep};

/// A tool that may be called.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GrammarTool {
    /// Its recipient: `functions.get_weather`, `python`.
    pub recipient: String,
    /// The schema of its arguments, which are an object; `None` of a tool that takes any text, as `python` does.
    pub parameters: Option<Value>,
    /// What the one argument of a custom tool, `input`, has to be; `None` of other tools, and of any text.
    pub input: Option<InputGrammar>,
}

impl GrammarTool {
    /// A tool with an object of this schema as arguments.
    pub fn new(recipient: impl Into<String>, parameters: Value) -> Self {
        Self { recipient: recipient.into(), parameters: Some(parameters), input: None }
    }

    /// A tool that takes any text.
    pub fn of_text(recipient: impl Into<String>) -> Self {
        Self { recipient: recipient.into(), parameters: None, input: None }
    }

    /// A custom tool, with arguments that are an object with one text, `input`, that fits a grammar; `None` fits any.
    pub fn of_input(recipient: impl Into<String>, input: Option<InputGrammar>) -> Self {
        let arguments = json!({
            "type": "object",
            "properties": {INPUT: {"type": "string"}},
            "required": [INPUT],
            "additionalProperties": false,
        });
        Self { input, ..Self::new(recipient, arguments) }
    }
}

/// Whether the model thinks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Thinking {
    /// As it likes.
    #[default]
    Optional,
    /// The first message is a thought.
    Required,
    /// Never.
    Off,
}

/// In which forms headers are spelled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeaderForms {
    /// Those that the guide has and the renderer writes: the recipient in the channel or in the role, with the type
    /// `<|constrain|>json` or without.
    #[default]
    Few,
    /// Others that models write, too: no blank in front of `<|constrain|>`, the types `json` and `code` without it, and
    /// `<|end|>` before the token that ends the turn, as in a history: models that are trained on rendered histories know
    /// no other end of an answer.
    All,
}

/// How much white space JSON may have between its words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JsonSpace {
    /// None.
    Compact,
    /// At most 32 characters in a row, so that a model cannot write them for ever.
    #[default]
    Bounded,
    /// Any.
    Any,
}

choices! {
    Thinking, "'optional', 'required' or 'off'":
        "optional" Optional,
        "required" Required,
        "off" Off;
    HeaderForms, "'few' or 'all'": "few" Few, "all" All;
    JsonSpace, "'compact', 'bounded' or 'any'": "compact" Compact, "bounded" Bounded, "any" Any;
}

impl JsonSpace {
    /// The most characters in a row; `None` of no limit.
    pub(super) fn most(self) -> Option<usize> {
        match self {
            Self::Compact => Some(0),
            Self::Bounded => Some(32),
            Self::Any => None,
        }
    }
}

options! {
    /// Options of a [`TurnGrammar`](super::TurnGrammar).
    ///
    /// ```
    /// use openai_harmony::grammar::{GrammarOptions, Thinking};
    ///
    /// let options = GrammarOptions::new().with_thinking(Thinking::Required).with_max_messages(4);
    /// assert!(options.preambles);
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct GrammarOptions {
        /// Which tools may or must be called.
        pub tool_choice: ToolChoice => with_tool_choice,
        /// The schema of the answer.
        pub response_schema: Option<Value>
            => with_response_schema(schema: Value) Some(schema),
        /// The regular expression that the answer fits, from its first character to its last, in the syntax of the
        /// crate `regex`.
        pub response_regex: Option<String>
            => with_response_regex(regex: impl Into<String>) Some(regex.into()),
        /// The texts of which the answer is one.
        pub response_choices: Option<Vec<String>>
            => with_response_choices(choices: impl IntoIterator<Item = impl Into<String>>)
                Some(choices.into_iter().map(Into::into).collect()),
        /// Whether the model thinks.
        pub thinking: Thinking => with_thinking,
        /// Whether it may write to the user before it calls or answers.
        pub preambles: bool = true => with_preambles,
        /// The most messages of the turn, the last one included; `None` of no limit.
        pub max_messages: Option<usize>
            => with_max_messages(max_messages: usize) Some(max_messages),
        /// The recipients whose schemas a grammar enforces whole, and `""` for the answer's, or it is an error; `None` of all.
        /// What a form cannot enforce of the others is loosened, keyword by keyword.
        pub strict: Option<Vec<String>>
            => with_strict(recipients: impl IntoIterator<Item = impl Into<String>>)
                Some(recipients.into_iter().map(Into::into).collect()),
        /// The recipients whose arguments may be any object, whatever their schema, and `""` for an answer that may
        /// be any JSON: those whose schema an engine cannot hold.
        pub any_json: Vec<String>
            => with_any_json(recipients: impl IntoIterator<Item = impl Into<String>>)
                recipients.into_iter().map(Into::into).collect(),
        /// How headers are spelled.
        pub header_forms: HeaderForms => with_header_forms,
        /// How much white space JSON may have.
        pub json_space: JsonSpace => with_json_space,
        /// The beginning of the message that the prompt ends in; `None` where it ends after `<|start|>assistant`.
        pub prefill: Option<Prefill>
            => with_prefill(prefill: Prefill) Some(prefill),
    }
}

impl GrammarOptions {
    /// The default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the answer is more than any text.
    pub(super) fn has_response_form(&self) -> bool {
        self.response_forms() > 0
    }

    fn response_forms(&self) -> usize {
        usize::from(self.response_schema.is_some())
            + usize::from(self.response_regex.is_some())
            + usize::from(self.response_choices.is_some())
    }
}

/// Refuses what no turn can be sampled by.
pub(super) fn check(tools: &[GrammarTool], options: &GrammarOptions) -> Result<()> {
    let mut seen = HashSet::new();
    for (index, tool) in tools.iter().enumerate() {
        let path = || Path::of("tools").then(index);
        let name = &tool.recipient;
        if let Some(flaw) = flaw(name) {
            let reason = format!("no header can carry the recipient {name:?}: it {flaw}");
            return Err(invalid(path(), reason));
        }
        if !seen.insert(name) {
            return Err(invalid(path(), format!("an earlier tool is called {name:?}, too")));
        }
        if let Some(parameters) = &tool.parameters {
            check_schema(parameters, &path().then("parameters"))?;
        }
    }
    if let Some(schema) = &options.response_schema {
        check_schema(schema, &Path::of("response_schema"))?;
    }
    if options.response_forms() > 1 {
        let path = match options.response_schema {
            Some(_) => Path::of("response_schema"),
            None => Path::of("response_regex"),
        };
        return Err(invalid(path, "an answer has one form: a schema, a regex or choices"));
    }
    let allowed = options.tool_choice.recipients();
    check_names("tool_choice", allowed.unwrap_or_default(), |name| seen.contains(name))?;
    let strict = options.strict.as_deref().unwrap_or_default();
    check_names("strict", strict, |name| name.is_empty() || seen.contains(name))?;
    check_names("any_json", &options.any_json, |name| name.is_empty() || seen.contains(name))?;
    let callable = allowed.map_or(tools.len(), <[String]>::len);
    if options.tool_choice.is_required() && callable == 0 {
        return Err(invalid(Path::of("tool_choice"), "a call is required, and there are no tools"));
    }
    let least = 1 + usize::from(options.thinking == Thinking::Required);
    if options.max_messages.is_some_and(|most| most < least) {
        let reason = format!("such a turn has at least {least}");
        return Err(invalid(Path::of("max_messages"), reason));
    }
    Ok(())
}

/// Refuses a name of an option that no tool has.
fn check_names(
    option: &'static str,
    names: &[String],
    is_known: impl Fn(&String) -> bool,
) -> Result<()> {
    let Some(index) = names.iter().position(|name| !is_known(name)) else { return Ok(()) };
    let reason = format!("no tool is called {:?}", Brief(&names[index]));
    Err(invalid(Path::of(option).then(index), reason))
}

/// Why no turn can call a recipient: what no header can carry, and what reads as part of one.
fn flaw(recipient: &str) -> Option<&'static str> {
    names::flaw(recipient).or_else(|| {
        if recipient.ends_with('.') {
            Some("must not end with its namespace")
        } else if recipient.contains(['<', '>', '=']) {
            Some("must not contain <, > or =")
        } else {
            None
        }
    })
}

fn check_schema(schema: &Value, path: &Path) -> Result<()> {
    if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
        return Err(invalid(path.clone(), "a schema is an object, or true or false"));
    }
    if is_too_deep(schema) {
        let reason = Reason::is(format_args!("nested more than {MAX_DEPTH} levels deep"));
        return Err(invalid(path.clone(), reason));
    }
    Ok(())
}
