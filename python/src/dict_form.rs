//! Messages from the dict form, canonical JSON, if it contains only strings: the result of validation, in a quarter of
//! the time.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::read;
use super::types::{Models, Types};

/// The message that a dict describes, if it contains only a role and strings, or text parts. `None` for anything else:
/// wrong types, which need validation, and unknown fields, which the caller reports.
#[pyfunction]
pub(super) fn plain_message<'py>(data: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Ok(data) = data.cast_exact::<PyDict>() else { return Ok(None) };
    let (py, models) = (data.py(), Models::get(data.py())?);
    let mut fields = DictFields::of(data);
    let role = fields.get(intern!(py, "role"))?.and_then(|role| read::role(&role).ok());
    let content = fields.get(intern!(py, "content"))?;
    let (Some(role), Some(content)) = (role, content) else { return Ok(None) };
    let role = Types::get(py)?.role(role).bind(py).clone();
    let (Some(content), Some(name), Some(channel), Some(recipient), Some(content_type)) = (
        parts(models, &content)?,
        fields.optional(intern!(py, "name"))?,
        fields.optional(intern!(py, "channel"))?,
        fields.optional(intern!(py, "recipient"))?,
        fields.optional(intern!(py, "content_type"))?,
    ) else {
        return Ok(None);
    };
    // One of them may be `author`, as in dumped models.
    if fields.has_others() {
        return Ok(None);
    }
    let author = models.author.make(py, &[role, name])?;
    models
        .message
        .make(py, &[author, content.into_any(), channel, recipient, content_type])
        .map(Some)
}

/// The entries of a dict, and how many of them were looked up; if not all, the dict has others.
struct DictFields<'a, 'py> {
    data: &'a Bound<'py, PyDict>,
    found: usize,
}

impl<'a, 'py> DictFields<'a, 'py> {
    fn of(data: &'a Bound<'py, PyDict>) -> Self {
        Self { data, found: 0 }
    }

    /// The value of an entry, which may be missing.
    fn get(&mut self, key: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.data.get_item(key)?;
        self.found += usize::from(value.is_some());
        Ok(value)
    }

    /// The string or the `None` of an entry, which may be missing; `None` in Rust for other types.
    fn optional(&mut self, key: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(value) = self.get(key)? else {
            return Ok(Some(self.data.py().None().into_bound(self.data.py())));
        };
        Ok((value.is_none() || value.is_exact_instance_of::<PyString>()).then_some(value))
    }

    /// Whether there are entries that were not looked up.
    fn has_others(&self) -> bool {
        self.found != self.data.len()
    }
}

/// The parts of a content: a string, or a list of texts.
fn parts<'py>(
    models: &Models,
    content: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyList>>> {
    let py = content.py();
    if content.is_exact_instance_of::<PyString>() {
        let part = models.text.make(py, std::array::from_ref(content))?;
        return PyList::new(py, [part]).map(Some);
    }
    let Ok(content) = content.cast_exact::<PyList>() else { return Ok(None) };
    let parts = PyList::empty(py);
    for part in content {
        let Some(text) = text(&part)? else { return Ok(None) };
        parts.append(models.text.make(py, &[text])?)?;
    }
    Ok(Some(parts))
}

/// The text of a part that is one.
fn text<'py>(part: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Ok(part) = part.cast_exact::<PyDict>() else { return Ok(None) };
    let py = part.py();
    let mut fields = DictFields::of(part);
    if let Some(kind) = fields.get(intern!(py, "type"))?
        && !kind.cast_exact::<PyString>().is_ok_and(|kind| kind == "text")
    {
        return Ok(None);
    }
    let text = fields.get(intern!(py, "text"))?;
    let is_text = !fields.has_others();
    Ok(text.filter(|text| is_text && text.is_exact_instance_of::<PyString>()))
}
