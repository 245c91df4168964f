//! Numbers as Python's flat arrays, and batches of training examples.

use pyo3::buffer::Element;
use pyo3::ffi::{self, PyBUF_READ};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyDict};

use super::errors::raised;
use openai_harmony::MessageSpan;
use openai_harmony::tokenizer::TokenId;
use openai_harmony::training::Batch;

/// The fields of `openai_harmony.training.Batch`. A batch may be large, so each vector is freed once it is an array.
pub(super) fn fields(py: Python<'_>, batch: Batch) -> PyResult<Bound<'_, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("tokens", uint32(py, &batch.tokens)?)?;
    drop(batch.tokens);
    fields.set_item("offsets", int64(py, batch.offsets)?)?;
    fields.set_item("loss_mask", PyByteArray::new(py, &batch.loss_mask))?;
    drop(batch.loss_mask);
    fields.set_item("row", int64(py, batch.row)?)?;
    fields.set_item("preferred", batch.preferred)?;
    let spans: Vec<_> = batch.spans.into_iter().map(|span| fields_of(&span)).collect();
    fields.set_item("_spans", array(py, "q", spans.as_flattened())?)?;
    fields.set_item("_span_offsets", int64(py, batch.span_offsets)?)?;
    let errors = batch.errors.iter().map(|(row, error)| (row, raised(py, error).into_value(py)));
    fields.set_item("errors", errors.collect::<Vec<_>>())?;
    fields.set_item("dropped", batch.dropped)?;
    fields.set_item("truncated", batch.truncated)?;
    fields.set_item("dropped_thoughts", batch.dropped_thoughts)?;
    fields.set_item("unused", batch.unused)?;
    Ok(fields)
}

/// Tokens as an array of uint32.
pub(super) fn uint32<'py>(py: Python<'py>, tokens: &[TokenId]) -> PyResult<Bound<'py, PyAny>> {
    array(py, "I", tokens)
}

/// Indices as an array of int64.
pub(super) fn int64(py: Python<'_>, indices: Vec<usize>) -> PyResult<Bound<'_, PyAny>> {
    array(py, "q", &indices.into_iter().map(as_i64).collect::<Vec<_>>())
}

/// An `array.array` of numbers.
pub(super) fn array<'py, T: Element>(
    py: Python<'py>,
    typecode: &str,
    numbers: &[T],
) -> PyResult<Bound<'py, PyAny>> {
    let array = empty_array(py, typecode)?;
    append(&array, numbers)?;
    Ok(array)
}

/// An `array.array` without numbers.
pub(super) fn empty_array<'py>(py: Python<'py>, typecode: &str) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CLASS.import(py, "array", "array")?.call1((typecode,))
}

/// Appends numbers to an `array.array` of their type.
///
/// The array reads them in place. Making bytes first needs no `unsafe`, but one more copy: 2 MB of text then take 1.15
/// of the time, mostly for fresh memory.
pub(super) fn append<T: Element>(array: &Bound<'_, PyAny>, numbers: &[T]) -> PyResult<()> {
    let (py, start) = (array.py(), numbers.as_ptr().cast_mut().cast());
    let len = size_of_val(numbers).cast_signed();
    // SAFETY: the call gives a new reference to a view of `len` bytes from `start` on, or null. The view is for
    // reading, and `frombytes` of an array, which copies them, does not keep it: it is released while the numbers live.
    let view = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyMemoryView_FromMemory(start, len, PyBUF_READ))?
    };
    array.call_method1(intern!(py, "frombytes"), (&view,))?;
    view.call_method0(intern!(py, "release")).map(|_| ())
}

/// The fields of a `MessageSpan`; -1 for no message.
fn fields_of(span: &MessageSpan) -> [i64; 5] {
    let &MessageSpan { message, start, content, stop, end, .. } = span;
    let message = message.map_or(-1, as_i64);
    [message, as_i64(start), as_i64(content), as_i64(stop), as_i64(end)]
}

/// An index fits: no collection has more items.
pub(super) fn as_i64(index: usize) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}
