//! Makes pydantic models without validating values that are known to be valid.

use std::ffi::c_void;
use std::{mem, ptr};

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PySet, PyString, PyTuple, PyType};

/// A pydantic model class with `N` fields.
pub(super) struct Model<const N: usize> {
    pub(super) class: Py<PyType>,
    /// The fields' names, in their order.
    names: [Py<PyString>; N],
    /// The set of the names, to copy.
    all_names: Py<PySet>,
    /// The names of the fields that are always passed to constructors, to copy.
    first_names: Py<PySet>,
}

impl<const N: usize> Model<N> {
    /// The class of a module; the `first` fields are those passed to constructors.
    pub(super) fn find(
        module: &Bound<'_, PyModule>,
        name: &str,
        fields: [&str; N],
        first: usize,
    ) -> PyResult<Self> {
        let py = module.py();
        let names = fields.map(|field| PyString::intern(py, field).unbind());
        let class = class(module, name)?;
        Ok(Self {
            class,
            all_names: PySet::new(py, &names)?.unbind(),
            first_names: PySet::new(py, &names[..first])?.unbind(),
            names,
        })
    }

    /// An instance with these values, all fields set, as validation would make it.
    ///
    /// A message with author and text takes a quarter of the time of the constructors.
    pub(super) fn make<'py>(
        &self,
        py: Python<'py>,
        values: &[Bound<'py, PyAny>; N],
    ) -> PyResult<Bound<'py, PyAny>> {
        self.make_with(values, self.all_names.bind(py))
    }

    /// The same, but only the first fields count as set; the others have defaults.
    pub(super) fn make_from_first<'py>(
        &self,
        py: Python<'py>,
        values: &[Bound<'py, PyAny>; N],
    ) -> PyResult<Bound<'py, PyAny>> {
        self.make_with(values, self.first_names.bind(py))
    }

    fn make_with<'py>(
        &self,
        values: &[Bound<'py, PyAny>; N],
        names_set: &Bound<'py, PySet>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = names_set.py();
        let instance = allocate(self.class.bind(py))?;
        // One by one: otherwise the interpreter keeps the values in the object itself. With a
        // dict of its own, given as `__dict__`, a message costs a seventh more.
        for (name, value) in self.names.iter().zip(values) {
            set(&instance, name.bind(py), value)?;
        }
        let none = py.None().into_bound(py);
        let names_set = copy_of(names_set)?;
        set(&instance, intern!(py, "__pydantic_fields_set__"), &names_set)?;
        set(&instance, intern!(py, "__pydantic_extra__"), &none)?;
        set(&instance, intern!(py, "__pydantic_private__"), &none)?;
        Ok(instance)
    }
}

/// What `class.__new__(class)` gives, and not `PyType_GenericNew`, which leaves out the room for values
/// in the object itself: with that `CPython` 3.11 makes a dict for each. By calls, of this and of
/// `set.copy` by name, server loop A takes 1.2 times as long.
fn allocate<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let no_arguments = PyTuple::empty(py);
    let class = class.as_type_ptr();
    // SAFETY: the class is live and finished, and the interpreter is attached. The slot `Py_tp_new` is null or
    // holds a `newfunc`, which may be called with its type, a tuple and no keywords; it returns a new reference,
    // or null with an exception set.
    unsafe {
        let slot = ffi::PyType_GetSlot(class, ffi::Py_tp_new);
        let new = mem::transmute::<*mut c_void, Option<ffi::newfunc>>(slot)
            .ok_or_else(|| PyTypeError::new_err("a class without `__new__`"))?;
        Bound::from_owned_ptr_or_err(py, new(class, no_arguments.as_ptr(), ptr::null_mut()))
    }
}

/// A set of the same elements.
fn copy_of<'py>(set: &Bound<'py, PySet>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: `set` is a live, iterable object and the interpreter is attached. The call returns
    // a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(set.py(), ffi::PySet_New(set.as_ptr())) }
}

/// `object.__setattr__`: pydantic's own would validate the name.
fn set(
    instance: &Bound<'_, PyAny>,
    name: &Bound<'_, PyString>,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    // SAFETY: all three are live objects, `name` is a string, and the interpreter is attached.
    // The call takes references of its own.
    let status =
        unsafe { ffi::PyObject_GenericSetAttr(instance.as_ptr(), name.as_ptr(), value.as_ptr()) };
    if status == 0 { Ok(()) } else { Err(PyErr::fetch(instance.py())) }
}

/// A class of a module.
pub(super) fn class(module: &Bound<'_, PyModule>, name: &str) -> PyResult<Py<PyType>> {
    Ok(module.getattr(name)?.cast_into::<PyType>()?.unbind())
}
