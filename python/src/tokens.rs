//! Token ids in and out.

use std::fmt::Display;

use pyo3::buffer::{Element, PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::{PyBufferError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyList, PyString, PyTuple};

use super::arrays;
use super::errors::{brief, type_name, unless_raised, wrong_type};
use super::ints::INTS;

/// The ids of any iterable of ints; an error names the first item that is not an int, and its index.
///
/// All of it is read before any id is used, so nothing is consumed in case of an error.
pub(super) fn read(tokens: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    read_at(tokens, &"tokens")
}

/// The same, for ids that errors locate elsewhere.
pub(super) fn read_at(tokens: &Bound<'_, PyAny>, place: &impl Display) -> PyResult<Vec<u32>> {
    if let Ok(list) = tokens.cast::<PyList>() {
        return match in_place(list) {
            Some(ids) => Ok(ids),
            None => all(list.iter().map(Ok), place),
        };
    }
    if let Ok(tuple) = tokens.cast::<PyTuple>() {
        return all(tuple.iter().map(Ok), place);
    }
    if let Some(ids) = from_array(tokens, place)? {
        return Ok(ids);
    }
    let no_ints = || {
        let got = type_name(tokens);
        wrong_type(tokens.py(), format!("{place}: expected a sequence of ints, got {got}"))
    };
    if tokens.cast::<PyString>().is_ok() {
        let ways =
            "encoding.encode(text) encodes text, encoding.parse_messages_from_text parses it";
        let text = format!("{place}: expected a sequence of ints, got str; {ways}");
        return Err(wrong_type(tokens.py(), text));
    }
    let items = tokens.try_iter().map_err(|error| unless_raised(error, tokens, no_ints))?;
    all(items, place)
}

/// One id.
pub(super) fn read_one(token: &Bound<'_, PyAny>) -> PyResult<u32> {
    id_of(token)?.ok_or_else(|| not_an_id(token, "token"))
}

/// The ids of a list of plain ints; `None` if an item needs a closer look.
fn in_place(list: &Bound<'_, PyList>) -> Option<Vec<u32>> {
    let mut ids = Vec::with_capacity(list.len());
    in_blocks(list, |block| ids.extend_from_slice(block)).then_some(ids)
}

/// Passes the ids of a list to `take`, block by block; `false` if an item needs a closer look.
///
/// `take` must not run Python code. With `PyO3`'s safe calls, which take a reference to each item and check for
/// exceptions, decoding takes 1.15 to 1.45 times as long; collecting the ids of long lists in fresh memory doubles the
/// time.
pub(super) fn in_blocks(list: &Bound<'_, PyList>, mut take: impl FnMut(&[u32])) -> bool {
    let mut block = [0; 512];
    // On free-threaded builds this keeps other threads from changing the list meanwhile.
    with_critical_section(list, || {
        for start in (0..list.len()).step_by(block.len()) {
            let end = list.len().min(start + block.len());
            for (index, slot) in (start..end).zip(&mut block) {
                let mut overflow = 0;
                // SAFETY: the interpreter is attached and the index below the list's length. The list stays as it is,
                // so its items live: no other thread can change it, and nothing here runs Python code. For an int the
                // last call sets no exception; if it does not fit, it returns -1.
                let value = unsafe {
                    let item = ffi::PyList_GET_ITEM(list.as_ptr(), index.cast_signed());
                    if ffi::PyLong_Check(item) == 0 {
                        return false;
                    }
                    ffi::PyLong_AsLongAndOverflow(item, &raw mut overflow)
                };
                let Ok(id) = u32::try_from(value) else { return false };
                *slot = id;
            }
            take(&block[..end - start]);
        }
        true
    })
}

/// The value of an int, or of anything with `__index__`, if it can be an id. An error is what
/// the object's own code raised.
fn id_of(object: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    let py = object.py();
    object.extract().map(Some).or_else(|error: PyErr| {
        let is_unfit =
            error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyOverflowError>(py);
        if is_unfit { Ok(None) } else { Err(error) }
    })
}

fn all<'py>(
    items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
    place: &impl Display,
) -> PyResult<Vec<u32>> {
    /// A longer length is not trusted before the items are there.
    const LIKELY: usize = 1 << 16;
    let mut ids = Vec::with_capacity(items.size_hint().0.min(LIKELY));
    for item in items {
        let item = item?;
        let id = id_of(&item)?;
        ids.push(id.ok_or_else(|| not_an_id(&item, &format!("{place}[{}]", ids.len())))?);
    }
    Ok(ids)
}

