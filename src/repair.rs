//! What lenient parsing mends.

/// What lenient parsing mended; docs/parsing.md has an example of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RepairKind {
    /// A message ended inside its header: its fields are kept, its other words are its content.
    MissingMessage,
    /// A channel and other text in one word: `final__X`.
    GluedChannel,
    /// Tokens between messages.
    StrayText,
    /// A stop token between messages.
    StrayStop,
    /// A header that begins without `<|start|>`.
    MissingStart,
    /// `<|start|>` after a header that says nothing beyond its author: the last one counts.
    DuplicateStart,
    /// A second channel: the last known one counts.
    DuplicateChannel,
    /// A second recipient: the first that is not `assistant` counts.
    DuplicateRecipient,
    /// Parts of a header in an order or at a distance that strict parsing refuses.
    HeaderOrder,
    /// `<|channel|>` with no channel behind it.
    EmptyChannel,
    /// A header inside content: the message ends there, the next begins.
    MissingEnd,
    /// `<|endoftext|>` in a stop token's place.
    EndOfText,
    /// A word that is no role: a tool of that name.
    UnknownRole,
    /// A header that names no role: the assistant's.
    MissingRole,
    /// An id that the vocabulary does not have: U+FFFD.
    UnknownToken,
    /// Words or markers in a header that are no field of it.
    HeaderNoise,
    /// The end of the tokens inside a header.
    TruncatedHeader,
}

impl RepairKind {
    /// The kind's name in Python, in snake case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MissingMessage => "missing_message",
            Self::GluedChannel => "glued_channel",
            Self::StrayText => "stray_text",
            Self::StrayStop => "stray_stop",
            Self::MissingStart => "missing_start",
            Self::DuplicateStart => "duplicate_start",
            Self::DuplicateChannel => "duplicate_channel",
            Self::DuplicateRecipient => "duplicate_recipient",
            Self::HeaderOrder => "header_order",
            Self::EmptyChannel => "empty_channel",
            Self::MissingEnd => "missing_end",
            Self::EndOfText => "end_of_text",
            Self::UnknownRole => "unknown_role",
            Self::MissingRole => "missing_role",
            Self::UnknownToken => "unknown_token",
            Self::HeaderNoise => "header_noise",
            Self::TruncatedHeader => "truncated_header",
        }
    }
}
