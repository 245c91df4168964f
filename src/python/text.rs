//! Python strings to UTF-8 and back.

use std::borrow::Cow;
use std::ffi::CString;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use pyo3::{ffi, intern};

/// The text of a string. Lone surrogates, which UTF-8 cannot say, become U+FFFD; a pair of them
/// becomes the character that it stands for.
pub(super) fn utf8<'a>(string: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    if let Ok(text) = string.to_str() {
        return Ok(Cow::Borrowed(text));
    }
    let utf16 = string.call_method1(
        intern!(string.py(), "encode"),
        (intern!(string.py(), "utf-16-le"), intern!(string.py(), "surrogatepass")),
    )?;
    let units = utf16.cast::<PyBytes>()?.as_bytes().chunks_exact(2);
    let units = units.map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
    Ok(char::decode_utf16(units)
        .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect::<String>()
        .into())
}

/// What `bytes.decode("utf-8", errors)` gives, without the bytes object: for long texts, copying
/// them into one takes as long as decoding them.
pub(super) fn decoded<'py>(
    py: Python<'py>,
    bytes: &[u8],
    errors: &str,
) -> PyResult<Bound<'py, PyString>> {
    let errors = CString::new(errors)?;
    // SAFETY: the pointers are to as many bytes as are said and to a string that ends with a zero,
    // and the interpreter is attached. The call returns a new reference to a string, or null with
    // an exception set.
    unsafe {
        let start = bytes.as_ptr().cast();
        // No slice is longer than `isize::MAX`.
        let text = ffi::PyUnicode_DecodeUTF8(start, bytes.len().cast_signed(), errors.as_ptr());
        Ok(Bound::from_owned_ptr_or_err(py, text)?.cast_into_unchecked())
    }
}
