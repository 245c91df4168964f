//! What an answer consists of, whatever the dialect: texts and calls, in their order.

use std::ops::Range;

use super::logprobs::LogprobEntry;

/// A part of the answer.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::interop) enum Segment {
    Text(Text),
    Call(Call),
}

/// What was said in one message; never empty.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_field_names, reason = "what else is a text's text")]
pub(in crate::interop) struct Text {
    pub(in crate::interop) kind: TextKind,
    pub(in crate::interop) text: String,
    pub(in crate::interop) state: SegmentState,
    /// Responses: the item's id.
    pub(in crate::interop) id: String,
    /// Those of visible text, if the body asks for them and the engine gave them.
    pub(in crate::interop) logprobs: Vec<LogprobEntry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::interop) enum TextKind {
    /// Chain of thought.
    Thought,
    /// What is said to the user before a call.
    Preamble,
    /// The answer, and all that has no other place.
    Answer,
}

/// A call of a tool that the client runs.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_field_names, reason = "`call_id` is the API's name, beside `id`")]
pub(in crate::interop) struct Call {
    pub(in crate::interop) name: String,
    pub(in crate::interop) namespace: Option<String>,
    /// Whether [`Self::arguments`] is the decoded input of a custom tool.
    pub(in crate::interop) is_custom: bool,
    /// The arguments as they were sampled.
    pub(in crate::interop) arguments: String,
    pub(in crate::interop) state: SegmentState,
    /// What a result refers to.
    pub(in crate::interop) call_id: String,
    /// Responses: the item's id.
    pub(in crate::interop) id: String,
    /// Which of the answer's calls it is, from 0.
    pub(in crate::interop) index: usize,
}

/// How far a segment has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::interop) enum SegmentState {
    Open,
    Whole,
    /// The tokens ended inside it.
    Cut,
}

/// What happened to a segment, given by its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::interop) enum Step {
    Begin(usize),
    /// More of its text or arguments.
    Delta(usize, Delta),
    End(usize),
}

/// What is new in a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::interop) struct Delta {
    pub(in crate::interop) text: String,
    /// Whether the segment begins with it.
    pub(in crate::interop) is_first: bool,
    /// Which of [`Text::logprobs`] are new with it.
    pub(in crate::interop) logprobs: Range<usize>,
}

impl Delta {
    /// The text for a string that other texts share: an empty line stands before the first one
    /// if others came before.
    pub(in crate::interop) fn behind(self, has_others: bool) -> String {
        if has_others && self.is_first { [BETWEEN, &self.text].concat() } else { self.text }
    }
}

impl Text {
    /// The log-probabilities that a delta brings.
    pub(in crate::interop) fn new_logprobs(&self, delta: &Delta) -> &[LogprobEntry] {
        self.logprobs.get(delta.logprobs.clone()).unwrap_or_default()
    }
}

impl Segment {
    /// Its text or its arguments.
    pub(in crate::interop) fn text(&self) -> &str {
        match self {
            Self::Text(text) => &text.text,
            Self::Call(call) => &call.arguments,
        }
    }

    /// The call that it is.
    pub(in crate::interop) fn as_call(&self) -> Option<&Call> {
        match self {
            Self::Text(_) => None,
            Self::Call(call) => Some(call),
        }
    }

    pub(in crate::interop) fn text_mut(&mut self) -> &mut String {
        match self {
            Self::Text(text) => &mut text.text,
            Self::Call(call) => &mut call.arguments,
        }
    }

    pub(in crate::interop) fn set_state(&mut self, state: SegmentState) {
        match self {
            Self::Text(text) => text.state = state,
            Self::Call(call) => call.state = state,
        }
    }

    pub(in crate::interop) fn state(&self) -> SegmentState {
        match self {
            Self::Text(text) => text.state,
            Self::Call(call) => call.state,
        }
    }
}

/// The texts of some kinds as one: joined by an empty line.
pub(in crate::interop) fn joined(segments: &[Segment], kinds: &[TextKind]) -> String {
    let mut joined = String::new();
    for segment in segments {
        if let Segment::Text(text) = segment
            && kinds.contains(&text.kind)
        {
            if !joined.is_empty() {
                joined.push_str(BETWEEN);
            }
            joined.push_str(&text.text);
        }
    }
    joined
}

/// The log-probabilities of all visible text, if there are any.
pub(in crate::interop) fn visible_logprobs(
    segments: &[Segment],
) -> impl Iterator<Item = &LogprobEntry> {
    segments.iter().flat_map(|segment| match segment {
        Segment::Text(text) => &text.logprobs[..],
        Segment::Call(_) => &[],
    })
}

/// What stands between texts in one string.
const BETWEEN: &str = "\n\n";

/// The calls that came to their end.
pub(in crate::interop) fn whole_calls(segments: &[Segment]) -> impl Iterator<Item = &Call> {
    segments.iter().filter_map(|segment| match segment {
        Segment::Call(call) if call.state == SegmentState::Whole => Some(call),
        _ => None,
    })
}
