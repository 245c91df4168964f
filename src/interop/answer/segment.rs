//! What an answer consists of, whatever the dialect: texts and calls, in their order.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::logprobs::LogprobEntry;
use crate::interop::{Tool, ToolKind};
use crate::saved::MOST;

/// A part of the answer: what was said in one message, or a call of a tool that the client runs.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::interop) struct Segment {
    pub(in crate::interop) kind: SegmentKind,
    /// The text, never empty at the end; or a call's arguments as they were sampled, for a custom tool its decoded
    /// input.
    pub(in crate::interop) text: String,
    pub(in crate::interop) state: SegmentState,
    /// Whether some of its text came before a checkpoint and is not here.
    pub(in crate::interop) has_past: bool,
    /// Responses: the item's id.
    pub(in crate::interop) id: String,
    /// The log-probabilities of visible text, if the body asks for them and the engine gave them.
    pub(in crate::interop) logprobs: Vec<LogprobEntry>,
}

#[derive(Debug, Clone, PartialEq)]
pub(in crate::interop) enum SegmentKind {
    Text(TextKind),
    Call(Call),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::interop) enum TextKind {
    /// Chain of thought.
    Thought,
    /// Text to the user before a call.
    Preamble,
    /// The answer, and any text that has no other place.
    Answer,
}

/// The tool that is called, and the call's id.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::interop) struct Call {
    pub(in crate::interop) tool: Tool,
    /// The id that a result refers to.
    pub(in crate::interop) id: String,
    /// Its index among the answer's calls.
    pub(in crate::interop) index: usize,
}

impl Call {
    /// Whether the tool takes free text.
    pub(in crate::interop) fn is_custom(&self) -> bool {
        self.tool.kind == ToolKind::Custom
    }

    /// The field that has its arguments.
    pub(in crate::interop) fn argument(&self) -> &'static str {
        if self.is_custom() { "input" } else { "arguments" }
    }
}

/// Counts of the segments before a checkpoint, which are not kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::interop) struct PastSegments {
    pub(in crate::interop) thoughts: usize,
    pub(in crate::interop) texts: usize,
    pub(in crate::interop) calls: usize,
    pub(in crate::interop) whole_calls: usize,
}

impl PastSegments {
    /// Whether an answer can have these counts: a checkpoint may have been altered.
    pub(in crate::interop) fn is_possible(&self) -> bool {
        [self.thoughts, self.texts, self.calls, self.whole_calls].iter().all(|&count| count <= MOST)
    }

    /// The counts with another segment added.
    pub(in crate::interop) fn with(mut self, segment: &Segment) -> Self {
        self.thoughts += usize::from(segment.is_thought());
        self.texts += usize::from(segment.is_visible());
        self.calls += usize::from(segment.as_call().is_some());
        self.whole_calls += usize::from(segment.is_whole_call());
        self
    }
}

/// How far a segment has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::interop) enum SegmentState {
    Open,
    Whole,
    /// The tokens ended inside it.
    Cut,
}

/// What is new in a segment.
#[derive(Debug, Clone, Copy)]
pub(in crate::interop) struct Delta<'a> {
    pub(in crate::interop) text: &'a str,
    /// Whether it begins a text that a single string would join to earlier ones.
    pub(in crate::interop) is_behind_others: bool,
    /// The entries of [`Segment::logprobs`] that it adds.
    pub(in crate::interop) logprobs: &'a [LogprobEntry],
}

impl<'a> Delta<'a> {
    /// The text as it continues one string of several texts: an empty line separates them.
    pub(in crate::interop) fn joined(&self) -> Cow<'a, str> {
        let Self { text, is_behind_others, .. } = *self;
        if is_behind_others { [BETWEEN, text].concat().into() } else { text.into() }
    }
}

impl Segment {
    pub(in crate::interop) fn new(kind: SegmentKind, id: String) -> Self {
        let (text, state, logprobs) = (String::new(), SegmentState::Open, Vec::new());
        Self { kind, text, state, has_past: false, id, logprobs }
    }

    pub(in crate::interop) fn is_thought(&self) -> bool {
        self.kind == SegmentKind::Text(TextKind::Thought)
    }

    /// Whether it has no text yet.
    pub(in crate::interop) fn is_new(&self) -> bool {
        self.text.is_empty() && !self.has_past
    }

    /// Whether it is text that the user sees.
    pub(in crate::interop) fn is_visible(&self) -> bool {
        matches!(self.kind, SegmentKind::Text(TextKind::Preamble | TextKind::Answer))
    }

    /// The call, if it is one.
    pub(in crate::interop) fn as_call(&self) -> Option<&Call> {
        match &self.kind {
            SegmentKind::Text(_) => None,
            SegmentKind::Call(call) => Some(call),
        }
    }

    /// Whether it is a complete call.
    pub(in crate::interop) fn is_whole_call(&self) -> bool {
        self.as_call().is_some() && self.state == SegmentState::Whole
    }
}

/// The texts of some segments, joined by empty lines.
pub(in crate::interop) fn joined(segments: &[Segment], is_meant: fn(&Segment) -> bool) -> String {
    let texts = segments.iter().filter(|segment| is_meant(segment));
    texts.map(|segment| segment.text.as_str()).collect::<Vec<_>>().join(BETWEEN)
}

/// The log-probabilities of all visible text, if there are any.
pub(in crate::interop) fn visible_logprobs(
    segments: &[Segment],
) -> impl Iterator<Item = &LogprobEntry> {
    segments.iter().flat_map(|segment| &segment.logprobs)
}

/// The separator of texts in one string.
const BETWEEN: &str = "\n\n";
