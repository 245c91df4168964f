//! The one error of the crate: a kind and, where there is one, the index of the token.

mod kind;
mod reason;

use std::fmt;

pub use self::kind::ErrorKind;
pub use self::reason::Reason;
use crate::brief::Brief;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, and at which token or in which message.
///
/// The text is made when the error is displayed; its fixed parts are those of `openai-harmony` 0.0.8, since people
/// search logs for them. It quotes at most 200 characters of a value; the kind has the full value.
///
/// ```
/// use openai_harmony::{ErrorKind, HarmonyEncodingName, load_harmony_encoding};
///
/// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
/// let error = encoding.parse_messages_from_completion_tokens([5], None).unwrap_err();
/// assert_eq!(error.kind(), &ErrorKind::UnexpectedToken { token: 5 });
/// assert_eq!(error.token_index(), Some(0));
/// assert_eq!(
///     error.to_string(),
///     "Unexpected token 5 while expecting start token 200006 (\"&\" at tokens[0])",
/// );
/// # Ok::<(), openai_harmony::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Occurred>);

/// Boxed: results are passed on far more often than something goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Occurred {
    kind: ErrorKind,
    token_index: Option<usize>,
    /// The text of an unexpected token; this module does not know the vocabulary.
    token_text: Option<Box<str>>,
    message_index: Option<usize>,
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Where it went wrong: the index into the given tokens, from 0, or `None` if no token caused
    /// the error.
    pub fn token_index(&self) -> Option<usize> {
        self.0.token_index
    }

    /// Which message of a conversation could not be rendered, from 0; `None` for all other errors.
    pub fn message_index(&self) -> Option<usize> {
        self.0.message_index
    }

    /// The same error in this message of a conversation.
    pub(crate) fn in_message(mut self, index: usize) -> Self {
        self.0.message_index = Some(index);
        self
    }

    /// The same error of a row, with the path from the enclosing value.
    #[cfg(feature = "arrow")]
    pub(crate) fn inside(mut self, step: impl Into<crate::path::PathStep>) -> Self {
        if let ErrorKind::InvalidRow { path, .. } = &mut self.0.kind {
            *path = std::mem::take(path).inside(step);
        }
        self
    }

    /// The same error of a grammar, in the schema of this recipient's arguments.
    pub(crate) fn of_schema(mut self, of: &str) -> Self {
        if let ErrorKind::InvalidGrammar { recipient, .. } = &mut self.0.kind {
            *recipient = Some(of.into());
        }
        self
    }

    /// The same error at this token, unless it has a token already.
    pub(crate) fn at_token(mut self, index: usize) -> Self {
        self.0.token_index.get_or_insert(index);
        self
    }

    pub(crate) fn at(kind: ErrorKind, token_index: usize) -> Self {
        Self::from(kind).at_token(token_index)
    }

    /// The same error, which shows the text of its token.
    pub(crate) fn with_token_text(mut self, text: impl Into<Box<str>>) -> Self {
        self.0.token_text = Some(text.into());
        self
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(Occurred { kind, token_index: None, token_text: None, message_index: None }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.kind.fmt(f)?;
        if let Some(index) = self.0.message_index {
            write!(f, " (in messages[{index}])")?;
        }
        match (self.hint(), self.0.token_index, &self.0.token_text) {
            (Some(hint), ..) => f.write_str(hint),
            (None, Some(index), Some(text)) => write!(f, " ({:?} at tokens[{index}])", Brief(text)),
            (None, Some(index), None) if self.is_about_a_token() => {
                write!(f, " (at tokens[{index}])")
            }
            _ => Ok(()),
        }
    }
}

impl Error {
    /// A hint at what the caller has probably forgotten, or at what helps.
    fn hint(&self) -> Option<&'static str> {
        match (&self.0.kind, self.0.token_index) {
            (ErrorKind::UnexpectedToken { token: 200_005 }, Some(0)) => Some(
                " (<|channel|>, so the tokens begin inside a header: give the role of its message, \
                 such as assistant)",
            ),
            // In a header it has an index.
            (ErrorKind::MissingRole, None) => Some(" (a prefill needs the role of its message)"),
            (ErrorKind::UnexpectedEos, _) => Some(
                " (the tokens end inside a header; lenient parsing, strict=False, reads what there is)",
            ),
            _ => None,
        }
    }

    /// After the end of the tokens there is none.
    fn is_about_a_token(&self) -> bool {
        !matches!(self.0.kind, ErrorKind::Finished)
    }
}

impl std::error::Error for Error {}
