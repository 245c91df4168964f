//! Bodies of requests from Python -> JSON values.

use std::cell::Cell;
use std::fmt::Display;

use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyMemoryView,
    PyString, PyTuple,
};
use pyo3::{PyTypeInfo, intern};
use serde_json::{Map, Number, Value};

use super::errors::{InvalidArgument, brief, raised, type_name, unless_raised};
use super::text::utf8;
use super::types::Types;
use crate::ErrorKind;
use crate::interop::{long_integers, parse_body};

/// How deep a body's lists and mappings may lie within each other, as in JSON text.
const MAX_DEPTH: usize = 127;

/// What is wrong with a body, and where in it.
pub(super) enum Flaw {
    Invalid {
        path: String,
        reason: String,
    },
    /// Without a path, which would be as long as the nesting is deep.
    TooDeep,
    Raised(PyErr),
}

type Read<T> = Result<T, Flaw>;

impl Flaw {
    fn new(reason: impl Into<String>) -> Self {
        Self::Invalid { path: String::new(), reason: reason.into() }
    }

    /// The same, seen from the object around: `step` is `messages`, or `[3]`.
    fn inside(self, step: impl Display) -> Self {
        match self {
            Self::Invalid { path, reason } => {
                let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
                Self::Invalid { path: format!("{step}{dot}{path}"), reason }
            }
            other => other,
        }
    }

    /// The path and what is wrong there, or what Python code raised.
    pub(super) fn into_parts(self) -> PyResult<(String, String)> {
        match self {
            Self::Invalid { path, reason } => Ok((path, reason)),
            Self::TooDeep => {
                let reason = format!("nested more than {MAX_DEPTH} levels deep, or within itself");
                Ok((String::new(), reason))
            }
            Self::Raised(error) => Err(error),
        }
    }

    /// An `InvalidRequestError` with the path, or what Python code raised.
    pub(super) fn raised(self, py: Python<'_>) -> PyErr {
        let request = |(path, reason)| ErrorKind::InvalidRequest { path, reason }.into();
        self.into_parts().map_or_else(|error| error, |parts| raised(py, &request(parts)))
    }
}

impl From<PyErr> for Flaw {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// A body: JSON text, or what stands for JSON.
pub(super) fn body(body: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = body.py();
    let parsed = if let Ok(text) = body.cast::<PyString>() {
        let text = utf8(text)?;
        py.detach(|| parse_body(&text))
    } else if is_bytes(body) {
        // Those that can change are copied.
        let bytes = py.get_type::<PyBytes>().call1((body,))?.cast_into::<PyBytes>()?;
        let text = String::from_utf8_lossy(bytes.as_bytes());
        py.detach(|| parse_body(&text))
    } else {
        return whole(body).map_err(|flaw| flaw.raised(py));
    };
    parsed.map_err(|error| raised(py, &error))
}

fn is_bytes(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>()
        || object.is_instance_of::<PyMemoryView>()
}

/// A body that is not text.
fn whole(object: &Bound<'_, PyAny>) -> Read<Value> {
    let reader = Reader { is_of_api: true, ..Reader::default() };
    let value = reader.value(object, MAX_DEPTH)?;
    Ok(reader.settled(value))
}

/// A row of a data set, without the columns that are not read: they may hold what JSON cannot.
pub(super) fn row(object: &Bound<'_, PyAny>, is_read: impl Fn(&str) -> bool) -> Read<Value> {
    let reader = Reader::default();
    let value = reader.row(object, is_read)?;
    Ok(reader.settled(value))
}

/// The messages or items that are the argument of this name.
pub(super) fn list(list: &Bound<'_, PyAny>, argument: &str) -> PyResult<Vec<Value>> {
    let py = list.py();
    let not_a_list = || InvalidArgument::type_of(list, "a list").inside(argument).raised(py);
    // Iterating over these would give characters or keys.
    if list.cast::<PyString>().is_ok() || is_mapping(list)? {
        return Err(not_a_list());
    }
    let items = list.try_iter().map_err(|error| unless_raised(error, list, not_a_list))?;
    each(items, message).map_err(|flaw| flaw.inside(argument).raised(py))
}

/// An item that was found by its id.
pub(super) fn item(item: &Bound<'_, PyAny>, id: &str) -> PyResult<Value> {
    let place = format_args!("resolve({id:?})").to_string();
    message(item).map_err(|flaw| flaw.inside(place).raised(item.py()))
}

/// A message or an item outside a body.
fn message(object: &Bound<'_, PyAny>) -> Read<Value> {
    let reader = Reader { is_of_api: true, ..Reader::default() };
    let mut value = reader.value(object, MAX_DEPTH)?;
    if reader.has_marks.get() {
        long_integers::settle(&mut value);
    }
    Ok(value)
}

fn each<'py>(
    items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
    read: impl Fn(&Bound<'py, PyAny>) -> Read<Value>,
) -> Read<Vec<Value>> {
    let read = |(index, item): (usize, PyResult<Bound<'py, PyAny>>)| {
        read(&item?).map_err(|flaw| flaw.inside(format_args!("[{index}]")))
    };
    items.enumerate().map(read).collect()
}

/// Reads what stands for JSON: dicts and other mappings, lists, tuples and other iterables, strings,
/// numbers, and pydantic's models, as the SDKs have them.
#[derive(Default)]
struct Reader {
    /// Whether any integer was marked.
    has_marks: Cell<bool>,
    /// Whether harmony's own messages are refused: they have no role, but an author.
    is_of_api: bool,
}

impl Reader {
    fn settled(&self, mut value: Value) -> Value {
        if self.has_marks.get() {
            long_integers::settle_body(&mut value);
        }
        value
    }

