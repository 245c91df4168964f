//! Whether text that arrives in pieces is a whole object, as far as its strings and brackets tell.

use serde::{Deserialize, Serialize};

/// How far the text has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ObjectText {
    /// It has not begun.
    #[default]
    Before,
    /// Within this many brackets.
    Inside(u32),
    /// The same, in a string.
    InString(u32),
    /// The same, after a backslash.
    Escape(u32),
    Whole,
    /// It is something else, whatever follows.
    Other,
}

impl ObjectText {
    pub(crate) fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            *self = match (*self, byte) {
                (Self::Before, b'{') => Self::Inside(1),
                (Self::Before | Self::Whole, b' ' | b'\n' | b'\t' | b'\r') => *self,
                (Self::Before | Self::Whole, _) => Self::Other,
                (Self::Inside(depth), b'"') | (Self::Escape(depth), _) => Self::InString(depth),
                (Self::Inside(depth), b'{' | b'[') => Self::Inside(depth.saturating_add(1)),
                (Self::Inside(..=1), b'}' | b']') => Self::Whole,
                (Self::Inside(depth), b'}' | b']') => Self::Inside(depth - 1),
                (Self::InString(depth), b'"') => Self::Inside(depth),
                (Self::InString(depth), b'\\') => Self::Escape(depth),
                (state, _) => state,
            };
        }
    }
}
