//! Arrow arrays of other libraries, through Arrow's C interface: no copies, and no library is imported.
//!
//! Producers are trusted to keep the interface's contract. But they may pass on unchecked contents of a file, so
//! offsets and UTF-8 are checked in the columns that are read.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayRef, BooleanArray, StructArray};
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use super::batch::{ROWS, read_options, rendered};
use super::encoding::PyHarmonyEncoding;
use openai_harmony::machinery::{ExampleMaker, Workers, is_read, render_array_on};

/// The most levels of nested arrays, more than the JSON text of a row may have.
const DEEPEST: usize = 256;

/// [`render_rows`](super::batch::render_rows) for anything that provides an Arrow stream.
#[pyfunction]
#[pyo3(signature = (encoding, stream, **options))]
pub(super) fn render_arrow<'py>(
    encoding: &Bound<'py, PyHarmonyEncoding>,
    stream: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = read_options(options)?;
    let maker = ExampleMaker::new(encoding.get().inner, &options);
    let workers = Workers::new(options.threads);
    let mut arrays = arrays(stream, |name| is_read(name, &options))?;
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

/// The arrays of an object with the method `__arrow_c_stream__`; for tables, only the columns that are read.
fn arrays(
    stream: &Bound<'_, PyAny>,
    is_read: impl Fn(&str) -> bool,
) -> PyResult<impl Iterator<Item = PyResult<ArrayRef>>> {
    let capsule = stream.call_method0(intern!(stream.py(), "__arrow_c_stream__"))?;
    let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array_stream"))?;
    let pointer: NonNull<FFI_ArrowArrayStream> = pointer.cast();
    // SAFETY: by Arrow's PyCapsule interface a capsule of this name holds such a stream. It is taken
    // out of the capsule, which is left with a stream that is released; dropping it releases it.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let mut reader = caught("a schema is incomplete", || {
        if is_deeper(&schema_of(&mut stream), DEEPEST) {
            return Err(invalid(format!("a type is nested more than {DEEPEST} levels deep")));
        }
        ArrayStreamReader::try_new(stream).map_err(invalid)
    })?;
    Ok(std::iter::from_fn(move || {
        caught("an array does not fit its buffers", || {
            let array = reader.next().map(|array| checked(array?, &is_read));
            array.transpose().map_err(invalid)
        })
        .transpose()
    }))
}

/// Reads with `arrow-array`; its panics, for example at impossible offsets, become errors.
fn caught<T>(reason: &str, read: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(invalid(reason)))
}

/// The type of a stream's arrays; an empty one if the stream has none or is released, which its reader detects, too.
fn schema_of(stream: &mut FFI_ArrowArrayStream) -> FFI_ArrowSchema {
    let mut schema = FFI_ArrowSchema::empty();
    // A stream that another consumer has taken keeps its other callbacks, whose data is gone.
    if let (Some(get_schema), Some(_)) = (stream.get_schema(), stream.release()) {
        // SAFETY: the stream is not released, and the schema is one that the callback may write.
        unsafe { get_schema(stream, &raw mut schema) };
    }
    schema
}

fn is_deeper(schema: &FFI_ArrowSchema, levels: usize) -> bool {
    let mut inside = schema.children().chain(schema.dictionary());
    levels == 0 || inside.any(|inside| is_deeper(inside, levels - 1))
}

/// The array with valid contents; in an array of structs, columns that are not read become whether there is a value.
fn checked(array: ArrayRef, is_read: impl Fn(&str) -> bool) -> Result<ArrayRef, ArrowError> {
    let array = match array.as_struct_opt() {
        Some(table) => selection(table, is_read)?,
        None => array,
    };
    array.to_data().validate_full()?;
    Ok(array)
}

fn selection(table: &StructArray, is_read: impl Fn(&str) -> bool) -> Result<ArrayRef, ArrowError> {
    let columns = table.fields().iter().zip(table.columns());
    let (fields, columns): (Vec<_>, Vec<ArrayRef>) = columns
        .map(|(field, column)| {
            if is_read(field.name()) {
                return (field.clone(), column.clone());
            }
            let field = Field::new(field.name(), DataType::Boolean, true);
            let nulls = column.logical_nulls();
            let is_given = |at| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(at));
            let given: BooleanArray =
                (0..table.len()).map(|at| is_given(at).then_some(true)).collect();
            (Arc::new(field), Arc::new(given) as ArrayRef)
        })
        .unzip();
    let nulls = table.nulls().cloned();
    Ok(Arc::new(StructArray::try_new_with_length(fields.into(), columns, nulls, table.len())?))
}

fn invalid(reason: impl Display) -> PyErr {
    PyValueError::new_err(format!("rows: not valid Arrow data: {reason}"))
}