    fn row(&self, object: &Bound<'_, PyAny>, is_read: impl Fn(&str) -> bool) -> Read<Value> {
        let items = match object.cast::<PyDict>() {
            Ok(dict) => Some(dict.items().iter().collect()),
            Err(_) => items(object)?,
        };
        let Some(items) = items else {
            return self.value(object, MAX_DEPTH);
        };
        let mut map = Map::new();
        for item in items {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let is_read = |key: &Bound<'_, PyString>| key.to_str().is_ok_and(&is_read);
            if key.cast::<PyString>().is_ok_and(is_read) {
                self.insert(&mut map, &key, &value, MAX_DEPTH - 1)?;
            }
        }
        Ok(Value::Object(map))
    }

    fn value(&self, object: &Bound<'_, PyAny>, depth: usize) -> Read<Value> {
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Value::String(utf8(text)?.into_owned()));
        }
        if object.is_none() {
            return Ok(Value::Null);
        }
        if let Ok(flag) = object.cast::<PyBool>() {
            return Ok(Value::Bool(flag.is_true()));
        }
        if object.cast::<PyInt>().is_ok() || object.cast::<PyFloat>().is_ok() {
            return self.number(object);
        }
        let depth = depth.checked_sub(1).ok_or(Flaw::TooDeep)?;
        let item = |item: &Bound<'_, PyAny>| self.value(item, depth);
        if let Ok(dict) = object.cast::<PyDict>() {
            let mut map = Map::with_capacity(dict.len());
            // Of a copy: Python code that runs for a value may change the dict, and so may other threads.
            for (key, value) in dict.copy()?.iter() {
                self.insert(&mut map, &key, &value, depth)?;
            }
            return Ok(Value::Object(map));
        }
        if let Ok(list) = object.cast::<PyList>() {
            return each(list.iter().map(Ok), item).map(Value::Array);
        }
        if let Ok(tuple) = object.cast::<PyTuple>() {
            return each(tuple.iter().map(Ok), item).map(Value::Array);
        }
        self.other(object, depth)
    }

    fn other(&self, object: &Bound<'_, PyAny>, depth: usize) -> Read<Value> {
        if object.hasattr("model_dump")? {
            if self.is_of_api && is_of_harmony(object)? {
                let what = type_name(object);
                let reason = format!("expected what the API sends, got a {what} of harmony's own");
                return Err(Flaw::new(reason));
            }
            let how = PyDict::new(object.py());
            how.set_item("mode", "json")?;
            how.set_item("by_alias", true)?;
            // What was never set, and null, which means the same in all dialects.
            how.set_item("exclude_none", true)?;
            how.set_item("warnings", false)?;
            return self.value(&object.call_method("model_dump", (), Some(&how))?, depth);
        }
        if let Some(items) = items(object)? {
            let mut map = Map::new();
            for item in items {
                let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
                self.insert(&mut map, &key, &value, depth)?;
            }
            return Ok(Value::Object(map));
        }
        let not_json = || Flaw::new(format!("expected a JSON value, got {}", type_name(object)));
        // Iterating over these would give numbers.
        if is_bytes(object) {
            return Err(not_json());
        }
        let items = object.try_iter().map_err(|error| unless_raised(error, object, not_json))?;
        each(items, |item| self.value(item, depth)).map(Value::Array)
    }

    fn insert(
        &self,
        map: &mut Map<String, Value>,
        key: &Bound<'_, PyAny>,
        member: &Bound<'_, PyAny>,
        depth: usize,
    ) -> Read<()> {
        let Ok(name) = key.cast::<PyString>() else {
            let reason = format!("expected strings as keys, got one of type {}", type_name(key));
            return Err(Flaw::new(reason));
        };
        let name = utf8(name)?;
        let member = self.value(member, depth).map_err(|flaw| flaw.inside(&name))?;
        map.insert(name.into_owned(), member);
        Ok(())
    }

    fn number(&self, number: &Bound<'_, PyAny>) -> Read<Value> {
        let is_int = number.cast::<PyInt>().is_ok();
        if is_int && let Ok(whole) = number.extract::<i64>() {
            return Ok(whole.into());
        }
        if is_int && let Ok(whole) = number.extract::<u64>() {
            return Ok(whole.into());
        }
        let real = number.extract::<f64>().ok().and_then(Number::from_f64);
        let Some(real) = real else {
            let shown = number.repr().map_or_else(|_| "?".to_owned(), |repr| repr.to_string());
            return Err(Flaw::new(format!("JSON has no such number: {}", brief(shown))));
        };
        if !is_int {
            return Ok(Value::Number(real));
        }
        self.has_marks.set(true);
        // As `int` writes it, whatever a subclass does.
        let digits = number.py().get_type::<PyInt>().call_method1("__repr__", (number,))?;
        Ok(long_integers::marked_integer(digits.extract()?))
    }
}

/// Whether the object is one that `HarmonyEncoding` renders as it is.
fn is_of_harmony(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    let types = Types::get(py)?;
    let conversation = types.conversation.bind(py);
    Ok(object.is_instance(types.message.class.bind(py))? || object.is_instance(conversation)?)
}

/// What the object's `items()` gives, if it is a mapping.
fn items<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    if !is_mapping(object)? {
        return Ok(None);
    }
    object
        .call_method0(intern!(object.py(), "items"))?
        .try_iter()?
        .collect::<PyResult<_>>()
        .map(Some)
}

/// Whether the object is a mapping. For lists and tuples no Python code runs to tell: a signal handler may raise
/// in it, which would be taken for an error of a row. What is raised there is not hidden, as by `cast`.
fn is_mapping(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is_list = object.cast::<PyList>().is_ok() || object.cast::<PyTuple>().is_ok();
    Ok(!is_list && object.is_instance(&PyMapping::type_object(object.py()))?)
}
