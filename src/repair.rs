//! What lenient parsing repairs.

use serde::{Serialize, Serializer};

/// What lenient parsing repaired; docs/parsing.md has an example of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum RepairKind {
    /// A message ended inside its header: the fields are kept, the other words are its content.
    MissingMessage,
    /// A channel and other text in one word: `final__X`.
    GluedChannel,
    /// Tokens between messages.
    StrayText,
    /// A stop token between messages.
    StrayStop,
    /// A header that begins without `<|start|>`.
    MissingStart,
    /// `<|start|>` after a header with nothing beyond its author: the last one counts.
    DuplicateStart,
    /// A second channel: the last known one counts.
    DuplicateChannel,
    /// A second recipient: the first that is not `assistant` counts.
    DuplicateRecipient,
    /// Parts of a header in an order, or with spaces, that strict parsing refuses.
    HeaderOrder,
    /// `<|channel|>` without a channel after it.
    EmptyChannel,
    /// A header inside content: the message ends there, the next begins.
    MissingEnd,
    /// `<|endoftext|>` instead of a stop token.
    EndOfText,
    /// A word that is not a role: a tool of that name.
    UnknownRole,
    /// A header that names no role: the assistant's.
    MissingRole,
    /// An id that the vocabulary does not have: U+FFFD.
    UnknownToken,
    /// Words or markers in a header that are not a field.
    HeaderNoise,
    /// A header that ends early: with the tokens, or before a call has its content.
    TruncatedHeader,
    /// A channel's name without its `<|channel|>`.
    MissingChannel,
    /// Text without any header: the assistant's, on `final`.
    MissingHeader,
    /// A word without a marker or `to=`, read as the content type or the recipient.
    BareWord,
    /// A known tool where another field should be: the recipient.
    MisplacedRecipient,
    /// A known recipient in another spelling, or with something glued to it.
    GluedRecipient,
    /// The first bytes of a character, without the others; no content contains them.
    CutCharacter,
    /// A marker spelled by ordinary tokens, if these are read. It has no index, since it is part of what other events
    /// report.
    SpelledMarker,
    /// A call that its API cannot deliver as one, so that its text is content: no tools were
    /// offered, or the arguments are not the JSON object that they must be. The parser itself
    /// reports none.
    CallAsText,
    /// In an answer: a message of another author than the assistant, a tool's result for example. It is
    /// among the messages, but not in the answer. The parser itself reports none: what it reads may be a
    /// whole conversation.
    ForeignAuthor,
    /// In an answer of an API with objects as arguments: arguments that are not an object but clearly mean one, or
    /// several calls written as one. The parser itself keeps the text.
    RepairedArguments,
}

impl RepairKind {
    /// The kind's name in Python, in snake case.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Serialize for RepairKind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}
