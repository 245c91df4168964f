//! What fields hold: strings, lists, booleans, `None`.

use std::num::NonZeroUsize;

use pyo3::exceptions::PyOverflowError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyList, PyString, PyType};

use crate::errors::{InvalidArgument, Read, brief, unless_raised};
use crate::text::{BorrowedText, utf8};

/// The object itself, or the model that a dict instead of it describes.
pub(super) fn model<'py>(
    object: &Bound<'py, PyAny>,
    class: &Py<PyType>,
) -> PyResult<Bound<'py, PyAny>> {
    if object.cast::<PyDict>().is_err() {
        return Ok(object.clone());
    }
    class.bind(object.py()).call_method1(intern!(object.py(), "model_validate"), (object,))
}

/// Reads each item of a list, or of anything else to iterate over.
pub(crate) fn each<T>(
    items: &Bound<'_, PyAny>,
    read: impl FnMut(&Bound<'_, PyAny>) -> Read<T>,
) -> Read<Vec<T>> {
    if let Ok(list) = items.cast::<PyList>() {
        return each_of(list.iter().map(Ok), list.len(), read);
    }
    let not_a_list = || InvalidArgument::type_of(items, "a list");
    let is_one_value = items.cast::<PyString>().is_ok() || items.cast::<PyBytes>().is_ok();
    if is_one_value || items.cast::<PyDict>().is_ok() {
        return Err(not_a_list());
    }
    each_of(items.try_iter().map_err(|error| unless_raised(error, items, not_a_list))?, 0, read)
}

/// Reads items. `count` is their number, or 0 if unknown.
fn each_of<'py, T>(
    items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
    count: usize,
    mut read: impl FnMut(&Bound<'py, PyAny>) -> Read<T>,
) -> Read<Vec<T>> {
    // Allocated at its size, which collecting results does not do.
    let mut all = Vec::with_capacity(count);
    for (index, item) in items.enumerate() {
        all.push(read(&item?).map_err(|invalid| invalid.inside(index))?);
    }
    Ok(all)
}

pub(crate) fn optional<'py, T>(
    object: &Bound<'py, PyAny>,
    read: impl FnOnce(&Bound<'py, PyAny>) -> Read<T>,
) -> Read<Option<T>> {
    if object.is_none() { Ok(None) } else { read(object).map(Some) }
}

pub(crate) fn string(object: &Bound<'_, PyAny>) -> Read<String> {
    Ok(utf8(python_string(object)?)?.into_owned())
}

pub(super) fn text(object: &Bound<'_, PyAny>) -> Read<BorrowedText> {
    Ok(BorrowedText::of(python_string(object)?)?)
}

pub(crate) fn optional_string(object: &Bound<'_, PyAny>) -> Read<Option<String>> {
    let string = optional_python_string(object)?;
    Ok(string.map(|string| PyResult::Ok(utf8(string)?.into_owned())).transpose()?)
}

pub(super) fn optional_text(object: &Bound<'_, PyAny>) -> Read<Option<BorrowedText>> {
    Ok(optional_python_string(object)?.map(BorrowedText::of).transpose()?)
}

fn python_string<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Read<&'a Bound<'py, PyString>> {
    object.cast().map_err(|_| InvalidArgument::type_of(object, "a string"))
}

fn optional_python_string<'a, 'py>(
    object: &'a Bound<'py, PyAny>,
) -> Read<Option<&'a Bound<'py, PyString>>> {
    match object.cast() {
        Ok(string) => Ok(Some(string)),
        Err(_) if object.is_none() => Ok(None),
        Err(_) => Err(InvalidArgument::type_of(object, "a string or None")),
    }
}

/// A boolean.
pub(crate) fn boolean(object: &Bound<'_, PyAny>) -> Read<bool> {
    let not_a_bool = || InvalidArgument::type_of(object, "a bool");
    object.extract().map_err(|error| unless_raised(error, object, not_a_bool))
}

/// A number.
pub(crate) fn number<T>(object: &Bound<'_, PyAny>) -> Read<T>
where
    T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    let not_a_number = || InvalidArgument::type_of(object, "a number");
    fitting(object, || got(object, "a number that a float can hold"), not_a_number)
}

/// A whole number from 0 on.
pub(crate) fn count<T>(object: &Bound<'_, PyAny>) -> Read<T>
where
    T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    let not_an_int = || InvalidArgument::type_of(object, "an int");
    fitting(object, || got(object, "an int of at least 0, below 2^64"), not_an_int)
}

/// A whole number from 1 on.
pub(crate) fn count_from_one(object: &Bound<'_, PyAny>) -> Read<NonZeroUsize> {
    let refused = || got(object, "a whole number from 1");
    NonZeroUsize::new(fitting(object, refused, refused)?).ok_or_else(refused)
}

/// A number, if the type can hold it. A bool is not a number.
fn fitting<T>(
    object: &Bound<'_, PyAny>,
    out_of_range: impl FnOnce() -> InvalidArgument,
    not_a_number: impl FnOnce() -> InvalidArgument,
) -> Read<T>
where
    T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    if object.is_instance_of::<PyBool>() {
        return Err(not_a_number());
    }
    object.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<PyOverflowError>(object.py()) {
            return out_of_range();
        }
        unless_raised(error, object, not_a_number)
    })
}

/// The error that shows the value.
fn got(object: &Bound<'_, PyAny>, expected: &str) -> InvalidArgument {
    let shown = object.repr().map_or_else(|_| "?".to_owned(), |repr| repr.to_string());
    InvalidArgument::value(format!("expected {expected}, got {}", brief(shown)))
}
