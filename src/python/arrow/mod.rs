//! Arrow arrays of other libraries, by Arrow's C interface: no copies, and no library is imported.
//!
//! What a producer gives is checked before `arrow-array` reads it, which panics at a count or a pointer that is
//! wrong, and which would read columns of any depth. Of a table the columns that no row is read from stay as they
//! are in C: nothing looks at them.

mod array;
mod schema;

use std::ffi::{CStr, c_int};
use std::fmt::Display;
use std::ptr::NonNull;

use arrow_array::ArrayRef;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use self::schema::RowType;

/// The arrays of an object with the method `__arrow_c_stream__`. All that other code relies on is
/// checked: counts, pointers, lengths, offsets, UTF-8.
pub(super) fn arrays(
    stream: &Bound<'_, PyAny>,
    is_read: impl Fn(&str) -> bool,
) -> PyResult<Arrays> {
    let capsule = stream.call_method0(intern!(stream.py(), "__arrow_c_stream__"))?;
    let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array_stream"))?;
    let pointer: NonNull<FFI_ArrowArrayStream> = pointer.cast();
    // SAFETY: by Arrow's PyCapsule interface a capsule of this name holds such a stream. It is taken
    // out of the capsule, which is left with a stream that is released; dropping it releases it.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    if stream.release().is_none() {
        return Err(invalid("the stream has been read already"));
    }
    let mut schema = FFI_ArrowSchema::empty();
    let get_schema = stream.get_schema().ok_or_else(|| invalid("the stream has no get_schema"))?;
    // SAFETY: the stream is not released, and the schema is one that the callback may write.
    let code = unsafe { get_schema(&raw mut stream, &raw mut schema) };
    check(&mut stream, code)?;
    let row_type = RowType::read(&schema, is_read).map_err(invalid)?;
    Ok(Arrays { stream, row_type })
}

/// The arrays of a stream, one after the other.
pub(super) struct Arrays {
    stream: FFI_ArrowArrayStream,
    row_type: RowType,
}

impl Iterator for Arrays {
    type Item = PyResult<ArrayRef>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read_next().transpose()
    }
}

impl Arrays {
    fn read_next(&mut self) -> PyResult<Option<ArrayRef>> {
        let mut array = FFI_ArrowArray::empty();
        let get_next =
            self.stream.get_next().ok_or_else(|| invalid("the stream has no get_next"))?;
        // SAFETY: the stream is not released, and the array is one that the callback may write.
        let code = unsafe { get_next(&raw mut self.stream, &raw mut array) };
        check(&mut self.stream, code)?;
        if array.is_released() {
            return Ok(None);
        }
        array::import(array, &self.row_type).map(Some).map_err(invalid)
    }
}

/// The producer's error, if a callback of the stream returned one.
fn check(stream: &mut FFI_ArrowArrayStream, code: c_int) -> PyResult<()> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: the stream is not released, and its last call returned an error.
    let text = stream.get_last_error().map(|text| unsafe { text(stream) });
    // SAFETY: unless null, it is a C string that lives until the next call.
    let text = text.filter(|text| !text.is_null()).map(|text| unsafe { CStr::from_ptr(text) });
    let text = text.map_or_else(|| format!("error {code}").into(), CStr::to_string_lossy);
    Err(PyValueError::new_err(format!("rows: the Arrow stream ended with an error: {text}")))
}

fn invalid(reason: impl Display) -> PyErr {
    PyValueError::new_err(format!("rows: not valid Arrow data: {reason}"))
}
