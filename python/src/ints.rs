//! Python ints for token ids, made once each.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyInt;

/// As many as there are ids.
const COUNT: usize = 201_089;

/// The int of each token id that was used before. With new ints a list of the ids of 2 MB takes three to four times as
/// long.
///
/// A page of the table is touched only with one of its ids. Slots have eight bytes; with `PyOnceLock`, which needs
/// sixteen, encoding 10 KB takes 1.06 times the instructions.
pub(super) struct IntCache {
    /// Null, or an int of which the table owns a reference.
    ints: [AtomicPtr<ffi::PyObject>; COUNT],
}

/// The one that there is.
pub(super) static INTS: IntCache =
    IntCache { ints: [const { AtomicPtr::new(ptr::null_mut()) }; COUNT] };

impl IntCache {
    /// The int of a token id.
    #[inline]
    pub(super) fn get<'py>(&self, py: Python<'py>, token: u32) -> Bound<'py, PyAny> {
        let Some(slot) = self.ints.get(token as usize) else { return new(py, token).into_any() };
        // SAFETY: what the table points to are ints of which it owns a reference for good. The
        // interpreter is attached, and the pointer was published after the int was made.
        let cached = unsafe { Bound::from_borrowed_ptr_or_opt(py, slot.load(Ordering::Acquire)) };
        cached.unwrap_or_else(|| made(py, token, slot))
    }
}

/// The int of a token id that occurs for the first time.
#[cold]
fn made<'py>(py: Python<'py>, token: u32, slot: &AtomicPtr<ffi::PyObject>) -> Bound<'py, PyAny> {
    let int = new(py, token).into_any();
    let (empty, full) = (ptr::null_mut(), int.as_ptr());
    if slot.compare_exchange(empty, full, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
        // The table's own reference.
        std::mem::forget(int.clone());
    }
    int
}

fn new(py: Python<'_>, token: u32) -> Bound<'_, PyInt> {
    match token.into_pyobject(py) {
        Ok(int) => int,
        Err(never) => match never {},
    }
}
