//! Python values to JSON values, as `json.dumps` and a JSON parser would make them.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Number, Value};

use super::errors::{InvalidArgument, Read};
use super::text::utf8;
use crate::json::Tape;

/// How deep lists and dicts may lie within each other. Version 0.0.8's JSON parser had this
/// limit; it also ends cycles.
const MAX_DEPTH: usize = 128;

/// Writes a JSON value on a tape and returns its index: of a string, an int, a float, a bool,
/// `None`, or lists, tuples and dicts of them. NaN, infinities, cycles and other types are refused.
pub(super) fn write(object: &Bound<'_, PyAny>, tape: &mut Tape) -> Read<usize> {
    let index = tape.end();
    nested(object, tape, MAX_DEPTH)?;
    Ok(index)
}

/// A JSON value.
pub(super) fn value(object: &Bound<'_, PyAny>) -> Read<Value> {
    let mut tape = Tape::default();
    let index = write(object, &mut tape)?;
    Ok(tape.at(index).to_value())
}

fn nested(object: &Bound<'_, PyAny>, tape: &mut Tape, depth: usize) -> Read<()> {
    if let Ok(text) = object.cast::<PyString>() {
        tape.string(&utf8(text)?);
    } else if let Ok(dict) = object.cast::<PyDict>() {
        entries(dict, tape, deeper(depth)?)?;
    } else if let Ok(list) = object.cast::<PyList>() {
        items(list.iter(), tape, deeper(depth)?)?;
    } else if let Ok(tuple) = object.cast::<PyTuple>() {
        items(tuple.iter(), tape, deeper(depth)?)?;
    } else if object.is_none() {
        tape.null();
    } else if let Ok(flag) = object.cast::<PyBool>() {
        tape.bool(flag.is_true());
    } else {
        tape.number(number(object)?);
    }
    Ok(())
}

fn deeper(depth: usize) -> Read<usize> {
    depth.checked_sub(1).ok_or_else(|| {
        InvalidArgument::value(format!("nested deeper than {MAX_DEPTH} levels, or within itself"))
    })
}

fn items<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    tape: &mut Tape,
    depth: usize,
) -> Read<()> {
    let opened = tape.open();
    for (index, item) in items.enumerate() {
        nested(&item, tape, depth).map_err(|invalid| invalid.inside(format_args!("[{index}]")))?;
    }
    tape.close_array(opened);
    Ok(())
}

fn entries(dict: &Bound<'_, PyDict>, tape: &mut Tape, depth: usize) -> Read<()> {
    // All keys are looked at before any value is written: writing the values a second time because
    // of a key would take twice as long at each level.
    //
    // Of a copy: other threads may change the dict, and so may Python code that runs when objects are
    // freed.
    let mut dict = dict.copy()?;
    if !dict.iter().all(|(key, _)| is_ascii(&key)) {
        dict = entries_by_text(&dict)?;
    }
    let opened = tape.open();
    for (key, value) in dict {
        let key = utf8(key.cast().map_err(PyErr::from)?)?;
        tape.string(&key);
        nested(&value, tape, depth).map_err(|invalid| invalid.inside(format_args!("[{key:?}]")))?;
    }
    tape.close_object(opened);
    Ok(())
}

/// Whether a key is one of which no other can have the text: `1` and `"1"` are two keys in Python.
fn is_ascii(key: &Bound<'_, PyAny>) -> bool {
    key.cast::<PyString>().is_ok_and(|text| text.to_str().is_ok_and(str::is_ascii))
}

/// The entries by the texts of their keys. Of several with the same text the last one counts, in
/// the place of the first.
fn entries_by_text<'py>(dict: &Bound<'py, PyDict>) -> Read<Bound<'py, PyDict>> {
    let by_text = PyDict::new(dict.py());
    for (key, value) in dict {
        by_text.set_item(key_text(&key)?, value)?;
    }
    Ok(by_text)
}

/// A key as `json.dumps` writes it: numbers, booleans and `None` by their JSON texts.
fn key_text(key: &Bound<'_, PyAny>) -> Read<String> {
    if let Ok(text) = key.cast::<PyString>() {
        return Ok(utf8(text)?.into_owned());
    }
    if key.is_none() {
        return Ok("null".to_owned());
    }
    if let Ok(flag) = key.cast::<PyBool>() {
        return Ok(flag.is_true().to_string());
    }
    if key.cast::<PyFloat>().is_ok() || key.cast::<PyInt>().is_ok() {
        number(key)?;
        return Ok(digits(key)?.to_string());
    }
    Err(InvalidArgument::type_of(key, "a string as key"))
}

fn number(object: &Bound<'_, PyAny>) -> Read<Number> {
    if object.cast::<PyInt>().is_ok() {
        if let Ok(whole) = object.extract::<i64>() {
            return Ok(whole.into());
        }
        if let Ok(whole) = object.extract::<u64>() {
            return Ok(whole.into());
        }
    } else if object.cast::<PyFloat>().is_err() {
        return Err(InvalidArgument::type_of(object, "a JSON value"));
    }
    // An int beyond 64 bits is a real number to JSON parsers.
    real(object)?.ok_or_else(|| InvalidArgument::value("a number that JSON cannot hold"))
}

/// A real number as JSON text carries it to `serde_json`, which now and then takes the nearest but
/// one. Version 0.0.8 got its schemas on this way, and a last digit is a token.
fn real(object: &Bound<'_, PyAny>) -> PyResult<Option<Number>> {
    // Of an int no more digits than a real number can have.
    if object.extract::<f64>().is_err() {
        return Ok(None);
    }
    Ok(serde_json::from_str(digits(object)?.to_str()?).ok().and_then(Number::from_f64))
}

/// An int or a float as Python writes it, an instance of a subclass like any other.
fn digits<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
    let py = object.py();
    if object.cast::<PyInt>().is_ok() {
        // `int`'s own, whatever the subclass makes of it.
        let repr = py.get_type::<PyInt>().call_method1(intern!(py, "__repr__"), (object,))?;
        return Ok(repr.cast_into()?);
    }
    PyFloat::new(py, object.extract()?).repr()
}
