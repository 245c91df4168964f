//! Everything that can go wrong, and its sentences.

use super::Reason;
use super::reason::AtPath;
use crate::brief::Brief;
use crate::path::Path;

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
        /// The only role of messages that may have it.
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
    /// A tool that cannot be declared, or a response format with a schema that cannot be written.
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
    /// Content of a request's body that the format cannot carry.
    #[error("Unsupported content: {path}: the format cannot carry {content}")]
    UnsupportedContent {
        /// Where in the body: `messages[3].content[0].image_url`.
        path: Path,
        /// What it is: `images`, `audio`, `files`.
        content: String,
    },
    /// A field of a request's body that the API lets a server refuse; clients then continue without it.
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
    /// A prompt that is too long even with only the last turn of its conversation.
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
    /// An example of a data set row that is too long.
    #[error(
        "Too many tokens: {tokens}{}, more than max_tokens={max_tokens}{}{}",
        in_example(*.turn),
        if *.is_single_turn { IS_SINGLE_TURN } else { "" },
        and_later(*.later)
    )]
    TooManyTokens {
        /// Its number of tokens, without the turns that could be left out.
        tokens: usize,
        /// How many it may have.
        max_tokens: usize,
        /// The turn, from 0, if each turn is an example. The row's other turns are examples, too.
        turn: Option<usize>,
        /// How many later turns have too many, too.
        later: usize,
        /// Whether only one turn is left, where turns could be left out.
        is_single_turn: bool,
    },
    /// Bytes that are not a saved state of this version.
    #[error("Invalid saved state: {reason}")]
    InvalidState {
        /// What is wrong with it.
        reason: Reason,
    },
    /// Log-probabilities that do not match the tokens.
    #[error("Invalid log-probabilities: {}", AtPath(.path, .reason))]
    InvalidLogprobs {
        /// Which one: `logprobs[3].top[0]`.
        path: Path,
        /// What is wrong with it.
        reason: Reason,
    },
    /// What a rollout cannot continue from or with.
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
        /// If an engine cannot enforce a schema, the tool's recipient; empty for the answer's schema.
        recipient: Option<Box<str>>,
    },
    /// A data set row in which the loss mask leaves nothing to train.
    #[error("Nothing to train: the row has no answer or call that the loss mask keeps")]
    NothingToTrain,
}

impl ErrorKind {
    /// The path in a request's body, a row or an argument; empty for the value itself.
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

    /// The names of the kinds for which the calling program is to blame, not the request that it answers.
    pub const OF_PROGRAM: [&str; 6] = [
        "invalid_logprobs",
        "invalid_rollout",
        "invalid_row",
        "invalid_state",
        "nothing_to_train",
        "too_many_tokens",
    ];

    /// The code of `OpenAI`'s APIs for a prompt that is too long.
    pub(crate) const CONTEXT_LENGTH: &str = "context_length_exceeded";

    /// The API's own code for the error, if there is one: `thread_unsupported_request`.
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
