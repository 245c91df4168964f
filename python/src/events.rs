//! The parser's events as Python objects.
//!
//! An event holds Rust values, from which its attributes are made on access, and no Python objects. So events cannot
//! contain each other or be part of a cycle.

use std::ops::Range;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::errors::OrRaiseAt;
use super::{read, write};
use openai_harmony::Event;
use openai_harmony::chat::Author;

/// First and past-last index into the fed tokens.
type Span = (usize, usize);

/// Defines the class of an event: immutable, compared by value, shown and pickled by its fields,
/// the first of which a `case` pattern names by position.
macro_rules! event {
    (
        $name:ident($($matched:ident),*) { $($field:ident: $type:ty,)* }
    ) => {
        #[doc = text!($name)]
        #[pyclass(frozen, module = "openai_harmony")]
        #[derive(PartialEq)]
        pub(super) struct $name {
            $(#[doc = text!($name.$field)] #[pyo3(get)] $field: $type,)*
        }

        #[pymethods]
        impl $name {
            #[classattr]
            fn __match_args__() -> ($(event!(@str $matched),)*) {
                ($(stringify!($matched),)*)
            }

            #[new]
            fn new($($field: $type),*) -> Self {
                Self { $($field),* }
            }

            fn __eq__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                let py = other.py();
                match other.cast_exact::<Self>() {
                    Ok(other) => (self == other.get()).into_bound_py_any(py),
                    Err(_) => Ok(py.NotImplemented().into_bound(py)),
                }
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let fields = [$(format!(
                    "{}={}",
                    stringify!($field),
                    (&self.$field).into_bound_py_any(py)?.repr()?,
                )),*];
                Ok(format!("{}({})", stringify!($name), fields.join(", ")))
            }

            fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
                let (py, event) = (slf.py(), slf.get());
                let fields = PyTuple::new(py, [$((&event.$field).into_bound_py_any(py)?),*])?;
                (slf.get_type(), fields).into_pyobject(py)
            }
        }
    };
    (@str $name:ident) => { &'static str };
}

event! {
    MessageStart(author, channel, recipient, content_type) {
        author: EventAuthor,
        channel: Option<String>,
        recipient: Option<String>,
        content_type: Option<String>,
        span: Span,
        index: usize,
    }
}

event! {
    ContentDelta(text) {
        text: String,
        span: Span,
        index: usize,
    }
}

event! {
    MessageEnd(stop_token) {
        stop_token: Option<u32>,
        span: Span,
        index: usize,
    }
}

event! {
    Repair(kind, text) {
        kind: String,
        text: String,
        span: Span,
        index: Option<usize>,
    }
}

/// An author, which is the model `Author` for Python code.
#[derive(PartialEq)]
struct EventAuthor(Author);

impl<'py> IntoPyObject<'py> for &EventAuthor {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        write::author(py, &self.0)
    }
}

impl<'py> FromPyObject<'_, 'py> for EventAuthor {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let author = read::single_author(&object);
        author.map(Self).or_raise_at(object.py(), "author")
    }
}

/// An event as its Python object.
pub(super) fn to_python(py: Python<'_>, event: Event) -> PyResult<Bound<'_, PyAny>> {
    match event {
        Event::MessageStart { span, index, author, channel, recipient, content_type, .. } => {
            let (author, span) = (EventAuthor(author), pair(&span));
            MessageStart { author, channel, recipient, content_type, span, index }
                .into_bound_py_any(py)
        }
        Event::ContentDelta { span, index, text, .. } => {
            ContentDelta { text, span: pair(&span), index }.into_bound_py_any(py)
        }
        Event::MessageEnd { span, index, stop_token, .. } => {
            MessageEnd { stop_token, span: pair(&span), index }.into_bound_py_any(py)
        }
        Event::Repair(repair) => self::repair(py, repair),
        // An event of a later version of the crate, with which this module is not built.
        event => Err(PyRuntimeError::new_err(format!("an unknown event: {event:?}"))),
    }
}

/// A repair as its Python object.
pub(super) fn repair(py: Python<'_>, repair: openai_harmony::Repair) -> PyResult<Bound<'_, PyAny>> {
    let openai_harmony::Repair { kind, text, span, index, .. } = repair;
    Repair { kind: kind.name().to_owned(), text, span: pair(&span), index }.into_bound_py_any(py)
}

fn pair(span: &Range<usize>) -> Span {
    (span.start, span.end)
}
