//! UTF-8 to strings.

use std::ffi::CString;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// What `bytes.decode("utf-8", errors)` gives.
///
/// Python does not know how wide the characters of a text are, and starts over where a wider one comes. Looking
/// for the widest one first, and `simdutf`, which takes many characters at once, make decoding 10 KB of Chinese twice as
/// fast in all.
pub(in crate::python) fn decoded<'py>(
    py: Python<'py>,
    bytes: &[u8],
    errors: &str,
) -> PyResult<Bound<'py, PyString>> {
    if simdutf::validate_utf8(bytes) {
        return string(py, bytes);
    }
    let bytes = PyBytes::new(py, bytes);
    PyString::from_encoded_object(&bytes, Some(c"utf-8"), Some(&CString::new(errors)?))
}

/// A Python string of bytes that are UTF-8.
fn string<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyString>> {
    const ASCII: u32 = 0x7f;
    const ONE_BYTE: u32 = 0xff;
    const TWO_BYTES: u32 = 0xffff;
    const FOUR_BYTES: u32 = 0x10_ffff;
    // Characters from U+0080 on begin with 0xc2 or more, those from U+0100 on with 0xc4, those from U+10000 on
    // with 0xf0.
    let widest = match bytes.iter().copied().fold(0, u8::max) {
        ..0x80 => ASCII,
        0x80..0xc4 => ONE_BYTE,
        0xc4..0xf0 => TWO_BYTES,
        _ => FOUR_BYTES,
    };
    let count = simdutf::count_utf8(bytes);
    // SAFETY: the bytes are UTF-8. The call returns a new string of so many characters, or null with an exception
    // set. Given the widest, it keeps each in as many bytes as are written here, and nobody else knows it yet.
    unsafe {
        let string = ffi::PyUnicode_New(count.cast_signed(), widest);
        let string = Bound::from_owned_ptr_or_err(py, string)?;
        let (from, len) = (bytes.as_ptr(), bytes.len());
        let to = ffi::PyUnicode_DATA(string.as_ptr());
        let written = match widest {
            ASCII | ONE_BYTE => simdutf::convert_valid_utf8_to_latin1(from, len, to.cast()),
            TWO_BYTES => simdutf::convert_valid_utf8_to_utf16(from, len, to.cast()),
            _ => simdutf::convert_valid_utf8_to_utf32(from, len, to.cast()),
        };
        debug_assert_eq!(written, count, "one unit per character");
        Ok(string.cast_into_unchecked())
    }
}
