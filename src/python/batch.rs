//! Rows of data sets -> flat arrays, for Python.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, channel};

use arrow_array::{Array, ArrayRef};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator};

use super::arrays::Arrays;
use super::encoding::PyHarmonyEncoding;
use super::errors::{self, InvalidArgument, Read};
use super::options::one_of;
use super::read::reasoning_effort;
use super::read::values::string;
use super::rows::PyRow;
use super::{arrow, options, training};
use crate::interop::Date;
use crate::training::{
    Batch, ExampleMaker, Examples, Overflow, RenderRows, RowFormat, render_array_on, render_on,
};
use crate::workers::Workers;

/// So many rows, or as many with so many bytes, are a part: the work of one thread. Between parts signal
/// handlers run. The workers wait while the first part is read and while the last is stored, so parts are small.
const ROWS: usize = 64;
const BYTES: usize = 1 << 20;
/// So many parts for each worker wait to be rendered or stored.
const PARTS_AHEAD: usize = 4;

/// Renders rows. The result has the fields of `openai_harmony.training.Batch`.
#[pyfunction]
#[pyo3(signature = (encoding, rows, **options))]
pub(super) fn render_rows<'py>(
    encoding: &Bound<'py, PyHarmonyEncoding>,
    rows: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = read_options(options).map_err(|invalid| invalid.raised(rows.py()))?;
    let maker = ExampleMaker::new(encoding.get().inner.tokenizer(), &options);
    let workers = Workers::new(options.threads);
    let mut rows = rows.try_iter().map_err(|error| {
        errors::unless_raised(error, rows, || {
            let got = errors::type_name(rows);
            let text = format!("rows: expected an iterable of rows, got {got}");
            errors::wrong_type(rows.py(), text)
        })
    })?;
    let next = || read_part(&mut rows, options.format);
    rendered(encoding.py(), &workers, options.first_row, next, |part, first_row| {
        render_on(&Workers::none(), part.iter_mut().collect(), first_row, |batch, index, row| {
            row.add(&maker, batch, index)
        })
    })
}

/// The next rows, and how many they are; none at the end.
fn read_part(
    rows: &mut Bound<'_, PyIterator>,
    format: RowFormat,
) -> PyResult<Option<(Vec<PyRow>, usize)>> {
    let mut part = Vec::new();
    let mut bytes = 0;
    while part.len() < ROWS && bytes < BYTES {
        let Some(row) = rows.next() else { break };
        let row = PyRow::read(&row?, format)?;
        bytes += row.size();
        part.push(row);
    }
    let count = part.len();
    Ok((count > 0).then_some((part, count)))
}

/// [`render_rows`], of anything that gives an Arrow stream.
#[pyfunction]
#[pyo3(signature = (encoding, stream, **options))]
pub(super) fn render_arrow<'py>(
    encoding: &Bound<'py, PyHarmonyEncoding>,
    stream: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = read_options(options).map_err(|invalid| invalid.raised(stream.py()))?;
    let maker = ExampleMaker::new(encoding.get().inner.tokenizer(), &options);
    let workers = Workers::new(options.threads);
    let mut arrays = arrow::arrays(stream, |name| crate::training::is_read(name, options.format))?;
    let mut rest: Option<ArrayRef> = None;
    let next = || {
        while rest.as_ref().is_none_or(|rest: &ArrayRef| Array::is_empty(rest)) {
            let Some(array) = arrays.next() else { return Ok(None) };
            rest = Some(array?);
        }
        Ok(rest.as_mut().map(|rest| {
            let count = rest.len().min(ROWS);
            let part = rest.slice(0, count);
            *rest = rest.slice(count, rest.len() - count);
            (part, count)
        }))
    };
    rendered(encoding.py(), &workers, options.first_row, next, |part, first_row| {
        render_array_on(&Workers::none(), &maker, part, first_row)
    })
}

