//! Errors as Python's exceptions.

use std::fmt::Display;

use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::types::Types;
use openai_harmony::machinery::{Brief, PathStep};
use openai_harmony::{Error, ErrorKind, Path};

/// The exception for an error: a `HarmonyError`, which has the path of what is wrong, or a `ValueError` for an unknown
/// name.
pub(super) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let kind = error.kind();
    if let ErrorKind::UnknownEncoding { .. } = kind {
        return PyValueError::new_err(error.to_string());
    }
    let (text, path) = (error.to_string(), kind.path().map(ToString::to_string));
    let made =
        Types::get(py).and_then(|types| {
            let class = |name: &str| types.errors.bind(py).getattr(name);
            let plain = (&text, kind.name(), error.token_index(), path.as_deref());
            match kind {
                ErrorKind::PromptTooLong { tokens, max_tokens, .. } => {
                    class("PromptTooLongError")?.call1((&text, path.as_deref(), tokens, max_tokens))
                }
                ErrorKind::UnsupportedContent { content, .. } => class("UnsupportedContent")?
                    .call1((plain.0, plain.1, plain.2, plain.3, content)),
                ErrorKind::InvalidRequest { .. } | ErrorKind::UnsupportedField { .. } => class(
                    "InvalidRequestError",
                )?
                .call1((plain.0, plain.1, plain.2, plain.3, kind.code())),
                ErrorKind::InvalidGrammar { recipient, .. } => class("InvalidGrammarError")?
                    .call1((plain.0, plain.1, plain.2, plain.3, recipient.as_deref())),
                ErrorKind::InvalidRow { .. } => class("InvalidRowError")?.call1(plain),
                _ => types.harmony_error.bind(py).call1(plain),
            }
        });
    made.map_or_else(|failed| failed, PyErr::from_value)
}

/// Passes on a value, or raises the exception of its error.
pub(super) trait OrRaise<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for openai_harmony::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raised(py, &error))
    }
}

impl<T> OrRaise<T> for Read<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|invalid| invalid.raised(py))
    }
}

/// The same for what was read at a place, such as an argument.
pub(super) trait OrRaiseAt<T> {
    fn or_raise_at(self, py: Python<'_>, place: impl Into<PathStep>) -> PyResult<T>;
}

impl<T> OrRaiseAt<T> for Read<T> {
    fn or_raise_at(self, py: Python<'_>, place: impl Into<PathStep>) -> PyResult<T> {
        self.map_err(|invalid| invalid.inside(place)).or_raise(py)
    }
}

/// A `WrongTypeError` with this text.
pub(super) fn wrong_type(py: Python<'_>, text: String) -> PyErr {
    match Types::get(py) {
        Ok(types) => PyErr::from_type(types.wrong_type.bind(py).clone(), text),
        Err(failed) => failed,
    }
}

/// What is wrong with a Python object, and where in it.
///
/// Boxed: passing on larger results takes a tenth of the time of reading messages.
pub(super) struct InvalidArgument(Box<Finding>);

struct Finding {
    /// `content[0].text`; empty for the object itself.
    path: Path,
    problem: Problem,
}

enum Problem {
    Type(String),
    Value(String),
    /// Nested more than this number of levels deep.
    TooDeep(usize),
    Raised(PyErr),
}

/// What reading a Python object gives.
pub(super) type Read<T> = Result<T, InvalidArgument>;

impl InvalidArgument {
    /// An object of another type than expected.
    pub(super) fn type_of(object: &Bound<'_, PyAny>, expected: &str) -> Self {
        let got = type_name(object);
        let way = way(expected, &got).map_or_else(String::new, |way| format!("; {way}"));
        Problem::Type(format!("expected {expected}, got {got}{way}")).into()
    }

    /// A value that cannot be.
    pub(super) fn value(reason: impl Display) -> Self {
        Problem::Value(reason.to_string()).into()
    }

    /// A value that is nested more than this number of levels deep.
    pub(super) fn too_deep(limit: usize) -> Self {
        Problem::TooDeep(limit).into()
    }

    /// The error of reading an attribute; if it is missing, the object is of another type.
    pub(super) fn attribute(error: PyErr, object: &Bound<'_, PyAny>, expected: &str) -> Self {
        if error.is_instance_of::<PyAttributeError>(object.py()) {
            Self::type_of(object, expected)
        } else {
            error.into()
        }
    }

