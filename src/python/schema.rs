//! Python values to JSON values, as `json.dumps` and a JSON parser would make them.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

use super::errors::{Misfit, Read};
use super::text::utf8;

/// How deep lists and dicts may lie within each other. Version 0.0.8's JSON parser had this
/// limit; it also ends cycles.
const MAX_DEPTH: usize = 128;

/// A JSON value: of a string, an int, a float, a bool, `None`, or lists, tuples and dicts of
/// them. NaN, infinities, cycles and other types are refused.
pub(super) fn value(object: &Bound<'_, PyAny>) -> Read<Value> {
    nested(object, MAX_DEPTH)
}

fn nested(object: &Bound<'_, PyAny>, depth: usize) -> Read<Value> {
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::String(utf8(text)?.into_owned()));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        return entries(dict, deeper(depth)?).map(Value::Object);
    }
    if let Ok(list) = object.cast::<PyList>() {
        return items(list.iter(), deeper(depth)?);
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return items(tuple.iter(), deeper(depth)?);
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    number(object).map(Value::Number)
}

fn deeper(depth: usize) -> Read<usize> {
    depth.checked_sub(1).ok_or_else(|| {
        Misfit::value(format!("nested deeper than {MAX_DEPTH} levels, or within itself"))
    })
}

fn items<'py>(items: impl Iterator<Item = Bound<'py, PyAny>>, depth: usize) -> Read<Value> {
    items
        .enumerate()
        .map(|(index, item)| {
            nested(&item, depth).map_err(|misfit| misfit.inside(format_args!("[{index}]")))
        })
        .collect::<Read<Vec<_>>>()
        .map(Value::Array)
}

fn entries(dict: &Bound<'_, PyDict>, depth: usize) -> Read<Map<String, Value>> {
    let mut map = Map::with_capacity(dict.len());
    for (key, entry) in dict {
        let key = key_text(&key)?;
        let entry =
            nested(&entry, depth).map_err(|misfit| misfit.inside(format_args!("[{key:?}]")))?;
        map.insert(key, entry);
    }
    Ok(map)
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
    Err(Misfit::type_of(key, "a string as key"))
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
        return Err(Misfit::type_of(object, "a JSON value"));
    }
    // An int beyond 64 bits is a real number to JSON parsers.
    real(object)?.ok_or_else(|| Misfit::value("a number that JSON cannot hold"))
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
