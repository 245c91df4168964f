//! Bodies of requests as JSON, without Python objects.

use openai_harmony::interop::{Json, parse_body, parse_body_within};
use openai_harmony::machinery::{At, Value};
use openai_harmony::{ErrorKind, Path, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::errors::OrRaise;

#[doc = text!(Body)]
#[pyclass(name = "Body", module = "openai_harmony._lowlevel", frozen)]
pub(super) struct PyBody {
    pub(super) json: Json,
}

#[pymethods]
impl PyBody {
    /// Reads JSON with at most this many values, with the GIL released.
    #[new]
    #[pyo3(signature = (data, *, max_values = usize::MAX))]
    fn new(data: &Bound<'_, PyBytes>, max_values: usize) -> PyResult<Self> {
        let py = data.py();
        let bytes = data.as_bytes();
        let read = || parse_body_within(utf8_of_body(bytes)?, max_values);
        let json = py.detach(read).or_raise(py)?;
        Ok(Self { json })
    }

    #[doc = text!(Body.kind)]
    #[pyo3(signature = (name = None))]
    fn kind(&self, name: Option<&str>) -> Option<&'static str> {
        match self.at(name)?.value() {
            Value::Null => None,
            Value::Bool(_) => Some("boolean"),
            Value::Number(_) => Some("number"),
            Value::String(_) => Some("string"),
            Value::Array(_) => Some("list"),
            Value::Object(_) => Some("object"),
        }
    }

    #[doc = text!(Body.text)]
    fn text(&self, name: &str) -> Option<&str> {
        self.json.text(name)
    }

    #[doc = text!(Body.flag)]
    fn flag(&self, name: &str) -> Option<bool> {
        self.at(Some(name))?.as_bool()
    }

    #[doc = text!(Body.json)]
    #[pyo3(signature = (name = None))]
    fn json<'py>(&self, py: Python<'py>, name: Option<&str>) -> Option<Bound<'py, PyBytes>> {
        let at = self.at(name)?;
        let text = py.detach(|| at.to_json());
        Some(PyBytes::new(py, text.as_bytes()))
    }

    #[doc = text!(Body.items)]
    fn items<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let items = self.at(Some(name)).and_then(At::as_array).unwrap_or_default();
        let fields = |item: At<'_>| {
            let text = |key: &str| Some(item.get(key)?.as_str()?.to_owned());
            (text("id"), text("type"), item.to_json())
        };
        let items = py.detach(|| items.iter().map(fields).collect::<Vec<_>>());
        let list = PyList::empty(py);
        for (id, kind, text) in items {
            list.append((id, kind, PyBytes::new(py, text.as_bytes())))?;
        }
        Ok(list)
    }

    #[doc = text!(Body.with_member)]
    fn with_member(&self, name: &str, json: &Bound<'_, PyBytes>) -> PyResult<Self> {
        let py = json.py();
        let bytes = json.as_bytes();
        let with_member = || -> Result<Json> {
            let value = parse_body(utf8_of_body(bytes)?)?.to_value();
            Ok(self.json.with_member(name, &value))
        };
        let json = py.detach(with_member).or_raise(py)?;
        Ok(Self { json })
    }
}

impl PyBody {
    fn at(&self, name: Option<&str>) -> Option<At<'_>> {
        match name {
            Some(name) => self.json.at().get(name),
            None => Some(self.json.at()),
        }
    }
}

/// The text of a body's bytes.
pub(super) fn utf8_of_body(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let reason = format!("the body is not UTF-8: {error}");
        ErrorKind::InvalidRequest { path: Path::default(), reason: reason.into() }.into()
    })
}
