//! Grammars for Python, which `openai_harmony.grammar` wraps.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use super::errors::{InvalidArgument, OrRaise, Read, raised};
use super::interop::PyTurn;
use super::json::schema_tree;
use super::options::{ReadChoice, prefill_fields, set_from};
use super::read::values::optional;
use super::{options, tokens};
use openai_harmony::grammar::{
    GrammarForm, GrammarOptions, GrammarState, GrammarSyntax, GrammarTool, HeaderForms,
    InputGrammar, JsonSpace, Thinking, TurnGrammar, Verdict,
};
use openai_harmony::interop::ToolChoice;
use openai_harmony::machinery::Choice as _;
use openai_harmony::{Error, ErrorKind, Prefill};

set_from! {
    ToolChoice: tool_choice,
    Thinking: Thinking::read,
    HeaderForms: HeaderForms::read,
    JsonSpace: JsonSpace::read,
    Option<Prefill>: |prefill| optional(prefill, prefill_fields),
    Option<Value>: |schema| optional(schema, schema_tree),
}

/// The choice of a Python `ToolChoice`.
fn tool_choice(choice: &Bound<'_, PyAny>) -> Read<ToolChoice> {
    let not_one = |_| InvalidArgument::type_of(choice, "a ToolChoice");
    let (mode, mut recipients) = choice.extract::<(String, Vec<String>)>().map_err(not_one)?;
    Ok(match (&*mode, recipients.pop()) {
        ("auto", None) => ToolChoice::Auto,
        ("required", None) => ToolChoice::Required,
        ("none", _) => ToolChoice::None,
        ("named", Some(recipient)) if recipients.is_empty() => ToolChoice::Named { recipient },
        ("auto" | "required", Some(last)) => {
            recipients.push(last);
            ToolChoice::Allowed { recipients, required: mode == "required" }
        }
        ("named", _) => return Err(InvalidArgument::value("'named' needs exactly one recipient")),
        _ => {
            let known = "mode: expected 'auto', 'none', 'required' or 'named'";
            return Err(InvalidArgument::value(format!("{known}, got {mode:?}")));
        }
    })
}

/// A keyword that a form does not enforce: recipient, path, keyword and reason.
type PyLoosened = (String, String, &'static str, String);

/// A recipient, the schema of its arguments, and the syntax and definition of a custom tool's grammar.
type GivenTool<'py> = (String, Option<Bound<'py, PyAny>>, Option<(String, String)>);

/// The grammar of a custom tool; `None` if it takes any text.
fn input(syntax: &str, definition: String) -> openai_harmony::Result<Option<InputGrammar>> {
    let known = GrammarSyntax::ALL.iter().find(|(word, _)| *word == syntax);
    known.map(|(_, syntax)| InputGrammar::new(*syntax, definition)).transpose()
}

/// The error of a definition, with the path of its tool.
fn in_format(index: usize, error: Error) -> Error {
    let ErrorKind::InvalidGrammar { path, reason, recipient } = error.kind().clone() else {
        return error;
    };
    let path = path.inside("format").inside(index).inside("tools");
    ErrorKind::InvalidGrammar { path, reason, recipient }.into()
}

/// What the assistant may write in one turn.
#[pyclass(name = "_TurnGrammar", module = "openai_harmony._lowlevel", frozen)]
pub(super) struct PyTurnGrammar {
    inner: TurnGrammar,
}

#[pymethods]
impl PyTurnGrammar {
    /// A grammar of recipients with the schemas of their arguments (`None` for text), and for custom tools the syntax
    /// of their grammar (`text` for any text) and its definition. `options` are those of
    /// `openai_harmony.grammar.TurnGrammar`; `tool_choice` is the class of that name.
    #[new]
    #[pyo3(signature = (tools, **options))]
    fn new(
        py: Python<'_>,
        tools: Vec<GivenTool<'_>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut unread = None;
        let tool = |(index, (recipient, parameters, format)): (usize, GivenTool<'_>)| {
            if let Some((syntax, definition)) = format {
                let input = input(&syntax, definition);
                let input = input.unwrap_or_else(|error| {
                    unread.get_or_insert((index, error));
                    None
                });
                return Ok(GrammarTool::of_input(recipient, input));
            }
            let Some(parameters) = parameters else { return Ok(GrammarTool::of_text(recipient)) };
            let read = schema_tree(&parameters).map(|tree| GrammarTool::new(recipient, tree));
            read.map_err(|invalid| invalid.inside("parameters").inside(index).inside("tools"))
        };
        let tools = tools.into_iter().enumerate().map(tool).collect::<Read<Vec<_>>>();
        let tools = tools.or_raise(py)?;
        if let Some((index, error)) = unread {
            return Err(raised(py, &in_format(index, error)));
        }
        let options = options::set_all(GrammarOptions::new(), options, None, options::set)?;
        let grammar = TurnGrammar::new(tools, options);
        grammar.map(|inner| Self { inner }).or_raise(py)
    }

    /// The grammar of a request. `options` are those of `new` that the request does not determine.
    #[staticmethod]
    #[pyo3(signature = (turn, **options))]
    fn of_turn(turn: &Bound<'_, PyTurn>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let py = turn.py();
        let options = options::set_all(GrammarOptions::new(), options, None, options::set)?;
        let grammar = TurnGrammar::of_turn(&turn.get().inner, options);
        grammar.map(|inner| Self { inner }).or_raise(py)
    }

    /// The grammar in a form, and the keywords that this form does not enforce.
    fn write(
        &self,
        py: Python<'_>,
        form: &str,
        stops: &Bound<'_, PyAny>,
    ) -> PyResult<(String, Vec<PyLoosened>)> {
        let stops = tokens::read(stops)?;
        let form = match form {
            "lark" => GrammarForm::Lark,
            "xgrammar" => GrammarForm::Xgrammar { stop_token_ids: &stops },
            _ => GrammarForm::Gbnf,
        };
        let written = py.detach(|| self.inner.write(form)).or_raise(py)?;
        let loosened = written.loosened.into_iter();
        let loosened =
            loosened.map(|one| (one.recipient, one.path.to_string(), one.keyword, one.reason));
        Ok((written.text, loosened.collect()))
    }

    /// Whether tokens are a complete turn; if not, where they fail and what was expected there.
    fn accepts(
        &self,
        tokens: &Bound<'_, PyAny>,
    ) -> PyResult<(bool, Option<usize>, Option<String>)> {
        let tokens = tokens::read(tokens)?;
        let Verdict { ok, at, expected, .. } = self.inner.accepts(&tokens);
        Ok((ok, at, expected))
    }

    fn state(&self) -> PyGrammarState {
        PyGrammarState { inner: self.inner.state() }
    }
}

/// How far a turn is.
#[pyclass(name = "_GrammarState", module = "openai_harmony._lowlevel")]
pub(super) struct PyGrammarState {
    inner: GrammarState,
}

#[pymethods]
impl PyGrammarState {
    /// What was expected instead of a token, or nothing.
    fn feed(&mut self, token: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        Ok(self.inner.feed(tokens::read_one(token)?).err())
    }

    fn is_complete(&self) -> bool {
        self.inner.is_complete()
    }

    fn expected(&self) -> String {
        self.inner.expected()
    }

    fn copy(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}
