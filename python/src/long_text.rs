//! Encodes long texts in parts, so that a signal such as Ctrl-C need not wait for the end.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyString};

use super::errors::raised;
use super::text::utf8;
use super::tokens::Form;
use openai_harmony::Result;
use openai_harmony::machinery::chunk_end;
use openai_harmony::tokenizer::SpecialSet;

/// The number of characters from which on a text is encoded in parts.
const LONG: usize = 1 << 22;

/// Characters of a part, some 5 ms of work.
const PART: usize = 1 << 20;

/// Whether a string is long enough to be encoded in parts.
pub(super) fn is_long(string: &Bound<'_, PyString>) -> PyResult<bool> {
    // A subclass's own `__len__` is not called.
    Ok(string.code_point_len()? >= LONG)
}

/// Whether the tokens of a text's parts are those of the whole, as far as names are looked for that are not
/// allowed. Those that a caller lists may be any strings, in more than one part.
pub(super) fn has_parts(disallowed: &SpecialSet<'_>) -> bool {
    !matches!(disallowed, SpecialSet::Names(_))
}

/// The tokens of a string, by an `encode` that appends those of a text, in [parts](for_each_part).
pub(super) fn encode<'py>(
    string: &Bound<'py, PyString>,
    form: Form,
    encode: impl Fn(&str, &mut Vec<u32>) -> Result<()> + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    let py = string.py();
    let (tokens, mut ids) = (form.of(py, &[])?, Vec::new());
    for_each_part(string, |text| {
        ids.clear();
        py.detach(|| encode(text, &mut ids)).map_err(|error| raised(py, &error))?;
        form.append(&tokens, &ids)
    })?;
    Ok(tokens)
}

/// Passes the parts of a string to `take` one by one, as texts: their joined tokens are the string's. Between them
/// signal handlers run; their exceptions are passed on, as are errors of `take`.
///
/// Parts end where `chunk_end` finds an end; without one, as in a very long word, they grow.
pub(super) fn for_each_part(
    string: &Bound<'_, PyString>,
    mut take: impl FnMut(&str) -> PyResult<()>,
) -> PyResult<()> {
    let (py, len) = (string.py(), string.code_point_len()?);
    // What of the string so far was not given.
    let mut text = String::new();
    let mut start = 0;
    while start < len {
        let searched = text.len();
        start = append_part(string, start, len, &mut text)?;
        let end = if start == len { Some(text.len()) } else { chunk_end(&text, searched) };
        if let Some(end) = end {
            take(&text[..end])?;
            text.drain(..end);
        }
        py.check_signals()?;
    }
    Ok(())
}

/// Appends the part of a string that begins at `start`, and returns where it ends.
fn append_part(
    string: &Bound<'_, PyString>,
    start: usize,
    len: usize,
    text: &mut String,
) -> PyResult<usize> {
    let end = len.min(start + PART);
    let part = slice(string, start, end)?;
    if end < len && part.to_str().is_err() {
        // Surrogates: two can make a character, the second one in the next part.
        text.push_str(&utf8(&slice(string, start, len)?)?);
        return Ok(len);
    }
    text.push_str(&utf8(&part)?);
    Ok(end)
}

/// Some characters of a string, by `str`'s own method.
fn slice<'py>(
    string: &Bound<'py, PyString>,
    start: usize,
    end: usize,
) -> PyResult<Bound<'py, PyString>> {
    let py = string.py();
    let get_item = py.get_type::<PyString>().getattr(intern!(py, "__getitem__"))?;
    let slice = PySlice::new(py, start.cast_signed(), end.cast_signed(), 1);
    Ok(get_item.call1((string, slice))?.cast_into()?)
}
