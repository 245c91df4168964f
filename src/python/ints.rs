//! Python ints for token ids, made once each.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyInt;

/// As many as there are ids.
const COUNT: usize = 201_089;

/// The int of each id that has been handed out, each with a reference of its own.
static INTS: [AtomicPtr<ffi::PyObject>; COUNT] = [const { AtomicPtr::new(ptr::null_mut()) }; COUNT];

/// The int of a token id. Counting up a reference beats making an int by far: a list of the ids of
/// 2 MB takes a third to a quarter of the time.
pub(super) fn int(py: Python<'_>, token: u32) -> Bound<'_, PyInt> {
    Known::of(token).int(py, token)
}

/// The int of a token id, if it has been handed out before. Finding it takes no interpreter, and
/// is half of making a list.
pub(super) struct Known(AtomicPtr<ffi::PyObject>);

impl Known {
    pub(super) fn of(token: u32) -> Self {
        let slot = INTS.get(token as usize);
        let known = slot.map_or(ptr::null_mut(), |slot| slot.load(Ordering::Acquire));
        Self(AtomicPtr::new(known))
    }

    /// The int itself, of the id that it was found by.
    pub(super) fn int<'py>(&self, py: Python<'py>, token: u32) -> Bound<'py, PyInt> {
        let known = self.0.load(Ordering::Relaxed);
        if known.is_null() {
            return first(py, token);
        }
        // SAFETY: the pointer is from the table, where `first` put it: of an int, with a reference
        // that is never given back.
        unsafe { Bound::from_borrowed_ptr(py, known).cast_into_unchecked() }
    }
}

#[cold]
fn first(py: Python<'_>, token: u32) -> Bound<'_, PyInt> {
    let int = made(py, token);
    let pointer = int.as_ptr();
    if let Some(slot) = INTS.get(token as usize)
        && slot
            .compare_exchange(ptr::null_mut(), pointer, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    {
        // The table's own reference.
        std::mem::forget(int.clone());
    }
    int
}

fn made(py: Python<'_>, token: u32) -> Bound<'_, PyInt> {
    match token.into_pyobject(py) {
        Ok(int) => int,
        Err(never) => match never {},
    }
}
