//! Requests of APIs -> turns, for Python.

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use pythonize::pythonize;

use super::errors::{InvalidArgument, OrRaise, OrRaiseAt, Read, quoted};
use super::options::{Failed, Given, ReadChoice, set_from};
use super::read::reasoning_effort;
use super::read::values::{boolean, count, each, optional, optional_string};
use super::text::utf8;
use super::tokens::{self, Form};
use super::{arguments, encoding, json, options, write};
use openai_harmony::chat::ReasoningEffort;
use openai_harmony::interop::{
    BuiltinTool, Date, Dialect, Json, NamedToolChoice, Prompts, ReadOptions, Resolve, Turn,
    Unsupported,
};
use openai_harmony::machinery::{Brief, SetFrom, source_indices, tool_choice};

#[doc = text!(Turn)]
#[pyclass(name = "Turn", module = "openai_harmony._lowlevel", frozen, subclass)]
pub(super) struct PyTurn {
    pub(super) inner: Turn,
}

/// The body of an answer with an error, as JSON text. If harmony cannot carry some content, or a prompt has more
/// tokens than the most, the API words the message.
#[pyfunction]
pub(super) fn error_body(
    dialect: &str,
    status: u16,
    message: &str,
    path: Option<&str>,
    code: Option<&str>,
    content: Option<&str>,
    tokens: Option<(usize, usize)>,
) -> PyResult<String> {
    let dialect = dialect_of(dialect)?;
    let known = match (content, tokens) {
        (Some(content), _) => dialect.unsupported_message(path.unwrap_or_default(), content),
        (None, Some((tokens, most))) => Some(dialect.too_long_message(tokens, most)),
        (None, None) => None,
    };
    let message = known.as_deref().unwrap_or(message);
    Ok(dialect.error_body(status, message, path, code).to_string())
}

fn dialect_of(name: &str) -> PyResult<Dialect> {
    let found = Dialect::ALL.iter().find(|dialect| dialect.as_str() == name);
    found.copied().ok_or_else(|| {
        let (known, got) = (Dialect::ALL.iter().map(|dialect| dialect.as_str()), Brief(name));
        let known = known.collect::<Vec<_>>().join(", ");
        PyValueError::new_err(format!("Unknown API {got:?} (known: {known})"))
    })
}

set_from! {
    Date: |value| Ok(optional(value, date)?.map_or(Date::Omitted, Date::Given)),
    Vec<Json>: |history| Ok(json::list(history, "history")?),
    Vec<BuiltinTool>: |tools| each(tools, BuiltinTool::read),
    NamedToolChoice: NamedToolChoice::read,
    Prompts: Prompts::read,
    Unsupported: Unsupported::read,
    Option<bool>: |flag| optional(flag, boolean),
    Option<ReasoningEffort>: |effort| optional(effort, reasoning_effort),
}

/// The text of a date: a string, `"today"` for the local date, or a `datetime.date`.
fn date(object: &Bound<'_, PyAny>) -> Read<String> {
    let class = object.py().import("datetime")?.getattr("date")?;
    // The date's own method: that of a `datetime` writes the time, too.
    let written =
        |date| -> PyResult<String> { class.call_method1("isoformat", (date,))?.extract() };
    let Ok(text) = object.cast::<PyString>() else {
        if object.is_instance(&class)? {
            return Ok(written(object.clone())?);
        }
        return Err(InvalidArgument::type_of(object, "a string, a date or None"));
    };
    let text = utf8(text)?;
    if text == "today" {
        return Ok(written(class.call_method0("today")?)?);
    }
    // Python reads other forms of a date, too.
    let read = class.call_method1("fromisoformat", (&*text,)).and_then(written);
    read.ok().filter(|written| *written == *text).ok_or_else(|| {
        let expected = "expected a date such as '2025-06-28', 'today' or None";
        InvalidArgument::value(format!("{expected}, got {}", quoted(object.py(), &text)))
    })
}

impl SetFrom<Given<'_, '_>, InvalidArgument> for Option<Resolve> {
    fn set_from(&mut self, given: Given<'_, '_>) -> Read<()> {
        *self = given.function()?.map(|(find, failed)| resolve(find, failed));
        Ok(())
    }
}

