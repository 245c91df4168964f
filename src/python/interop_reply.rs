//! Sampled tokens -> answers of APIs, for Python.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use super::encoding::{MANY_TOKENS, PyHarmonyEncoding};
use super::errors::raised;
use super::gil::released_if;
use super::interop::{Failed, PyTurn};
use super::{events, serialize, tokens, write};
use crate::Result;
use crate::interop::{
    Chunk, Clock, FinishReason, MakeId, ReasoningField, Reply, ReplyOptions, Usage,
};

/// An answer under way; `openai_harmony.interop.Reply` is its face.
#[pyclass(name = "_Reply", module = "openai_harmony._lowlevel", frozen)]
pub(super) struct PyReply {
    inner: Mutex<Reply>,
    /// What the caller's functions raised.
    failed: Failed,
}

/// Begins the answer to a turn. `options` are those of `Turn.reply`.
#[pyfunction]
#[pyo3(signature = (turn, encoding, **options))]
pub(super) fn begin_reply(
    py: Python<'_>,
    turn: &Bound<'_, PyTurn>,
    encoding: &Bound<'_, PyHarmonyEncoding>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyReply> {
    let failed = Failed::default();
    let options = read_options(options, &failed)?;
    let reply = turn.get().inner.reply(&encoding.get().inner, options);
    failed.check()?;
    let reply = reply.map_err(|error| raised(py, &error))?;
    Ok(PyReply { inner: Mutex::new(reply), failed })
}

fn read_options(given: Option<&Bound<'_, PyDict>>, failed: &Failed) -> PyResult<ReplyOptions> {
    let mut options = ReplyOptions::default();
    for (key, value) in given.into_iter().flatten() {
        match key.extract::<String>()?.as_str() {
            "model" => options.model = value.extract()?,
            "id" => options.id = value.extract()?,
            "created" => options.created = value.extract()?,
            "prompt_tokens" => options.prompt_tokens = value.extract()?,
            "cached_tokens" => options.cached_tokens = value.extract()?,
            "index" => options.index = value.extract()?,
            "reasoning_field" => options.reasoning_field = read_field(value.extract()?)?,
            "make_id" | "clock" if value.is_none() => {}
            "make_id" => options.make_id = Some(make_id(value.unbind(), failed.clone())),
            "clock" => options.clock = clock(value.unbind(), failed.clone()),
            other => return Err(PyValueError::new_err(format!("unknown option {other:?}"))),
        }
    }
    Ok(options)
}

fn read_field(name: Option<&str>) -> PyResult<ReasoningField> {
    Ok(match name {
        None => ReasoningField::Omitted,
        Some("reasoning_content") => ReasoningField::ReasoningContent,
        Some("reasoning") => ReasoningField::Reasoning,
        Some("both") => ReasoningField::Both,
        Some(other) => {
            let allowed = "'reasoning_content', 'reasoning', 'both' and None";
            let text = format!("reasoning_field takes {allowed}, not {other:?}");
            return Err(PyValueError::new_err(text));
        }
    })
}

fn make_id(make: Py<PyAny>, failed: Failed) -> MakeId {
    MakeId::new(move |prefix| {
        let id = Python::attach(|py| make.bind(py).call1((prefix,))?.extract::<String>());
        id.unwrap_or_else(|error| {
            failed.keep(error);
            prefix.to_owned()
        })
    })
}

/// A function that returns seconds, such as `time.monotonic`.
fn clock(now: Py<PyAny>, failed: Failed) -> Clock {
    Clock::new(move || {
        let seconds = Python::attach(|py| now.bind(py).call0()?.extract::<f64>());
        let seconds = seconds.unwrap_or_else(|error| {
            failed.keep(error);
            0.0
        });
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    })
}

