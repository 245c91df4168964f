//! Work with the GIL released.

use pyo3::prelude::*;

/// Does work, with the GIL released if there is `much` of it: releasing it costs half a
/// microsecond, and more if other threads want it.
pub(super) fn released_if<T: Send>(
    py: Python<'_>,
    much: bool,
    work: impl FnOnce() -> T + Send,
) -> T {
    if much { py.detach(work) } else { work() }
}