/// The fields of all parts, each with its number of rows. Workers render parts while this thread reads later
/// ones and stores earlier ones: both need the interpreter. A part is not divided among workers: one that waited
/// for the rest of its part would begin another, and many would be done at once, with nothing left to do.
fn rendered<'py, T: Send>(
    py: Python<'py>,
    workers: &Workers,
    mut first_row: usize,
    mut next: impl FnMut() -> PyResult<Option<(T, usize)>>,
    render: impl Fn(&mut T, usize) -> Vec<Batch> + Sync,
) -> PyResult<Bound<'py, PyDict>> {
    let mut arrays = Arrays::new(py)?;
    let ahead = workers.threads() * PARTS_AHEAD;
    let render = &render;
    workers.scope(|scope| {
        let mut under_way: VecDeque<Receiver<_>> = VecDeque::new();
        let mut give_all = || -> PyResult<()> {
            while let Some((mut part, count)) = next()? {
                let (done, receiver) = channel();
                let job = move || drop(done.send((render(&mut part, first_row), part)));
                match scope {
                    Some(scope) => scope.spawn(|_| job()),
                    None => py.detach(job),
                }
                first_row += count;
                under_way.push_back(receiver);
                if under_way.len() > ahead
                    && let Some(first) = under_way.pop_front()
                {
                    arrays.add(wait(py, first)?.0)?;
                }
                py.check_signals()?;
            }
            Ok(())
        };
        let given = give_all();
        // After an error, too: parts come back with their batches to be dropped here, since what they hold
        // of Python may need the interpreter for it.
        under_way.into_iter().fold(given, |given, part| {
            let done = wait(py, part);
            given.and_then(|()| arrays.add(done?.0))
        })
    })?;
    arrays.into_fields()
}

fn wait<T: Send>(py: Python<'_>, receiver: Receiver<T>) -> PyResult<T> {
    let stopped = |_| PyRuntimeError::new_err("a worker has stopped");
    py.detach(move || receiver.recv()).map_err(stopped)
}

fn read_options(given: Option<&Bound<'_, PyDict>>) -> Read<RenderRows> {
    // As where Python reads conversations from JSON.
    let mut options = RenderRows::new().with_system_defaults(true);
    for (key, value) in given.into_iter().flatten() {
        let name = key.extract::<String>()?;
        read_option(&mut options, &name, &value).map_err(|invalid| invalid.inside(name))?;
    }
    Ok(options)
}

fn read_option(options: &mut RenderRows, name: &str, value: &Bound<'_, PyAny>) -> Read<()> {
    match name {
        "format" => {
            let formats = [
                ("harmony", RowFormat::Harmony),
                ("chat", RowFormat::Chat),
                ("preference", RowFormat::Preference),
                ("anthropic", RowFormat::Anthropic),
                ("responses", RowFormat::Responses),
            ];
            let known = "'harmony', 'chat', 'preference', 'anthropic' or 'responses'";
            options.format = one_of(value, known, &formats)?;
        }
        "examples" => {
            let examples = [("conversation", Examples::Conversation), ("turns", Examples::Turns)];
            options.examples = one_of(value, "'conversation' or 'turns'", &examples)?;
        }
        "overflow" => {
            let all = [
                ("error", Overflow::Error),
                ("drop", Overflow::Drop),
                ("truncate_turns", Overflow::TruncateTurns),
            ];
            options.overflow = one_of(value, "'error', 'drop' or 'truncate_turns'", &all)?;
        }
        "mask" | "config" | "max_tokens" | "threads" | "date" | "identity" | "reasoning_effort"
            if value.is_none() => {}
        "mask" => options.mask = training::options(Some(value))?,
        "config" => options.config = options::config(Some(value))?,
        "max_tokens" => options.max_tokens = Some(count(value)?.get()),
        "threads" => options.threads = Some(count(value)?),
        "date" => options.date = Date::Given(string(value)?),
        "identity" => options.identity = Some(string(value)?),
        "reasoning_effort" => options.reasoning_effort = Some(reasoning_effort(value)?),
        "first_row" => {
            let not_a_row = |_| InvalidArgument::value("expected the index of a row, from 0");
            options.first_row = value.extract().map_err(not_a_row)?;
        }
        _ => return Err(InvalidArgument::value("unknown option")),
    }
    Ok(())
}

/// A whole number from 1.
pub(super) fn count(value: &Bound<'_, PyAny>) -> Read<NonZeroUsize> {
    value.extract().map_err(|_| {
        let shown = value.repr().map_or_else(|_| "?".to_owned(), |repr| repr.to_string());
        InvalidArgument::value(format!(
            "expected a whole number from 1, got {}",
            errors::brief(shown)
        ))
    })
}
