//! Token ids in and out.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyList, PyString, PyTuple};

use super::errors::{brief, type_name, unless_raised, wrong_type};
use super::ints::{Giver, Known};

/// The ids of any iterable of ints; an error names the first item that is none, and its index.
///
/// The whole of it is read before any is used, so that nothing is consumed in case of an error.
pub(super) fn read(tokens: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    if let Ok(list) = tokens.cast::<PyList>() {
        return match in_place(list) {
            Some(ids) => Ok(ids),
            None => all(list.iter().map(Ok)),
        };
    }
    if let Ok(tuple) = tokens.cast::<PyTuple>() {
        return all(tuple.iter().map(Ok));
    }
    if let Some(ids) = from_array(tokens) {
        return ids;
    }
    let no_ints = || {
        let got = type_name(tokens);
        wrong_type(tokens.py(), format!("tokens: expected a sequence of ints, got {got}"))
    };
    if tokens.cast::<PyString>().is_ok() {
        return Err(no_ints());
    }
    let items = tokens.try_iter().map_err(|error| unless_raised(error, tokens, no_ints))?;
    all(items)
}

/// One id.
pub(super) fn read_one(token: &Bound<'_, PyAny>) -> PyResult<u32> {
    id_of(token)?.ok_or_else(|| not_an_id(token, "token"))
}

/// The ids of a list that holds nothing else; `None` where an item needs a closer look.
fn in_place(list: &Bound<'_, PyList>) -> Option<Vec<u32>> {
    let mut ids = Vec::with_capacity(list.len());
    in_blocks(list, |block| ids.extend_from_slice(block)).then_some(ids)
}

/// Gives the ids of a list to `take`, block by block; `false` where an item needs a closer look.
///
/// `take` must not run Python code. Not taking a reference to each item, and not gathering the
/// ids of long lists in memory that the system must first provide, makes decoding 2 MB more than
/// twice as fast.
pub(super) fn in_blocks(list: &Bound<'_, PyList>, mut take: impl FnMut(&[u32])) -> bool {
    let mut block = [0; 512];
    // Without a global lock, this keeps other threads from changing the list meanwhile.
    with_critical_section(list, || {
        for start in (0..list.len()).step_by(block.len()) {
            let end = list.len().min(start + block.len());
            for (index, slot) in (start..end).zip(&mut block) {
                let index = index.cast_signed();
                // SAFETY: the index is below the list's length. The list stays as it is, so its
                // items live: no other thread can change it, and nothing here runs Python code.
                let id = unsafe { value_of(ffi::PyList_GET_ITEM(list.as_ptr(), index)) };
                let Some(id) = id else { return false };
                *slot = id;
            }
            take(&block[..end - start]);
        }
        true
    })
}

/// The value of an int, if it can be an id; `None` for any other object.
///
/// # Safety
///
/// `object` is a live object and the interpreter is attached.
unsafe fn value_of(object: *mut ffi::PyObject) -> Option<u32> {
    let mut overflow = 0;
    // SAFETY: the caller's. Of an int the call runs no Python code and sets no exception; what
    // does not fit it returns as -1.
    let value = unsafe {
        if ffi::PyLong_Check(object) == 0 {
            return None;
        }
        ffi::PyLong_AsLongAndOverflow(object, &raw mut overflow)
    };
    u32::try_from(value).ok()
}

/// The value of an int, or of anything that stands for one, if it can be an id. An error is what
/// the object's own code raised.
fn id_of(object: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    // SAFETY: `object` is live, and bound to the interpreter.
    if let Some(id) = unsafe { value_of(object.as_ptr()) } {
        return Ok(Some(id));
    }
    let py = object.py();
    object.extract().map(Some).or_else(|error: PyErr| {
        let is_unfit =
            error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyOverflowError>(py);
        if is_unfit { Ok(None) } else { Err(error) }
    })
}