    /// The same, with the path from the enclosing object: `step` is `author` or `[3]`.
    pub(super) fn inside(mut self, step: impl Into<PathStep>) -> Self {
        self.0.path = self.0.path.inside(step);
        self
    }

    /// The path and what is wrong there, or what Python code raised.
    pub(super) fn into_parts(self) -> PyResult<(Path, String)> {
        match self.0.problem {
            Problem::Type(text) | Problem::Value(text) => Ok((self.0.path, text)),
            // The path would be as long as the nesting is deep.
            Problem::TooDeep(limit) => Ok((Path::default(), too_deep(limit))),
            Problem::Raised(error) => Err(error),
        }
    }

    /// An `InvalidRequestError` with the path, or what Python code raised.
    pub(super) fn raised_of_request(self, py: Python<'_>) -> PyErr {
        let request = |(path, reason)| {
            ErrorKind::InvalidRequest { path, reason: String::into(reason) }.into()
        };
        self.into_parts().map_or_else(|error| error, |parts| raised(py, &request(parts)))
    }

    /// The exception, which names the path.
    pub(super) fn raised(self, py: Python<'_>) -> PyErr {
        let path = brief(self.0.path.to_string());
        let at = |text| if path.is_empty() { text } else { format!("{path}: {text}") };
        match self.0.problem {
            Problem::Type(text) => wrong_type(py, at(text)),
            Problem::Value(text) => PyValueError::new_err(at(text)),
            Problem::TooDeep(limit) => PyValueError::new_err(at(too_deep(limit))),
            Problem::Raised(error) => error,
        }
    }
}

/// The function that takes such an object, or converts it to the expected type.
fn way(expected: &str, got: &str) -> Option<&'static str> {
    Some(match (expected, got) {
        ("a Message", "Conversation") => "render_conversation takes it",
        ("a Message" | "a Conversation", "Turn") => "turn.prompt(encoding) renders it",
        ("a Message", "dict") => "Message.from_dict reads one",
        ("a Message", "str") => "Message.from_role_and_content(role, text) makes one",
        ("a Message", "list" | "tuple") => {
            "render_conversation takes Conversation.from_messages(messages)"
        }
        ("a Conversation", "Message") => "Conversation.from_messages([message]) makes one",
        ("a Conversation", "dict") => {
            "Conversation.from_dict reads one, \
             openai_harmony.interop.chat_completions.read a request of OpenAI's API"
        }
        ("a Conversation", "list" | "tuple") => {
            "Conversation.from_messages(messages) makes one, \
             openai_harmony.interop.chat_completions.read({\"messages\": messages}) reads those of OpenAI's API"
        }
        ("a Conversation", "str") => {
            "Conversation.from_json reads JSON, and encoding.encode(text) encodes text"
        }
        ("a HarmonyEncoding", _) => "load_harmony_encoding(\"HarmonyGptOss\") gives it",
        _ => return None,
    })
}

fn too_deep(limit: usize) -> String {
    format!("nested more than {limit} levels deep, or within itself")
}

/// A text for an error.
pub(super) fn brief(text: impl AsRef<str>) -> String {
    Brief(text.as_ref()).to_string()
}

/// A caller's text as the package's errors and pydantic's quote it: Python's `repr`, cut so that the rest of the error
/// is still read.
pub(super) fn quoted(py: Python<'_>, text: &str) -> String {
    let text = brief(text);
    PyString::new(py, &text).repr().map_or_else(|_| format!("'{text}'"), |repr| repr.to_string())
}

/// What to raise if Python refused to treat an object as something: `otherwise`, unless the object's own code raised an
/// error, above all `KeyboardInterrupt`.
pub(super) fn unless_raised<E: From<PyErr>>(
    error: PyErr,
    object: &Bound<'_, PyAny>,
    otherwise: impl FnOnce() -> E,
) -> E {
    if error.is_instance_of::<PyTypeError>(object.py()) { otherwise() } else { error.into() }
}

impl From<Problem> for InvalidArgument {
    fn from(problem: Problem) -> Self {
        Self(Box::new(Finding { path: Path::default(), problem }))
    }
}

impl From<PyErr> for InvalidArgument {
    fn from(error: PyErr) -> Self {
        Problem::Raised(error).into()
    }
}

/// The name of an object's type, for a message.
pub(super) fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string())
}
