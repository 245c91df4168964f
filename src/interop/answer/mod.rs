//! What an answer consists of, before any dialect: segments, and what the writers of the dialects have in common.

mod json;
mod logprobs;
mod segment;
mod sink;
mod writer;

pub(super) use json::write_json;
pub use logprobs::TokenLogprob;
pub(super) use logprobs::{LogprobEntry, Logprobs, check};
pub(super) use segment::{
    Call, Delta, PastSegments, Segment, SegmentKind, SegmentState, TextKind, joined,
    visible_logprobs,
};
pub(super) use sink::{Framing, Members, Sink, write_object};
pub(super) use writer::{AnswerState, Head, Outcome, Prefixes, Writer};
pub use writer::{FinishReason, ReasoningField, Usage};
