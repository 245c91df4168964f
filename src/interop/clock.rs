//! The time, where the target has a clock. `wasm32-unknown-unknown` has none, and the standard library panics there.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const HAS_CLOCK: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

/// The seconds since 1970; `None` without a clock.
pub(super) fn seconds_since_1970() -> Option<u64> {
    let now = HAS_CLOCK.then(SystemTime::now)?;
    Some(now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
}

/// The time since it was started; without a clock always zero.
#[derive(Debug)]
pub(super) struct Stopwatch(Option<Instant>);

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self(HAS_CLOCK.then(Instant::now))
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.0.map_or(Duration::ZERO, |start| start.elapsed())
    }
}
