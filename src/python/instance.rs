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
use std::ptr;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// What objects and blocks consist of, as far as it matters here: addresses.
pub(super) type Word = *const u8;

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

    /// The block of an object's attributes; null if it has none.
    ///
    /// # Safety
    ///
    /// `object` is a live object of an interpreter with this layout, which is attached.
    pub(super) unsafe fn block(self, object: *const Word) -> *const Word {
        /// Of classes whose instances have those words before them.
        const MANAGED_DICT: c_ulong = 1 << 4;
        // SAFETY: the object is live, and so is its type. With the flag, four words before the
        // object belong to it.
        unsafe {
            let class = ffi::Py_TYPE(object.cast_mut().cast());
            if ffi::PyType_HasFeature(class, MANAGED_DICT) == 0 {
                return ptr::null();
            }
            match self {
                Self::Block => object.sub(4).read().cast(),
                Self::BlockOrDict => {
                    let tagged = object.sub(3).read();
                    let is_block = tagged.addr() % 2 == 1;
                    if is_block { tagged.wrapping_add(1).cast() } else { ptr::null() }
                }
            }
        }
    }
}

/// An attribute of a block; null if it is not there.
///
/// # Safety
///
/// `block` is null or the attributes of a live object, and the interpreter is attached.
pub(super) unsafe fn attribute(block: *const Word, index: usize) -> Word {
    if block.is_null() {
        return ptr::null();
    }
    // SAFETY: how many attributes the object has stands two bytes before them, and there is room
    // for as many at least.
    unsafe {
        let count = block.cast::<u8>().sub(2).read();
        if index < count.into() { block.add(index).read() } else { ptr::null() }
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
        let block = unsafe { layout.block(instance.as_ptr().cast()) };
        let is_there = |(index, value): (usize, &Py<T>)| {
            // SAFETY: the block is that of the object.
            ptr::eq(unsafe { attribute(block, index) }, value.as_ptr().cast())
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
            let block = self.layout.block(object.as_ptr().cast());
            let value = attribute(block, index).cast_mut().cast();
            Bound::from_borrowed_ptr_or_opt(object.py(), value)
        }
    }
}

/// No version: the class was changed, and nobody looked for an attribute of it since.
const UNKNOWN: c_uint = 0;

/// The version of a class and its bases, of which each change makes another.
fn version(class: &Bound<'_, PyType>) -> c_uint {
    // SAFETY: the class is live, and the interpreter, which alone changes it, is attached.
    unsafe { (*class.as_type_ptr()).tp_version_tag }
}
