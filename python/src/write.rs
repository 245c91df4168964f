//! Chat structs to Python's models.

use std::borrow::Borrow;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use pythonize::pythonize;

use super::types::{Models, Types};
use openai_harmony::chat::{Author, Content, Message, Role, TextContent, ToolNamespaceConfig};

/// New objects for any messages.
pub(super) fn whole_messages(
    py: Python<'_>,
    messages: impl Iterator<Item = impl Borrow<Message>>,
) -> PyResult<Bound<'_, PyList>> {
    let models = Models::get(py)?;
    let one = |message: &Message| {
        // Only system and developer messages have more than text.
        let is_text = message.content.iter().all(|part| matches!(part, Content::Text(_)));
        if is_text { Strings::of(py, message).message(py, models) } else { structured(py, message) }
    };
    list(py, messages.map(|message| one(message.borrow())))
}

/// A message by way of its JSON form.
fn structured<'py>(py: Python<'py>, message: &Message) -> PyResult<Bound<'py, PyAny>> {
    let class = Models::get(py)?.message.class.bind(py);
    class.call_method1("from_dict", (pythonize(py, message)?,))
}

/// New objects for messages that the parser made.
pub(super) fn messages<'py>(py: Python<'py>, messages: &[Message]) -> PyResult<Bound<'py, PyList>> {
    let models = Models::get(py)?;
    list(py, messages.iter().map(|message| Strings::of(py, message).message(py, models)))
}

/// New objects for messages whose strings already exist.
pub(super) fn messages_of<'py>(
    py: Python<'py>,
    messages: &[Strings],
) -> PyResult<Bound<'py, PyList>> {
    let models = Models::get(py)?;
    list(py, messages.iter().map(|strings| strings.message(py, models)))
}

/// The Python strings of a message that the parser made. Strings are immutable, so copies of the
/// message share them.
pub(super) struct Strings {
    role: Role,
    name: Py<PyAny>,
    texts: Vec<Py<PyAny>>,
    channel: Py<PyAny>,
    recipient: Py<PyAny>,
    content_type: Py<PyAny>,
}

impl Strings {
    pub(super) fn of(py: Python<'_>, message: &Message) -> Self {
        let text = |content: &Content| match content {
            Content::Text(TextContent { text }) => {
                Some(PyString::new(py, text).into_any().unbind())
            }
            // A parser makes nothing but text.
            Content::SystemContent(_) | Content::DeveloperContent(_) => None,
        };
        Self {
            role: message.author.role,
            name: optional(py, message.author.name.as_deref()).unbind(),
            texts: message.content.iter().filter_map(text).collect(),
            channel: channel(py, message.channel.as_deref()).unbind(),
            recipient: optional(py, message.recipient.as_deref()).unbind(),
            content_type: optional(py, message.content_type.as_deref()).unbind(),
        }
    }

    /// A new message.
    fn message<'py>(&self, py: Python<'py>, models: &Models) -> PyResult<Bound<'py, PyAny>> {
        let bound = |object: &Py<PyAny>| object.bind(py).clone();
        let role = bound(Types::get(py)?.role(self.role));
        let author = models.author.make(py, &[role, bound(&self.name)])?;
        let parts = list(py, self.texts.iter().map(|text| models.text.make(py, &[bound(text)])))?;
        models.message.make(
            py,
            &[
                author,
                parts.into_any(),
                bound(&self.channel),
                bound(&self.recipient),
                bound(&self.content_type),
            ],
        )
    }
}

fn list<'py>(
    py: Python<'py>,
    items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for item in items {
        list.append(item?)?;
    }
    Ok(list)
}

/// A channel. Known channels are always the same string objects.
pub(super) fn channel<'py>(py: Python<'py>, channel: Option<&str>) -> Bound<'py, PyAny> {
    match channel {
        Some("analysis") => intern!(py, "analysis").clone().into_any(),
        Some("commentary") => intern!(py, "commentary").clone().into_any(),
        Some("final") => intern!(py, "final").clone().into_any(),
        other => optional(py, other),
    }
}

/// The message that `Message.from_author_and_content` makes from an author, or a member of `Role`,
/// and a text; neither is validated.
#[pyfunction]
pub(super) fn text_message<'py>(
    author: &Bound<'py, PyAny>,
    text: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = author.py();
    let models = Models::get(py)?;
    let none = || py.None().into_bound(py);
    let author = match Types::get(py)?.role_of(author) {
        Some(_) => models.author.make_from_first(py, &[author.clone(), none()])?,
        None => author.clone(),
    };
    let part = models.text.make(py, &[text.clone().into_any()])?;
    let parts = PyList::new(py, [part])?.into_any();
    models.message.make_from_first(py, &[author, parts, none(), none(), none()])
}

/// An author.
pub(super) fn author<'py>(py: Python<'py>, author: &Author) -> PyResult<Bound<'py, PyAny>> {
    let role = Types::get(py)?.role(author.role).bind(py).clone();
    Models::get(py)?.author.make(py, &[role, optional(py, author.name.as_deref())])
}

/// A string, or `None`.
pub(super) fn optional<'py>(py: Python<'py>, text: Option<&str>) -> Bound<'py, PyAny> {
    match text {
        Some(text) => PyString::new(py, text).into_any(),
        None => py.None().into_bound(py),
    }
}

/// A namespace of tools.
pub(super) fn namespace<'py>(
    py: Python<'py>,
    namespace: &ToolNamespaceConfig,
) -> PyResult<Bound<'py, PyAny>> {
    let class = Models::get(py)?.namespace.bind(py);
    class.call_method1(intern!(py, "model_validate"), (pythonize(py, namespace)?,))
}
