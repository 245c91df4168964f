//! How long an answer takes, for Ollama's API.

use std::time::Duration;

use super::Clock;

/// Times the answer.
#[derive(Debug)]
pub(super) struct Timer {
    clock: Clock,
    /// The time that had passed when the reply was resumed.
    before: Duration,
    start: Duration,
    first_token: Option<Duration>,
    end: Duration,
}

impl Timer {
    pub(super) fn start(clock: Clock) -> Self {
        let start = clock.now();
        Self { clock, before: Duration::ZERO, start, first_token: None, end: start }
    }

    fn now(&self) -> Duration {
        self.before.saturating_add(self.clock.now())
    }

    pub(super) fn first_token(&mut self) {
        if self.first_token.is_none() {
            self.first_token = Some(self.now());
        }
    }

    pub(super) fn end(&mut self) {
        self.end = self.now();
    }

    /// How long ago the reply began, and when the first token came, counted from then.
    pub(super) fn elapsed(&self) -> (Duration, Option<Duration>) {
        let since = |moment: Duration| moment.saturating_sub(self.start);
        (since(self.now()), self.first_token.map(since))
    }

    /// Resumes from another timer's [`Self::elapsed`].
    pub(super) fn resume(&mut self, elapsed: Duration, first_token: Option<Duration>) {
        self.before = elapsed;
        self.first_token = first_token.map(|after| self.start.saturating_add(after));
    }

    /// How long the prompt took, and the answer.
    pub(super) fn durations(&self) -> [Duration; 2] {
        let first = self.first_token.unwrap_or(self.end);
        [first.saturating_sub(self.start), self.end.saturating_sub(first)]
    }
}
