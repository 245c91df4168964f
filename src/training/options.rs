//! How rows become examples.

use std::num::NonZeroUsize;

use super::LossMask;
use crate::RenderConfig;
use crate::chat::ReasoningEffort;
use crate::interop::{Date, Turn};
use crate::options::{choices, options};

options! {
    /// How [`render`](super::render) reads and renders rows.
    ///
    /// ```
    /// use openai_harmony::training::{ExampleUnit, Overflow, RowOptions, RowFormat};
    ///
    /// let options = RowOptions::new()
    ///     .with_format(RowFormat::Chat)
    ///     .with_examples(ExampleUnit::Turns)
    ///     .with_max_tokens(4096, Overflow::TruncateTurns);
    /// assert_eq!(options.max_tokens, Some(4096));
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct RowOptions {
        /// The format of the rows.
        pub format: RowFormat => with_format,
        /// Which of the tokens that the model samples are trained.
        pub mask: LossMask => with_mask,
        /// Which column of a row is read as which, `("prompt", "text")`, for data sets with their own column names.
        pub map: Vec<(String, String)>
            => with_map(names: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>)
                names.into_iter().map(|(field, column)| (field.into(), column.into())).collect(),
        /// How marks of chat formats in the text of an answer are read.
        pub markers: Markers => with_markers,
        /// How conversations are rendered; by default as [`Turn::default_config`] has it, which is how a
        /// server renders the same conversations.
        pub config: RenderConfig = Turn::default_config() => with_config,
        /// How many examples a conversation gives.
        pub examples: ExampleUnit => with_examples,
        /// The maximum number of tokens of an example.
        pub max_tokens: Option<usize>,
        /// What happens to an example with more.
        pub overflow: Overflow,
        /// How many threads render, at most 256 or the number of cores, whichever is larger; `None` means one per core.
        pub threads: Option<NonZeroUsize>
            => with_threads(threads: NonZeroUsize) Some(threads),
        /// The date in the system message of chat rows; none by default, so that a data set gives the
        /// same tokens tomorrow.
        pub date: Date = Date::Omitted => with_date,
        /// The identity in the system message of chat rows; `None` writes the model's own.
        pub identity: Option<String>
            => with_identity(identity: impl Into<String>) Some(identity.into()),
        /// The effort in the system message of chat rows that do not set one; `None` writes `medium`.
        pub reasoning_effort: Option<ReasoningEffort>
            => with_reasoning_effort(effort: ReasoningEffort) Some(effort),
        /// The index of the first row, for data that arrive in parts.
        pub first_row: usize => with_first_row,
        /// Whether fields missing from a harmony row's system content get the defaults of
        /// [`SystemContent::new`](crate::chat::SystemContent::new), as when Python reads the JSON form; otherwise, as
        /// in Rust, they stay empty. Conversations are taken unchanged.
        pub system_defaults: bool => with_system_defaults,
    }
}

/// The format of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RowFormat {
    /// Conversations of [`chat`](crate::chat) and their JSON form.
    #[default]
    Harmony,
    /// Messages of chat completions, in the shapes found in published data sets.
    Chat,
    /// Preferences in the same shapes: `chosen` and `rejected`, each an example, after a `prompt` or as whole
    /// conversations; or an answer with a `label` that tells whether it is good. Only the last answer of each example
    /// is trained, and [`Batch::preferred`](super::Batch::preferred) tells which kind it is. An answer contains only
    /// what the model writes. If one side is dropped, so is the other; turns are never removed from a prompt.
    Preference,
    /// Bodies of Anthropic's Messages API, the answer being the last message.
    Anthropic,
    /// Bodies of the Responses API, the answer being the last items of `input`.
    Responses,
}

/// How marks of chat formats in the text of an answer are read: `<|channel|>`, `<|im_end|>`, `<tool_call>`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Markers {
    /// As remains of another format. In chat rows, harmony messages that a text spells are read as messages, and
    /// counted in [`Batch::unused`](super::Batch::unused); any other mark is an error of the row. Code in backticks is
    /// text.
    #[default]
    Checked,
    /// As text that is trained unchanged.
    Text,
}

/// How many examples a conversation gives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExampleUnit {
    /// One.
    #[default]
    Conversation,
    /// One for each turn of the assistant: the conversation up to the turn's end, as the model sees it there. Only its
    /// last turn is trained. A fully masked turn yields no example.
    ///
    /// Each example repeats the earlier turns, so the tokens of a row grow with the square of its turns;
    /// [`max_tokens`](RowOptions::max_tokens) bounds them.
    Turns,
}

/// What happens to an example with more than `max_tokens`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overflow {
    /// It is an error of its row. Where each turn is an example, the others stay, and the error names the
    /// first that is too long.
    #[default]
    Error,
    /// It is dropped, and its row is listed in [`Batch::dropped`](super::Batch::dropped).
    Drop,
    /// It loses whole turns until it fits, and its row is listed in
    /// [`Batch::truncated`](super::Batch::truncated). If only the last turn is trained, it loses the first turns,
    /// otherwise the last; system and developer messages before the first turn stay. A single turn that does not fit,
    /// however many calls it has, is an error as above.
    TruncateTurns,
}

choices! {
    RowFormat, "'harmony', 'chat', 'preference', 'anthropic' or 'responses'":
        "harmony" Harmony,
        "chat" Chat,
        "preference" Preference,
        "anthropic" Anthropic,
        "responses" Responses;
    ExampleUnit, "'conversation' or 'turns'": "conversation" Conversation, "turns" Turns;
    Markers, "'checked' or 'text'": "checked" Checked, "text" Text;
    Overflow, "'error', 'drop' or 'truncate_turns'":
        "error" Error,
        "drop" Drop,
        "truncate_turns" TruncateTurns;
}

impl RowOptions {
    /// The default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the most tokens of an example, and what becomes of one with more.
    #[must_use]
    pub fn with_max_tokens(mut self, max_tokens: usize, overflow: Overflow) -> Self {
        self.max_tokens = Some(max_tokens);
        self.overflow = overflow;
        self
    }

    /// The same for the answers of preferences, which are never shortened.
    pub(super) fn of_preferences(mut self) -> Self {
        if self.overflow == Overflow::TruncateTurns {
            self.overflow = Overflow::Error;
        }
        self.mask = LossMask::default();
        self.of_completions()
    }

    /// The same for the answer to a prompt: the beginning is shortened.
    pub(super) fn of_completions(mut self) -> Self {
        self.examples = ExampleUnit::Conversation;
        self.mask.turns = super::Turns::Last;
        self
    }
}