/// The exception for an object that is not an id.
fn not_an_id(object: &Bound<'_, PyAny>, place: &str) -> PyErr {
    let shown = object.repr().map_or_else(|_| "?".to_owned(), |repr| brief(repr.to_string()));
    // Anything with `__index__` is an int whose value cannot be an id.
    if object.call_method0("__index__").is_ok() {
        return out_of_range(place, &shown);
    }
    let got = type_name(object);
    wrong_type(object.py(), format!("{place}: expected an int, got {got} {shown}"))
}

fn out_of_range(place: &str, value: &str) -> PyErr {
    PyValueError::new_err(format!("{place}: {value} is not a token id"))
}

/// The ids of an array of integers, `NumPy`'s or the standard library's, without making Python ints of them. `None` for
/// anything but a flat array of integers.
fn from_array(object: &Bound<'_, PyAny>, place: &impl Display) -> PyResult<Option<Vec<u32>>> {
    let buffer = match PyUntypedBuffer::get(object) {
        Ok(buffer) if buffer.dimensions() == 1 => buffer,
        Ok(_) => return Ok(None),
        Err(error) => return not_a_buffer(object.py(), error).map(|()| None),
    };
    from_items::<i64>(object, &buffer, place)
        .or_else(|| from_items::<i32>(object, &buffer, place))
        .or_else(|| from_items::<u32>(object, &buffer, place))
        .or_else(|| from_items::<u64>(object, &buffer, place))
        .transpose()
}

/// Handles an error of getting a buffer: an object without a buffer gives these two. Exceptions of the object's own
/// code are passed on, above all `KeyboardInterrupt`.
fn not_a_buffer(py: Python<'_>, error: PyErr) -> PyResult<()> {
    let is_none =
        error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyBufferError>(py);
    if is_none { Ok(()) } else { Err(error) }
}

/// The ids of a buffer of items of this type; `None` if it has others.
fn from_items<T>(
    object: &Bound<'_, PyAny>,
    buffer: &PyUntypedBuffer,
    place: &impl Display,
) -> Option<PyResult<Vec<u32>>>
where
    T: Element + Copy + TryInto<u32> + ToString,
{
    let buffer = buffer.as_typed::<T>().ok().filter(|buffer| !is_swapped(buffer))?;
    let read = buffer.to_vec(object.py()).and_then(|items| {
        let id = |(index, item): (usize, &T)| {
            (*item)
                .try_into()
                .map_err(|_| out_of_range(&format!("{place}[{index}]"), &item.to_string()))
        };
        items.iter().enumerate().map(id).collect()
    });
    Some(read)
}

/// Whether an array has the other byte order, which `PyBuffer` does not check.
fn is_swapped<T: Element>(buffer: &PyBuffer<T>) -> bool {
    let other: &[u8] = if cfg!(target_endian = "little") { b">!" } else { b"<" };
    buffer.format().to_bytes().first().is_some_and(|order| other.contains(order))
}

/// What Python gets tokens as.
#[derive(Clone, Copy)]
pub(super) enum Form {
    List,
    /// An `array.array` of uint32.
    Array,
}

impl Form {
    pub(super) fn of<'py>(self, py: Python<'py>, tokens: &[u32]) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::List => list(py, tokens).map(Bound::into_any),
            Self::Array => arrays::uint32(py, tokens),
        }
    }
}

/// The same as JSON.
pub(super) fn json_list(tokens: &[u32]) -> String {
    let mut text = String::with_capacity(2 + 7 * tokens.len());
    for token in tokens {
        text.push(if text.is_empty() { '[' } else { ',' });
        text.push_str(&token.to_string());
    }
    if text.is_empty() {
        text.push('[');
    }
    text.push(']');
    text
}

/// A list of ids.
pub(super) fn list<'py>(py: Python<'py>, tokens: &[u32]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, tokens.iter().map(|&token| INTS.get(py, token)))
}
