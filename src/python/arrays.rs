//! Batches of training examples as Python's flat arrays.

use std::collections::BTreeMap;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList};

use super::errors::raised;
use crate::Error;
use crate::span::MessageSpan;
use crate::training::Batch;

/// The fields of `openai_harmony.training.Batch`, to which batches are added. Arrays of Python grow in
/// place, so that nothing is left to be copied at the end.
pub(super) struct Arrays<'py> {
    tokens: Bound<'py, PyAny>,
    offsets: Bound<'py, PyAny>,
    loss_mask: Bound<'py, PyByteArray>,
    row: Bound<'py, PyAny>,
    preferred: Bound<'py, PyList>,
    spans: Bound<'py, PyAny>,
    span_offsets: Bound<'py, PyAny>,
    errors: Bound<'py, PyList>,
    dropped: Bound<'py, PyList>,
    truncated: Bound<'py, PyList>,
    dropped_thoughts: usize,
    unused: BTreeMap<String, usize>,
    token_count: i64,
    span_count: i64,
}

impl<'py> Arrays<'py> {
    pub(super) fn new(py: Python<'py>) -> PyResult<Self> {
        let class = py.import("array")?.getattr("array")?;
        let of_int64 = |first: &[i64]| class.call1(("q", PyList::new(py, first)?));
        Ok(Self {
            tokens: class.call1(("I",))?,
            offsets: of_int64(&[0])?,
            loss_mask: PyByteArray::new(py, &[]),
            row: of_int64(&[])?,
            preferred: PyList::empty(py),
            spans: of_int64(&[])?,
            span_offsets: of_int64(&[0])?,
            errors: PyList::empty(py),
            dropped: PyList::empty(py),
            truncated: PyList::empty(py),
            dropped_thoughts: 0,
            unused: BTreeMap::new(),
            token_count: 0,
            span_count: 0,
        })
    }

    /// Adds batches that follow those that were added.
    pub(super) fn add(&mut self, batches: Vec<Batch>) -> PyResult<()> {
        batches.into_iter().try_for_each(|batch| self.add_one(batch))
    }

    fn add_one(&mut self, batch: Batch) -> PyResult<()> {
        let py = self.tokens.py();
        extend(&self.tokens, &batch.tokens, u32::to_ne_bytes)?;
        let mask = PyBytes::new(py, &batch.loss_mask);
        self.loss_mask.call_method1(intern!(py, "extend"), (mask,))?;
        extend(&self.row, &batch.rows, |row| as_i64(row).to_ne_bytes())?;
        batch.preferred.iter().try_for_each(|preferred| self.preferred.append(preferred))?;
        extend_offsets(&self.offsets, &batch.offsets, &mut self.token_count)?;
        let spans: Vec<_> = batch.spans.iter().map(fields_of).collect();
        extend(&self.spans, spans.as_flattened(), i64::to_ne_bytes)?;
        extend_offsets(&self.span_offsets, &batch.span_offsets, &mut self.span_count)?;
        let value = |error: &Error| raised(py, error).into_value(py);
        batch.errors.iter().try_for_each(|(row, error)| self.errors.append((row, value(error))))?;
        batch.dropped.iter().try_for_each(|row| self.dropped.append(row))?;
        batch.truncated.iter().try_for_each(|row| self.truncated.append(row))?;
        self.dropped_thoughts += batch.dropped_thoughts;
        for (path, count) in batch.unused {
            *self.unused.entry(path).or_default() += count;
        }
        Ok(())
    }

    /// The fields by their names.
    pub(super) fn into_fields(self) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(self.tokens.py());
        fields.set_item("tokens", self.tokens)?;
        fields.set_item("offsets", self.offsets)?;
        fields.set_item("loss_mask", self.loss_mask)?;
        fields.set_item("row", self.row)?;
        fields.set_item("preferred", self.preferred)?;
        fields.set_item("spans", self.spans)?;
        fields.set_item("span_offsets", self.span_offsets)?;
        fields.set_item("errors", self.errors)?;
        fields.set_item("dropped", self.dropped)?;
        fields.set_item("truncated", self.truncated)?;
        fields.set_item("dropped_thoughts", self.dropped_thoughts)?;
        fields.set_item("unused", self.unused)?;
        Ok(fields)
    }
}

/// Tokens and offsets alone, as `openai_harmony.TokenBatch` has them.
pub(super) struct TokenArrays<'py> {
    tokens: Bound<'py, PyAny>,
    offsets: Bound<'py, PyAny>,
    token_count: i64,
}

impl<'py> TokenArrays<'py> {
    pub(super) fn new(py: Python<'py>) -> PyResult<Self> {
        let class = py.import("array")?.getattr("array")?;
        let (tokens, offsets) = (class.call1(("I",))?, class.call1(("q", [0]))?);
        Ok(Self { tokens, offsets, token_count: 0 })
    }

    /// Adds texts that follow those that were added; `offsets` begin with 0.
    pub(super) fn add(&mut self, tokens: &[u32], offsets: &[usize]) -> PyResult<()> {
        extend(&self.tokens, tokens, u32::to_ne_bytes)?;
        extend_offsets(&self.offsets, offsets, &mut self.token_count)
    }

    pub(super) fn into_arrays(self) -> (Bound<'py, PyAny>, Bound<'py, PyAny>) {
        (self.tokens, self.offsets)
    }
}

/// Adds offsets that count from the end of those before.
fn extend_offsets(array: &Bound<'_, PyAny>, offsets: &[usize], count: &mut i64) -> PyResult<()> {
    let before = *count;
    *count += offsets.last().copied().map_or(0, as_i64);
    extend(array, &offsets[1..], |offset| (before + as_i64(offset)).to_ne_bytes())
}

/// Adds numbers to an `array.array`.
fn extend<T: Copy, const N: usize>(
    array: &Bound<'_, PyAny>,
    numbers: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> PyResult<()> {
    let py = array.py();
    let bytes = PyBytes::new_with(py, numbers.len() * N, |room| {
        let (room, _) = room.as_chunks_mut::<N>();
        for (place, &number) in room.iter_mut().zip(numbers) {
            *place = bytes(number);
        }
        Ok(())
    })?;
    array.call_method1(intern!(py, "frombytes"), (bytes,)).map(drop)
}

/// The fields of a `MessageSpan`; -1 for no message.
fn fields_of(span: &MessageSpan) -> [i64; 5] {
    let &MessageSpan { message, start, content, stop, end } = span;
    let message = message.map_or(-1, as_i64);
    [message, as_i64(start), as_i64(content), as_i64(stop), as_i64(end)]
}

/// An index fits: nothing has more items than that.
fn as_i64(index: usize) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}
