//! Objects whose classes define a JSON form of their own, which version 0.0.8 rendered.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};

use crate::types::Models;

/// A method that gives a JSON form, and the one that reads it.
pub(super) type Form = (&'static str, &'static str);

/// The JSON forms; 0.0.8 used the first one.
pub(super) const FORMS: [Form; 2] = [("to_json", "from_json"), ("to_dict", "from_dict")];

/// The model of class `known` that an object's own JSON form describes; `None` if its class has no
/// own form, or is `known` itself.
pub(super) fn via_own_json<'py>(
    object: &Bound<'py, PyAny>,
    known: &Bound<'py, PyType>,
    forms: &[Form],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let class = object.get_type();
    // The form of another kind of model does not describe one of this kind, either.
    if class.is(known) || is_model(&class)? && !class.is_subclass(known)? {
        return Ok(None);
    }
    for (write, read) in forms {
        if has_own(&class, write, known)? {
            return known.call_method1(read, (object.call_method0(write)?,)).map(Some);
        }
    }
    Ok(None)
}

/// Whether a class is one of the models that are read here, or made from one.
fn is_model(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let models = Models::get(class.py())?;
    Ok(class.is_subclass(models.conversation.bind(class.py()))?
        || class.is_subclass(models.message.class.bind(class.py()))?)
}

/// As [`via_own_json`], for a part of a message.
pub(super) fn part_via_own_json<'py>(
    object: &Bound<'py, PyAny>,
    models: &Models,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (py, class) = (object.py(), object.get_type());
    for known in [&models.text.class, &models.system, &models.developer] {
        if !has_own(&class, "to_dict", known.bind(py))? {
            return Ok(None);
        }
    }
    let part = object.call_method0(intern!(py, "to_dict"))?;
    let message = PyDict::new(py);
    message.set_item("role", "user")?;
    message.set_item("content", PyList::new(py, [part])?)?;
    let message = models.message.class.bind(py).call_method1("from_dict", (message,))?;
    message.getattr("content")?.get_item(0).map(Some)
}

/// Whether a class has the method, and it is not that of `known`.
fn has_own(class: &Bound<'_, PyType>, method: &str, known: &Bound<'_, PyType>) -> PyResult<bool> {
    let Some(own) = class.getattr_opt(method)? else { return Ok(false) };
    Ok(!own.is(&known.getattr(method)?))
}
