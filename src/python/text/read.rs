//! Strings to UTF-8.

use std::borrow::Cow;

use encoding_rs::mem::convert_utf16_to_str_partial;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::string::PyStringData;
use pyo3::types::{PyBytes, PyString};

/// The text of a string. Lone surrogates, which UTF-8 cannot hold, become U+FFFD; a pair of them
/// becomes the character that it stands for.
///
/// Python keeps the UTF-8 of a string that was asked for it, as long as it keeps the string.
pub(in crate::python) fn utf8<'a>(string: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    if let Some(text) = long_utf16(string)? {
        return Ok(Cow::Owned(text));
    }
    match string.to_str() {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(_) => without_surrogates(string).map(Cow::Owned),
    }
}

/// The text of a string, as [`utf8`] has it, borrowed from Python: with a reference to the string.
/// It can be read with the GIL released.
pub(in crate::python) enum BorrowedText {
    Python(PyBackedStr),
    /// Where the string holds surrogates, or its UTF-8 is made faster here.
    Copied(String),
}

impl BorrowedText {
    pub(in crate::python) fn of(string: &Bound<'_, PyString>) -> PyResult<Self> {
        match PyBackedStr::try_from(string.clone()) {
            Ok(text) => Ok(Self::Python(text)),
            Err(_) => without_surrogates(string).map(Self::Copied),
        }
    }

    /// The same, of a string that is read once: Python need not keep the UTF-8 of it.
    pub(in crate::python) fn of_once(string: &Bound<'_, PyString>) -> PyResult<Self> {
        long_utf16(string)?.map_or_else(|| Self::of(string), |text| Ok(Self::Copied(text)))
    }

    pub(in crate::python) fn as_str(&self) -> &str {
        match self {
            Self::Python(text) => text,
            Self::Copied(text) => text,
        }
    }
}

/// Characters from which on a string is long.
const LONG: usize = 64;

/// The text of a long string that Python keeps in two bytes per character, as it does where there is any
/// above U+00FF and none above U+FFFF. That is UTF-16, of which `encoding_rs` makes UTF-8 by vectors.
/// Python itself takes each character by itself: encoding 10 KB of prose with some quotation marks
/// takes 1.25 times the instructions then.
fn long_utf16(string: &Bound<'_, PyString>) -> PyResult<Option<String>> {
    // SAFETY: strings do not change, and the data is looked at only as long as the string is borrowed.
    // For how Python lays it out PyO3 answers.
    let PyStringData::Ucs2(mut units) = unsafe { string.data() }? else { return Ok(None) };
    if units.len() < LONG {
        return Ok(None);
    }
    let mut text = String::with_capacity(units.len() + units.len() / 4);
    // Zeros are text.
    let mut room = [0; 4096];
    let Ok(room) = str::from_utf8_mut(&mut room) else { return Ok(None) };
    while !units.is_empty() {
        let (read, written) = convert_utf16_to_str_partial(units, room);
        text.push_str(&room[..written]);
        units = &units[read..];
    }
    Ok(Some(text))
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
