//! The attributes of a Python object, one after the other.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

use super::errors::{InvalidArgument, Read};

/// Reads attributes into the fields of the same names of a struct.
macro_rules! fields {
    ($attributes:expr, $struct:ident { $($field:ident: $read:expr),* $(,)? }) => {{
        let attributes = $attributes;
        $struct {
            $($field: attributes.field(
                pyo3::intern!(attributes.py(), stringify!($field)),
                $read,
            )?),*
        }
    }};
}

pub(super) use fields;

/// An object to read the attributes of, and what it should be.
pub(super) struct Attributes<'a, 'py> {
    object: &'a Bound<'py, PyAny>,
    expected: &'static str,
    is_own: bool,
}

impl<'a, 'py> Attributes<'a, 'py> {
    /// Of an object that should be `expected`.
    pub(super) fn any(object: &'a Bound<'py, PyAny>, expected: &'static str) -> Self {
        Self { object, expected, is_own: false }
    }

    /// For an object that should be `expected`, like an instance of this package's `class`.
    /// Attributes of exactly that class, not of a subclass, are read faster.
    pub(super) fn new(
        object: &'a Bound<'py, PyAny>,
        class: &Py<PyType>,
        expected: &'static str,
    ) -> Self {
        Self { object, expected, is_own: object.get_type().is(class) }
    }

    pub(super) fn py(&self) -> Python<'py> {
        self.object.py()
    }

    /// Reads an attribute.
    pub(super) fn field<T>(
        &self,
        name: &Bound<'py, PyString>,
        read: impl FnOnce(&Bound<'py, PyAny>) -> Read<T>,
    ) -> Read<T> {
        let value = self
            .get(name)
            .map_err(|error| InvalidArgument::attribute(error, self.object, self.expected))?;
        read(&value).map_err(|invalid| invalid.inside(name.to_string()))
    }

    /// An attribute. For this package's models pydantic's `__getattr__`, which serves missing
    /// attributes, is skipped; that would be half of the time of reading 102 messages.
    fn get(&self, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        if self.is_own {
            // SAFETY: both are live objects, `name` is a string and the interpreter is attached.
            // The call returns a new reference, or null with an exception set.
            let value = unsafe {
                let value = ffi::PyObject_GenericGetAttr(self.object.as_ptr(), name.as_ptr());
                Bound::from_owned_ptr_or_opt(self.py(), value)
            };
            if let Some(value) = value {
                return Ok(value);
            }
            // Read again below, in the general way.
            drop(PyErr::take(self.py()));
        }
        self.object.getattr(name)
    }
}
