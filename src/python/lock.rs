//! Working without the interpreter's lock, and getting it back.
//!
//! A thread that waits for the lock sleeps, and waking it up takes about as long as rendering a
//! conversation: two threads that render got no more done than one. Where the lock is held by
//! another call of this package, which is soon over, a thread therefore stays awake for a moment.
//! Rendering in two threads takes a third less time with it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Whether some call of this package has the lock.
static HELD: AtomicBool = AtomicBool::new(false);

/// Whether some thread stays awake for it. One is enough: it takes a processor.
static AWAKE: AtomicBool = AtomicBool::new(false);

/// How long a thread stays awake: longer than most calls need the lock. A fifth of it is too
/// little where the machine is slow.
const PATIENCE: Duration = Duration::from_millis(1);

/// How often the lock must be found free: between two calls of a loop nobody holds it for us.
const TIMES_FREE: u32 = 4;

/// A call that may give up the lock in between. It says where the lock is ours, so that others
/// know when to wait; a wrong guess costs a thread no more than its patience.
pub(super) struct Call<'py>(Python<'py>);

impl<'py> Call<'py> {
    /// To be called first, as reading the arguments needs the lock too.
    pub(super) fn begin(py: Python<'py>) -> Self {
        HELD.store(true, Ordering::Release);
        Self(py)
    }

    pub(super) fn py(&self) -> Python<'py> {
        self.0
    }

    /// Does work without the lock, if it is `much`.
    pub(super) fn unlocked<T: Send>(&self, much: bool, work: impl FnOnce() -> T + Send) -> T {
        if !much {
            return work();
        }
        let has_lock = has_lock(self.0);
        let result = self.0.detach(|| {
            HELD.store(false, Ordering::Release);
            let result = work();
            if has_lock {
                stay_awake();
            }
            result
        });
        HELD.store(true, Ordering::Release);
        result
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        HELD.store(false, Ordering::Release);
    }
}

/// Returns when the lock seems free, or after a while.
fn stay_awake() {
    if !HELD.load(Ordering::Acquire) || AWAKE.swap(true, Ordering::Acquire) {
        return;
    }
    let (began, mut free) = (Instant::now(), 0);
    while free < TIMES_FREE && began.elapsed() < PATIENCE {
        thread::yield_now();
        free = if HELD.load(Ordering::Acquire) { 0 } else { free + 1 };
    }
    AWAKE.store(false, Ordering::Release);
}

/// Whether the interpreter has a lock: all but the free-threaded ones.
fn has_lock(py: Python<'_>) -> bool {
    static HAS_LOCK: PyOnceLock<bool> = PyOnceLock::new();
    let ask = || py.import("sys")?.call_method0("_is_gil_enabled")?.extract();
    // Versions before 3.13 have no such function.
    *HAS_LOCK.get_or_init(py, || ask().unwrap_or(true))
}
