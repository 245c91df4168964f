//! Which API a request is written in.

use std::fmt;

use super::field::Object;
use crate::error::Result;

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

impl Dialect {
    /// The field of a body that says what was said.
    pub(crate) const fn messages(self) -> &'static str {
        match self {
            Self::Responses => "input",
            Self::ChatCompletions | Self::Anthropic | Self::Ollama => "messages",
        }
    }

    /// Refuses the body of another API: what was said stands in a field that this one does not have.
    pub(super) fn check(self, body: &Object<'_, '_>) -> Result<()> {
        let own = self.messages();
        let other = if own == "input" { "messages" } else { "input" };
        match body.get(other) {
            Some(field) if body.get_or_null(own).is_none() => {
                let right = Self::of_body(body);
                Err(field
                    .invalid(format!("this is a body of another API: read it with {right}.read")))
            }
            _ => Ok(()),
        }
    }

    /// The API that a body seems to be of.
    fn of_body(body: &Object<'_, '_>) -> Self {
        let has = |keys: &[&str]| keys.iter().any(|key| body.get_or_null(key).is_some());
        if has(&["input"]) {
            Self::Responses
        } else if has(&["system", "stop_sequences", "thinking", "anthropic_version"]) {
            Self::Anthropic
        } else if has(&["options", "keep_alive", "think", "format"]) {
            Self::Ollama
        } else {
            Self::ChatCompletions
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
