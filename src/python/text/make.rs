//! UTF-8 to strings.

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::slice;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// What `bytes.decode("utf-8", errors)` gives.
///
/// Python reads ASCII as fast as it can be copied. Of other text it does not know how wide its
/// characters are, and starts over where a wider one comes: looking for the widest one first makes
/// decoding Chinese a fifth faster in all, a chat with emoji nearly twice as fast.
pub(in crate::python) fn decoded<'py>(
    py: Python<'py>,
    bytes: &[u8],
    errors: &str,
) -> PyResult<Bound<'py, PyString>> {
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) if text.is_ascii() => Ok(PyString::new(py, text)),
        Ok(text) => string(py, text),
        Err(_) => PyString::from_encoded_object(
            &PyBytes::new(py, bytes),
            Some(c"utf-8"),
            Some(&CString::new(errors)?),
        ),
    }
}

/// A Python string of text that is not all ASCII.
fn string<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyString>> {
    // Characters from U+0100 on begin with 0xc4 or more, those from U+10000 on with 0xf0.
    match text.bytes().fold(0, u8::max) {
        ..0xc4 => string_of::<u8>(py, text),
        0xc4..0xf0 => string_of::<u16>(py, text),
        _ => string_of::<u32>(py, text),
    }
}

/// What Python keeps a character in, in strings without one above `MAX`.
trait Unit: Sized {
    const MAX: char;

    /// The unit of a character that is not above `MAX`.
    fn of(char: char) -> Self;
}

impl Unit for u8 {
    const MAX: char = '\u{ff}';

    fn of(char: char) -> Self {
        u32::from(char).to_le_bytes()[0]
    }
}

impl Unit for u16 {
    const MAX: char = '\u{ffff}';

    fn of(char: char) -> Self {
        let [low, high, ..] = u32::from(char).to_le_bytes();
        Self::from_le_bytes([low, high])
    }
}

impl Unit for u32 {
    const MAX: char = char::MAX;

    fn of(char: char) -> Self {
        char.into()
    }
}

/// A Python string of text, in units of which the widest character needs one as wide.
fn string_of<'py, T: Unit>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyString>> {
    let count = text.chars().count();
    // SAFETY: the call returns a new string of so many characters, or null with an exception set.
    // Given the widest, it keeps each in a `T`, one after the other and aligned as `T` is. Nobody
    // else knows the string yet, and `fill` writes every place.
    unsafe {
        let string = ffi::PyUnicode_New(count.cast_signed(), T::MAX.into());
        let string = Bound::from_owned_ptr_or_err(py, string)?;
        let units = ffi::PyUnicode_DATA(string.as_ptr()).cast::<MaybeUninit<T>>();
        fill(slice::from_raw_parts_mut(units, count), text);
        Ok(string.cast_into_unchecked())
    }
}

/// Writes the units of the text's characters, as many as there are places. What is ASCII goes by
/// eight: even where other characters are in between, most of a text is.
fn fill<T: Unit>(places: &mut [MaybeUninit<T>], text: &str) {
    let (mut at, mut chars) = (0, text.chars());
    while let Some(char) = chars.next() {
        places[at].write(T::of(char));
        at += 1;
        if !char.is_ascii() {
            continue;
        }
        while let Some(block) = ascii_block(chars.as_str()) {
            for (place, &byte) in places[at..at + block.len()].iter_mut().zip(block) {
                place.write(T::of(byte.into()));
            }
            at += block.len();
            chars = chars.as_str()[block.len()..].chars();
        }
    }
}

/// The first eight bytes if all are ASCII.
fn ascii_block(text: &str) -> Option<&[u8; 8]> {
    text.as_bytes().first_chunk().filter(|block| block.is_ascii())
}
