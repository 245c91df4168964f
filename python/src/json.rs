//! Python objects in the role of JSON -> tapes.

use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyMemoryView,
    PyString, PyTuple, PyType,
};
use pyo3::{PyTypeInfo, intern};
use serde_json::{Number, Value as Tree};

use super::body::{PyBody, utf8_of_body};
use super::errors::{InvalidArgument, OrRaise, OrRaiseAt, Read, brief, type_name, unless_raised};
use super::text::utf8;
use super::types::Models;
use openai_harmony::interop::{Json, parse_body};
use openai_harmony::machinery::{MAX_DEPTH, PathStep, Tape, is_media};

/// The most levels of nested lists and dicts in a schema, the limit of version 0.0.8's JSON parser.
const SCHEMA_DEPTH: usize = 128;

/// Writes a schema as `json.dumps` and a JSON parser would, and returns its index.
pub(super) fn schema(object: &Bound<'_, PyAny>, tape: &mut Tape) -> Read<usize> {
    let index = tape.end();
    Walker { tape, of: Of::Schema, limit: SCHEMA_DEPTH }.value(object, SCHEMA_DEPTH)?;
    Ok(index)
}

/// A schema as a tree.
pub(super) fn schema_tree(object: &Bound<'_, PyAny>) -> Read<Tree> {
    let mut tape = Tape::default();
    let index = schema(object, &mut tape)?;
    Ok(tape.at(index).to_tree())
}

/// A request's body: JSON text, or equivalent objects.
pub(super) fn body(body: &Bound<'_, PyAny>) -> PyResult<Json> {
    let py = body.py();
    let parsed = if let Ok(text) = body.cast::<PyString>() {
        let text = utf8(text)?;
        py.detach(|| parse_body(&text))
    } else if is_bytes(body) {
        // Those that can change are copied.
        let bytes = py.get_type::<PyBytes>().call1((body,))?.cast_into::<PyBytes>()?;
        let bytes = bytes.as_bytes();
        py.detach(|| parse_body(utf8_of_body(bytes)?))
    } else {
        return request(body, MAX_DEPTH).map_err(|invalid| invalid.raised_of_request(py));
    };
    parsed.or_raise(py)
}

/// A row of a data set. Of columns that are not read, which may contain values without a JSON form, only whether they
/// have a value is kept, of images and the like whether there are any; a NaN becomes null, as in pandas.
pub(super) fn row(object: &Bound<'_, PyAny>, is_read: impl Fn(&str) -> bool) -> Read<Json> {
    let mut tape = Tape::default();
    let mut walker = Walker { tape: &mut tape, of: Of::Row, limit: MAX_DEPTH };
    let columns = match object.cast::<PyDict>() {
        Ok(dict) => Some(dict.items().iter().collect()),
        Err(_) => mapping(object)?,
    };
    let Some(columns) = columns else {
        walker.value(object, MAX_DEPTH)?;
        return Ok(Json::new(tape));
    };
    let opened = walker.tape.open();
    for column in columns {
        let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = column.extract()?;
        let Some(name) = key.cast::<PyString>().ok().and_then(|key| key.to_str().ok()) else {
            continue;
        };
        if is_media(name) {
            walker.tape.string(name);
            // A NumPy array of several items is neither true nor false.
            walker.tape.bool(!value.is_none() && value.is_truthy().unwrap_or(true));
        } else if value.is_none() || value.cast::<PyFloat>().is_ok_and(|real| real.value().is_nan())
        {
            walker.tape.string(name);
            walker.tape.null();
        } else if !is_read(name) {
            walker.tape.string(name);
            walker.tape.bool(true);
        } else {
            walker.member(&key, &value, MAX_DEPTH - 1)?;
        }
    }
    walker.tape.close_object(opened);
    Ok(Json::new(tape))
}

/// The messages or items of the argument of this name.
pub(super) fn list(list: &Bound<'_, PyAny>, argument: &'static str) -> PyResult<Vec<Json>> {
    let py = list.py();
    let not_a_list = || InvalidArgument::type_of(list, "a list").inside(argument).raised(py);
    // Iterating over these would give characters or keys.
    if list.cast::<PyString>().is_ok() || is_mapping(list)? {
        return Err(not_a_list());
    }
    let items = list.try_iter().map_err(|error| unless_raised(error, list, not_a_list))?;
    let read = |(index, item): (usize, PyResult<Bound<'_, PyAny>>)| {
        request(&item?, MAX_DEPTH).map_err(|invalid| invalid.inside(index))
    };
    let items = items.enumerate().map(read).collect::<Read<_>>();
    items.map_err(|invalid| invalid.inside(argument).raised_of_request(py))
}

/// An item that was found by its id.
pub(super) fn item(item: &Bound<'_, PyAny>, id: &str) -> PyResult<Json> {
    let place = format!("resolve({id:?})");
    request(item, MAX_DEPTH).map_err(|invalid| invalid.inside(place).raised_of_request(item.py()))
}

