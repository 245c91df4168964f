//! Rollouts for Python, which `openai_harmony.rollout` wraps.

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyList};

use super::arrays::{array, uint32};
use super::encoding::{Span, argument, fields_of};
use super::errors::{OrRaise, OrRaiseAt};
use super::options::set_from;
use super::read::values::{each, optional, string};
use super::{arguments, events, logprobs, options, read, tokens, write};
use openai_harmony::chat::Message;
use openai_harmony::rollout::{Break, ExtendOptions, Extension, Rollout, Said, Segment, Step};
use openai_harmony::tokenizer::TokenId;

/// A sampled message: the message, its kind, its span, whether the model ended it, whether it waits for a result.
type SaidFields<'py> = (Bound<'py, PyAny>, &'static str, Span, bool, bool);

/// One sample: its messages, the stop token, repairs.
type StepFields<'py> = (Vec<SaidFields<'py>>, Option<TokenId>, Bound<'py, PyList>);

/// Tokens as an array of uint32, loss mask, log-probabilities as an array of float32, spans, why the segment began, and
/// the position of each sample.
type SegmentFields<'py> = (
    Bound<'py, PyAny>,
    Bound<'py, PyByteArray>,
    Bound<'py, PyAny>,
    Vec<Span>,
    Option<&'static str>,
    Vec<(usize, usize)>,
);

/// An episode that continues from its own tokens.
#[pyclass(name = "_Rollout", module = "openai_harmony._lowlevel")]
pub(super) struct PyRollout {
    inner: Rollout,
}

#[pymethods]
impl PyRollout {
    #[new]
    #[pyo3(signature = (encoding, messages, prefill, **options))]
    fn new(
        encoding: &Bound<'_, PyAny>,
        messages: &Bound<'_, PyAny>,
        prefill: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let py = encoding.py();
        let encoding = argument(encoding)?;
        let options = extend_options(options)?;
        let prefill = options::prefill(prefill)?;
        Rollout::with_prefill(encoding, owned(messages)?, &prefill, options)
            .map(|inner| Self { inner })
            .or_raise(py)
    }

    /// The tokens to sample from, an array of uint32.
    fn prompt<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        uint32(py, &self.inner.prompt())
    }

    fn sampled<'py>(
        slf: &Bound<'py, Self>,
        sampled: &Bound<'py, PyAny>,
        logprobs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<StepFields<'py>> {
        let py = sampled.py();
        let sampled = tokens::read(sampled)?;
        let logprobs = logprobs.map(logprobs::numbers).transpose()?;
        // Borrowed after these are read: a generator of tokens may use the rollout.
        let step = slf.try_borrow_mut()?.inner.sampled(&sampled, logprobs.as_deref());
        step_fields(py, step.or_raise(py)?)
    }

    /// Adds messages, and returns why the prompt broke.
    fn extend(
        slf: &Bound<'_, Self>,
        messages: &Bound<'_, PyAny>,
    ) -> PyResult<Option<&'static str>> {
        // Borrowed after these are read: a generator of messages may use the rollout.
        let messages = owned(messages)?;
        let broken = slf.try_borrow_mut()?.inner.extend(&messages);
        Ok(broken.or_raise(slf.py())?.map(Break::name))
    }

    /// The messages, new objects.
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        write::whole_messages(py, self.inner.messages())
    }

    fn segments<'py>(&self, py: Python<'py>) -> PyResult<Vec<SegmentFields<'py>>> {
        self.inner.segments().iter().map(|segment| segment_fields(py, segment)).collect()
    }

    fn branch(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

/// Reads a sample, however malformed, without a rollout.
#[pyfunction]
pub(super) fn read_step<'py>(
    encoding: &Bound<'py, PyAny>,
    prompt: &Bound<'py, PyAny>,
    sampled: &Bound<'py, PyAny>,
    tools: Option<&Bound<'py, PyAny>>,
) -> PyResult<StepFields<'py>> {
    let py = encoding.py();
    let encoding = argument(encoding)?;
    let (prompt, sampled) = (tokens::read(prompt)?, tokens::read(sampled)?);
    let tools = tools.map(arguments::tool_names).transpose()?.unwrap_or_default();
    let step = Step::read(encoding, &prompt, &sampled, &tools);
    step_fields(py, step.or_raise(py)?)
}

/// The reason why a prompt breaks and the new rendering; or `None` and the tokens to add.
#[pyfunction]
#[pyo3(signature = (encoding, prompt, sampled, messages, **options))]
pub(super) fn extend_prompt<'py>(
    encoding: &Bound<'py, PyAny>,
    prompt: &Bound<'py, PyAny>,
    sampled: &Bound<'py, PyAny>,
    messages: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Option<&'static str>, Bound<'py, PyList>)> {
    let py = encoding.py();
    let encoding = argument(encoding)?;
    let (prompt, sampled) = (tokens::read(prompt)?, tokens::read(sampled)?);
    let options = extend_options(options)?;
    let extension = encoding.extend(&prompt, &sampled, &owned(messages)?, &options);
    match extension.or_raise(py)? {
        Extension::Extended { added } => Ok((None, tokens::list(py, &added)?)),
        Extension::Broken { reason, tokens: all } => {
            Ok((Some(reason.name()), tokens::list(py, &all)?))
        }
    }
}

/// The messages of a list of Python's models.
fn owned(messages: &Bound<'_, PyAny>) -> PyResult<Vec<Message>> {
    each(messages, |message| read::single_message(message).map(Message::from))
        .or_raise_at(messages.py(), "messages")
}

fn extend_options(given: Option<&Bound<'_, PyDict>>) -> PyResult<ExtendOptions> {
    options::set_all(ExtendOptions::new(), given, None, options::set)
}

set_from! {
    Vec<String>: |names| optional(names, |names| each(names, string)).map(Option::unwrap_or_default),
}

fn step_fields(py: Python<'_>, step: Step) -> PyResult<StepFields<'_>> {
    let said = step.said.into_iter().map(|said| said_fields(py, said)).collect::<PyResult<_>>()?;
    let repairs = PyList::empty(py);
    for repair in step.repairs {
        repairs.append(events::repair(py, repair)?)?;
    }
    Ok((said, step.stop_token, repairs))
}

fn said_fields(py: Python<'_>, said: Said) -> PyResult<SaidFields<'_>> {
    let list = write::messages(py, &[said.message])?;
    let (span, ends, waits) = (fields_of(&said.span), said.is_complete, said.is_waiting);
    Ok((list.get_item(0)?, said.kind.name(), span, ends, waits))
}

fn segment_fields<'py>(py: Python<'py>, segment: &Segment) -> PyResult<SegmentFields<'py>> {
    Ok((
        uint32(py, &segment.tokens())?,
        PyByteArray::new(py, &segment.loss_mask()),
        array(py, "f", &segment.logprobs())?,
        segment.spans().iter().map(fields_of).collect(),
        segment.broken().map(Break::name),
        segment.samples().into_iter().map(|sample| (sample.start, sample.end)).collect(),
    ))
}
