//! The authors of a row's messages, by their names in data sets.

use crate::options::words;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    System,
    Developer,
    User,
    Assistant,
    /// The assistant, in a message with a call or a list of calls as its content.
    Caller,
    /// A tool, with its result.
    Tool,
}

/// All authors, each with its known names.
const NAMES: [(Speaker, &[&str]); 6] = [
    (Speaker::System, &["system"]),
    (Speaker::Developer, &["developer"]),
    (Speaker::User, &["user", "human", "prompter"]),
    (Speaker::Assistant, words!("assistant gpt model bot chatgpt chatbot ai")),
    (Speaker::Caller, words!("function_call function-call tool_call tool-call")),
    (
        Speaker::Tool,
        words!(
            "tool function observation observations tool_response tool-response function_response"
            "ipython"
        ),
    ),
];

impl Speaker {
    pub(super) fn of(name: &str) -> Option<Self> {
        let is_it = |known: &&str| known.eq_ignore_ascii_case(name);
        NAMES.iter().find(|(_, names)| names.iter().any(is_it)).map(|(speaker, _)| *speaker)
    }

    /// All names.
    pub(super) fn names() -> Vec<&'static str> {
        NAMES.map(|(_, names)| names).concat()
    }

    /// The role in chat completions.
    pub(super) fn role(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant | Self::Caller => "assistant",
            Self::Tool => "tool",
        }
    }

    /// Whether the model writes the message.
    pub(super) fn is_own(self) -> bool {
        matches!(self, Self::Assistant | Self::Caller)
    }
}
