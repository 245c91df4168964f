//! What an answer consists of, before any dialect: segments, the steps in which they came about, and
//! what the writers of the dialects have in common.

mod arguments;
mod json;
mod segment;
mod shared;
mod usage;
mod writer;

pub use arguments::Arguments;
pub(super) use json::{write_json, write_text};
pub(super) use segment::{Call, Delta, Ending, Segment, Step, Text, TextKind, joined, whole_calls};
pub use shared::SharedText;
pub use usage::Usage;
pub use writer::FinishReason;
pub(super) use writer::{Head, Outcome, Prefixes, Sink, State, Writer};
