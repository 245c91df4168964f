//! What engines stream -> sampled tokens, for Python.

use std::collections::BTreeMap;

use openai_harmony::interop::{EngineForm, EngineOutput, EngineReader, TokenLogprob};
use openai_harmony::machinery::Choice;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use super::errors::{OrRaiseAt, Read};
use super::options::ReadChoice;
use super::tokens;

#[doc = text!(EngineReader)]
#[pyclass(name = "EngineReader", module = "openai_harmony._lowlevel")]
pub(super) struct PyEngineReader {
    inner: EngineReader,
}

/// Tokens, the reason, log-probabilities, and a fault's status and text.
type Output<'py> =
    (Bound<'py, PyList>, Option<&'static str>, Option<Bound<'py, PyList>>, Option<(u16, String)>);

#[pymethods]
impl PyEngineReader {
    #[new]
    fn new(
        form: &Bound<'_, PyAny>,
        max_tokens: usize,
        stop_token_ids: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let py = form.py();
        let form: Read<EngineForm> = EngineForm::read(form);
        let form = form.or_raise_at(py, "form")?;
        let stops = tokens::read_at(stop_token_ids, &"stop_token_ids")?;
        Ok(Self { inner: EngineReader::new(form, max_tokens, &stops) })
    }

    #[doc = text!(EngineReader.feed)]
    fn feed<'py>(&mut self, data: &Bound<'py, PyBytes>) -> PyResult<Output<'py>> {
        output(data.py(), self.inner.feed(data.as_bytes()))
    }

    #[doc = text!(EngineReader.besides)]
    fn besides(&self) -> BTreeMap<&'static str, String> {
        self.inner.besides().clone()
    }

    #[doc = text!(EngineReader.finish)]
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Output<'py>> {
        output(py, self.inner.finish())
    }
}

fn output(py: Python<'_>, output: EngineOutput) -> PyResult<Output<'_>> {
    let EngineOutput { tokens, logprobs, reason, fault, .. } = output;
    let logprobs = logprobs.map(|all| {
        let all = all.into_iter().map(|one| logprob(py, one)).collect::<PyResult<Vec<_>>>();
        PyList::new(py, all?)
    });
    let fault = fault.map(|fault| (fault.status, fault.what));
    let reason = reason.and_then(Choice::word);
    Ok((tokens::list(py, &tokens)?, reason, logprobs.transpose()?, fault))
}

/// A number and a dict, as `Reply.feed` takes them, or `None`.
fn logprob(py: Python<'_>, logprob: Option<TokenLogprob>) -> PyResult<Option<Bound<'_, PyTuple>>> {
    let Some(TokenLogprob { logprob, top }) = logprob else { return Ok(None) };
    let likely = PyDict::new(py);
    for (token, logprob) in top {
        likely.set_item(token, logprob)?;
    }
    (logprob, likely).into_pyobject(py).map(Some)
}
