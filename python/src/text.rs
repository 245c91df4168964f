//! Python strings to UTF-8 and back.

use std::borrow::Cow;
use std::ffi::CStr;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyString};
use pyo3::{ffi, intern};

/// The text of a string. Lone surrogates, which UTF-8 cannot hold, become U+FFFD; a pair of them
/// becomes its character.
pub(super) fn utf8<'a>(string: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    match string.to_str() {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(_) => without_surrogates(string).map(Cow::Owned),
    }
}

/// The text of a string, as [`utf8`] has it, that can be read with the GIL released.
pub(super) enum BorrowedText {
    /// Python's own UTF-8, kept as long as the string, with a reference to it.
    Python(PyBackedStr),
    Copied(String),
}

impl BorrowedText {
    pub(super) fn of(string: &Bound<'_, PyString>) -> PyResult<Self> {
        match PyBackedStr::try_from(string.clone()) {
            Ok(text) => Ok(Self::Python(text)),
            Err(_) => without_surrogates(string).map(Self::Copied),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Python(text) => text,
            Self::Copied(text) => text,
        }
    }
}

/// What `bytes.decode("utf-8", errors)` gives.
pub(super) fn decoded<'py>(
    py: Python<'py>,
    bytes: &[u8],
    errors: &CStr,
) -> PyResult<Bound<'py, PyString>> {
    // SAFETY: the bytes and the name live until the call returns, which gives a new reference to a string, or null.
    unsafe {
        let (bytes, len) = (bytes.as_ptr().cast(), bytes.len().cast_signed());
        let made = ffi::PyUnicode_DecodeUTF8(bytes, len, errors.as_ptr());
        Ok(Bound::from_owned_ptr_or_err(py, made)?.cast_into_unchecked())
    }
}

/// The text of a string that holds surrogates.
#[cold]
fn without_surrogates(string: &Bound<'_, PyString>) -> PyResult<String> {
    let py = string.py();
    // By `str`'s own method: a subclass's `encode` may do something else.
    let encode = py.get_type::<PyString>().getattr(intern!(py, "encode"))?;
    let utf16 = encode.call1((string, "utf-16-le", "surrogatepass"))?.cast_into::<PyBytes>()?;
    let (units, _) = utf16.as_bytes().as_chunks::<2>();
    let chars = char::decode_utf16(units.iter().map(|&unit| u16::from_le_bytes(unit)));
    Ok(chars.map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}
