//! Messages from their canonical JSON form, where all in it is plain: what validating it would
//! give, in a quarter of the time.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyAnyMethods, PyDict, PyList, PyString};

use super::read;
use super::types::Types;

/// The message that a dict describes, if it holds nothing but a role and strings, or parts that
/// are text. `None` for anything else, which needs validation: wrong types, too.
pub(super) fn message<'py>(data: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Ok(data) = data.cast_exact::<PyDict>() else { return Ok(None) };
    let (py, types) = (data.py(), Types::get(data.py())?);
    // The form in which models are dumped.
    if data.contains(intern!(py, "author"))? {
        return Ok(None);
    }
    let role = data.get_item(intern!(py, "role"))?.and_then(|role| read::role(&role).ok());
    let content = data.get_item(intern!(py, "content"))?;
    let (Some(role), Some(content)) = (role, content) else { return Ok(None) };
    let role = types.role(role).bind(py).clone();
    let (Some(content), Some(name), Some(channel), Some(recipient), Some(content_type)) = (
        parts(types, &content)?,
        optional(data, intern!(py, "name"))?,
        optional(data, intern!(py, "channel"))?,
        optional(data, intern!(py, "recipient"))?,
        optional(data, intern!(py, "content_type"))?,
    ) else {
        return Ok(None);
    };
    let author = types.author.make(py, &[role, name])?;
    types
        .message
        .make(py, &[author, content.into_any(), channel, recipient, content_type])
        .map(Some)
}

/// The string or the `None` of a dict's entry, which may be missing.
fn optional<'py>(
    data: &Bound<'py, PyDict>,
    key: &Bound<'py, PyString>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(value) = data.get_item(key)? else {
        return Ok(Some(data.py().None().into_bound(data.py())));
    };
    Ok((value.is_none() || value.is_exact_instance_of::<PyString>()).then_some(value))
}

/// The parts of a content: a string, or a list of texts.
fn parts<'py>(types: &Types, content: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyList>>> {
    let py = content.py();
    if content.is_exact_instance_of::<PyString>() {
        let part = types.text.make(py, std::array::from_ref(content))?;
        return PyList::new(py, [part]).map(Some);
    }
    let Ok(content) = content.cast_exact::<PyList>() else { return Ok(None) };
    let parts = PyList::empty(py);
    for part in content {
        let Some(text) = text(&part)? else { return Ok(None) };
        parts.append(types.text.make(py, &[text])?)?;
    }
    Ok(Some(parts))
}

/// The text of a part that is one.
fn text<'py>(part: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Ok(part) = part.cast_exact::<PyDict>() else { return Ok(None) };
    let py = part.py();
    if let Some(kind) = part.get_item(intern!(py, "type"))?
        && !kind.cast_exact::<PyString>().is_ok_and(|kind| kind == "text")
    {
        return Ok(None);
    }
    let text = part.get_item(intern!(py, "text"))?;
    Ok(text.filter(PyAnyMethods::is_exact_instance_of::<PyString>))
}
