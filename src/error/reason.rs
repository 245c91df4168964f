//! What is wrong with a value, and where it is.

use std::fmt;

use crate::path::Path;

/// What is wrong with a value at a path.
///
/// ```
/// use openai_harmony::ErrorKind;
/// use openai_harmony::interop::{ReadOptions, chat_completions};
/// use serde_json::json;
///
/// let error = chat_completions::read(&json!({}), &ReadOptions::default()).unwrap_err();
/// let ErrorKind::InvalidRequest { reason, .. } = error.kind() else { panic!() };
/// assert_eq!(reason.to_string(), "is missing");
/// assert_eq!(error.to_string(), "Invalid request: messages is missing");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// What the value is, a sentence with its path: `messages` "is missing".
    Predicate(Box<str>),
    /// A sentence of its own, after the path and a colon: `messages`: "expected a list".
    Sentence(Box<str>),
}

impl Reason {
    /// A value that is this: `missing`.
    pub(crate) fn is(what: impl fmt::Display) -> Self {
        Self::Predicate(format!("is {what}").into())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Predicate(text) | Self::Sentence(text)) = self;
        f.write_str(text)
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self::Sentence(text.into())
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        Self::Sentence(text.into())
    }
}

/// A path and what is wrong there: "messages is empty", "messages: expected a list".
pub(super) struct AtPath<'a>(pub(super) &'a Path, pub(super) &'a Reason);

impl fmt::Display for AtPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(path, reason) if path.is_empty() => write!(f, "{reason}"),
            Self(path, Reason::Predicate(text)) => write!(f, "{path} {text}"),
            Self(path, Reason::Sentence(text)) => write!(f, "{path}: {text}"),
        }
    }
}