/// A Python function from an id to the item with this id, or `None`.
fn resolve(find: Py<PyAny>, failed: Failed) -> Resolve {
    Resolve::new(move |id| {
        Python::attach(|py| {
            let found = find.bind(py).call1((id,)).and_then(|found| {
                if found.is_none() { Ok(None) } else { json::item(&found, id).map(Some) }
            });
            found.unwrap_or_else(|error| {
                failed.keep(error);
                None
            })
        })
    })
}

impl PyTurn {
    fn prompt_as<'py>(
        &self,
        form: Form,
        encoding: &Bound<'py, PyAny>,
        max_tokens: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, encoding) = (encoding.py(), encoding::argument(encoding)?);
        let max_tokens = max_tokens.map(|most| count(most)).transpose();
        let max_tokens = max_tokens.or_raise_at(py, "max_tokens")?;
        let prompt = py.detach(|| match max_tokens {
            Some(max_tokens) => self.inner.prompt_within(&encoding, max_tokens),
            None => self.inner.prompt(&encoding),
        });
        form.of(py, &prompt.or_raise(py)?)
    }
}

#[pymethods]
impl PyTurn {
    /// Reads a request's body. `options` are those of the four `read` functions.
    #[new]
    #[pyo3(signature = (dialect, body, **options))]
    fn new(
        py: Python<'_>,
        dialect: &str,
        body: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let dialect = dialect_of(dialect)?;
        let body = json::body(body)?;
        let failed = Failed::default();
        let options = options::set_all(ReadOptions::new(), options, Some(&failed), options::set)?;
        let turn = py.detach(|| dialect.read(body, &options));
        failed.check()?;
        turn.map(|inner| Self { inner }).or_raise(py)
    }

