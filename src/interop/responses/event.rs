//! What a streamed response consists of.

use serde::Serialize;
use serde_json::Value;

use super::item::{ContentPart, OutputItem};

/// An event of a streamed response. Each has its number in the stream, from 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum ResponseEvent {
    /// The response begins.
    #[serde(rename = "response.created")]
    Created {
        /// The event's number.
        sequence_number: u64,
        /// The response as it stands.
        response: Value,
    },
    /// The response is under way.
    #[serde(rename = "response.in_progress")]
    InProgress {
        /// The event's number.
        sequence_number: u64,
        /// The response as it stands.
        response: Value,
    },
    /// The response is whole. Nothing follows.
    #[serde(rename = "response.completed")]
    Completed {
        /// The event's number.
        sequence_number: u64,
        /// The response as it stands.
        response: Value,
    },
    /// The limit of tokens was reached. Nothing follows.
    #[serde(rename = "response.incomplete")]
    Incomplete {
        /// The event's number.
        sequence_number: u64,
        /// The response as it stands.
        response: Value,
    },
    /// The answer was aborted. Nothing follows.
    #[serde(rename = "response.failed")]
    Failed {
        /// The event's number.
        sequence_number: u64,
        /// The response as it stands.
        response: Value,
    },
    /// An item begins.
    #[serde(rename = "response.output_item.added")]
    OutputItemAdded {
        /// The event's number.
        sequence_number: u64,
        /// Which of the response's items.
        output_index: usize,
        /// The item, without content yet.
        item: OutputItem,
    },
    /// An item has ended.
    #[serde(rename = "response.output_item.done")]
    OutputItemDone {
        /// The event's number.
        sequence_number: u64,
        /// Which of the response's items.
        output_index: usize,
        /// The item.
        item: OutputItem,
    },
    /// A part of an item begins.
    #[serde(rename = "response.content_part.added")]
    ContentPartAdded {
        /// The event's number.
        sequence_number: u64,
        /// The item's id.
        item_id: String,
        /// Which of the response's items.
        output_index: usize,
        /// Which of the item's parts: the first.
        content_index: usize,
        /// The part.
        part: ContentPart,
    },
    /// A part of an item has ended.
    #[serde(rename = "response.content_part.done")]
    ContentPartDone {
        /// The event's number.
        sequence_number: u64,
        /// The item's id.
        item_id: String,
        /// Which of the response's items.
        output_index: usize,
        /// Which of the item's parts: the first.
        content_index: usize,
        /// The part.
        part: ContentPart,
    },
    /// More text of a message.
    #[serde(rename = "response.output_text.delta")]
    OutputTextDelta {
        /// The event's number.
        sequence_number: u64,
        /// The item's id.
        item_id: String,
        /// Which of the response's items.
        output_index: usize,
        /// Which of the item's parts: the first.
        content_index: usize,
        /// What is new.
        delta: String,
        /// Always empty.
        logprobs: [(); 0],
    },
    /// A message's text has ended.
    #[serde(rename = "response.output_text.done")]
    OutputTextDone {
        /// The event's number.
        sequence_number: u64,
        /// The item's id.
        item_id: String,
        /// Which of the response's items.
        output_index: usize,
        /// Which of the item's parts: the first.
        content_index: usize,
        /// All of it.
        text: String,
        /// Always empty.
        logprobs: [(); 0],
    },
    /// More text of a thought.
    #[serde(rename = "response.reasoning_text.delta")]
    ReasoningTextDelta {
        /// The event's number.
        sequence_number: u64,
        /// The item's id.
        item_id: String,
        /// Which of the response's items.
        output_index: usize,
        /// Which of the item's parts: the first.
        content_index: usize,
        /// What is new.
        delta: String,
    },
    /// A thought's text has ended.
    #[serde(rename = "response.reasoning_text.done")]
    ReasoningTextDone {
        /// The event's number.
        sequence_number: u64,
        /// The item's id.
        item_id: String,
        /// Which of the response's items.
        output_index: usize,
        /// Which of the item's parts: the first.
        content_index: usize,
        /// All of it.
        text: String,
    },
    /// More arguments of a call.
    #[serde(rename = "response.function_call_arguments.delta")]
    FunctionCallArgumentsDelta {
        /// The event's number.
        sequence_number: u64,
        /// The item's id.
        item_id: String,
        /// Which of the response's items.
        output_index: usize,
        /// What is new.
        delta: String,
    },
    /// A call's arguments are complete.
    #[serde(rename = "response.function_call_arguments.done")]
    FunctionCallArgumentsDone {
        /// The event's number.
        sequence_number: u64,
        /// The item's id.
        item_id: String,
        /// Which of the response's items.
        output_index: usize,
        /// The function's name.
        name: String,
        /// All of them.
        arguments: String,
    },
    /// More input of a custom tool.
    #[serde(rename = "response.custom_tool_call_input.delta")]
    CustomToolCallInputDelta {
        /// The event's number.
        sequence_number: u64,
        /// The item's id.
        item_id: String,
        /// Which of the response's items.
        output_index: usize,
        /// What is new.
        delta: String,
    },
    /// A custom tool's input is complete.
    #[serde(rename = "response.custom_tool_call_input.done")]
    CustomToolCallInputDone {
        /// The event's number.
        sequence_number: u64,
        /// The item's id.
        item_id: String,
        /// Which of the response's items.
        output_index: usize,
        /// All of it.
        input: String,
    },
}

impl ResponseEvent {
    /// The event's name, which is its type.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Created { .. } => "response.created",
            Self::InProgress { .. } => "response.in_progress",
            Self::Completed { .. } => "response.completed",
            Self::Incomplete { .. } => "response.incomplete",
            Self::Failed { .. } => "response.failed",
            Self::OutputItemAdded { .. } => "response.output_item.added",
            Self::OutputItemDone { .. } => "response.output_item.done",
            Self::ContentPartAdded { .. } => "response.content_part.added",
            Self::ContentPartDone { .. } => "response.content_part.done",
            Self::OutputTextDelta { .. } => "response.output_text.delta",
            Self::OutputTextDone { .. } => "response.output_text.done",
            Self::ReasoningTextDelta { .. } => "response.reasoning_text.delta",
            Self::ReasoningTextDone { .. } => "response.reasoning_text.done",
            Self::FunctionCallArgumentsDelta { .. } => "response.function_call_arguments.delta",
            Self::FunctionCallArgumentsDone { .. } => "response.function_call_arguments.done",
            Self::CustomToolCallInputDelta { .. } => "response.custom_tool_call_input.delta",
            Self::CustomToolCallInputDone { .. } => "response.custom_tool_call_input.done",
        }
    }
}