/// A chunk of an answer.
pub(super) fn chunk(chunk: &Bound<'_, PyAny>) -> PyResult<Json> {
    let json = match chunk.cast::<PyDict>() {
        // Values of a body of the greatest depth are nested deeper in an answer.
        Ok(_) => request(chunk, 2 * MAX_DEPTH),
        Err(_) => Err(InvalidArgument::type_of(chunk, "a dict")),
    };
    json.or_raise_at(chunk.py(), "chunk")
}

/// A body, a message, an item or a chunk, of at most this many levels.
fn request(object: &Bound<'_, PyAny>, limit: usize) -> Read<Json> {
    if let Ok(body) = object.cast::<PyBody>() {
        return Ok(body.get().json.clone());
    }
    let mut tape = Tape::default();
    Walker { tape: &mut tape, of: Of::Request, limit }.value(object, limit)?;
    Ok(Json::new(tape))
}

/// What the JSON represents, which decides the objects that it may be made from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// Objects that `json.dumps` takes: keys may be numbers, booleans and `None`. Floats are read from their text by
    /// `serde_json`, which sometimes gives the second nearest: 0.0.8 read its schemas this way, and a last digit
    /// changes tokens.
    Schema,
    /// Also mappings and iterables of any class, and pydantic models such as the SDKs'. Harmony's own messages are
    /// refused: they have an author instead of a role.
    Request,
    /// The same with harmony's own messages.
    Row,
}

struct Walker<'t> {
    tape: &'t mut Tape,
    of: Of,
    /// The most levels of nested lists and dicts.
    limit: usize,
}

impl Walker<'_> {
    fn value(&mut self, object: &Bound<'_, PyAny>, depth: usize) -> Read<()> {
        if let Ok(text) = object.cast::<PyString>() {
            self.tape.string(&utf8(text)?);
        } else if object.is_none() {
            self.tape.null();
        } else if let Ok(flag) = object.cast::<PyBool>() {
            self.tape.bool(flag.is_true());
        } else if object.cast::<PyInt>().is_ok() || object.cast::<PyFloat>().is_ok() {
            self.number(object)?;
        } else {
            self.nested(object, depth)?;
        }
        Ok(())
    }

    fn nested(&mut self, object: &Bound<'_, PyAny>, depth: usize) -> Read<()> {
        let limit = self.limit;
        let deeper = depth.checked_sub(1).ok_or_else(|| InvalidArgument::too_deep(limit));
        if let Ok(dict) = object.cast::<PyDict>() {
            // Reads a copy: Python code that runs for a value, or when objects are freed, may change the dict, and so
            // may other threads.
            self.object(dict.copy()?.iter().map(Ok), deeper?)
        } else if let Ok(list) = object.cast::<PyList>() {
            self.array(list.iter().map(Ok), deeper?)
        } else if let Ok(tuple) = object.cast::<PyTuple>() {
            self.array(tuple.iter().map(Ok), deeper?)
        } else if self.of == Of::Schema {
            Err(not_json(object))
        } else {
            self.other(object, deeper?)
        }
    }

    /// An object of another class than JSON's.
    fn other(&mut self, object: &Bound<'_, PyAny>, depth: usize) -> Read<()> {
        // A model's class, given in place of its schema.
        if object.is_instance_of::<PyType>() && object.hasattr("model_json_schema")? {
            return self.value(&object.call_method0("model_json_schema")?, depth);
        }
        if object.hasattr("readinto")? || object.hasattr("readlines")? {
            let what = type_name(object);
            let reason =
                format!("expected JSON, got a file ({what}): give what its read() returns");
            return Err(InvalidArgument::value(reason));
        }
        if let Some(scalar) = scalar(object)? {
            return self.value(&scalar, depth);
        }
        if object.hasattr("model_dump")? {
            if self.of == Of::Request && is_of_harmony(object)? {
                let what = type_name(object);
                let reason = format!("expected the API's form, got harmony's own {what}");
                return Err(InvalidArgument::value(reason));
            }
            let how = PyDict::new(object.py());
            how.set_item("mode", "json")?;
            how.set_item("by_alias", true)?;
            // Excludes fields that were never set, and null, which means the same in all dialects.
            how.set_item("exclude_none", true)?;
            how.set_item("warnings", false)?;
            return self.value(&object.call_method("model_dump", (), Some(&how))?, depth);
        }
        if let Some(items) = mapping(object)? {
            return self.object(items.iter().map(|item| Ok(item.extract()?)), depth);
        }
        // Iterating over these would give numbers.
        if is_bytes(object) {
            return Err(not_json(object));
        }
        let items = object.try_iter();
        let items = items.map_err(|error| unless_raised(error, object, || not_json(object)))?;
        self.array(items, depth)
    }

    fn array<'py>(
        &mut self,
        items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
        depth: usize,
    ) -> Read<()> {
        let opened = self.tape.open();
        for (index, item) in items.enumerate() {
            self.value(&item?, depth).map_err(|invalid| invalid.inside(index))?;
        }
        self.tape.close_array(opened);
        Ok(())
    }

    fn object<'py>(
        &mut self,
        entries: impl Iterator<Item = Read<(Bound<'py, PyAny>, Bound<'py, PyAny>)>>,
        depth: usize,
    ) -> Read<()> {
        let opened = self.tape.open();
        for entry in entries {
            let (key, value) = entry?;
            self.member(&key, &value, depth)?;
        }
        self.tape.close_object(opened);
        Ok(())
    }

    fn member(
        &mut self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        depth: usize,
    ) -> Read<()> {
        let of = self.of;
        let at = |key: &str| match of {
            Of::Schema => PathStep::Key(key.to_owned().into()),
            Of::Request | Of::Row => PathStep::from(key.to_owned()),
        };
        if let Ok(key) = key.cast::<PyString>() {
            let key = utf8(key)?;
            self.tape.string(&key);
            return self.value(value, depth).map_err(|invalid| invalid.inside(at(&key)));
        }
        let key = self.key_text(key)?;
        self.tape.string(&key);
        self.value(value, depth).map_err(|invalid| invalid.inside(at(&key)))
    }

    /// A key that is not a string, as `json.dumps` writes it: the JSON text of a number, a boolean or `None`.
    fn key_text(&self, key: &Bound<'_, PyAny>) -> Read<String> {
        if self.of == Of::Schema {
            if key.is_none() {
                return Ok("null".to_owned());
            }
            if let Ok(flag) = key.cast::<PyBool>() {
                return Ok(flag.is_true().to_string());
            }
            if key.cast::<PyFloat>().is_ok() || key.cast::<PyInt>().is_ok() {
                finite(key)?;
                return Ok(digits(key)?.to_string());
            }
        }
        Err(InvalidArgument::type_of(key, "a string as key"))
    }

    fn number(&mut self, number: &Bound<'_, PyAny>) -> Read<()> {
        let is_int = number.cast::<PyInt>().is_ok();
        let whole = || {
            let signed = number.extract::<i64>().map(i128::from);
            signed.or_else(|_| number.extract::<u64>().map(i128::from))
        };
        if is_int && let Ok(whole) = whole() {
            self.tape.number(&whole.to_string());
            return Ok(());
        }
        let mut real = finite(number)?;
        if self.of == Of::Schema {
            // An int beyond 64 bits is a real number to JSON parsers.
            let parsed = serde_json::from_str::<Number>(digits(number)?.to_str()?).ok();
            real = parsed.and_then(|number| number.as_f64()).unwrap_or(real);
        } else if is_int {
            self.tape.number(digits(number)?.to_str()?);
            return Ok(());
        }
        self.tape.double(real).ok_or_else(|| no_such_number(number))
    }
}

