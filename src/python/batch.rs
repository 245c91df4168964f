//! Rows of data sets -> flat arrays, for Python.

use std::num::NonZeroUsize;

use arrow_array::Array;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList};

use super::encoding::PyHarmonyEncoding;
use super::errors::{self, InvalidArgument, Read};
use super::interop::raised_at;
use super::options::one_of;
use super::read::values::string;
use super::rows::PyRow;
use super::{arrow, options, training};
use crate::interop::Date;
use crate::training::{
    Batch, ExampleMaker, Examples, Overflow, RenderRows, RowFormat, render_array_on, render_on,
};
use crate::workers::Workers;

/// So many rows are rendered before signal handlers run.
const ROWS: usize = 512;

/// Renders rows. The result has the fields of `openai_harmony.training.Batch`.
#[pyfunction]
#[pyo3(signature = (encoding, rows, **options))]
pub(super) fn render_rows<'py>(
    encoding: &Bound<'py, PyHarmonyEncoding>,
    rows: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = rows.py();
    let options = read_options(options).map_err(|invalid| invalid.raised(py))?;
    let maker = ExampleMaker::new(encoding.get().inner.tokenizer(), &options);
    let rows: Vec<Bound<'_, PyAny>> = rows.try_iter()?.collect::<PyResult<_>>()?;
    let workers = Workers::new(rows.len(), options.threads);
    let mut batch = Batch::default();
    for (part, rows) in rows.chunks(ROWS).enumerate() {
        let mut rows: Vec<PyRow> = rows.iter().map(PyRow::read).collect::<PyResult<_>>()?;
        let first_row = options.first_row + part * ROWS;
        let mut part = py.detach(|| {
            render_on(&workers, rows.iter_mut().collect(), first_row, |batch, index, row| {
                row.add(&maker, batch, index)
            })
        });
        batch.append(&mut part);
        py.check_signals()?;
    }
    fields(py, &batch)
}

/// [`render_rows`], of anything that gives an Arrow stream.
#[pyfunction]
#[pyo3(signature = (encoding, stream, **options))]
pub(super) fn render_arrow<'py>(
    encoding: &Bound<'py, PyHarmonyEncoding>,
    stream: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = stream.py();
    let options = read_options(options).map_err(|invalid| invalid.raised(py))?;
    let maker = ExampleMaker::new(encoding.get().inner.tokenizer(), &options);
    let mut batch = Batch::default();
    let mut first_row = options.first_row;
    for array in arrow::arrays(stream)? {
        let array = array?;
        let workers = Workers::new(array.len(), options.threads);
        for start in (0..array.len()).step_by(ROWS) {
            let rows = array.slice(start, ROWS.min(array.len() - start));
            let mut part = py.detach(|| render_array_on(&workers, &maker, &rows, first_row));
            batch.append(&mut part);
            first_row += rows.len();
            py.check_signals()?;
        }
    }
    fields(py, &batch)
}

fn read_options(given: Option<&Bound<'_, PyDict>>) -> Read<RenderRows> {
    let mut options = RenderRows::new();
    for (key, value) in given.into_iter().flatten() {
        let name = key.extract::<String>()?;
        read_option(&mut options, &name, &value).map_err(|invalid| invalid.inside(name))?;
    }
    Ok(options)
}

fn read_option(options: &mut RenderRows, name: &str, value: &Bound<'_, PyAny>) -> Read<()> {
    match name {
        "format" => {
            let formats = [("harmony", RowFormat::Harmony), ("chat", RowFormat::Chat)];
            options.format = one_of(value, "\"harmony\" or \"chat\"", &formats)?;
        }
        "examples" => {
            let examples = [("conversation", Examples::Conversation), ("turns", Examples::Turns)];
            options.examples = one_of(value, "\"conversation\" or \"turns\"", &examples)?;
        }
        "overflow" => {
            let all = [
                ("error", Overflow::Error),
                ("drop", Overflow::Drop),
                ("truncate_turns", Overflow::TruncateTurns),
            ];
            options.overflow = one_of(value, "\"error\", \"drop\" or \"truncate_turns\"", &all)?;
        }
        "mask" | "config" | "max_tokens" | "threads" | "date" | "identity" if value.is_none() => {}
        "mask" => options.mask = training::options(Some(value))?,
        "config" => options.config = options::config(Some(value))?,
        "max_tokens" => options.max_tokens = Some(count(value)?.get()),
        "threads" => options.threads = Some(count(value)?),
        "date" => options.date = Date::Given(string(value)?),
        "identity" => options.identity = Some(string(value)?),
        "first_row" => {
            let not_a_row = |_| InvalidArgument::value("expected the index of a row, from 0");
            options.first_row = value.extract().map_err(not_a_row)?;
        }
        _ => return Err(InvalidArgument::value("unknown option")),
    }
    Ok(())
}

/// A whole number from 1.
fn count(value: &Bound<'_, PyAny>) -> Read<NonZeroUsize> {
    value.extract().map_err(|_| {
        let shown = value.repr().map_or_else(|_| "?".to_owned(), |repr| repr.to_string());
        InvalidArgument::value(format!(
            "expected a whole number from 1, got {}",
            errors::brief(shown)
        ))
    })
}

fn fields<'py>(py: Python<'py>, batch: &Batch) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("tokens", bytes_of(py, &batch.tokens, u32::to_ne_bytes))?;
    fields.set_item("offsets", indices(py, &batch.offsets))?;
    fields.set_item("loss_mask", PyByteArray::new(py, &batch.loss_mask))?;
    fields.set_item("row", indices(py, &batch.rows))?;
    let spans: Vec<[i64; 5]> = batch
        .spans
        .iter()
        .map(|span| {
            let message = span.message.map_or(-1, as_i64);
            [message, as_i64(span.start), as_i64(span.content), as_i64(span.stop), as_i64(span.end)]
        })
        .collect();
    fields.set_item("spans", bytes_of(py, spans.as_flattened(), i64::to_ne_bytes))?;
    fields.set_item("span_offsets", indices(py, &batch.span_offsets))?;
    let errors = PyList::empty(py);
    for (row, error) in &batch.errors {
        errors.append((row, raised_at(py, error).into_value(py)))?;
    }
    fields.set_item("errors", errors)?;
    fields.set_item("dropped", &batch.dropped)?;
    fields.set_item("truncated", &batch.truncated)?;
    fields.set_item("unused", &batch.unused)?;
    Ok(fields)
}

/// An index fits: nothing has more items than that.
fn as_i64(index: usize) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}

fn indices<'py>(py: Python<'py>, indices: &[usize]) -> Bound<'py, PyBytes> {
    bytes_of(py, indices, |index| as_i64(index).to_ne_bytes())
}

/// Numbers as their native bytes.
fn bytes_of<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    numbers: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|&number| bytes(number)).collect();
    PyBytes::new(py, &bytes)
}
