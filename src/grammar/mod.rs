//! One turn of the assistant's as a grammar: what an engine may let the model sample.
//!
//! A turn is thoughts and preambles, each ended by `<|end|>`, and then one answer, ended by `<|return|>`, or one call,
//! ended by `<|call|>`, at which the engine stops. [`TurnGrammar`] decides which of them there may be, in which headers, and
//! what calls and answers hold. [`GrammarState`] follows sampled tokens through it; [`TurnGrammar::to_lark`] writes it for
//! engines with llguidance, [`TurnGrammar::to_xgrammar`] for those with xgrammar, [`TurnGrammar::to_gbnf`] for llama.cpp.
//!
//! Structure is exact, token by token: a marker that ordinary tokens spell is text. Of arguments and answers with a
//! schema, following tokens asks for well-formed JSON, and an object where a call is.

mod bnf;
mod headers;
mod input;
mod lark;
mod options;
mod pattern;
mod request;
mod schemas;
mod state;
mod turn;
mod well_formed;

use std::sync::Arc;

use serde_json::{Value, json};

use self::headers::{Headers, MessageKind};
pub use self::options::{GrammarOptions, GrammarTool, HeaderForms, JsonSpace, Thinking};
use self::pattern::Pattern;
pub use self::schemas::Loosened;
pub use self::state::{GrammarState, Verdict};
use crate::Prefill;
use crate::chat::{ANALYSIS, COMMENTARY, FINAL};
use crate::error::{Error, ErrorKind, Reason, Result};
use crate::path::Path;
pub use crate::text_grammar::{GrammarSyntax, InputGrammar};
use crate::tokenizer::TokenId;

/// What the assistant may sample in one turn.
///
/// ```
/// use openai_harmony::grammar::{GrammarOptions, GrammarTool, TurnGrammar};
/// use openai_harmony::interop::ToolChoice;
/// use openai_harmony::tokenizer::Tokenizer;
/// use serde_json::json;
///
/// let rain = GrammarTool::new("functions.rain", json!({"type": "object"}));
/// let options = GrammarOptions::new().with_tool_choice(ToolChoice::Required);
/// let grammar = TurnGrammar::new([rain], options)?;
/// let tokenizer = Tokenizer::o200k_harmony();
/// let accepts = |text: &str| grammar.accepts(tokenizer.encode_with_special_tokens(text));
/// let call = "<|channel|>commentary to=functions.rain <|constrain|>json<|message|>{\"in\":\"Oslo\"}<|call|>";
/// assert!(accepts(call).ok);
/// let verdict = accepts("<|channel|>final<|message|>It rains.<|return|>");
/// assert_eq!(verdict.at, Some(1));
/// # Ok::<(), openai_harmony::Error>(())
/// ```
///
/// Cloning costs nothing.
#[derive(Debug, Clone)]
pub struct TurnGrammar {
    grammar: Arc<Grammar>,
}

#[derive(Debug)]
struct Grammar {
    tools: Vec<GrammarTool>,
    /// For each tool its index among those that were given.
    given: Vec<usize>,
    options: GrammarOptions,
    headers: Headers,
    /// The message that the prompt ends in.
    begun: Option<MessageKind>,
    /// Of an answer that has to be one of some texts, or to fit a regular expression.
    pattern: Option<Pattern>,
}

impl TurnGrammar {
    /// The grammar of a turn in which these tools may be called.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidGrammar`]: a recipient that no header can carry, or that two tools have; a schema that is
    /// neither an object nor true or false; more than one form of the answer, a regular expression that is none, or one
    /// with anchors inside; a call that is required of no tool, or of one that is not there; no room for
    /// a message; a prefill of a message that there may not be, or that ends inside JSON.
    pub fn new(
        tools: impl IntoIterator<Item = GrammarTool>,
        mut options: GrammarOptions,
    ) -> Result<Self> {
        let mut tools: Vec<GrammarTool> = tools.into_iter().collect();
        for tool in &mut tools {
            if tool.parameters.is_some() && options.any_json.contains(&tool.recipient) {
                (tool.parameters, tool.input) = (Some(json!({})), None);
            }
        }
        if options.response_schema.is_some() && options.any_json.iter().any(String::is_empty) {
            options.response_schema = Some(Value::Bool(true));
        }
        options::check(&tools, &options)?;
        let allowed = options.tool_choice.recipients();
        let is_callable =
            |tool: &GrammarTool| allowed.is_none_or(|allowed| allowed.contains(&tool.recipient));
        let tools = tools.into_iter().enumerate().filter(|(_, tool)| is_callable(tool));
        let (given, tools): (Vec<usize>, Vec<GrammarTool>) = tools.unzip();
        let headers = Headers::new(&tools, &options);
        let pattern = match (&options.response_regex, &options.response_choices) {
            (Some(regex), _) => Some(Pattern::of_regex(regex)?),
            (None, Some(choices)) => Some(Pattern::of_choices(choices)?),
            (None, None) => None,
        };
        let begun = options.prefill.as_ref().map(|prefill| begun(prefill, &tools, &options));
        let begun = begun.transpose()?.flatten();
        let grammar = Grammar { tools, given, options, headers, begun, pattern };
        Ok(Self { grammar: Arc::new(grammar) })
    }