/// A number as a double, or an error if JSON does not have it.
fn finite(number: &Bound<'_, PyAny>) -> Read<f64> {
    let real = number.extract::<f64>().ok().filter(|real| real.is_finite());
    real.ok_or_else(|| no_such_number(number))
}

fn no_such_number(number: &Bound<'_, PyAny>) -> InvalidArgument {
    let shown = number.repr().map_or_else(|_| "?".to_owned(), |repr| repr.to_string());
    InvalidArgument::value(format!("JSON has no such number: {}", brief(shown)))
}

fn not_json(object: &Bound<'_, PyAny>) -> InvalidArgument {
    InvalidArgument::type_of(object, "a JSON value")
}

/// An int or a float as Python writes it, an instance of a subclass like any other.
fn digits<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
    let py = object.py();
    if object.cast::<PyInt>().is_ok() {
        // `int`'s own `repr`, whatever a subclass defines.
        let repr = py.get_type::<PyInt>().call_method1(intern!(py, "__repr__"), (object,))?;
        return Ok(repr.cast_into()?);
    }
    PyFloat::new(py, object.extract()?).repr()
}

/// The Python value of another package's scalar, which has a type and no dimensions.
fn scalar<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(shape) = object.getattr_opt("shape")? else { return Ok(None) };
    if !object.hasattr("dtype")? || !shape.len().is_ok_and(|dimensions| dimensions == 0) {
        return Ok(None);
    }
    object.call_method0(intern!(object.py(), "item")).map(Some)
}

fn is_bytes(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>()
        || object.is_instance_of::<PyMemoryView>()
}

/// Whether `HarmonyEncoding` renders the object as it is.
fn is_of_harmony(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    let models = Models::get(py)?;
    let conversation = models.conversation.bind(py);
    Ok(object.is_instance(models.message.class.bind(py))? || object.is_instance(conversation)?)
}

/// The object's `items()`, if it is a mapping.
fn mapping<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    if !is_mapping(object)? {
        return Ok(None);
    }
    object
        .call_method0(intern!(object.py(), "items"))?
        .try_iter()?
        .collect::<PyResult<_>>()
        .map(Some)
}

/// Whether the object is a mapping. For lists and tuples no Python code runs to find out, since a signal handler could
/// raise in it, which would look like an error of a row. Exceptions are not hidden, as `cast` would.
fn is_mapping(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is_list = object.cast::<PyList>().is_ok() || object.cast::<PyTuple>().is_ok();
    Ok(!is_list && object.is_instance(&PyMapping::type_object(object.py()))?)
}
