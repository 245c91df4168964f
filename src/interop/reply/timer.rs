//! How long an answer takes, for Ollama's API.

use std::time::Duration;

use crate::interop::clock::Stopwatch;

/// Times the answer; moments are counted from its beginning.
#[derive(Debug)]
pub(super) struct Timer {
    watch: Stopwatch,
    /// The time that had passed when the reply was resumed.
    before: Duration,
    first_token: Option<Duration>,
    end: Duration,
}

impl Timer {
    pub(super) fn start() -> Self {
        let (before, end) = (Duration::ZERO, Duration::ZERO);
        Self { watch: Stopwatch::start(), before, first_token: None, end }
    }

    fn now(&self) -> Duration {
        self.before.saturating_add(self.watch.elapsed())
    }

    pub(super) fn first_token(&mut self) {
        if self.first_token.is_none() {
            self.first_token = Some(self.now());
        }
    }

    pub(super) fn end(&mut self) {
        self.end = self.now();
    }

    /// How long ago the reply began, and when the first token came.
    pub(super) fn elapsed(&self) -> (Duration, Option<Duration>) {
        (self.now(), self.first_token)
    }

    /// Resumes from another timer's [`Self::elapsed`].
    pub(super) fn resume(&mut self, elapsed: Duration, first_token: Option<Duration>) {
        (self.before, self.first_token) = (elapsed, first_token);
    }

    /// How long the prompt took, and the answer.
    pub(super) fn durations(&self) -> [Duration; 2] {
        let first = self.first_token.unwrap_or(self.end);
        [first, self.end.saturating_sub(first)]
    }
}
