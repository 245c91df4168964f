//! Where the interpreter keeps the attributes of instances.
//!
//! The interpreter's way to an attribute goes through the class and its bases first, and then looks
//! for the name among those of the instance: 180 instructions. Of a model whose fields are known to
//! be in order, none of it is needed: 102 messages that are in cache are rendered in 0.91 of the
//! time, others in 0.95.
//!
//! All this is the interpreter's own affair, and changes with its versions. It is used for those of
//! which it is known, if a new instance is found to be so; with others all goes the usual way.

use std::ffi::{c_uint, c_ulong};
use std::ptr::{self, NonNull};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Where an object or a block begins. They consist of addresses, as far as it matters here.
pub(super) type Place = NonNull<*const u8>;

/// Where instances have the block of their attributes, which are in the order in which the class
/// got them. None has a block once its `__dict__` was asked for.
#[derive(Clone, Copy)]
pub(super) enum Layout {
    /// The fourth word before the object points to it: Python 3.11.
    Block,
    /// The third word before the object points to the byte before it, or to a dict: Python 3.12.
    BlockOrDict,
}

impl Layout {
    fn of_version(py: Python<'_>) -> Option<Self> {
        let version = py.version_info();
        match (version.major, version.minor) {
            (3, 11) => Some(Self::Block),
            (3, 12) => Some(Self::BlockOrDict),
            _ => None,
        }
    }

    /// The block of an object's attributes, if it has one.
    ///
    /// # Safety
    ///
    /// `object` is a live object of an interpreter with this layout, which is attached.
    pub(super) unsafe fn block(self, object: Place) -> Option<Place> {
        /// Of classes whose instances have those words before them.
        const MANAGED_DICT: c_ulong = 1 << 4;
        // SAFETY: the object is live, and so is its type. With the flag, four words before the
        // object belong to it.
        unsafe {
            let class = ffi::Py_TYPE(object.as_ptr().cast());
            if ffi::PyType_HasFeature(class, MANAGED_DICT) == 0 {
                return None;
            }
            let block = match self {
                Self::Block => object.sub(4).read(),
                Self::BlockOrDict => {
                    let tagged = object.sub(3).read();
                    let is_block = tagged.addr() % 2 == 1;
                    if is_block { tagged.wrapping_add(1) } else { ptr::null() }
                }
            };
            Place::new(block.cast_mut().cast())
        }
    }
}

/// An attribute of a block, if it is there.
///
/// # Safety
///
/// `block` is that of a live object, and the interpreter is attached.
pub(super) unsafe fn attribute(block: Place, index: usize) -> Option<Place> {
    // SAFETY: how many attributes the object has stands two bytes before them, and there is room
    // for as many at least.
    unsafe {
        let count = block.cast::<u8>().sub(2).read();
        if index >= count.into() {
            return None;
        }
        Place::new(block.add(index).read().cast_mut().cast())
    }
}

/// How to find the fields of a class's instances.
pub(super) struct Places {
    pub(super) layout: Layout,
    /// The version of the class for which this holds.
    version: c_uint,
}

impl Places {
    /// `instance` is one of the class whose fields were set to these values, one after the other,
    /// each to another one. `None` where the interpreter has them elsewhere than expected.
    pub(super) fn find<T>(instance: &Bound<'_, PyAny>, values: &[Py<T>]) -> Option<Self> {
        let layout = Layout::of_version(instance.py())?;
        // SAFETY: the object is live, and the layout is that of its interpreter.
        let block = unsafe { layout.block(place(instance)?)? };
        let is_there = |(index, value): (usize, &Py<T>)| {
            // SAFETY: the block is that of the object.
            let found = unsafe { attribute(block, index) };
            found.is_some_and(|found| ptr::eq(found.as_ptr().cast(), value.as_ptr()))
        };
        let version = version(&instance.get_type());
        // Nor does the class have an attribute that would go before one of the instance: setting
        // the field would have been its affair, too.
        let holds = version != UNKNOWN && values.iter().enumerate().all(is_there);
        holds.then_some(Self { layout, version })
    }

    /// Whether this still holds for the class.
    pub(super) fn hold(&self, class: &Bound<'_, PyType>) -> bool {
        version(class) == self.version
    }

    /// A field of an instance, counted in their order; `None` where it has to be looked up.
    pub(super) fn field<'py>(
        &self,
        object: &Bound<'py, PyAny>,
        index: usize,
    ) -> Option<Bound<'py, PyAny>> {
        // SAFETY: the object is live, and the layout is that of its interpreter, whatever the class.
        // What a block has is a live object, of which this takes a reference before anybody can
        // change the block.
        unsafe {
            let block = self.layout.block(place(object)?)?;
            let value = attribute(block, index)?;
            Some(Bound::from_borrowed_ptr(object.py(), value.as_ptr().cast()))
        }
    }

    /// The first fields of an instance of `class`, in their order, without a reference to each.
    /// `None` if the object is none of them, or where they have to be looked up.
    ///
    /// # Safety
    ///
    /// As long as they are used nothing sets a field of the instance, and so no Python code runs.
    #[inline]
    pub(super) unsafe fn fields<'a, 'py, const N: usize>(
        &self,
        object: &'a Bound<'py, PyAny>,
        class: &Bound<'py, PyType>,
    ) -> Option<[Borrowed<'a, 'py, PyAny>; N]> {
        if object.get_type_ptr() != class.as_type_ptr() || !self.hold(class) {
            return None;
        }
        // SAFETY: the object is live, and the layout is that of its interpreter. What a block has
        // are live objects, and by the contract it keeps them.
        unsafe {
            let block = self.layout.block(place(object)?)?;
            let mut values = [Borrowed::from_ptr(object.py(), object.as_ptr()); N];
            for (index, value) in values.iter_mut().enumerate() {
                let place = attribute(block, index)?;
                *value = Borrowed::from_ptr(object.py(), place.as_ptr().cast());
            }
            Some(values)
        }
    }
}

fn place(object: &Bound<'_, PyAny>) -> Option<Place> {
    Place::new(object.as_ptr().cast())
}

/// No version: the class was changed, and nobody looked for an attribute of it since.
const UNKNOWN: c_uint = 0;

/// The version of a class and its bases, of which each change makes another.
fn version(class: &Bound<'_, PyType>) -> c_uint {
    // SAFETY: the class is live, and the interpreter, which alone changes it, is attached.
    unsafe { (*class.as_type_ptr()).tp_version_tag }
}