    /// Where sampling begins: after `<|start|>assistant`, or inside the prefilled message.
    pub fn state(&self) -> GrammarState {
        GrammarState::new(Arc::clone(&self.grammar))
    }

    /// Whether the tokens are a whole turn of this grammar; if not, at which token it ends, and what was expected there.
    pub fn accepts(&self, tokens: impl AsRef<[TokenId]>) -> Verdict {
        let mut state = self.state();
        let tokens = tokens.as_ref();
        for (index, &token) in tokens.iter().enumerate() {
            if let Err(expected) = state.feed(token) {
                return Verdict { ok: false, at: Some(index), expected: Some(expected) };
            }
        }
        if state.is_complete() {
            return Verdict { ok: true, at: None, expected: None };
        }
        Verdict { ok: false, at: Some(tokens.len()), expected: Some(state.expected()) }
    }

    /// The grammar in llguidance's form of Lark, for whatever engine has it: special
    /// tokens by their ids, so that no text and no string in JSON can hold one.
    ///
    /// The same grammar gives the same text. It grows with the number of tools and the length of their schemas, of which
    /// words that only describe are left out.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidGrammar`]: strict schemas have keywords that this form does not hold; it names all of them.
    ///
    /// ```
    /// use openai_harmony::grammar::{GrammarOptions, TurnGrammar};
    ///
    /// let grammar = TurnGrammar::new([], GrammarOptions::new())?;
    /// assert!(grammar.to_lark()?.starts_with("%llguidance {}\nstart: "));
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn to_lark(&self) -> Result<String> {
        self.write(GrammarForm::Lark).map(|written| written.text)
    }

    /// The grammar as a structural tag in JSON, for engines with xgrammar, as vLLM is one.
    ///
    /// `stop_token_ids` are those at which the engine ends a grammar by itself: in vLLM the request's and the model's, in
    /// others the model's. xgrammar takes them only at the end, so the tag leaves them out, and there any of them is
    /// accepted.
    ///
    /// # Errors
    ///
    /// As of [`TurnGrammar::to_lark`].
    pub fn to_xgrammar(&self, stop_token_ids: &[TokenId]) -> Result<String> {
        self.write(GrammarForm::Xgrammar { stop_token_ids }).map(|written| written.text)
    }

    /// The grammar in GBNF, for llama.cpp, which ends it at its own stop tokens.
    ///
    /// # Errors
    ///
    /// As of [`TurnGrammar::to_lark`].
    ///
    /// ```
    /// use openai_harmony::grammar::{GrammarOptions, TurnGrammar};
    ///
    /// let grammar = TurnGrammar::new([], GrammarOptions::new())?;
    /// assert!(grammar.to_gbnf()?.starts_with("root ::= "));
    /// // The same rules within JSON.
    /// assert!(grammar.to_xgrammar(&[])?.contains(r#""grammar":"root ::= "#));
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn to_gbnf(&self) -> Result<String> {
        self.write(GrammarForm::Gbnf).map(|written| written.text)
    }

    /// The grammar in a form, and what that form does not hold of the schemas that are not
    /// [strict](GrammarOptions::strict).
    ///
    /// # Errors
    ///
    /// As of [`TurnGrammar::to_lark`].
    ///
    /// ```
    /// use openai_harmony::grammar::{GrammarForm, GrammarOptions, GrammarTool, TurnGrammar};
    /// use serde_json::json;
    ///
    /// let place = json!({"type": "string", "not": {"const": "Atlantis"}});
    /// let rain = GrammarTool::new("functions.rain", json!({"properties": {"in": place}}));
    /// let options = GrammarOptions::new().with_strict([""; 0]);
    /// let written = TurnGrammar::new([rain], options)?.write(GrammarForm::Gbnf)?;
    /// assert_eq!(written.loosened[0].path, "tools[0].parameters.properties.in.not");
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn write(&self, form: GrammarForm<'_>) -> Result<Written> {
        match form {
            GrammarForm::Lark => lark::write(&self.grammar),
            GrammarForm::Xgrammar { stop_token_ids } => {
                bnf::structural_tag(&self.grammar, stop_token_ids)
            }
            GrammarForm::Gbnf => bnf::gbnf(&self.grammar),
        }
    }
}

