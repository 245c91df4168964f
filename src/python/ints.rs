//! Python ints for token ids, made once each.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyInt;

/// As many as there are ids.
const COUNT: usize = 201_089;

/// The int of each id that has been handed out, with a reference of the table's own and its reserve.
static INTS: [AtomicPtr<ffi::PyObject>; COUNT] = [const { AtomicPtr::new(ptr::null_mut()) }; COUNT];

/// The int of a token id, if it has been handed out before. Finding it takes no interpreter, so this
/// may be sent to another thread, which is why the pointer is an atomic one.
pub(super) struct Known(AtomicPtr<ffi::PyObject>);

impl Known {
    #[inline]
    pub(super) fn of(token: u32) -> Self {
        let slot = INTS.get(token as usize);
        let known = slot.map_or(ptr::null_mut(), |slot| slot.load(Ordering::Acquire));
        Self(AtomicPtr::new(known))
    }
}

/// Gives references to ints, which belong to whoever takes them. Making new ints takes a list of the
/// ids of 2 MB three to four times as long.
#[derive(Clone, Copy)]
pub(super) struct Giver<'py> {
    py: Python<'py>,
    reserve: Option<Reserve>,
}

impl<'py> Giver<'py> {
    pub(super) fn new(py: Python<'py>) -> Self {
        static RESERVE: PyOnceLock<Option<Reserve>> = PyOnceLock::new();
        Self { py, reserve: *RESERVE.get_or_init(py, || Reserve::of_interpreter(py)) }
    }

    /// A reference to the int of a token id, of which `known` is what was found.
    #[inline]
    pub(super) fn reference(self, token: u32, known: &Known) -> *mut ffi::PyObject {
        let int = known.0.load(Ordering::Relaxed);
        if int.is_null() {
            return self.first_reference(token);
        }
        if self.reserve.is_none() {
            // SAFETY: the pointer is from the table, which has a reference to the int. The interpreter
            // is attached.
            unsafe { ffi::Py_INCREF(int) };
        }
        // Else one of those that `add_to` counted.
        int
    }

    #[cold]
    fn first_reference(self, token: u32) -> *mut ffi::PyObject {
        let int = made(self.py, token);
        if let Some(slot) = INTS.get(token as usize)
            && slot
                .compare_exchange(
                    ptr::null_mut(),
                    int.as_ptr(),
                    Ordering::AcqRel,
                    Ordering::Relaxed,
                )
                .is_ok()
        {
            // The table's own reference. With a reserve the interpreter has a lock, and until that
            // is added nobody else gets it, which giving references takes.
            std::mem::forget(int.clone());
            if let Some(reserve) = self.reserve {
                reserve.add_to(&int);
            }
        }
        int.into_ptr()
    }
}

/// How many references to an int the table takes at once, to give them away without counting each;
/// since Python 3.12 so many that nobody counts them any more.
///
/// So a list is made without touching the ints, which another thread may just have written to: the
/// list of 102 messages takes 7 µs in place of 11, and in each of two threads 8 in place of 14.
#[derive(Clone, Copy)]
struct Reserve(ffi::Py_ssize_t);

impl Reserve {
    /// `None` where it is not known how the interpreter counts, or not up to such numbers.
    fn of_interpreter(py: Python<'_>) -> Option<Self> {
        let version = py.version_info();
        let references: i64 = match (version.major, version.minor) {
            // Given away a billion times a second they last for thirty years.
            (3, ..=11) => 1 << 60,
            // As many make an int immortal: its references are no longer counted down (PEP 683).
            (3, 12..=14) => 3 << 30,
            _ => return None,
        };
        let reserve = Self(ffi::Py_ssize_t::try_from(references).ok()?);
        // Interpreters without a lock count elsewhere, and so do some that are built for debugging.
        let int = made(py, u32::MAX);
        let counts_there = || {
            // SAFETY: the int is live, and larger than a count.
            unsafe { *count_of(&int) == ffi::Py_REFCNT(int.as_ptr()) }
        };
        let alone = counts_there();
        let _other = int.clone();
        (alone && counts_there()).then_some(reserve)
    }

    fn add_to(self, int: &Bound<'_, PyInt>) {
        let count = count_of(int);
        // SAFETY: with a reserve this is where the interpreter counts, and it does so with its lock
        // held, as it is here.
        unsafe {
            // Since 3.12 small ints are immortal as they are.
            if *count < self.0 {
                *count += self.0;
            }
        }
    }
}

/// Where most interpreters count an int's references.
fn count_of(int: &Bound<'_, PyInt>) -> *mut ffi::Py_ssize_t {
    int.as_ptr().cast()
}

fn made(py: Python<'_>, number: u32) -> Bound<'_, PyInt> {
    match number.into_pyobject(py) {
        Ok(int) => int,
        Err(never) => match never {},
    }
}
