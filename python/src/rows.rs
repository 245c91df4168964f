//! Rows of data sets, from Python's objects.

use std::mem::take;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple, PyType, PyTypeMethods};

use super::borrowed::BorrowedMessage;
use super::errors::{InvalidArgument, Read};
use super::json;
use super::read::values::each;
use super::text::BorrowedText;
use super::types::Models;
use super::{errors, read};
use openai_harmony::interop::Json;
use openai_harmony::machinery::{ExampleMaker, is_read};
use openai_harmony::training::{Batch, Row, RowOptions};
use openai_harmony::{ErrorKind, Path, Result};

/// A row; its texts are borrowed from Python if that is fastest. Drop it with the interpreter attached.
pub(super) enum PyRow {
    Text(BorrowedText),
    Json(Json),
    Messages(Vec<BorrowedMessage>),
    /// What is wrong with it.
    Failed(ErrorKind),
}

impl PyRow {
    /// Reads a row. A wrong row is an error of that row; exceptions that end the program, such as `KeyboardInterrupt`,
    /// are raised.
    pub(super) fn read(object: &Bound<'_, PyAny>, options: &RowOptions) -> PyResult<Self> {
        Self::try_read(object, options).or_else(|error| {
            let py = object.py();
            if !error.is_instance_of::<PyException>(py) {
                return Err(error);
            }
            Ok(Self::failed(error.value(py).to_string()))
        })
    }

    fn try_read(object: &Bound<'_, PyAny>, options: &RowOptions) -> PyResult<Self> {
        let py = object.py();
        if let Ok(text) = object.cast::<PyString>() {
            return BorrowedText::of(text).map(Self::Text);
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(match std::str::from_utf8(bytes.as_bytes()) {
                Ok(text) => Self::Text(BorrowedText::Copied(text.to_owned())),
                Err(error) => Self::failed(format!("not UTF-8: {error}")),
            });
        }
        let models = Models::get(py)?;
        if is_a(object, models.conversation.bind(py)) {
            return Self::of_messages(read::conversation(object));
        }
        if let Some(messages) = list_of_messages(object, models)? {
            let messages = each(&messages, read::single_message);
            return Self::of_messages(messages.map_err(|invalid| invalid.inside("messages")));
        }
        let is_json = object.cast::<PyList>().is_ok()
            || object.cast::<PyTuple>().is_ok()
            || object.hasattr("keys")?
            || object.hasattr("model_dump")?;
        if !is_json {
            let got = errors::type_name(object);
            return Ok(Self::failed(format!("expected a conversation or JSON, got {got}")));
        }
        json::row(object, |column| is_read(column, options)).map(Self::Json).or_else(Self::invalid)
    }

    fn of_messages(messages: Read<Vec<BorrowedMessage>>) -> PyResult<Self> {
        messages.map(Self::Messages).or_else(Self::invalid)
    }

    fn invalid(invalid: InvalidArgument) -> PyResult<Self> {
        let (path, reason) = invalid.into_parts()?;
        Ok(Self::Failed(ErrorKind::InvalidRow { path, reason: reason.into() }))
    }

    fn failed(reason: String) -> Self {
        Self::Failed(ErrorKind::InvalidRow { path: Path::default(), reason: reason.into() })
    }

    /// The approximate size of its texts in bytes, if known.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.as_str().len(),
            Self::Messages(messages) => messages.iter().map(BorrowedMessage::size).sum(),
            Self::Json(_) | Self::Failed(_) => 0,
        }
    }

    /// Puts the row's examples into the batch, once.
    pub(super) fn add(
        &mut self,
        maker: &ExampleMaker<'_>,
        batch: &mut Batch,
        index: usize,
    ) -> Result<()> {
        match self {
            Self::Text(text) => maker.add_row(batch, index, Row::from(text.as_str())),
            Self::Json(json) => maker.add_row(batch, index, Row::from(take(json))),
            Self::Messages(messages) => maker.add_harmony(batch, index, messages),
            Self::Failed(kind) => Err(kind.clone().into()),
        }
    }
}

/// The messages, if the object is a list of them, or a dict with one under `messages`.
fn list_of_messages<'py>(
    object: &Bound<'py, PyAny>,
    models: &Models,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let list = match object.cast::<PyDict>() {
        Ok(dict) => dict.get_item("messages")?,
        Err(_) => Some(object.clone()),
    };
    let Some(list) = list else { return Ok(None) };
    let Ok(items) = list.cast::<PyList>() else { return Ok(None) };
    let Some(first) = items.iter().next() else { return Ok(None) };
    let is_message = is_a(&first, models.message.class.bind(object.py()));
    Ok(is_message.then_some(list))
}

/// Whether an object is of a class, without running Python code. pydantic's `isinstance` is Python code, in which a
/// signal handler may raise, and that would look like an error of the row.
fn is_a(object: &Bound<'_, PyAny>, class: &Bound<'_, PyType>) -> bool {
    object.get_type().mro().iter().any(|base| base.is(class))
}