#[pymethods]
impl PyReply {
    /// Takes sampled tokens and returns what the API sends of them, as dicts.
    fn feed<'py>(&self, tokens: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        dicts(tokens.py(), &self.feed_with(tokens, Reply::feed)?)
    }

    /// The same, as bytes on the wire.
    fn feed_bytes<'py>(&self, tokens: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let py = tokens.py();
        // Room for a chunk of some tokens.
        let mut bytes = Vec::with_capacity(512);
        self.feed_with(tokens, |reply, ids| reply.feed_into(ids, &mut bytes))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Ends the answer and returns what is left to send, as dicts.
    #[pyo3(signature = (reason, stop_sequence))]
    fn finish<'py>(
        &self,
        py: Python<'py>,
        reason: &str,
        stop_sequence: Option<&str>,
    ) -> PyResult<Bound<'py, PyList>> {
        let finish = |reply: &mut Reply, reason| reply.finish(reason, stop_sequence);
        dicts(py, &self.finish_with(py, reason, finish)?)
    }

    /// The same, as bytes on the wire, with what ends the stream.
    #[pyo3(signature = (reason, stop_sequence))]
    fn finish_bytes<'py>(
        &self,
        py: Python<'py>,
        reason: &str,
        stop_sequence: Option<&str>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        self.finish_with(py, reason, |reply, reason| {
            reply.finish_into(reason, stop_sequence, &mut bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The whole answer, as a dict.
    fn response<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        serialize::to_python(py, &self.lock()?.response())
    }

    /// What ends the stream after the last chunk.
    fn last_frame<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.lock()?.last_frame()))
    }

    #[getter]
    fn media_type(&self) -> PyResult<&'static str> {
        Ok(self.lock()?.media_type())
    }

    #[getter]
    fn stop_sequence(&self) -> PyResult<Option<String>> {
        Ok(self.lock()?.stop_sequence().map(str::to_owned))
    }

    #[getter]
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let messages = self.lock()?.messages().to_vec();
        write::messages(py, &messages)
    }

    #[getter]
    fn repairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let repairs = self.lock()?.repairs().to_vec();
        let list = PyList::empty(py);
        for repair in repairs {
            list.append(events::repair(py, repair)?)?;
        }
        Ok(list)
    }

    /// Recipient, text, and whether it came to its end.
    #[getter]
    fn builtin_calls(&self) -> PyResult<Vec<(String, String, bool)>> {
        let reply = self.lock()?;
        let calls = reply.builtin_calls().iter();
        Ok(calls
            .map(|call| (call.recipient.clone(), call.text.clone(), call.is_complete))
            .collect())
    }

    /// Tokens of the prompt, cached ones, sampled ones, those of thoughts.
    #[getter]
    fn usage(&self) -> PyResult<[usize; 4]> {
        let usage = self.lock()?.usage();
        let Usage { prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, .. } = usage;
        Ok([prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens])
    }
}

impl PyReply {
    fn lock(&self) -> PyResult<MutexGuard<'_, Reply>> {
        let in_use = |_| PyRuntimeError::new_err("the reply is in use by another call");
        self.inner.try_lock().map_err(in_use)
    }

    fn feed_with<T: Send>(
        &self,
        tokens: &Bound<'_, PyAny>,
        feed: impl FnOnce(&mut Reply, &[u32]) -> Result<T> + Send,
    ) -> PyResult<T> {
        let py = tokens.py();
        // Before the reply is taken: a generator of tokens may look at it.
        let ids = tokens::read(tokens)?;
        let result = {
            let reply = &mut *self.lock()?;
            released_if(py, ids.len() >= MANY_TOKENS, || feed(reply, &ids))
        };
        self.failed.check()?;
        result.map_err(|error| raised(py, &error))
    }

    fn finish_with<T>(
        &self,
        py: Python<'_>,
        reason: &str,
        finish: impl FnOnce(&mut Reply, FinishReason) -> Result<T>,
    ) -> PyResult<T> {
        let reason = match reason {
            "stop" => FinishReason::Stop,
            "length" => FinishReason::Length,
            "abort" => FinishReason::Abort,
            other => {
                let text = format!("reason takes 'stop', 'length' and 'abort', not {other:?}");
                return Err(PyValueError::new_err(text));
            }
        };
        let finished = finish(&mut *self.lock()?, reason);
        self.failed.check()?;
        finished.map_err(|error| raised(py, &error))
    }
}

fn dicts<'py>(py: Python<'py>, chunks: &[Chunk]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for chunk in chunks {
        list.append(serialize::to_python(py, chunk)?)?;
    }
    Ok(list)
}
