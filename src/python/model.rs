//! Making pydantic models without validating what is known to be valid.

use std::ptr;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PySet, PyString, PyTuple, PyType};

use super::instance::Places;
use super::types;

/// A pydantic model class with `N` fields.
pub(super) struct Model<const N: usize> {
    pub(super) class: Py<PyType>,
    /// The fields' names, in their order.
    pub(super) names: [Py<PyString>; N],
    /// How to find the fields of instances, where that is known.
    pub(super) places: Option<Places>,
    /// The set of the names, to copy.
    all_names: Py<PySet>,
    /// The names of the fields that the constructors are always given, to copy.
    first_names: Py<PySet>,
    no_arguments: Py<PyTuple>,
    /// What sets the attributes that every pydantic model has beside its fields: the names of the
    /// fields that were set, extra fields, private ones. Looking these up each time costs a
    /// twentieth of a model.
    slots: [Py<PyAny>; 3],
}

impl<const N: usize> Model<N> {
    /// The class of a module; the `first` fields are those that the constructors are given.
    pub(super) fn find(
        module: &Bound<'_, PyModule>,
        class: &str,
        fields: [&str; N],
        first: usize,
    ) -> PyResult<Self> {
        let py = module.py();
        let names = fields.map(|field| PyString::intern(py, field).unbind());
        let class = types::class(module, class)?;
        let slot = |name| class.bind(py).getattr(name).map(Bound::unbind);
        let mut model = Self {
            slots: [
                slot("__pydantic_fields_set__")?,
                slot("__pydantic_extra__")?,
                slot("__pydantic_private__")?,
            ],
            class,
            all_names: PySet::new(py, &names)?.unbind(),
            first_names: PySet::new(py, &names[..first])?.unbind(),
            names,
            places: None,
            no_arguments: PyTuple::empty(py).unbind(),
        };
        let values = model.names.each_ref().map(|name| name.bind(py).clone().into_any());
        model.places = Places::find(&model.make(py, &values)?, &model.names);
        Ok(model)
    }

    /// The fields of an object that is an instance of the class and of no subclass, in their order;
    /// `None` where they have to be looked up.
    ///
    /// # Safety
    ///
    /// As [`Places::fields`].
    #[inline]
    pub(super) unsafe fn fields<'a, 'py>(
        &self,
        object: &'a Bound<'py, PyAny>,
    ) -> Option<[Borrowed<'a, 'py, PyAny>; N]> {
        // SAFETY: the same contract.
        unsafe { self.places.as_ref()?.fields(object, self.class.bind(object.py())) }
    }

    /// An instance with these values, all fields set: what validating them would give.
    ///
    /// A message with its author and text takes 1.0 µs, against 4.6 µs by their constructors.
    pub(super) fn make<'py>(
        &self,
        py: Python<'py>,
        values: &[Bound<'py, PyAny>; N],
    ) -> PyResult<Bound<'py, PyAny>> {
        self.make_with(values, self.all_names.bind(py))
    }

    /// The same, but only the first fields count as set: the others have their defaults.
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
        let instance = self.allocate(py)?;
        // One by one: left alone, the interpreter keeps the values in the object itself. With a
        // dict of its own, given as `__dict__`, a message costs a seventh more.
        for (name, value) in self.names.iter().zip(values) {
            set(&instance, name.bind(py), value)?;
        }
        let none = py.None().into_bound(py);
        let [names_of_set, extra, private] = &self.slots;
        set_slot(&instance, names_of_set.bind(py), &copy_of(names_set)?)?;
        set_slot(&instance, extra.bind(py), &none)?;
        set_slot(&instance, private.bind(py), &none)?;
        Ok(instance)
    }

    /// What `cls.__new__(cls)` gives.
    fn allocate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let class = self.class.bind(py).as_type_ptr();
        // SAFETY: `class` is a live type object, as `self` holds it. `tp_new` of a finished type
        // may be called with that type, a tuple and no keywords, with the interpreter attached,
        // and returns a new reference, or null with an exception set.
        unsafe {
            let new = (*class)
                .tp_new
                .ok_or_else(|| PyTypeError::new_err("a model that cannot be made"))?;
            let instance = new(class, self.no_arguments.as_ptr(), ptr::null_mut());
            Bound::from_owned_ptr_or_err(py, instance)
        }
    }
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

/// Sets an attribute by its descriptor.
fn set_slot(
    instance: &Bound<'_, PyAny>,
    slot: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    // SAFETY: all three are live objects and the interpreter is attached. The function is the one
    // that the slot's finished type has for this; it checks that the slot is one of the instance,
    // and takes references of its own.
    let status = unsafe {
        let set = (*slot.get_type().as_type_ptr())
            .tp_descr_set
            .ok_or_else(|| PyTypeError::new_err("a model without pydantic's slots"))?;
        set(slot.as_ptr(), instance.as_ptr(), value.as_ptr())
    };
    if status == 0 { Ok(()) } else { Err(PyErr::fetch(instance.py())) }
}

/// A set of the same elements.
fn copy_of<'py>(set: &Bound<'py, PySet>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: `set` is a live, iterable object and the interpreter is attached. The call returns
    // a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(set.py(), ffi::PySet_New(set.as_ptr())) }
}
