//! `StreamableParser` for Python.

use std::sync::Mutex;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use pythonize::pythonize;

use super::arguments::{Argument, LEFT_OUT};
use super::encoding::MANY_TOKENS;
use super::errors::{OrRaise, raised};
use super::gil::released_if;
use super::types::Types;
use super::write::Strings;
use super::{arguments, events, tokens, write};
use openai_harmony::{Event, HarmonyEncodingName, StreamableParser, load_harmony_encoding};

#[doc = text!(StreamableParser)]
#[pyclass(name = "StreamableParser", module = "openai_harmony._lowlevel", subclass)]
pub(super) struct PyStreamableParser {
    inner: StreamableParser,
    /// The strings of the requested messages. Servers request them after each token.
    strings: Mutex<Vec<Strings>>,
}

impl From<StreamableParser> for PyStreamableParser {
    fn from(inner: StreamableParser) -> Self {
        Self { inner, strings: Mutex::default() }
    }
}

#[pymethods]
impl PyStreamableParser {
    /// A blank parser, whatever the arguments: subclasses have their own constructors, and
    /// `__init__` makes the parser from what they pass on.
    #[new]
    #[pyo3(
        signature = (*_arguments, **_named),
        text_signature = "(encoding, role=None, *, strict=True, tools=None, prefill=None, spelled_markers=False)"
    )]
    fn new(
        py: Python<'_>,
        _arguments: &Bound<'_, PyTuple>,
        _named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)
            .and_then(|encoding| StreamableParser::new(encoding, None))
            .map(Self::from)
            .or_raise(py)
    }

    #[pyo3(signature = (
        encoding, role = None, *, strict = LEFT_OUT, tools = None, prefill = None, spelled_markers = LEFT_OUT
    ))]
    fn __init__<'py>(
        slf: &Bound<'py, Self>,
        encoding: &Bound<'py, PyAny>,
        role: Option<&Bound<'py, PyAny>>,
        strict: Argument<'py>,
        tools: Option<&Bound<'py, PyAny>>,
        prefill: Option<&Bound<'py, PyAny>>,
        spelled_markers: Argument<'py>,
    ) -> PyResult<()> {
        let py = slf.py();
        let encoding = super::encoding::argument(encoding)?;
        let role = role.map(|role| arguments::role(role, "role")).transpose()?;
        let config = arguments::parser_options(strict, tools, prefill, spelled_markers)?;
        let parser = StreamableParser::with_options(encoding, role, &config).or_raise(py)?;
        *writing(slf)? = parser.into();
        Ok(())
    }

    /// Makes this parser a copy of another one.
    fn _become(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        let parser = reading(other)?.inner.clone();
        *writing(slf)? = parser.into();
        Ok(())
    }

    /// Makes this parser one that was saved.
    fn _resume(
        slf: &Bound<'_, Self>,
        encoding: &Bound<'_, PyAny>,
        saved: &Bound<'_, PyBytes>,
    ) -> PyResult<()> {
        let encoding = super::encoding::argument(encoding)?;
        let parser = StreamableParser::from_bytes(encoding, saved.as_bytes()).or_raise(slf.py())?;
        *writing(slf)? = parser.into();
        Ok(())
    }

    #[doc = text!(StreamableParser.to_checkpoint)]
    fn to_checkpoint<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = reading(slf)?.inner.to_checkpoint();
        Ok(PyBytes::new(slf.py(), &saved.or_raise(slf.py())?))
    }

    #[doc = text!(StreamableParser.to_bytes)]
    fn to_bytes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = reading(slf)?.inner.to_bytes().or_raise(slf.py())?;
        Ok(PyBytes::new(slf.py(), &saved))
    }

    #[doc = text!(StreamableParser.process)]
    fn process<'py>(
        slf: &Bound<'py, Self>,
        token: &Bound<'py, PyAny>,
    ) -> PyResult<PyRefMut<'py, Self>> {
        let token = tokens::read_one(token)?;
        let mut parser = writing(slf)?;
        match parser.inner.process(token) {
            Ok(_) => Ok(parser),
            Err(error) => Err(raised(slf.py(), &error)),
        }
    }

    #[doc = text!(StreamableParser.process_eos)]
    fn process_eos<'py>(slf: &Bound<'py, Self>) -> PyResult<PyRefMut<'py, Self>> {
        let mut parser = writing(slf)?;
        match parser.inner.process_eos() {
            Ok(_) => Ok(parser),
            Err(error) => Err(raised(slf.py(), &error)),
        }
    }

    #[doc = text!(StreamableParser.feed)]
    fn feed<'py>(
        slf: &Bound<'py, Self>,
        tokens: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = slf.py();
        // Read before the parser is borrowed: a generator of tokens may use it.
        let ids = tokens::read(tokens)?;
        let events = {
            let parser = &mut writing(slf)?.inner;
            released_if(py, ids.len() >= MANY_TOKENS, || parser.feed(&ids))
        };
        event_list(py, events.or_raise(py)?)
    }

    #[doc = text!(StreamableParser.finish)]
    fn finish<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let py = slf.py();
        let events = writing(slf)?.inner.finish();
        event_list(py, events.or_raise(py)?)
    }

    #[doc = text!(StreamableParser.reset)]
    #[pyo3(signature = (role = None))]
    fn reset<'py>(
        slf: &Bound<'py, Self>,
        role: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<PyRefMut<'py, Self>> {
        let role = role.map(|role| arguments::role(role, "role")).transpose()?;
        let mut parser = writing(slf)?;
        parser.inner.reset(role);
        parser.strings = Mutex::default();
        Ok(parser)
    }

    // What the parser knows.

    #[doc = text!(StreamableParser.messages)]
    #[getter]
    fn messages<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let (py, parser) = (slf.py(), reading(slf)?);
        let messages = parser.inner.messages();
        // Another thread may hold it, or a finalizer that was triggered by making objects.
        let Ok(mut strings) = parser.strings.try_lock() else {
            return write::messages(py, messages);
        };
        let new = messages.iter().skip(strings.len());
        strings.extend(new.map(|message| Strings::of(py, message)));
        write::messages_of(py, &strings)
    }

    #[doc = text!(StreamableParser.stop_tokens)]
    #[getter]
    fn stop_tokens<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(slf.py(), reading(slf)?.inner.stop_tokens())
    }

    #[doc = text!(StreamableParser.tokens)]
    #[getter]
    fn tokens<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        tokens::list(slf.py(), reading(slf)?.inner.tokens())
    }

    #[doc = text!(StreamableParser.repairs)]
    #[getter]
    fn repairs<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(slf.py());
        for repair in reading(slf)?.inner.repairs() {
            list.append(events::repair(slf.py(), repair.clone())?)?;
        }
        Ok(list)
    }

    #[doc = text!(StreamableParser.state)]
    #[getter]
    fn state<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Ok(Types::get(slf.py())?.state(reading(slf)?.inner.state()).bind(slf.py()).clone())
    }

    #[doc = text!(StreamableParser.state_data)]
    #[getter]
    fn state_data<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize(slf.py(), &reading(slf)?.inner.state_data())?)
    }

    #[doc = text!(StreamableParser.current_role)]
    #[getter]
    fn current_role<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let types = Types::get(slf.py())?;
        Ok(reading(slf)?.inner.current_role().map(|role| types.role(role).bind(slf.py()).clone()))
    }

    #[doc = text!(StreamableParser.current_channel)]
    #[getter]
    fn current_channel<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Ok(write::channel(slf.py(), reading(slf)?.inner.channel()))
    }

    #[doc = text!(StreamableParser.current_recipient)]
    #[getter]
    fn current_recipient<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Ok(write::optional(slf.py(), reading(slf)?.inner.recipient()))
    }

    #[doc = text!(StreamableParser.current_content_type)]
    #[getter]
    fn current_content_type<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Ok(write::optional(slf.py(), reading(slf)?.inner.content_type()))
    }

    #[doc = text!(StreamableParser.current_content)]
    #[getter]
    fn current_content<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyString>> {
        Ok(PyString::new(slf.py(), reading(slf)?.inner.content()))
    }

    #[doc = text!(StreamableParser.last_content_delta)]
    #[getter]
    fn last_content_delta<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Ok(write::optional(slf.py(), reading(slf)?.inner.delta()))
    }
}

/// The parser to look at.
fn reading<'py>(
    parser: &Bound<'py, PyStreamableParser>,
) -> PyResult<PyRef<'py, PyStreamableParser>> {
    parser.try_borrow().map_err(|_| in_use())
}

/// The parser to change.
fn writing<'py>(
    parser: &Bound<'py, PyStreamableParser>,
) -> PyResult<PyRefMut<'py, PyStreamableParser>> {
    parser.try_borrow_mut().map_err(|_| in_use())
}

/// A parser serves one call at a time: another thread's `feed` runs with the GIL released.
fn in_use() -> PyErr {
    PyRuntimeError::new_err("the parser is in use by another call")
}

fn event_list(py: Python<'_>, events: Vec<Event>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for event in events {
        list.append(events::to_python(py, event)?)?;
    }
    Ok(list)
}
