//! What the parser reports, as Python objects.

use std::ops::Range;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use super::write;
use crate::Event;

/// Defines the class of an event: immutable, compared by value, shown and pickled by its fields,
/// the first of which a `case` pattern names by position.
macro_rules! event {
    (
        $(#[$doc:meta])*
        $name:ident($($matched:ident),*) { $($(#[$field_doc:meta])* $field:ident,)* }
    ) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "openai_harmony")]
        pub(super) struct $name {
            $($(#[$field_doc])* #[pyo3(get)] $field: Py<PyAny>,)*
        }

        #[pymethods]
        impl $name {
            #[classattr]
            fn __match_args__() -> ($(event!(@str $matched),)*) {
                ($(stringify!($matched),)*)
            }

            #[new]
            fn new($($field: Py<PyAny>),*) -> Self {
                Self { $($field),* }
            }

            fn __eq__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                let py = other.py();
                match other.cast_exact::<Self>() {
                    Ok(other) => {
                        let equal = self.fields(py)?.eq(other.get().fields(py)?)?;
                        equal.into_bound_py_any(py)
                    }
                    Err(_) => Ok(py.NotImplemented().into_bound(py)),
                }
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let fields = [$(format!("{}={}", stringify!($field), self.$field.bind(py).repr()?)),*];
                Ok(format!("{}({})", stringify!($name), fields.join(", ")))
            }

            fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
                (slf.get_type(), slf.get().fields(slf.py())?).into_pyobject(slf.py())
            }
        }

        impl $name {
            fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                PyTuple::new(py, [$(self.$field.bind(py)),*])
            }
        }
    };
    (@str $name:ident) => { &'static str };
}

event! {
    /// A header is complete.
    MessageStart(author, channel, recipient, content_type) {
        /// Whose message it is.
        author,
        /// Its channel.
        channel,
        /// Its recipient.
        recipient,
        /// Its content type.
        content_type,
        /// The header's tokens: first and past-last index into those fed.
        span,
        /// The index that the message has, or will have, among the parser's messages.
        index,
    }
}

event! {
    /// Content arrived: whole characters, all that one call gave to the message.
    ContentDelta(text) {
        /// The text; all deltas of a message joined are its content.
        text,
        /// The tokens: first and past-last index into those fed.
        span,
        /// The message's index.
        index,
    }
}

event! {
    /// A message is complete.
    MessageEnd(stop_token) {
        /// The token that ended it; `None` where the stream or another message did.
        stop_token,
        /// The stop token's span, or an empty one.
        span,
        /// The message's index.
        index,
    }
}

event! {
    /// Lenient parsing mended something.
    Repair(kind, text) {
        /// What was wrong, in snake case: `missing_message`.
        kind,
        /// The text of the span.
        text,
        /// The tokens concerned: first and past-last index into those fed.
        span,
        /// The index of the message that it lies in, or `None`.
        index,
    }
}

/// An event as its Python object.
pub(super) fn to_python<'py>(py: Python<'py>, event: &Event) -> PyResult<Bound<'py, PyAny>> {
    match event {
        Event::MessageStart { span, index, author, channel, recipient, content_type } => {
            MessageStart {
                author: write::author(py, author)?.unbind(),
                channel: write::optional(py, channel.as_deref()).unbind(),
                recipient: write::optional(py, recipient.as_deref()).unbind(),
                content_type: write::optional(py, content_type.as_deref()).unbind(),
                span: pair(py, span)?,
                index: index.into_py_any(py)?,
            }
            .into_bound_py_any(py)
        }
        Event::ContentDelta { span, index, text } => ContentDelta {
            text: text.into_py_any(py)?,
            span: pair(py, span)?,
            index: index.into_py_any(py)?,
        }
        .into_bound_py_any(py),
        Event::MessageEnd { span, index, stop_token } => MessageEnd {
            stop_token: stop_token.into_py_any(py)?,
            span: pair(py, span)?,
            index: index.into_py_any(py)?,
        }
        .into_bound_py_any(py),
        Event::Repair(repair) => self::repair(py, repair),
    }
}

/// A repair as its Python object.
pub(super) fn repair<'py>(py: Python<'py>, repair: &crate::Repair) -> PyResult<Bound<'py, PyAny>> {
    Repair {
        kind: PyString::intern(py, repair.kind.name()).into_any().unbind(),
        text: repair.text.as_str().into_py_any(py)?,
        span: pair(py, &repair.span)?,
        index: repair.index.into_py_any(py)?,
    }
    .into_bound_py_any(py)
}

fn pair(py: Python<'_>, span: &Range<usize>) -> PyResult<Py<PyAny>> {
    (span.start, span.end).into_py_any(py)
}