    #[doc = text!(Turn.prompt)]
    #[pyo3(signature = (encoding, *, max_tokens = None))]
    fn prompt<'py>(
        &self,
        encoding: &Bound<'py, PyAny>,
        max_tokens: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.prompt_as(Form::List, encoding, max_tokens)
    }

    #[doc = text!(Turn.prompt_array)]
    #[pyo3(signature = (encoding, *, max_tokens = None))]
    fn prompt_array<'py>(
        &self,
        encoding: &Bound<'py, PyAny>,
        max_tokens: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.prompt_as(Form::Array, encoding, max_tokens)
    }

    #[doc = text!(Turn.prompt_json)]
    fn prompt_json<'py>(&self, encoding: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let (py, encoding) = (encoding.py(), encoding::argument(encoding)?);
        let json = py.detach(|| self.inner.prompt(&encoding).map(|ids| tokens::json_list(&ids)));
        Ok(PyBytes::new(py, json.or_raise(py)?.as_bytes()))
    }

    /// The tokens of `prompt` as an array of uint32, the spans of its messages with their places in the body, and who
    /// speaks in each.
    fn _render_with_spans<'py>(
        &self,
        encoding: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Vec<SpanInBody>, Vec<encoding::Speaker>)> {
        let (py, encoding) = (encoding.py(), encoding::argument(encoding)?);
        let rendered = py.detach(|| self.inner.render_with_spans(&encoding));
        let (tokens, spans, speakers) = encoding::taken_apart(py, &rendered.or_raise(py)?)?;
        let source = |message| Some(self.inner.source(message)?.to_string());
        let in_body = |(message, start, content, stop, end)| {
            (message, start, content, stop, end, Option::and_then(message, source))
        };
        Ok((tokens, spans.into_iter().map(in_body).collect(), speakers))
    }

    #[doc = text!(Turn.model)]
    #[getter]
    fn model(&self) -> Option<&str> {
        self.inner.model.as_deref()
    }

    #[doc = text!(Turn.store)]
    #[getter]
    fn store(&self) -> Option<bool> {
        self.inner.store
    }

    #[doc = text!(Turn.previous_response_id)]
    #[getter]
    fn previous_response_id(&self) -> Option<&str> {
        self.inner.previous_response_id.as_deref()
    }

    #[doc = text!(Turn.strict_format)]
    #[getter]
    fn strict_format(&self) -> bool {
        self.inner.strict_format
    }

    #[doc = text!(Turn.thinking_budget)]
    #[getter]
    fn thinking_budget(&self) -> Option<usize> {
        self.inner.thinking_budget
    }

    #[doc = text!(Turn.may_truncate)]
    #[getter]
    fn may_truncate(&self) -> bool {
        self.inner.may_truncate
    }

    #[doc = text!(Turn.dialect)]
    #[getter]
    fn dialect(&self) -> &'static str {
        self.inner.dialect.as_str()
    }

    #[getter(_messages)]
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        write::whole_messages(py, self.inner.conversation.messages.iter())
    }

    /// A part of the turn by its name, in the crate's JSON form.
    fn _part<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let turn = &self.inner;
        let part = match name {
            "config" => pythonize(py, &turn.config),
            "tools" => pythonize(py, &turn.tools),
            "response_format" => pythonize(py, &turn.response_format),
            "prefill" => pythonize(py, &turn.prefill),
            "unused" => pythonize(py, &turn.unused),
            "unmet" => pythonize(py, &turn.unmet),
            _ => return Err(PyKeyError::new_err(name.to_owned())),
        };
        Ok(part?)
    }

    #[pyo3(name = "_tool_by_recipient")]
    fn tool_by_recipient<'py>(&self, recipient: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let found = utf8(arguments::string(recipient, "recipient")?)?;
        Ok(pythonize(recipient.py(), &self.inner.tools.by_recipient(&found))?)
    }

    #[pyo3(name = "_tool_by_name")]
    fn tool_by_name<'py>(
        &self,
        name: &Bound<'py, PyAny>,
        namespace: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let name = utf8(arguments::string(name, "name")?)?;
        let py = namespace.py();
        let namespace = optional_string(namespace).or_raise_at(py, "namespace")?;
        Ok(pythonize(py, &self.inner.tools.by_name(&name, namespace.as_deref()))?)
    }

    /// Mode and recipients.
    #[getter(_tool_choice)]
    fn tool_choice(&self) -> (&'static str, &[String]) {
        tool_choice(&self.inner.tool_choice)
    }

    #[doc = text!(Turn.stop_token_ids)]
    #[getter]
    fn stop_token_ids(&self) -> Vec<u32> {
        self.inner.stop_token_ids.clone()
    }

    #[doc = text!(Turn.stop_token_names)]
    #[getter]
    fn stop_token_names(&self) -> Vec<String> {
        self.inner.stop_token_names.clone()
    }

    #[doc = text!(Turn.stop_strings)]
    #[getter]
    fn stop_strings(&self) -> Vec<String> {
        self.inner.stop_strings.clone()
    }

    #[doc = text!(Turn.sampling)]
    #[getter]
    fn sampling<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let fields = pythonize(py, &self.inner.sampling)?;
        // JSON's keys are text.
        if let Ok(pairs) = fields.get_item("logit_bias") {
            fields.set_item("logit_bias", PyDict::from_sequence(&pairs)?)?;
        }
        Ok(fields)
    }

    /// The number of fields of the body that this library does not use.
    #[getter(_not_used)]
    fn not_used(&self) -> usize {
        let unused = self.inner.unused.iter();
        unused.filter(|unused| unused.reason.is_not_used()).count()
    }

    #[doc = text!(Turn.sources)]
    #[getter]
    fn sources(&self) -> Vec<Option<String>> {
        let count = self.inner.conversation.messages.len();
        (0..count).map(|index| Some(self.inner.source(index)?.to_string())).collect()
    }

    #[doc = text!(Turn.source_indices)]
    #[getter]
    fn source_indices(&self) -> Vec<Option<usize>> {
        source_indices(&self.inner)
    }

    #[doc = text!(Turn.stream)]
    #[getter]
    fn stream(&self) -> bool {
        self.inner.answer.stream
    }
}

/// The fields of a span, and the position of its message in the body.
type SpanInBody = (Option<usize>, usize, usize, usize, usize, Option<String>);
