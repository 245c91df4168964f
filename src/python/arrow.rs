//! Arrow arrays of other libraries, by Arrow's C interface: no copies, and no library is imported.

use arrow_array::ArrayRef;
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_schema::ArrowError;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The arrays of an object with the method `__arrow_c_stream__`. All that other code relies on is
/// checked: lengths, offsets, UTF-8.
pub(super) fn arrays(
    stream: &Bound<'_, PyAny>,
) -> PyResult<impl Iterator<Item = PyResult<ArrayRef>>> {
    let capsule = stream.call_method0(intern!(stream.py(), "__arrow_c_stream__"))?;
    let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: by Arrow's PyCapsule interface a capsule of this name holds such a stream. It is taken
    // out of the capsule, which is left with a stream that is released, and the reader releases it.
    let reader =
        unsafe { ArrayStreamReader::from_raw(pointer.cast::<FFI_ArrowArrayStream>().as_ptr()) };
    let reader = reader.map_err(|error| invalid(&error))?;
    Ok(reader.map(|array| {
        let array = array.map_err(|error| invalid(&error))?;
        array.to_data().validate_full().map_err(|error| invalid(&error))?;
        Ok(array)
    }))
}

fn invalid(error: &ArrowError) -> PyErr {
    PyValueError::new_err(format!("rows: not valid Arrow data: {error}"))
}
