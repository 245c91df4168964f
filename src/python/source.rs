//! The attributes of a Python object, one after the other.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

use super::errors::{Misfit, Read};
use super::instance::Places;
use super::model::Model;

/// Reads attributes into the fields of the same names of a struct.
macro_rules! fields {
    ($source:expr, $struct:ident { $($field:ident: $read:expr),* $(,)? }) => {{
        let source = $source;
        $struct {
            $($field: source.field(pyo3::intern!(source.py(), stringify!($field)), $read)?),*
        }
    }};
}

pub(super) use fields;

/// An object to read the attributes of, and what it should be.
pub(super) struct Source<'a, 'py> {
    object: &'a Bound<'py, PyAny>,
    expected: &'static str,
    is_exact: bool,
    places: Option<(&'a Places, &'a [Py<PyString>])>,
}

impl<'a, 'py> Source<'a, 'py> {
    /// An object that should be `expected`.
    pub(super) fn any(object: &'a Bound<'py, PyAny>, expected: &'static str) -> Self {
        Self { object, expected, is_exact: false, places: None }
    }

    /// An object that should be `expected`, which an instance of this package's `class` is. Of
    /// such a one, and of no subclass, attributes are read faster.
    pub(super) fn new(
        object: &'a Bound<'py, PyAny>,
        class: &Py<PyType>,
        expected: &'static str,
    ) -> Self {
        Self { object, expected, is_exact: object.get_type().is(class), places: None }
    }

    /// The same, for a model whose fields may be known to be in certain places: faster still.
    pub(super) fn model<const N: usize>(
        object: &'a Bound<'py, PyAny>,
        model: &'a Model<N>,
        expected: &'static str,
    ) -> Self {
        let class = object.get_type();
        let is_exact = class.is(&model.class);
        let places = model.places.as_ref().filter(|places| is_exact && places.hold(&class));
        Self { object, expected, is_exact, places: places.map(|places| (places, &model.names[..])) }
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
        let value = match self.in_place(name) {
            Some(value) => value,
            None => self
                .attribute(name)
                .map_err(|error| Misfit::attribute(error, self.object, self.expected))?,
        };
        read(&value).map_err(|misfit| misfit.inside(name))
    }

    /// An attribute that has to be looked up. Those of this package's own models need no look for the
    /// `__getattr__` that pydantic gives models, which is for attributes that are missing: a third of
    /// the time.
    fn attribute(&self, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        if self.is_exact {
            // SAFETY: both are live objects, `name` is a string and the interpreter is attached.
            // The call returns a new reference, or null with an exception set.
            let value = unsafe {
                let value = ffi::PyObject_GenericGetAttr(self.object.as_ptr(), name.as_ptr());
                Bound::from_owned_ptr_or_opt(self.py(), value)
            };
            if let Some(value) = value {
                return Ok(value);
            }
            // Asked for again below, in all the ways that there are.
            drop(PyErr::take(self.py()));
        }
        self.object.getattr(name)
    }

    /// An attribute that is known to be in a certain place.
    fn in_place(&self, name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
        let (places, names) = self.places?;
        let index = names.iter().position(|own| own.is(name))?;
        places.field(self.object, index)
    }
}
