//! What engines elsewhere sampled -> answers, for Python: bytes in, bytes out.

use openai_harmony::interop::{DerenderOptions, derender as made};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::body::PyBody;
use super::errors::OrRaise;

#[doc = text!(derender)]
#[pyfunction]
#[pyo3(signature = (body, encoding, *, model, created, context))]
pub(super) fn derender<'py>(
    body: &PyBody,
    encoding: &Bound<'py, PyAny>,
    model: &str,
    created: u64,
    context: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = encoding.py();
    let encoding = super::encoding::argument(encoding)?;
    let options = DerenderOptions { model, created, context };
    let answer = py.detach(|| made(&body.json, &encoding, options));
    Ok(PyBytes::new(py, &answer.or_raise(py)?))
}
