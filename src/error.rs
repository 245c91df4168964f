//! The one error of the crate: a kind and, where there is one, the index of the token.

use std::fmt;

use crate::brief::Brief;
use crate::path::Path;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, and at which token or in which message.
///
/// The sentence is made when the error is shown; its fixed parts are those of `openai-harmony`
/// 0.0.8, since logs are searched for them. It quotes at most 200 characters of a value; the kind has
/// all of it.
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

/// Boxed: results are handed on far more often than something goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Occurred {
    kind: ErrorKind,
    token_index: Option<usize>,
    /// The text of a token that should not be there. This room knows no vocabulary.
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

    /// The same error of a row, seen from the value around.
    #[cfg(feature = "arrow")]
    pub(crate) fn inside(mut self, step: impl Into<crate::path::PathStep>) -> Self {
        if let ErrorKind::InvalidRow { path, .. } = &mut self.0.kind {
            *path = std::mem::take(path).inside(step);
        }
        self
    }

    /// The same error of a grammar, in the schema of what this recipient takes.
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
    /// What a caller has most likely forgotten, or what helps.
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

/// Everything that can go wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// A name that is not the name of an encoding.
    #[error("Invalid HarmonyEncodingName: {} (known: HarmonyGptOss)", Brief(.name))]
    UnknownEncoding {
        /// The name as given.
        name: String,
    },
    /// A header or a caller names a role that does not exist.
    #[error("Unknown role: {}", Brief(.role))]
    UnknownRole {
        /// The name.
        role: String,
    },
    /// A tool's message without the tool's name cannot be rendered.
    #[error("Tools should have a name!")]
    ToolWithoutName,
    /// System content outside a system message, or developer content outside a developer's.
    #[error("{content} may only appear in {allowed} messages, found in {}", capitalized(.role))]
    MisplacedContent {
        /// `SystemContent` or `DeveloperContent`.
        content: &'static str,
        /// The only role whose messages may have it.
        allowed: &'static str,
        /// The role of the message that has it.
        role: &'static str,
    },
    /// A token between messages, where only `<|start|>` is allowed.
    #[error("Unexpected token {token} while expecting start token 200006")]
    UnexpectedToken {
        /// The token's id.
        token: u32,
    },
    /// A word or marker that does not belong in the header.
    #[error("unexpected tokens remaining in message header: {:?}", Some(Brief(.text)))]
    UnexpectedInHeader {
        /// The first such word, or the marker's name.
        text: String,
    },
    /// `<|channel|>` without a channel after it.
    #[error("channel marker present but no channel value found in header")]
    EmptyChannel,
    /// A header without a role, and the caller gave no role either.
    #[error("message header did not contain a role")]
    MissingRole,
    /// The tokens end inside a header.
    #[error("Unexpected EOS while waiting for message header to complete")]
    UnexpectedEos,
    /// A token after the stream was finished.
    #[error("Unexpected token after the end of the stream")]
    Finished,
    /// An id that the vocabulary does not have.
    #[error("Invalid token for decoding: {token}")]
    InvalidToken {
        /// The id.
        token: u32,
    },
    /// Bytes that are not UTF-8, where text was requested.
    #[error("Invalid utf-8 in the decoded tokens from byte {valid_up_to} on")]
    InvalidUtf8 {
        /// How many bytes before them are valid.
        valid_up_to: usize,
    },
    /// The name of a special token in a text that may not have one.
    #[error(
        "Encountered text corresponding to disallowed special token '{}'. Name it in \
         `allowed_special` to encode it as the special token, or leave it out of \
         `disallowed_special` (`disallowed_special=()` leaves out all) to encode it as text.",
        Brief(.token)
    )]
    DisallowedSpecial {
        /// The name, `<|start|>`.
        token: String,
    },
    /// A header field that could be read as another header.
    #[error("Unsafe {field} {:?}: {reason}", Brief(.value))]
    UnsafeHeaderField {
        /// `name`, `recipient`, `channel` or `content_type`.
        field: &'static str,
        /// Its value.
        value: String,
        /// What is wrong with the value.
        reason: Reason,
    },
    /// A tool that cannot be declared, or a response format whose schema cannot be written.
    #[error("Invalid schema of {:?}: {reason}", Brief(.name))]
    InvalidSchema {
        /// The tool, namespace or response format.
        name: String,
        /// What is wrong with it.
        reason: Reason,
    },
    /// Response formats without a name, or two of one name.
    #[error("Invalid response format {:?}: {reason}", Brief(.name))]
    InvalidResponseFormat {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: Reason,
    },
    /// A request's body that does not follow its API.
    #[error("Invalid request: {}", AtPath(.path, .reason))]
    InvalidRequest {
        /// Where in the body: `messages[3].role`; empty for the body itself.
        path: Path,
        /// What is wrong there.
        reason: Reason,
    },
    /// Something in a request's body that the format cannot carry.
    #[error("Unsupported content: {path}: the format cannot carry {content}")]
    UnsupportedContent {
        /// Where in the body: `messages[3].content[0].image_url`.
        path: Path,
        /// What it is: `images`, `audio`, `files`.
        content: String,
    },
    /// A field of a request's body that its API lets a server refuse, on which clients go on without it.
    #[error("Unsupported field: {path}: send the request without it")]
    UnsupportedField {
        /// Where in the body: `thread`.
        path: Path,
        /// What the API calls the refusal: `thread_unsupported_request`.
        code: &'static str,
    },
    /// A row of a data set that is not a conversation, or not one that can be rendered.
    #[error("Invalid row: {}", AtPath(.path, .reason))]
    InvalidRow {
        /// Where in the row: `messages[3].role`; empty for the row itself.
        path: Path,
        /// What is wrong there.
        reason: Reason,
    },
    /// A prompt that is longer than it may be, though only the last turn of its conversation is left.
    #[error(
        "The prompt is too long: {tokens} tokens with only its last turn; the maximum is {max_tokens}"
    )]
    PromptTooLong {
        /// Where the body has the conversation: `messages`, `input`.
        path: Path,
        /// How many tokens it has with only that turn.
        tokens: usize,
        /// How many it may have.
        max_tokens: usize,
    },
    /// An example of a row of a data set that is longer than it may be.
    #[error(
        "Too many tokens: {tokens}{}, more than max_tokens={max_tokens}{}{}",
        in_example(*.turn),
        if *.is_single_turn { IS_SINGLE_TURN } else { "" },
        and_later(*.later)
    )]
    TooManyTokens {
        /// How many tokens it has, without the turns that could be left out.
        tokens: usize,
        /// How many it may have.
        max_tokens: usize,
        /// Which turn's example it is, from 0, where each turn is one. The other turns of the row are
        /// examples.
        turn: Option<usize>,
        /// How many later turns have too many, too.
        later: usize,
        /// Whether it is one turn by itself, where turns could be left out.
        is_single_turn: bool,
    },
    /// Bytes that are not a saved state of this version.
    #[error("Invalid saved state: {reason}")]
    InvalidState {
        /// What is wrong with it.
        reason: Reason,
    },
    /// Log-probabilities that are not those of the tokens.
    #[error("Invalid log-probabilities: {}", AtPath(.path, .reason))]
    InvalidLogprobs {
        /// Which one: `logprobs[3].top[0]`.
        path: Path,
        /// What is wrong with it.
        reason: Reason,
    },
    /// What a rollout cannot go on from or with.
    #[error("Invalid rollout: {}", AtPath(.path, .reason))]
    InvalidRollout {
        /// Which argument, and where in it: `sampled[3]`.
        path: Path,
        /// What is wrong there.
        reason: Reason,
    },
    /// A grammar that no turn can be sampled by.
    #[error("Invalid grammar: {}", AtPath(.path, .reason))]
    InvalidGrammar {
        /// Which option, and where in it: `tools[3].parameters`.
        path: Path,
        /// What is wrong there.
        reason: Reason,
        /// Of a schema that an engine cannot hold, the tool's recipient; empty for the answer's.
        recipient: Option<Box<str>>,
    },
    /// A row of a data set of which the loss mask leaves nothing.
    #[error("Nothing to train: the loss mask leaves none of the tokens")]
    NothingToTrain,
}

