//! Which API a request is written in.

use std::fmt;

/// The APIs whose requests are read and whose answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// `/v1/chat/completions`, the old `functions` included.
    ChatCompletions,
    /// `/v1/responses`.
    Responses,
    /// `/v1/messages` and its count of tokens.
    Anthropic,
    /// `/api/chat`.
    Ollama,
}

impl Dialect {
    /// The dialect's module: `chat_completions`, `responses`, `anthropic`, `ollama`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ChatCompletions => "chat_completions",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
