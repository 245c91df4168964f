//! What a server says about an answer.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::interop::ReasoningField;

/// Options of [`Turn::reply`](crate::interop::Turn::reply).
///
/// ```
/// use openai_harmony::interop::ReplyOptions;
///
/// let options = ReplyOptions::new("gpt-oss-20b").with_prompt_tokens(120);
/// assert_eq!(options.id, None);
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReplyOptions {
    /// The model's name in the answer.
    pub model: String,
    /// The answer's id; `None` makes one. The ids of calls and items are made from it.
    pub id: Option<String>,
    /// When the answer was created, in seconds since 1970; `None`: now.
    pub created: Option<u64>,
    /// How many tokens the prompt has; `None` renders it once more to count them.
    pub prompt_tokens: Option<usize>,
    /// How many of them the engine had cached.
    pub cached_tokens: usize,
    /// Which of `n` answers this is. Only chat completions have more than one.
    pub index: usize,
    /// Chat: the field in which clients look for thoughts.
    pub reasoning_field: ReasoningField,
    /// How many tokens thoughts may have; `None`: as many as the body says
    /// ([`Turn::thinking_budget`](crate::interop::Turn::thinking_budget)).
    pub thinking_budget: Option<usize>,
    /// Whether markers that the model spelled by ordinary tokens are read
    /// ([`ParseConfig::spelled_markers`](crate::ParseConfig::spelled_markers)).
    pub spelled_markers: bool,
    /// Makes all ids, if not those that are made from the answer's own.
    pub make_id: Option<MakeId>,
    /// Measures the durations reported to Ollama clients.
    pub clock: Clock,
}

impl ReplyOptions {
    /// The options of an answer by this model.
    pub fn new(model: impl Into<String>) -> Self {
        Self { model: model.into(), ..Self::default() }
    }

    /// Sets the answer's id, from which those of calls and items follow.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets when the answer was created, in seconds since 1970.
    #[must_use]
    pub fn with_created(mut self, created: u64) -> Self {
        self.created = Some(created);
        self
    }

    /// Sets how many tokens the prompt has.
    #[must_use]
    pub fn with_prompt_tokens(mut self, prompt_tokens: usize) -> Self {
        self.prompt_tokens = Some(prompt_tokens);
        self
    }

    /// Sets how many of them the engine had cached.
    #[must_use]
    pub fn with_cached_tokens(mut self, cached_tokens: usize) -> Self {
        self.cached_tokens = cached_tokens;
        self
    }

    /// Sets which of `n` answers this is.
    #[must_use]
    pub fn with_index(mut self, index: usize) -> Self {
        self.index = index;
        self
    }

    /// Sets chat's field for thoughts.
    #[must_use]
    pub fn with_reasoning_field(mut self, reasoning_field: ReasoningField) -> Self {
        self.reasoning_field = reasoning_field;
        self
    }

    /// Sets how many tokens thoughts may have, whatever the body says.
    #[must_use]
    pub fn with_thinking_budget(mut self, tokens: usize) -> Self {
        self.thinking_budget = Some(tokens);
        self
    }

    /// Sets whether markers that the model spelled by ordinary tokens are read.
    #[must_use]
    pub fn with_spelled_markers(mut self, are_read: bool) -> Self {
        self.spelled_markers = are_read;
        self
    }

    /// Sets what makes all ids.
    #[must_use]
    pub fn with_make_id(mut self, make_id: MakeId) -> Self {
        self.make_id = Some(make_id);
        self
    }

    /// Sets what measures durations.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }
}

/// A function from an id's prefix, such as `call_`, to a new id.
#[derive(Clone)]
pub struct MakeId(Arc<dyn Fn(&str) -> String + Send + Sync>);

impl MakeId {
    /// Makes one of a closure.
    pub fn new(make: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    pub(super) fn make(&self, prefix: &str) -> String {
        (self.0)(prefix)
    }
}

impl fmt::Debug for MakeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MakeId")
    }
}

/// A clock that never goes back: the time since a moment of its own choice.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Duration + Send + Sync>);

impl Clock {
    /// Makes one of a closure.
    pub fn new(now: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    pub(super) fn now(&self) -> Duration {
        (self.0)()
    }
}

impl Default for Clock {
    fn default() -> Self {
        let start = Instant::now();
        Self::new(move || start.elapsed())
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// The present in seconds since 1970.
pub(super) fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
