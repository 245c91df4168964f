//! Strings to UTF-8.

use std::borrow::Cow;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::string::PyStringData;
use pyo3::types::{PyBytes, PyString};

/// The text of a string. Lone surrogates, which UTF-8 cannot hold, become U+FFFD; a pair of them
/// becomes the character that it stands for.
pub(in crate::python) fn utf8<'a>(string: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    if let Some(text) = wide(string)? {
        return Ok(Cow::Owned(text));
    }
    match string.to_str() {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(_) => without_surrogates(string).map(Cow::Owned),
    }
}

/// The text of a string, as [`utf8`] has it, that can be read with the GIL released.
pub(in crate::python) enum BorrowedText {
    /// Python's own UTF-8, with a reference to the string. Python keeps it as long as the string.
    Python(PyBackedStr),
    Copied(String),
}

impl BorrowedText {
    pub(in crate::python) fn of(string: &Bound<'_, PyString>) -> PyResult<Self> {
        if let Some(text) = wide(string)? {
            return Ok(Self::Copied(text));
        }
        match PyBackedStr::try_from(string.clone()) {
            Ok(text) => Ok(Self::Python(text)),
            Err(_) => without_surrogates(string).map(Self::Copied),
        }
    }

    pub(in crate::python) fn as_str(&self) -> &str {
        match self {
            Self::Python(text) => text,
            Self::Copied(text) => text,
        }
    }
}

/// The text of a string that Python keeps in two or four bytes per character, as it does where there is any above
/// U+00FF; `None` for other strings and where there are lone surrogates.
///
/// `simdutf` takes many characters at once, Python each by itself: encoding 400 bytes or 10 KB of Chinese takes three
/// quarters of the time.
fn wide(string: &Bound<'_, PyString>) -> PyResult<Option<String>> {
    // SAFETY: strings do not change, and the data is looked at only as long as the string is borrowed.
    // For how Python lays it out PyO3 answers. What is converted is valid, and there is room for all of it.
    let text = unsafe {
        match string.data()? {
            PyStringData::Ucs2(units) if simdutf::validate_utf16(units) => {
                let len = simdutf::utf8_length_from_utf16(units);
                converted(units, len, simdutf::convert_valid_utf16_to_utf8)
            }
            PyStringData::Ucs4(chars) if simdutf::validate_utf32(chars) => {
                let len = simdutf::utf8_length_from_utf32(chars);
                converted(chars, len, simdutf::convert_valid_utf32_to_utf8)
            }
            _ => return Ok(None),
        }
    };
    Ok(Some(text))
}

/// The UTF-8 of units: `len` bytes at the most.
///
/// # Safety
///
/// `convert` must write UTF-8, `len` bytes at the most, and return how many bytes it wrote.
unsafe fn converted<Unit>(
    units: &[Unit],
    len: usize,
    convert: unsafe fn(*const Unit, usize, *mut u8) -> usize,
) -> String {
    let mut bytes = Vec::with_capacity(len);
    // SAFETY: there is room for `len` bytes, and those that are kept were written and are UTF-8.
    unsafe {
        let written = convert(units.as_ptr(), units.len(), bytes.as_mut_ptr());
        bytes.set_len(written);
        String::from_utf8_unchecked(bytes)
    }
}

/// The text of a string that holds surrogates.
#[cold]
fn without_surrogates(string: &Bound<'_, PyString>) -> PyResult<String> {
    let py = string.py();
    // By `str`'s own method: a subclass may have an `encode` that does something else.
    let encode = py.get_type::<PyString>().getattr(intern!(py, "encode"))?;
    let utf16 = encode.call1((string, "utf-16-le", "surrogatepass"))?.cast_into::<PyBytes>()?;
    let (units, _) = utf16.as_bytes().as_chunks::<2>();
    let chars = char::decode_utf16(units.iter().map(|&unit| u16::from_le_bytes(unit)));
    Ok(chars.map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}
