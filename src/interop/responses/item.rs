//! The items of a response.

use serde::Serialize;

/// An item of a response.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutputItem {
    /// A thought.
    Reasoning {
        /// The item's id.
        id: String,
        /// Always empty: thoughts are not summarized.
        summary: [(); 0],
        /// The thought.
        content: Vec<ContentPart>,
        /// The thought in a form that comes back, if `include` asks for it.
        #[serde(skip_serializing_if = "Option::is_none")]
        encrypted_content: Option<String>,
        /// `in_progress`, `completed` or `incomplete`.
        status: &'static str,
    },
    /// A preamble or an answer.
    Message {
        /// The item's id.
        id: String,
        /// `assistant`.
        role: &'static str,
        /// `in_progress`, `completed` or `incomplete`.
        status: &'static str,
        /// `commentary` or `final_answer`.
        phase: &'static str,
        /// The text.
        content: Vec<ContentPart>,
    },
    /// A call of a function.
    FunctionCall {
        /// The item's id.
        id: String,
        /// What the result refers to.
        call_id: String,
        /// The function's name.
        name: String,
        /// The namespace that it is a member of.
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<String>,
        /// The arguments as they were sampled.
        arguments: String,
        /// `in_progress`, `completed` or `incomplete`.
        status: &'static str,
    },
    /// A call of a custom tool.
    CustomToolCall {
        /// The item's id.
        id: String,
        /// What the result refers to.
        call_id: String,
        /// The tool's name.
        name: String,
        /// The namespace that it is a member of.
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<String>,
        /// The input.
        input: String,
        /// `in_progress`, `completed` or `incomplete`.
        status: &'static str,
    },
}

/// A part of an item.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentPart {
    /// Of a message.
    OutputText {
        /// The text.
        text: String,
        /// Always empty.
        annotations: [(); 0],
        /// Always empty.
        logprobs: [(); 0],
    },
    /// Of a thought.
    ReasoningText {
        /// The text.
        text: String,
    },
}
