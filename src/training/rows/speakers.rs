//! The authors of a row's messages, by their names in data sets.

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    System,
    Developer,
    User,
    Assistant,
    /// The assistant, in a message whose content is a call or a list of calls.
    Caller,
    /// A tool, with its result.
    Tool,
}

/// All known names, each with its author.
const NAMES: [(&str, Speaker); 24] = [
    ("system", Speaker::System),
    ("developer", Speaker::Developer),
    ("user", Speaker::User),
    ("human", Speaker::User),
    ("prompter", Speaker::User),
    ("assistant", Speaker::Assistant),
    ("gpt", Speaker::Assistant),
    ("model", Speaker::Assistant),
    ("bot", Speaker::Assistant),
    ("chatgpt", Speaker::Assistant),
    ("chatbot", Speaker::Assistant),
    ("ai", Speaker::Assistant),
    ("function_call", Speaker::Caller),
    ("function-call", Speaker::Caller),
    ("tool_call", Speaker::Caller),
    ("tool-call", Speaker::Caller),
    ("tool", Speaker::Tool),
    ("function", Speaker::Tool),
    ("observation", Speaker::Tool),
    ("observations", Speaker::Tool),
    ("tool_response", Speaker::Tool),
    ("tool-response", Speaker::Tool),
    ("function_response", Speaker::Tool),
    ("ipython", Speaker::Tool),
];

impl Speaker {
    pub(super) fn of(name: &str) -> Option<Self> {
        NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, speaker)| *speaker)
    }

    /// All names.
    pub(super) fn names() -> [&'static str; NAMES.len()] {
        NAMES.map(|(name, _)| name)
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
