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
        /// What the rows are.
        pub format: RowFormat => with_format,
        /// Which of the tokens that the model samples are trained.
        pub mask: LossMask => with_mask,
        /// Which column of a row is read as which, `("prompt", "text")`, where a data set has names of its own.
        pub map: Vec<(String, String)>
            => with_map(names: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>)
                names.into_iter().map(|(field, column)| (field.into(), column.into())).collect(),
        /// What the marks of chat formats are in the text of an answer.
        pub markers: Markers => with_markers,
        /// How conversations are rendered; by default as [`Turn::default_config`] has it, which is how a
        /// server renders the same conversations.
        pub config: RenderConfig = Turn::default_config() => with_config,
        /// How many examples a conversation gives.
        pub examples: ExampleUnit => with_examples,
        /// The most tokens that an example may have.
        pub max_tokens: Option<usize>,
        /// What becomes of an example with more.
        pub overflow: Overflow,
        /// How many threads render, 256 at most where there are fewer cores; `None` takes as many as there
        /// are cores.
        pub threads: Option<NonZeroUsize>
            => with_threads(threads: NonZeroUsize) Some(threads),
        /// The date in the system message of chat rows; none by default, so that a data set gives the
        /// same tokens tomorrow.
        pub date: Date = Date::Omitted => with_date,
        /// The identity in the system message of chat rows; `None` writes the model's own.
        pub identity: Option<String>
            => with_identity(identity: impl Into<String>) Some(identity.into()),
        /// The effort in the system message of chat rows without one of their own; `None` writes `medium`.
        pub reasoning_effort: Option<ReasoningEffort>
            => with_reasoning_effort(effort: ReasoningEffort) Some(effort),
        /// The index of the first row, where data come in parts.
        pub first_row: usize => with_first_row,
        /// Whether fields that a harmony row's system content leaves out have the defaults of
        /// [`SystemContent::new`](crate::chat::SystemContent::new), as where Python reads the JSON form;
        /// else, as in Rust, they stay empty. Conversations are taken as they are.
        pub system_defaults: bool => with_system_defaults,
    }
}

/// What rows are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RowFormat {
    /// Conversations of [`chat`](crate::chat) and their JSON form.
    #[default]
    Harmony,
    /// Messages of chat completions, as data sets on hubs have them.
    Chat,
    /// The same with answers that are preferred to others: `chosen` and `rejected`, each an example, after a `prompt` or
    /// as whole conversations; or an answer and its `label`, whether it is a good one.
    /// Of each example only the last answer is trained, and [`Batch::preferred`](super::Batch::preferred) has which
    /// it is. An answer has what the model writes and nothing else. Where one side is left out, the other is, too; turns
    /// are never left out of a prompt.
    Preference,
    /// Bodies of Anthropic's Messages API, the answer being the last message.
    Anthropic,
    /// Bodies of the Responses API, the answer being the last items of `input`.
    Responses,
}

/// What the marks of chat formats are in the text of an answer: `<|channel|>`, `<|im_end|>`, `<tool_call>`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Markers {
    /// What another format left there. Of chat rows, messages of harmony that a text spells are read as these, and counted
    /// in [`Batch::unused`](super::Batch::unused); any other mark is an error of the row. Code in backticks is text.
    #[default]
    Checked,
    /// Text that is trained as it is.
    Text,
}

/// How many examples a conversation gives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExampleUnit {
    /// One.
    #[default]
    Conversation,
    /// One for each turn of the assistant's: the conversation up to the turn's end, as the model sees
    /// it there, of which the last turn is trained. A turn of which the mask leaves nothing gives none.
    ///
    /// Each example repeats what comes first, so that the tokens of a row grow with the square of its
    /// turns; [`max_tokens`](RowOptions::max_tokens) bounds them.
    Turns,
}

/// What becomes of an example with more than `max_tokens`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overflow {
    /// It is an error of its row. Where each turn is an example, the others stay, and the error names the
    /// first that is too long.
    #[default]
    Error,
    /// It is left out, and its row listed in [`Batch::dropped`](super::Batch::dropped).
    Drop,
    /// It loses whole turns until it fits, and its row is listed in
    /// [`Batch::truncated`](super::Batch::truncated). Where only the last turn is trained, the first
    /// turns go, otherwise the last; messages of the system and the developer in front of the first turn
    /// stay. One turn that does not fit by itself, however many calls it has, is an error as above.
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

    /// The same for answers of preferences, whole.
    pub(super) fn of_preferences(mut self) -> Self {
        if self.overflow == Overflow::TruncateTurns {
            self.overflow = Overflow::Error;
        }
        self.mask = LossMask::default();
        self.of_completions()
    }

    /// The same for the answer to a prompt: what does not fit is left out at the beginning.
    pub(super) fn of_completions(mut self) -> Self {
        self.examples = ExampleUnit::Conversation;
        self.mask.turns = super::Turns::Last;
        self
    }
}
