//! Texts and conversations to Python's tokens.

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::errors::OrRaise;
use super::gil::released_if;
use super::text::utf8;
use super::tokens::Form;
use openai_harmony::Result;

/// Bytes of text, about 5 µs of work, from which on the GIL is released. Releasing it costs a tenth of that, and more
/// if other threads want it.
pub(super) const MUCH_TEXT: usize = 2_000;

/// The tokens of a string, by an `encode` that appends those of a text.
pub(super) fn encoded<'py>(
    string: &Bound<'py, PyString>,
    form: Form,
    encode: impl Fn(&str, &mut Vec<u32>) -> Result<()> + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    let text = utf8(string)?;
    tokens_of(string.py(), form, text.len() >= MUCH_TEXT, || {
        let mut ids = Vec::new();
        encode(&text, &mut ids).map(|()| ids)
    })
}

/// The tokens that some work gives.
pub(super) fn tokens_of(
    py: Python<'_>,
    form: Form,
    much: bool,
    work: impl FnOnce() -> Result<Vec<u32>> + Send,
) -> PyResult<Bound<'_, PyAny>> {
    form.of(py, &released_if(py, much, work).or_raise(py)?)
}
