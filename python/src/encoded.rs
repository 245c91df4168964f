//! Texts and conversations to Python's tokens.

use std::cell::Cell;

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::errors::raised;
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
    tokens_of(string.py(), form, text.len() >= MUCH_TEXT, |ids| encode(&text, ids))
}

/// The tokens that `write` appends to an empty vector.
pub(super) fn tokens_of(
    py: Python<'_>,
    form: Form,
    much: bool,
    write: impl FnOnce(&mut Vec<u32>) -> Result<()> + Send,
) -> PyResult<Bound<'_, PyAny>> {
    // The default if the thread's storage is already destroyed.
    let mut ids = IDS.try_with(Cell::take).unwrap_or_default();
    ids.clear();
    let tokens = match released_if(py, much, || write(&mut ids)) {
        Ok(()) => form.of(py, &ids),
        Err(error) => Err(raised(py, &error)),
    };
    if ids.capacity() <= KEPT {
        let _ = IDS.try_with(|kept| kept.set(ids));
    }
    tokens
}

/// The most ids for which a thread keeps its vector: 64 KiB.
const KEPT: usize = 1 << 14;

thread_local! {
    /// The vector for the ids of short texts. A new one each time takes a tenth of encoding two words.
    static IDS: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}
