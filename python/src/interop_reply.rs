//! Sampled tokens -> answers of APIs, for Python.

use std::sync::{Mutex, MutexGuard};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use pythonize::pythonize;

use super::encoding::MANY_TOKENS;
use super::errors::{InvalidArgument, OrRaise, OrRaiseAt, Read};
use super::gil::released_if;
use super::interop::PyTurn;
use super::options::{Failed, Given, ReadChoice, set_from};
use super::read::values::{optional, string};
use super::{events, json, json_out, logprobs, options, tokens, write};
use openai_harmony::Result;
use openai_harmony::interop::{
    FinishReason, Json, MakeId, ReasoningField, Reply, ReplyOptions, TokenLogprob,
};
use openai_harmony::machinery::SetFrom;

#[doc = text!(Reply)]
#[pyclass(name = "Reply", module = "openai_harmony._lowlevel", frozen, subclass)]
pub(super) struct PyReply {
    inner: Mutex<Reply>,
    /// The exceptions of the caller's functions; `None` without such functions.
    failed: Option<Failed>,
}

set_from! {
    ReasoningField:
        |field| Ok(optional(field, ReasoningField::read)?.unwrap_or(ReasoningField::Omitted)),
}

impl SetFrom<Given<'_, '_>, InvalidArgument> for Option<MakeId> {
    fn set_from(&mut self, given: Given<'_, '_>) -> Read<()> {
        *self = given.function()?.map(|(make, failed)| make_id(make, failed));
        Ok(())
    }
}

fn make_id(make: Py<PyAny>, failed: Failed) -> MakeId {
    MakeId::new(move |prefix| {
        let id = Python::attach(|py| {
            let id = make.bind(py).call1((prefix,))?;
            string(&id).or_raise_at(py, "make_id()")
        });
        id.unwrap_or_else(|error| {
            failed.keep(error);
            prefix.to_owned()
        })
    })
}

#[pymethods]
impl PyReply {
    /// Begins the answer to a turn, or resumes one that was saved. `options` are those of `Turn.reply`.
    #[new]
    #[pyo3(signature = (turn, encoding, *, saved = None, **options))]
    fn new(
        py: Python<'_>,
        turn: &Bound<'_, PyTurn>,
        encoding: &Bound<'_, PyAny>,
        saved: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let encoding = super::encoding::argument(encoding)?;
        let failed = Failed::default();
        let options =
            options::set_all(ReplyOptions::default(), options, Some(&failed), options::set)?;
        let turn = &turn.get().inner;
        let reply = match saved {
            Some(saved) => {
                let saved = saved.cast::<PyBytes>().map_err(|_| {
                    InvalidArgument::type_of(saved, "bytes").inside("saved").raised(py)
                })?;
                Reply::from_bytes(turn, &encoding, saved.as_bytes(), options)
            }
            None => py.detach(|| turn.reply(&encoding, options)),
        };
        failed.check()?;
        let reply = reply.or_raise(py)?;
        Ok(Self { inner: Mutex::new(reply), failed: failed.is_shared().then_some(failed) })
    }

