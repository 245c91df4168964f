//! Working without the interpreter's lock, and getting it back.
//!
//! A thread that waits for the lock sleeps, and waking it up takes about as long as rendering a
//! conversation: two threads that render got no more done than one. Where another call of this
//! package holds the lock, or one ended meanwhile and the next one of a loop may follow, a thread
//! therefore stays awake for a moment. Rendering in two threads takes a third less time with it.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// What calls of this package last did with the lock: one of the three below. It guards nothing,
/// and may be wrong for a moment, which costs some thread its sleep or its patience.
static LOCK: AtomicU8 = AtomicU8::new(BETWEEN);

/// A call has it.
const HELD: u8 = 0;
/// A call gave it up to work without it.
const FREE: u8 = 1;
/// A call returned. The interpreter has the lock and does what comes next.
const BETWEEN: u8 = 2;

/// Whether some thread stays awake for the lock. One is enough: it takes a processor. In the child
/// of a fork it may stay set, and all threads sleep then.
static AWAKE: AtomicBool = AtomicBool::new(false);

/// How long a thread stays awake: longer than most calls need the lock. A fifth of it is too
/// little where the machine is slow.
const PATIENCE: Duration = Duration::from_millis(1);

/// After so many looks without any call that holds the lock a thread stops waiting, some 20 µs.
/// Between two calls of a loop none holds it, for the ten microseconds and more in which the
/// interpreter frees the first one's list of tokens: who asked for the lock then would fall asleep
/// until the second one is over, which costs more than a whole rendering.
const TIMES_BETWEEN: u32 = 40;

/// A call that may give up the lock in between. It says where the lock is ours, so that others
/// know when to wait.
pub(super) struct Call<'py> {
    py: Python<'py>,
    has_lock: bool,
}

impl<'py> Call<'py> {
    /// To be called first, as reading the arguments needs the lock too.
    pub(super) fn begin(py: Python<'py>) -> Self {
        let call = Self { py, has_lock: has_lock(py) };
        call.says(HELD);
        call
    }

    pub(super) fn py(&self) -> Python<'py> {
        self.py
    }

    /// Does work without the lock, if it is `much`.
    pub(super) fn unlocked<T: Send>(&self, much: bool, work: impl FnOnce() -> T + Send) -> T {
        if !much {
            return work();
        }
        if !self.has_lock {
            return self.py.detach(work);
        }
        let result = self.py.detach(|| {
            LOCK.store(FREE, Relaxed);
            let result = work();
            stay_awake();
            result
        });
        self.says(HELD);
        result
    }

    fn says(&self, state: u8) {
        if self.has_lock {
            LOCK.store(state, Relaxed);
        }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.says(BETWEEN);
    }
}

/// Returns when the lock seems free, or after a while.
fn stay_awake() {
    if LOCK.load(Relaxed) == FREE || AWAKE.swap(true, Relaxed) {
        return;
    }
    let (began, mut between) = (Instant::now(), 0);
    while between < TIMES_BETWEEN && began.elapsed() < PATIENCE {
        thread::yield_now();
        match LOCK.load(Relaxed) {
            FREE => break,
            HELD => between = 0,
            _ => between += 1,
        }
    }
    AWAKE.store(false, Relaxed);
}

/// Whether the interpreter has a lock: all but the free-threaded ones.
fn has_lock(py: Python<'_>) -> bool {
    static HAS_LOCK: PyOnceLock<bool> = PyOnceLock::new();
    let ask = || py.import("sys")?.call_method0("_is_gil_enabled")?.extract();
    // Versions before 3.13 have no such function.
    *HAS_LOCK.get_or_init(py, || ask().unwrap_or(true))
}
