//! Asking for the memory of messages before they are read.
//!
//! A message is some ten objects and blocks of memory, found one by the other. In a process that
//! has run for a while they lie all over the memory, and reading waits for each in turn. So, while
//! a message is read, each of the next ones gets a step further on the way to its text: the first
//! of them takes its last step, the last of them its first. New conversations of 102 messages are
//! rendered in 0.83 to 0.86 of the time there; conversations in cache take as long as without it.
//!
//! Nothing depends on what is found: it is only asked for.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyType};

use super::instance::{Layout, Place, attribute};
use super::types::Types;

/// How many messages later a message takes its next step: with fewer, what a step asked for has
/// not come yet, and with many more it is gone again.
const APART: usize = 2;

// The fields in the order that `Types` gives them.
const AUTHOR: usize = 0;
const CONTENT: usize = 1;
const CONTENT_TYPE: usize = 4;
const NAME: usize = 1;
const TEXT: usize = 0;

/// Which bytes around an address are read: so many before it, and up to so many behind it.
type Extent = (usize, usize);
/// Of an instance, whose words before it tell where its fields are.
const INSTANCE: Extent = (32, 16);
/// Of the fields of an instance, whose number stands before them.
const FIELDS: Extent = (8, 40);
/// Of a list or a string.
const HEAD: Extent = (0, 48);
const ITEMS: Extent = (0, 8);

/// Takes a step for the message of this index, which is read next, and for some behind it. The
/// indices of a list are expected one after the other, from 0 on.
pub(super) fn messages(types: &Types, messages: &Bound<'_, PyList>, index: usize) {
    let Some(places) = &types.message.places else { return };
    let ways = Ways { layout: places.layout, types, messages };
    let last = index + (STEPS - 1) * APART;
    // At the beginning all of them set out.
    for last in if index == 0 { 0 } else { last }..=last {
        ways.step(last);
    }
}

/// Steps from a message to its text.
const STEPS: usize = 7;

/// The ways from messages to their texts. What is not of the expected kind ends a way.
///
/// The messages are live, as long as no Python code runs, and their interpreter has this layout.
/// It has a lock, too: no other thread changes what is looked at.
struct Ways<'a, 'py> {
    layout: Layout,
    types: &'a Types,
    messages: &'a Bound<'py, PyList>,
}

impl Ways<'_, '_> {
    /// Asks for what the first step of the message of this index leads to, the second step of the one
    /// that is `APART` before it, and so on.
    #[inline]
    fn step(&self, last: usize) {
        let message = |step: usize| self.message(last.checked_sub(step * APART)?);
        let fields = |step: usize| self.fields(message(step)?, &self.types.message.class);

        ask(message(0), INSTANCE);
        ask(fields(1), FIELDS);
        if let Some(fields) = fields(2) {
            ask(field(fields, AUTHOR), INSTANCE);
            for index in CONTENT..=CONTENT_TYPE {
                ask(field(fields, index), HEAD);
            }
        }
        if let Some(fields) = fields(3) {
            ask(self.author(fields), FIELDS);
            ask(items(fields), ITEMS);
        }
        if let Some(fields) = fields(4) {
            ask(self.author(fields).and_then(|author| field(author, NAME)), HEAD);
            ask(part(fields), INSTANCE);
        }
        ask(fields(5).and_then(|fields| self.part(fields)), FIELDS);
        let part = fields(6).and_then(|fields| self.part(fields));
        ask(part.and_then(|part| field(part, TEXT)), HEAD);
    }

    fn message(&self, index: usize) -> Option<Place> {
        if index >= self.messages.len() {
            return None;
        }
        // SAFETY: the list has an item of this index.
        let message = unsafe { ffi::PyList_GET_ITEM(self.messages.as_ptr(), index.cast_signed()) };
        Place::new(message.cast())
    }

    /// The fields of an object, if it is of the class.
    fn fields(&self, object: Place, class: &Py<PyType>) -> Option<Place> {
        // SAFETY: the object is live, as the message is, and the layout that of its interpreter.
        unsafe {
            let is_of_class = ffi::Py_TYPE(object.as_ptr().cast()).cast() == class.as_ptr();
            if is_of_class { self.layout.block(object) } else { None }
        }
    }

    /// The fields of a message's author.
    fn author(&self, message: Place) -> Option<Place> {
        self.fields(field(message, AUTHOR)?, &self.types.author.class)
    }

    /// The fields of the first part of a message's content.
    fn part(&self, message: Place) -> Option<Place> {
        self.fields(part(message)?, &self.types.text.class)
    }
}

/// A field, by the block that the fields are in.
#[inline]
fn field(fields: Place, index: usize) -> Option<Place> {
    // SAFETY: the block is that of a live object.
    unsafe { attribute(fields, index) }
}

/// The items of a message's content, if it is a list that has any.
#[inline]
fn items(message: Place) -> Option<Place> {
    let content = field(message, CONTENT)?.as_ptr().cast();
    // SAFETY: the content is live, and a list where it is taken for one.
    unsafe {
        if ffi::PyList_CheckExact(content) == 0 || ffi::PyList_GET_SIZE(content) == 0 {
            return None;
        }
        Place::new((*content.cast::<ffi::PyListObject>()).ob_item.cast())
    }
}

/// The first part of a message's content.
#[inline]
fn part(message: Place) -> Option<Place> {
    // SAFETY: the list has an item.
    Place::new(unsafe { items(message)?.read() }.cast_mut().cast())
}

/// Asks for the memory around an address.
#[inline]
fn ask(place: Option<Place>, (before, behind): Extent) {
    #[cfg(target_arch = "x86_64")]
    if let Some(place) = place {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start: *const i8 = place.as_ptr().cast_const().cast();
        // SAFETY: a hint, which does nothing where there is no memory.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_sub(before));
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(behind - 1));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (place, before, behind);
}
