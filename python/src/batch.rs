//! Rows of data sets -> flat arrays, for Python.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, channel};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator};

use super::arrays;
use super::encoding::PyHarmonyEncoding;
use super::errors::{self, InvalidArgument, Read};
use super::options;
use super::options::{Given, ReadChoice, set_from};
use super::read::values::{count_from_one, optional, string};
use super::rows::PyRow;
use openai_harmony::RenderConfig;
use openai_harmony::machinery::{ExampleMaker, SetFrom, Workers, check_map, render_on};
use openai_harmony::training::{Batch, ExampleUnit, Markers, Overflow, RowFormat, RowOptions};

/// A part has at most `ROWS` rows or `BYTES` bytes: the work of one thread. Between parts signal
/// handlers run. The workers wait while the first part is read and while the last is stored, so parts are small.
pub(super) const ROWS: usize = 64;
const BYTES: usize = 1 << 20;
/// The number of parts per worker that wait to be rendered or stored.
const PARTS_AHEAD: usize = 4;

/// Renders rows. The result has the fields of `openai_harmony.training.Batch`.
#[pyfunction]
#[pyo3(signature = (encoding, rows, **options))]
pub(super) fn render_rows<'py>(
    encoding: &Bound<'py, PyHarmonyEncoding>,
    rows: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = read_options(options)?;
    let maker = ExampleMaker::new(encoding.get().inner, &options);
    let workers = Workers::new(options.threads);
    let mut rows = rows.try_iter().map_err(|error| {
        errors::unless_raised(error, rows, || {
            let got = errors::type_name(rows);
            let text = format!("rows: expected an iterable of rows, got {got}");
            errors::wrong_type(rows.py(), text)
        })
    })?;
    let next = || read_part(&mut rows, &options);
    rendered(encoding.py(), &workers, options.first_row, next, |part, first_row| {
        render_on(&Workers::none(), part.iter_mut().collect(), first_row, |batch, index, row| {
            row.add(&maker, batch, index)
        })
    })
}

/// The next rows, and their number; none at the end.
fn read_part(
    rows: &mut Bound<'_, PyIterator>,
    options: &RowOptions,
) -> PyResult<Option<(Vec<PyRow>, usize)>> {
    let mut part = Vec::new();
    let mut bytes = 0;
    while part.len() < ROWS && bytes < BYTES {
        let Some(row) = rows.next() else { break };
        let row = PyRow::read(&row?, options)?;
        bytes += row.size();
        part.push(row);
    }
    let count = part.len();
    Ok((count > 0).then_some((part, count)))
}

/// The fields of all parts, each with its number of rows. Workers render parts while this thread reads later ones,
/// which needs the interpreter, and joins earlier ones. A part is not divided among workers: a worker that waited for
/// the rest of its part would begin another, and many parts would be finished at once, with nothing left to do.
pub(super) fn rendered<'py, T: Send>(
    py: Python<'py>,
    workers: &Workers,
    mut first_row: usize,
    mut next: impl FnMut() -> PyResult<Option<(T, usize)>>,
    render: impl Fn(&mut T, usize) -> Vec<Batch> + Sync,
) -> PyResult<Bound<'py, PyDict>> {
    let mut whole = Batch::default();
    let mut add =
        |parts: Vec<Batch>| parts.into_iter().for_each(|mut part| whole.append(&mut part));
    let ahead = workers.threads() * PARTS_AHEAD;
    let render = &render;
    workers.scope(|jobs| {
        let mut under_way: VecDeque<Receiver<_>> = VecDeque::new();
        let mut give_all = || -> PyResult<()> {
            while let Some((mut part, count)) = next()? {
                let (done, receiver) = channel();
                let job = move || drop(done.send((render(&mut part, first_row), part)));
                match jobs {
                    // If no thread takes a job any more, it is dropped, and its part's receiver notices.
                    Some(jobs) => drop(jobs.send(job)),
                    None => py.detach(job),
                }
                first_row += count;
                under_way.push_back(receiver);
                if under_way.len() > ahead
                    && let Some(first) = under_way.pop_front()
                {
                    add(wait(py, first)?.0);
                }
                py.check_signals()?;
            }
            Ok(())
        };
        let given = give_all();
        // After an error, too: parts come back with their batches to be dropped here, since dropping their Python
        // objects may need the interpreter.
        under_way.into_iter().fold(given, |given, part| {
            let done = wait(py, part);
            given.and_then(|()| {
                add(done?.0);
                Ok(())
            })
        })
    })?;
    arrays::fields(py, whole)
}

fn wait<T: Send>(py: Python<'_>, receiver: Receiver<T>) -> PyResult<T> {
    let stopped = |_| PyRuntimeError::new_err("a worker has stopped");
    py.detach(move || receiver.recv()).map_err(stopped)
}

pub(super) fn read_options(given: Option<&Bound<'_, PyDict>>) -> PyResult<RowOptions> {
    // As where Python reads conversations from JSON.
    let options = RowOptions::new().with_system_defaults(true);
    let options = options::set_all(options, given, None, read_option)?;
    check_map(&options).map_err(|reason| PyValueError::new_err(format!("map: {reason}")))?;
    Ok(options)
}

/// Options that accept only some values of their types; others are read by type.
fn read_option(options: &mut RowOptions, name: &str, given: Given<'_, '_>) -> Read<()> {
    let value = given.value;
    match name {
        "max_tokens" => {
            options.max_tokens = optional(value, count_from_one)?.map(NonZeroUsize::get);
        }
        "identity" => options.identity = optional(value, string)?,
        _ => options::set(options, name, given)?,
    }
    Ok(())
}

/// A dict of names to names.
fn renamed(value: &Bound<'_, PyAny>) -> Read<Vec<(String, String)>> {
    if value.is_none() {
        return Ok(Vec::new());
    }
    let dict = value.cast::<PyDict>().map_err(|_| InvalidArgument::type_of(value, "a dict"))?;
    dict.iter().map(|(field, column)| Ok((string(&field)?, string(&column)?))).collect()
}

set_from! {
    RowFormat: RowFormat::read,
    ExampleUnit: ExampleUnit::read,
    Overflow: Overflow::read,
    Markers: Markers::read,
    Vec<(String, String)>: renamed,
    Option<NonZeroUsize>: |value| optional(value, count_from_one),
}

impl SetFrom<Given<'_, '_>, InvalidArgument> for RenderConfig {
    /// `None` is the default of what has the config.
    fn set_from(&mut self, given: Given<'_, '_>) -> Read<()> {
        *self = optional(given.value, |config| options::config(Some(config)))?.unwrap_or(*self);
        Ok(())
    }
}