    #[doc = text!(Reply.feed)]
    #[pyo3(signature = (tokens, logprobs = None))]
    fn feed<'py>(
        &self,
        tokens: &Bound<'py, PyAny>,
        logprobs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let feed = |reply: &mut Reply, ids: &[u32], given: Logprobs<'_>| reply.feed(ids, given);
        dicts(tokens.py(), &self.feed_with(tokens, logprobs, feed)?)
    }

    #[doc = text!(Reply.feed_bytes)]
    #[pyo3(signature = (tokens, logprobs = None))]
    fn feed_bytes<'py>(
        &self,
        tokens: &Bound<'py, PyAny>,
        logprobs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let py = tokens.py();
        // Room for a chunk of some tokens.
        let mut bytes = Vec::with_capacity(512);
        let feed = |reply: &mut Reply, ids: &[u32], given: Logprobs<'_>| {
            reply.feed_into(ids, given, &mut bytes)
        };
        self.feed_with(tokens, logprobs, feed)?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[doc = text!(Reply.finish)]
    #[pyo3(signature = (reason, stop_sequence = None))]
    fn finish<'py>(
        &self,
        py: Python<'py>,
        reason: &Bound<'py, PyAny>,
        stop_sequence: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        dicts(py, &self.finish_with(reason, stop_sequence, Reply::finish)?)
    }

    #[doc = text!(Reply.finish_bytes)]
    #[pyo3(signature = (reason, stop_sequence = None))]
    fn finish_bytes<'py>(
        &self,
        py: Python<'py>,
        reason: &Bound<'py, PyAny>,
        stop_sequence: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        self.finish_with(reason, stop_sequence, |reply, reason, stop_sequence| {
            reply.finish_into(reason, stop_sequence, &mut bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[doc = text!(Reply.fail)]
    #[pyo3(signature = (message, status = 500))]
    fn fail<'py>(
        &self,
        py: Python<'py>,
        message: &Bound<'py, PyAny>,
        status: u16,
    ) -> PyResult<Bound<'py, PyList>> {
        dicts(py, &self.fail_with(message, |reply, message| reply.fail(message, status))?)
    }

    #[doc = text!(Reply.fail_bytes)]
    #[pyo3(signature = (message, status = 500))]
    fn fail_bytes<'py>(
        &self,
        py: Python<'py>,
        message: &Bound<'py, PyAny>,
        status: u16,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        self.fail_with(message, |reply, message| reply.fail_into(message, status, &mut bytes))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[doc = text!(Reply.to_checkpoint)]
    fn to_checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = self.lock()?.to_checkpoint();
        self.check()?;
        Ok(PyBytes::new(py, &saved.or_raise(py)?))
    }

    #[doc = text!(Reply.to_bytes)]
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = self.lock()?.to_bytes();
        self.check()?;
        Ok(PyBytes::new(py, &saved))
    }

    #[doc = text!(Reply.response_bytes)]
    fn response_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        {
            let reply = &*self.lock()?;
            py.detach(|| reply.response_into(&mut bytes));
        }
        Ok(PyBytes::new(py, &bytes))
    }

    #[doc = text!(Reply.response)]
    fn response<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json_out::value(py, self.lock()?.full_response().at())
    }

    #[doc = text!(Reply.frame)]
    #[pyo3(signature = (chunk=None))]
    fn frame<'py>(
        &self,
        py: Python<'py>,
        chunk: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let chunk = chunk.map(json::chunk).transpose()?;
        let reply = self.lock()?;
        Ok(match chunk {
            Some(chunk) => PyBytes::new(py, &reply.frame(&chunk)),
            None => PyBytes::new(py, reply.last_frame()),
        })
    }

    #[doc = text!(Reply.media_type)]
    #[getter]
    fn media_type(&self) -> PyResult<&'static str> {
        Ok(self.lock()?.media_type())
    }

    #[doc = text!(Reply.stop_sequence)]
    #[getter]
    fn stop_sequence(&self) -> PyResult<Option<String>> {
        Ok(self.lock()?.stop_sequence().map(str::to_owned))
    }

    #[doc = text!(Reply.is_ended)]
    #[getter]
    fn is_ended(&self) -> PyResult<bool> {
        Ok(self.lock()?.is_ended())
    }

    /// Whether markers spelled by ordinary tokens are read.
    #[getter]
    fn _spelled_markers(&self) -> PyResult<bool> {
        Ok(self.lock()?.reads_spelled_markers())
    }

    #[doc = text!(Reply.messages)]
    #[getter]
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let messages = self.lock()?.messages().to_vec();
        write::messages(py, &messages)
    }

    #[doc = text!(Reply.tokens)]
    #[getter]
    fn tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        tokens::list(py, self.lock()?.tokens())
    }

    #[doc = text!(Reply.budget_spent)]
    #[getter]
    fn budget_spent(&self) -> PyResult<bool> {
        Ok(self.lock()?.budget_spent())
    }

    #[doc = text!(Reply.force)]
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        tokens::list(py, self.lock()?.force())
    }

    #[doc = text!(Reply.repairs)]
    #[getter]
    fn repairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let repairs = self.lock()?.repairs().to_vec();
        let list = PyList::empty(py);
        for repair in repairs {
            list.append(events::repair(py, repair)?)?;
        }
        Ok(list)
    }

    #[getter]
    fn _builtin_calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize(py, self.lock()?.builtin_calls())?)
    }

    #[getter]
    fn _usage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize(py, &self.lock()?.usage())?)
    }
}

/// Those of the tokens, if the engine gives any.
type Logprobs<'a> = Option<&'a [Option<TokenLogprob>]>;

impl PyReply {
    fn lock(&self) -> PyResult<MutexGuard<'_, Reply>> {
        let in_use = |_| PyRuntimeError::new_err("the reply is in use by another call");
        self.inner.try_lock().map_err(in_use)
    }

    /// What a function of the caller's raised.
    fn check(&self) -> PyResult<()> {
        self.failed.as_ref().map_or(Ok(()), Failed::check)
    }

    /// Changes the reply, with the GIL released if there is `much` to do.
    fn change<T: Send>(
        &self,
        py: Python<'_>,
        much: bool,
        change: impl FnOnce(&mut Reply) -> Result<T> + Send,
    ) -> PyResult<T> {
        let changed = {
            let reply = &mut *self.lock()?;
            // The first event of Responses repeats the request, perhaps megabytes.
            let much = much || reply.usage().completion_tokens == 0;
            released_if(py, much, || change(reply))
        };
        self.check()?;
        changed.or_raise(py)
    }

    fn feed_with<T: Send>(
        &self,
        tokens: &Bound<'_, PyAny>,
        logprobs: Option<&Bound<'_, PyAny>>,
        feed: impl FnOnce(&mut Reply, &[u32], Logprobs<'_>) -> Result<T> + Send,
    ) -> PyResult<T> {
        let py = tokens.py();
        // Read before the reply is borrowed: a generator of tokens may use it.
        let ids = tokens::read(tokens)?;
        let logprobs = logprobs.map(logprobs::read).transpose()?;
        self.change(py, ids.len() >= MANY_TOKENS, |reply| feed(reply, &ids, logprobs.as_deref()))
    }

    fn finish_with<T: Send>(
        &self,
        reason: &Bound<'_, PyAny>,
        stop_sequence: Option<&Bound<'_, PyAny>>,
        finish: impl FnOnce(&mut Reply, FinishReason, Option<&str>) -> Result<T> + Send,
    ) -> PyResult<T> {
        let py = reason.py();
        let reason = FinishReason::read(reason).or_raise_at(py, "reason")?;
        let stop_sequence =
            stop_sequence.map(string).transpose().or_raise_at(py, "stop_sequence")?;
        self.change(py, true, |reply| finish(reply, reason, stop_sequence.as_deref()))
    }

    fn fail_with<T: Send>(
        &self,
        message: &Bound<'_, PyAny>,
        fail: impl FnOnce(&mut Reply, &str) -> Result<T> + Send,
    ) -> PyResult<T> {
        let py = message.py();
        let message = string(message).or_raise_at(py, "message")?;
        self.change(py, true, |reply| fail(reply, &message))
    }
}

fn dicts<'py>(py: Python<'py>, chunks: &[Json]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for chunk in chunks {
        list.append(json_out::value(py, chunk.at())?)?;
    }
    Ok(list)
}
