//! What engines elsewhere sampled -> answers, for Python: bytes in, bytes out.

use openai_harmony::interop::{DerenderKind, DerenderOptions, derender as made};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::body::PyBody;
use super::errors::{Read, raised};
use super::options::ReadChoice;

#[doc = text!(derender)]
#[pyfunction]
#[pyo3(signature = (kind, body, encoding, *, model, created, context))]
pub(super) fn derender<'py>(
    kind: &Bound<'py, PyAny>,
    body: &PyBody,
    encoding: &Bound<'py, PyAny>,
    model: &str,
    created: u64,
    context: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = kind.py();
    let kind: Read<DerenderKind> = DerenderKind::read(kind);
    let kind = kind.map_err(|invalid| invalid.inside("kind").raised(py))?;
    let encoding = super::encoding::argument(encoding)?;
    let options = DerenderOptions { model, created, context };
    let answer = py.detach(|| made(kind, &body.json, &encoding, options));
    Ok(PyBytes::new(py, &answer.map_err(|error| raised(py, &error))?))
}