/// A form in which engines read grammars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GrammarForm<'s> {
    /// As of [`TurnGrammar::to_lark`].
    Lark,
    /// As of [`TurnGrammar::to_xgrammar`].
    Xgrammar {
        /// Those at which the engine ends a grammar by itself.
        stop_token_ids: &'s [TokenId],
    },
    /// As of [`TurnGrammar::to_gbnf`].
    Gbnf,
}

/// A grammar as an engine reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// The grammar.
    pub text: String,
    /// The keywords of schemas that it does not hold, so that it admits more than they do.
    pub loosened: Vec<Loosened>,
}

impl Grammar {
    /// The schema of a message's content; `None` of text.
    fn schema_of(&self, kind: MessageKind) -> Option<&Value> {
        match kind {
            MessageKind::Call(tool) => self.tools[tool].parameters.as_ref(),
            MessageKind::Answer => self.options.response_schema.as_ref(),
            MessageKind::Thought | MessageKind::Preamble => None,
        }
    }

    /// The schema of a message's content, where it is among the arguments, and its recipient.
    fn schema_at(&self, kind: MessageKind) -> Option<(&Value, Path, &str)> {
        let schema = self.schema_of(kind)?;
        Some(match kind {
            MessageKind::Call(tool) => {
                let path = Path::of("tools").then(self.given[tool]).then("parameters");
                (schema, path, &self.tools[tool].recipient)
            }
            _ => (schema, Path::of("response_schema"), ""),
        })
    }

    /// The grammar of a custom tool's input, and where it is among the arguments.
    fn input_at(&self, kind: MessageKind) -> Option<(&InputGrammar, Path)> {
        let MessageKind::Call(tool) = kind else { return None };
        let path = Path::of("tools").then(self.given[tool]).then("format");
        Some((self.tools[tool].input.as_ref()?, path))
    }
}

/// The message that a prefill begins; `None` if it does not even begin a header.
fn begun(
    prefill: &Prefill,
    tools: &[GrammarTool],
    options: &GrammarOptions,
) -> Result<Option<MessageKind>> {
    let path = || Path::of("prefill");
    let (kind, has_form) = match (prefill.recipient.as_deref(), prefill.channel.as_deref()) {
        (Some(recipient), _) => {
            let index = tools.iter().position(|tool| tool.recipient == recipient);
            let Some(index) = index else {
                let reason = format!("no tool that may be called is {recipient:?}");
                return Err(invalid(path(), reason));
            };
            (MessageKind::Call(index), tools[index].parameters.is_some())
        }
        (None, Some(FINAL)) => (MessageKind::Answer, options.has_response_form()),
        (None, Some(ANALYSIS)) => (MessageKind::Thought, false),
        (None, Some(COMMENTARY)) => (MessageKind::Preamble, false),
        (None, Some(other)) => return Err(invalid(path(), format!("no channel is {other:?}"))),
        (None, None) if prefill.is_empty() => return Ok(None),
        (None, None) => {
            let what = if prefill.text.is_some() { "text" } else { "content type" };
            return Err(invalid(path(), format!("has a {what} and no channel")));
        }
    };
    if kind == MessageKind::Answer && options.tool_choice.is_required() {
        return Err(invalid(path(), Reason::is("an answer where a call is required")));
    }
    let is_begun = prefill.text.as_ref().is_some_and(|text| !text.is_empty());
    if has_form && is_begun {
        let what = if kind == MessageKind::Answer && options.response_schema.is_none() {
            "an answer that has to fit"
        } else {
            "JSON"
        };
        return Err(invalid(path(), format!("ends inside {what}, which no engine can resume")));
    }
    Ok(Some(kind))
}

fn invalid(path: Path, reason: impl Into<Reason>) -> Error {
    ErrorKind::InvalidGrammar { path, reason: reason.into(), recipient: None }.into()
}
