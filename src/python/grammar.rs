//! Grammars for Python; `openai_harmony.grammar` has their faces.
//!
//! Options come as JSON text, which `openai_harmony.grammar` has checked.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde::Deserialize;
use serde_json::Value;

use super::errors::{Read, raised};
use super::json::schema_tree;
use super::tokens;
use crate::Prefill;
use crate::grammar::{
    GrammarOptions, GrammarState, GrammarTool, HeaderForms, JsonSpace, Thoughts, ToolUse,
    TurnGrammar, Verdict,
};

/// Options by the names that Python gives them; it has checked words.
#[derive(Deserialize)]
struct Given {
    /// The recipients.
    tools: Vec<String>,
    tool_use: String,
    allowed: Option<Vec<String>>,
    thoughts: String,
    preambles: bool,
    max_messages: Option<usize>,
    headers: String,
    json_space: String,
    prefill: Option<[Option<String>; 4]>,
    response_regex: Option<String>,
    response_choices: Option<Vec<String>>,
}

impl Given {
    /// The grammar of tools with these schemas.
    fn into_grammar(
        self,
        parameters: Vec<Option<Value>>,
        response_schema: Option<Value>,
    ) -> crate::Result<TurnGrammar> {
        let tools = self.tools.into_iter().zip(parameters);
        let tools = tools.map(|(recipient, parameters)| match parameters {
            Some(parameters) => GrammarTool::new(recipient, parameters),
            None => GrammarTool::of_text(recipient),
        });
        let mut options = GrammarOptions::new().with_preambles(self.preambles);
        options.tool_use = match self.tool_use.as_str() {
            "none" => ToolUse::None,
            "required" => ToolUse::Required,
            _ => ToolUse::Auto,
        };
        options.thoughts = match self.thoughts.as_str() {
            "off" => Thoughts::Off,
            "required" => Thoughts::Required,
            _ => Thoughts::Optional,
        };
        options.headers = if self.headers == "all" { HeaderForms::All } else { HeaderForms::Few };
        options.json_space = match self.json_space.as_str() {
            "compact" => JsonSpace::Compact,
            "any" => JsonSpace::Any,
            _ => JsonSpace::Bounded,
        };
        options.prefill = self.prefill.map(|[channel, recipient, content_type, text]| {
            let mut prefill = Prefill::new();
            (prefill.channel, prefill.recipient) = (channel, recipient);
            (prefill.content_type, prefill.text) = (content_type, text);
            prefill
        });
        options.allowed = self.allowed;
        options.response_schema = response_schema;
        options.response_regex = self.response_regex;
        options.response_choices = self.response_choices;
        options.max_messages = self.max_messages;
        TurnGrammar::new(tools, options)
    }
}

/// What the assistant may say in one turn.
#[pyclass(name = "_TurnGrammar", module = "openai_harmony._lowlevel", frozen)]
pub(super) struct PyTurnGrammar {
    inner: TurnGrammar,
}

#[pymethods]
impl PyTurnGrammar {
    #[new]
    fn new(
        py: Python<'_>,
        given: &str,
        parameters: &Bound<'_, PyList>,
        response_schema: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let given: Result<Given, _> = serde_json::from_str(given);
        let given = given.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let parameters = parameters.iter().enumerate().map(|(index, parameters)| {
            let read = (!parameters.is_none()).then(|| schema_tree(&parameters)).transpose();
            read.map_err(|invalid| invalid.inside("parameters").inside(index).inside("tools"))
        });
        let parameters = parameters.collect::<Read<_>>().map_err(|invalid| invalid.raised(py))?;
        let response = response_schema.map(schema_tree).transpose();
        let response = response.map_err(|invalid| invalid.inside("response_schema").raised(py))?;
        let grammar = given.into_grammar(parameters, response);
        grammar.map(|inner| Self { inner }).map_err(|error| raised(py, &error))
    }

    fn to_lark(&self, py: Python<'_>) -> String {
        py.detach(|| self.inner.to_lark())
    }

    fn to_xgrammar(&self, py: Python<'_>, stops: &Bound<'_, PyAny>) -> PyResult<String> {
        let stops = tokens::read(stops)?;
        let written = py.detach(|| self.inner.to_xgrammar(&stops));
        written.map_err(|error| raised(py, &error))
    }

    fn to_gbnf(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.inner.to_gbnf()).map_err(|error| raised(py, &error))
    }

    /// Whether tokens are a whole turn, where they are not, and what was expected there.
    fn accepts(
        &self,
        tokens: &Bound<'_, PyAny>,
    ) -> PyResult<(bool, Option<usize>, Option<String>)> {
        let tokens = tokens::read(tokens)?;
        let Verdict { ok, at, expected } = self.inner.accepts(&tokens);
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
        let tokens = tokens::read(PyList::new(token.py(), [token])?.as_any())?;
        Ok(tokens.into_iter().find_map(|token| self.inner.feed(token).err()))
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
