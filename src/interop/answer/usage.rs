//! How many tokens a turn took.

/// How many tokens a turn took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: usize,
    /// Those of them that the engine had cached.
    pub cached_tokens: usize,
    /// Sampled tokens, markers and headers included.
    pub completion_tokens: usize,
    /// Those of them that are the content of thoughts.
    pub reasoning_tokens: usize,
}

impl Usage {
    /// Tokens of prompt and answer.
    pub fn total_tokens(&self) -> usize {
        self.prompt_tokens + self.completion_tokens
    }
}