impl ErrorKind {
    /// Where in a request's body, a row or an argument it is; empty for the whole.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::InvalidRequest { path, .. }
            | Self::InvalidGrammar { path, .. }
            | Self::InvalidLogprobs { path, .. }
            | Self::InvalidRollout { path, .. }
            | Self::PromptTooLong { path, .. }
            | Self::UnsupportedContent { path, .. }
            | Self::UnsupportedField { path, .. }
            | Self::InvalidRow { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Whether it is a mistake of the program's, not of the request that it answers.
    pub(crate) fn is_of_program(&self) -> bool {
        matches!(
            self,
            Self::InvalidLogprobs { .. }
                | Self::InvalidRollout { .. }
                | Self::InvalidRow { .. }
                | Self::InvalidState { .. }
                | Self::NothingToTrain
                | Self::TooManyTokens { .. }
        )
    }

    /// What the APIs of `OpenAI` call a prompt that is too long.
    pub(crate) const CONTEXT_LENGTH: &str = "context_length_exceeded";

    /// What an API calls the error, if it has a name of its own: `thread_unsupported_request`.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::UnsupportedField { code, .. } => Some(code),
            Self::PromptTooLong { .. } => Some(Self::CONTEXT_LENGTH),
            _ => None,
        }
    }

    /// The kind's name in Python's `HarmonyError.kind`, in snake case.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

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
struct AtPath<'a>(&'a Path, &'a Reason);

impl fmt::Display for AtPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(path, reason) if path.is_empty() => write!(f, "{reason}"),
            Self(path, Reason::Predicate(text)) => write!(f, "{path} {text}"),
            Self(path, Reason::Sentence(text)) => write!(f, "{path}: {text}"),
        }
    }
}

/// A role as 0.0.8 names it in an error: `User`.
fn capitalized(role: &str) -> String {
    let mut name = role.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    name
}

const IS_SINGLE_TURN: &str =
    "; it is a single turn, and truncate_turns leaves out whole turns only";

fn in_example(turn: Option<usize>) -> String {
    turn.map_or_else(String::new, |turn| format!(" in the example of turns[{turn}]"))
}

fn and_later(later: usize) -> String {
    match later {
        0 => String::new(),
        1 => "; 1 later turn is too long as well".to_owned(),
        later => format!("; {later} later turns are too long as well"),
    }
}
