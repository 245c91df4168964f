//! The time, where the target has a clock. `wasm32-unknown-unknown` has none, and the standard library panics there.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const HAS_CLOCK: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

/// The seconds since 1970; `None` without a clock.
pub(super) fn seconds_since_1970() -> Option<u64> {
    let now = HAS_CLOCK.then(SystemTime::now)?;
    Some(now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
}

/// Returns the time since now; without a clock always zero.
pub(super) fn stopwatch() -> impl Fn() -> Duration + Send + Sync + 'static {
    let start = HAS_CLOCK.then(Instant::now);
    move || start.map_or(Duration::ZERO, |start| start.elapsed())
}
