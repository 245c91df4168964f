//! JSON as Python's dicts, lists and scalars, like `json.loads`.

use std::sync::OnceLock;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString};

use openai_harmony::machinery::{At, Value};

type Object<'py> = Bound<'py, PyAny>;

/// A value of a tape.
pub(super) fn value<'py>(py: Python<'py>, at: At<'_>) -> PyResult<Object<'py>> {
    match at.value() {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(flag) => flag.into_bound_py_any(py),
        Value::Number(digits) => number(py, digits),
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(items) => {
            let list = PyList::empty(py);
            items.iter().try_for_each(|item| list.append(value(py, item)?))?;
            Ok(list.into_any())
        }
        Value::Object(members) => {
            let dict = PyDict::new(py);
            for (key, member) in members.iter() {
                dict.set_item(name(py, key), value(py, member)?)?;
            }
            Ok(dict.into_any())
        }
    }
}

/// A number's text as Python reads it; its integers are unbounded.
fn number<'py>(py: Python<'py>, digits: &str) -> PyResult<Object<'py>> {
    if let Ok(integer) = digits.parse::<i64>() {
        return integer.into_bound_py_any(py);
    }
    if digits.contains(['.', 'e', 'E']) {
        return digits.parse::<f64>()?.into_bound_py_any(py);
    }
    py.get_type::<PyInt>().call1((digits,))
}

/// The strings of keys, each in the slot of its hash: most are an API's field names, which recur in every chunk. The
/// first key of a slot stays.
static NAMES: [OnceLock<(String, Py<PyString>)>; 512] = [const { OnceLock::new() }; 512];

/// The longest key that is kept.
const LONGEST_NAME: usize = 32;

fn name<'py>(py: Python<'py>, key: &str) -> Bound<'py, PyString> {
    if key.len() > LONGEST_NAME {
        return PyString::new(py, key);
    }
    // FNV-1a, which takes a byte at a time: keys are short.
    let hash = key
        .bytes()
        .fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let slot = &NAMES[hash as usize % NAMES.len()];
    let (of, string) = slot.get_or_init(|| (key.to_owned(), PyString::intern(py, key).unbind()));
    if of == key { string.bind(py).clone() } else { PyString::new(py, key) }
}