fn all<'py>(items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>) -> PyResult<Vec<u32>> {
    /// More than that is not believed before it is there.
    const LIKELY: usize = 1 << 16;
    let mut ids = Vec::with_capacity(items.size_hint().0.min(LIKELY));
    for item in items {
        let item = item?;
        let id = id_of(&item)?;
        ids.push(id.ok_or_else(|| not_an_id(&item, &format!("tokens[{}]", ids.len())))?);
    }
    Ok(ids)
}

/// What to raise for an object that is no id.
fn not_an_id(object: &Bound<'_, PyAny>, place: &str) -> PyErr {
    let shown = object.repr().map_or_else(|_| "?".to_owned(), |repr| brief(repr.to_string()));
    // What Python takes for an int is one, with a value that an id cannot have.
    if object.call_method0("__index__").is_ok() {
        return out_of_range(place, &shown);
    }
    let got = type_name(object);
    wrong_type(object.py(), format!("{place}: expected an int, got {got} {shown}"))
}

fn out_of_range(place: &str, value: &str) -> PyErr {
    PyValueError::new_err(format!("{place}: {value} is no token id"))
}

/// The ids of an array of integers, `NumPy`'s or the standard library's, without making Python
/// ints of them. `None` for what is no flat array of integers.
fn from_array(object: &Bound<'_, PyAny>) -> Option<PyResult<Vec<u32>>> {
    from_buffer::<i64>(object)
        .or_else(|| from_buffer::<i32>(object))
        .or_else(|| from_buffer::<u32>(object))
        .or_else(|| from_buffer::<u64>(object))
}

fn from_buffer<T>(object: &Bound<'_, PyAny>) -> Option<PyResult<Vec<u32>>>
where
    T: Element + Copy + TryInto<u32> + ToString,
{
    let buffer = PyBuffer::<T>::get(object).ok()?;
    if buffer.dimensions() != 1 || is_swapped(&buffer) {
        return None;
    }
    let read = buffer.to_vec(object.py()).and_then(|items| {
        let id = |(index, item): (usize, &T)| {
            (*item)
                .try_into()
                .map_err(|_| out_of_range(&format!("tokens[{index}]"), &item.to_string()))
        };
        items.iter().enumerate().map(id).collect()
    });
    Some(read)
}

/// Whether an array is in the other byte order, for which `PyBuffer` does not look.
fn is_swapped<T: Element>(buffer: &PyBuffer<T>) -> bool {
    let other: &[u8] = if cfg!(target_endian = "little") { b">!" } else { b"<" };
    buffer.format().to_bytes().first().is_some_and(|order| other.contains(order))
}

/// A list of ids.
pub(super) fn list<'py>(py: Python<'py>, tokens: &[u32]) -> PyResult<Bound<'py, PyList>> {
    let giver = Giver::new(py);
    list_of(py, tokens.iter().map(|&token| giver.reference(token, &Known::of(token))))
}

/// A list of ids of which the ints were looked up.
pub(super) fn list_of_known<'py>(
    py: Python<'py>,
    tokens: &[u32],
    known: &[Known],
) -> PyResult<Bound<'py, PyList>> {
    if tokens.len() != known.len() {
        return list(py, tokens);
    }
    let giver = Giver::new(py);
    list_of(py, tokens.iter().zip(known).map(|(&token, known)| giver.reference(token, known)))
}

/// A list that takes these references. Filled in place: texts of 2 MB are encoded 4 % faster than
/// with `PyList::new`.
fn list_of(
    py: Python<'_>,
    references: impl ExactSizeIterator<Item = *mut ffi::PyObject>,
) -> PyResult<Bound<'_, PyList>> {
    let count = references.len();
    // SAFETY: the interpreter is attached. The call returns a new reference, or null with an
    // exception set.
    let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(count.cast_signed()))? };
    // SAFETY: the list is live.
    let items = unsafe { (*list.as_ptr().cast::<ffi::PyListObject>()).ob_item };
    for (index, reference) in (0..count).zip(references) {
        // SAFETY: the list has this item. It is null, which the garbage collector, the only one who
        // knows the list yet, puts up with; and no Python code runs until all are set.
        unsafe { items.add(index).write(reference) };
    }
    Ok(list.cast_into()?)
}
