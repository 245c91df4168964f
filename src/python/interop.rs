//! Requests of APIs -> turns, for Python.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde_json::{Map, Number, Value};

use super::encoding::PyHarmonyEncoding;
use super::errors::{raised, type_name};
use super::text::utf8;
use super::{options, tokens, write};
use crate::chat::{Content, Message};
use crate::interop::{
    BuiltinTool, Date, NamedToolChoice, ReadOptions, Resolve, Thoughts, Tool, ToolChoice, ToolKind,
    Turn, Unsupported, anthropic, chat_completions, ollama, parse_body, responses,
};
use crate::{AnalysisPolicy, Error, ErrorKind, HeaderStyle, Result, ToolSchemaStyle};

/// How deep a body's lists and mappings may lie within each other, as in JSON text.
pub(super) const MAX_DEPTH: usize = 127;

/// What a request means; `openai_harmony.interop.Turn` is its face.
#[pyclass(name = "_Turn", module = "openai_harmony._lowlevel", frozen)]
pub(super) struct PyTurn {
    pub(super) inner: Turn,
}

/// Reads a request's body. `options` are those of the four `read` functions.
#[pyfunction]
#[pyo3(signature = (dialect, body, **options))]
pub(super) fn read_request(
    py: Python<'_>,
    dialect: &str,
    body: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyTurn> {
    let read: fn(Value, &ReadOptions) -> Result<Turn> = match dialect {
        "chat_completions" => chat_completions::read_owned,
        "responses" => responses::read_owned,
        "anthropic" => anthropic::read_owned,
        "ollama" => ollama::read_owned,
        _ => return Err(PyValueError::new_err(format!("Unknown dialect: {dialect}"))),
    };
    let body = read_body(body)?;
    let failed = Failed::default();
    let options = read_options(options, &failed)?;
    let turn = py.detach(|| read(body, &options));
    failed.check()?;
    turn.map(|inner| PyTurn { inner }).map_err(|error| raised_at(py, &error))
}

/// The exception for an error in a request or a row, which knows its path.
pub(super) fn raised_at(py: Python<'_>, error: &Error) -> PyErr {
    let (class, path) = match error.kind() {
        ErrorKind::InvalidRequest { path, .. } => ("InvalidRequestError", path),
        ErrorKind::UnsupportedContent { path, .. } => ("UnsupportedContent", path),
        ErrorKind::InvalidRow { path, .. } => ("InvalidRowError", path),
        _ => return raised(py, error),
    };
    py.import("openai_harmony.errors")
        .and_then(|errors| errors.getattr(class))
        .and_then(|class| class.call1((error.to_string(), error.kind().name(), py.None(), path)))
        .map_or_else(|failed| failed, PyErr::from_value)
}

/// What Python code raised that Rust code called.
#[derive(Clone, Default)]
pub(super) struct Failed(Arc<Mutex<Option<PyErr>>>);

impl Failed {
    pub(super) fn keep(&self, error: PyErr) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    pub(super) fn check(&self) -> PyResult<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

fn read_options(given: Option<&Bound<'_, PyDict>>, failed: &Failed) -> PyResult<ReadOptions> {
    let mut options = ReadOptions::default();
    for (key, value) in given.into_iter().flatten() {
        let py = value.py();
        match key.extract::<String>()?.as_str() {
            "date" if value.is_none() => options.date = Date::Omitted,
            "date" => options.date = Date::Given(value.extract()?),
            "identity" => options.identity = value.extract()?,
            "config" | "resolve" if value.is_none() => {}
            "config" => {
                let config = options::config(Some(&value));
                options.config = Some(config.map_err(|misfit| misfit.inside("config").raised(py))?);
            }
            "history" => options.history = read_list(&value, "history")?,
            "resolve" => options.resolve = Some(resolve(value.unbind(), failed.clone())),
            "builtin_tools" => {
                let names: Vec<String> = value.extract()?;
                let tool = |name: &String| match name.as_str() {
                    "browser" => Ok(BuiltinTool::Browser),
                    "python" => Ok(BuiltinTool::Python),
                    _ => Err(one_of("builtin_tools", "'browser' and 'python'", name)),
                };
                options.builtin_tools = names.iter().map(tool).collect::<PyResult<_>>()?;
            }
            "declare_on_none" => options.declare_on_none = value.is_truthy()?,
            "keep_billing_header" => options.keep_billing_header = value.is_truthy()?,
            "named" => {
                options.named = match value.extract::<String>()?.as_str() {
                    "prefill" => NamedToolChoice::Prefill,
                    "grammar" => NamedToolChoice::Grammar,
                    other => return Err(one_of("named", "'prefill' and 'grammar'", other)),
                };
            }
            "unsupported" => {
                options.unsupported = match value.extract::<String>()?.as_str() {
                    "error" => Unsupported::Error,
                    "placeholder" => Unsupported::Placeholder,
                    other => return Err(one_of("unsupported", "'error' and 'placeholder'", other)),
                };
            }
            other => return Err(PyValueError::new_err(format!("unknown option {other:?}"))),
        }
    }
    Ok(options)
}

fn one_of(option: &str, allowed: &str, given: &str) -> PyErr {
    PyValueError::new_err(format!("{option} takes {allowed}, not {given:?}"))
}

/// A Python function from an item's id to the item, or `None`.
fn resolve(find: Py<PyAny>, failed: Failed) -> Resolve {
    Resolve::new(move |id| {
        Python::attach(|py| {
            let found = find.bind(py).call1((id,)).and_then(|item| {
                if item.is_none() { Ok(None) } else { read_value(&item, MAX_DEPTH, id).map(Some) }
            });
            found.unwrap_or_else(|error| {
                failed.keep(error);
                None
            })
        })
    })
}

/// A body: JSON text, or what stands for JSON.
fn read_body(body: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = body.py();
    let parsed = if let Ok(text) = body.cast::<PyString>() {
        let text = utf8(text)?;
        py.detach(|| parse_body(&text))
    } else if let Ok(bytes) = body.cast::<PyBytes>() {
        let text = String::from_utf8_lossy(bytes.as_bytes());
        py.detach(|| parse_body(&text))
    } else {
        return read_value(body, MAX_DEPTH, "the body");
    };
    parsed.map_err(|error| raised_at(py, &error))
}

fn read_list(list: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<Value>> {
    list.try_iter()?.map(|item| read_value(&item?, MAX_DEPTH, what)).collect()
}

/// JSON from what stands for it: dicts and other mappings, lists, tuples and other iterables, texts,
/// numbers, and pydantic's models, as the SDKs have them.
pub(super) fn read_value(object: &Bound<'_, PyAny>, depth: usize, what: &str) -> PyResult<Value> {
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::String(utf8(text)?.into_owned()));
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if object.cast::<PyInt>().is_ok() || object.cast::<PyFloat>().is_ok() {
        return read_number(object, what).map(Value::Number);
    }
    let Some(depth) = depth.checked_sub(1) else {
        let text = format!("{what} is nested deeper than {MAX_DEPTH} levels, or within itself");
        return Err(wrong(object.py(), &text));
    };
    if let Ok(dict) = object.cast::<PyDict>() {
        let entry = |(key, value): (Bound<'_, PyAny>, _)| entry(&key, &value, depth, what);
        return dict.iter().map(entry).collect::<PyResult<Map<_, _>>>().map(Value::Object);
    }
    if let Ok(list) = object.cast::<PyList>() {
        let items = list.iter().map(|item| read_value(&item, depth, what));
        return items.collect::<PyResult<_>>().map(Value::Array);
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        let items = tuple.iter().map(|item| read_value(&item, depth, what));
        return items.collect::<PyResult<_>>().map(Value::Array);
    }
    read_other(object, depth, what)
}

fn read_other(object: &Bound<'_, PyAny>, depth: usize, what: &str) -> PyResult<Value> {
    let py = object.py();
    if object.hasattr("model_dump")? {
        let how = PyDict::new(py);
        how.set_item("mode", "json")?;
        how.set_item("by_alias", true)?;
        // What was never set, and null, which means the same in all dialects.
        how.set_item("exclude_none", true)?;
        how.set_item("warnings", false)?;
        let dumped = object.call_method("model_dump", (), Some(&how))?;
        return read_value(&dumped, depth, what);
    }
    if let Ok(mapping) = object.cast::<PyMapping>() {
        let entries = mapping.items()?;
        let mut map = Map::new();
        for item in entries.iter() {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let (key, value) = entry(&key, &value, depth, what)?;
            map.insert(key, value);
        }
        return Ok(Value::Object(map));
    }
    if object.cast::<PyBytes>().is_err()
        && let Ok(items) = object.try_iter()
    {
        let items = items.map(|item| read_value(&item?, depth, what));
        return items.collect::<PyResult<_>>().map(Value::Array);
    }
    Err(wrong(py, &format!("{what} has a {}, which JSON has not", type_name(object))))
}

fn entry(
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    depth: usize,
    what: &str,
) -> PyResult<(String, Value)> {
    let Ok(name) = key.cast::<PyString>() else {
        let text = format!("{what} has a key of type {}", type_name(key));
        return Err(wrong(key.py(), &text));
    };
    Ok((utf8(name)?.into_owned(), read_value(value, depth, what)?))
}

/// A number. An int beyond 64 bits is a real number to JSON parsers.
fn read_number(number: &Bound<'_, PyAny>, what: &str) -> PyResult<Number> {
    if number.cast::<PyInt>().is_ok() {
        if let Ok(whole) = number.extract::<i64>() {
            return Ok(whole.into());
        }
        if let Ok(whole) = number.extract::<u64>() {
            return Ok(whole.into());
        }
    }
    let real = number.extract::<f64>().ok().and_then(Number::from_f64);
    real.ok_or_else(|| wrong(number.py(), &format!("{what} has a number that JSON cannot hold")))
}

fn wrong(py: Python<'_>, reason: &str) -> PyErr {
    let kind = ErrorKind::InvalidRequest { path: String::new(), reason: reason.to_owned() };
    raised_at(py, &kind.into())
}

#[pymethods]
impl PyTurn {
    /// The tokens to sample from.
    fn prompt<'py>(
        &self,
        py: Python<'py>,
        encoding: &Bound<'py, PyHarmonyEncoding>,
    ) -> PyResult<Bound<'py, PyList>> {
        let encoding = encoding.get().inner;
        let prompt = py.detach(|| self.inner.prompt(&encoding));
        tokens::list(py, &prompt.map_err(|error| raised_at(py, &error))?)
    }

    #[getter]
    fn dialect(&self) -> &'static str {
        self.inner.dialect.as_str()
    }

    #[getter]
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let messages = &self.inner.conversation.messages;
        let list = write::messages(py, messages)?;
        for (index, message) in messages.iter().enumerate() {
            // Few messages have more than text: those of system and developer.
            if !message.content.iter().all(|part| matches!(part, Content::Text(_))) {
                list.set_item(index, structured(py, message)?)?;
            }
        }
        Ok(list)
    }

    /// The fields of the config, as JSON of its model.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let config = &self.inner.config;
        let fields = PyDict::new(py);
        let analysis = match config.analysis {
            AnalysisPolicy::KeepAll => "keep_all",
            AnalysisPolicy::DropBeforeFirstFinal => "drop_before_first_final",
            AnalysisPolicy::DropCompletedTurns => "drop_completed_turns",
        };
        let header_style = match config.header_style {
            HeaderStyle::RecipientInRole => "recipient_in_role",
            HeaderStyle::RecipientInChannel => "recipient_in_channel",
        };
        let tool_schema = match config.tool_schema {
            ToolSchemaStyle::Compat => "compat",
            ToolSchemaStyle::Full => "full",
        };
        fields.set_item("analysis", analysis)?;
        fields.set_item("header_style", header_style)?;
        fields.set_item("tool_schema", tool_schema)?;
        fields.set_item("validate", config.validate)?;
        Ok(fields)
    }

    #[getter]
    fn tools(&self) -> Vec<ToolFields<'_>> {
        self.inner.tools.iter().map(tool_fields).collect()
    }

    fn tool_by_recipient(&self, recipient: &str) -> Option<ToolFields<'_>> {
        self.inner.tools.by_recipient(recipient).map(tool_fields)
    }

    #[pyo3(signature = (name, namespace = None))]
    fn tool_by_name(&self, name: &str, namespace: Option<&str>) -> Option<ToolFields<'_>> {
        self.inner.tools.by_name(namespace, name).map(tool_fields)
    }

    /// Mode and recipients.
    #[getter]
    fn tool_choice(&self) -> (&'static str, Vec<String>) {
        match &self.inner.tool_choice {
            ToolChoice::Auto => ("auto", Vec::new()),
            ToolChoice::None => ("none", Vec::new()),
            ToolChoice::Required => ("required", Vec::new()),
            ToolChoice::Named { recipient } => ("named", vec![recipient.clone()]),
            ToolChoice::Allowed { recipients, required: false } => ("auto", recipients.clone()),
            ToolChoice::Allowed { recipients, required: true } => ("required", recipients.clone()),
        }
    }

    /// Name, description, and the schema as JSON text.
    #[getter]
    fn response_format(&self) -> Option<(&str, Option<&str>, String)> {
        let format = self.inner.response_format.as_ref()?;
        Some((&format.name, format.description.as_deref(), format.schema.to_string()))
    }

    /// Channel, recipient, content type and text.
    #[getter]
    #[expect(clippy::type_complexity, reason = "the fields of a NamedTuple in Python")]
    fn prefill(&self) -> Option<(Option<&str>, Option<&str>, Option<&str>, Option<&str>)> {
        let prefill = self.inner.prefill.as_ref()?;
        Some((
            prefill.channel.as_deref(),
            prefill.recipient.as_deref(),
            prefill.content_type.as_deref(),
            prefill.text.as_deref(),
        ))
    }

    #[getter]
    fn stop_token_ids(&self) -> Vec<u32> {
        self.inner.stop_token_ids.clone()
    }

    #[getter]
    fn stop(&self) -> Vec<String> {
        self.inner.stop.clone()
    }

    #[getter]
    fn stop_strings(&self) -> Vec<String> {
        self.inner.stop_strings.clone()
    }

    /// What the body says of sampling, and what is recommended where it says nothing.
    #[getter]
    fn sampling<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let sampling = &self.inner.sampling;
        let fields = PyDict::new(py);
        fields.set_item("temperature", sampling.temperature)?;
        fields.set_item("top_p", sampling.top_p)?;
        fields.set_item("top_k", sampling.top_k)?;
        fields.set_item("min_p", sampling.min_p)?;
        fields.set_item("n", sampling.n)?;
        let set = |name: &str, value: Option<f64>| {
            value.map_or(Ok(()), |value| fields.set_item(name, value))
        };
        set("presence_penalty", sampling.presence_penalty)?;
        set("frequency_penalty", sampling.frequency_penalty)?;
        set("repetition_penalty", sampling.repetition_penalty)?;
        if let Some(max_tokens) = sampling.max_tokens {
            fields.set_item("max_tokens", max_tokens)?;
        }
        if let Some(seed) = sampling.seed {
            fields.set_item("seed", seed)?;
        }
        if !sampling.logit_bias.is_empty() {
            let bias = PyDict::new(py);
            for (token, value) in &sampling.logit_bias {
                bias.set_item(token, value)?;
            }
            fields.set_item("logit_bias", bias)?;
        }
        Ok(fields)
    }

    /// Paths and reasons.
    #[getter]
    fn unused(&self) -> Vec<(&str, &str)> {
        self.inner.unused.iter().map(|unused| (unused.path.as_str(), unused.reason)).collect()
    }

    /// Whether the answer is streamed, and the fields of chat's `stream_options`.
    #[getter]
    fn stream(&self) -> bool {
        self.inner.answer.stream
    }

    #[getter]
    fn include_usage(&self) -> bool {
        self.inner.answer.include_usage
    }

    #[getter]
    fn thoughts(&self) -> &'static str {
        match self.inner.answer.thoughts {
            Thoughts::Shown => "shown",
            Thoughts::Omitted => "omitted",
            Thoughts::Hidden => "hidden",
        }
    }
}

/// A message by way of its JSON form.
fn structured<'py>(py: Python<'py>, message: &Message) -> PyResult<Bound<'py, PyAny>> {
    let json = serde_json::to_value(message);
    let json = json.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let class = py.import("openai_harmony.chat")?.getattr("Message")?;
    class.call_method1("from_dict", (write::value(py, &json)?,))
}

/// Name, namespace, recipient, kind, offered, declared, `client_runs`.
type ToolFields<'a> = (&'a str, Option<&'a str>, &'a str, &'static str, bool, bool, bool);

fn tool_fields(tool: &Tool) -> ToolFields<'_> {
    let kind = match tool.kind {
        ToolKind::Function => "function",
        ToolKind::Custom => "custom",
        ToolKind::Builtin => "builtin",
    };
    let Tool { name, namespace, recipient, offered, declared, client_runs, .. } = tool;
    (name, namespace.as_deref(), recipient, kind, *offered, *declared, *client_runs)
}
