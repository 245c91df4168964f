//! JSON input in one form, a [`Tape`].
//!
//! `lex` writes it from text, the Python binding from objects, and [`Tape::tree`] from a `serde_json::Value`. Numbers
//! stay text, so integers of any length and the digits that a model wrote are kept. [`At`] is a place on a tape,
//! [`Value`] the value there. `object_text` follows text that arrives in pieces.

mod lex;
mod number;
mod object_text;
mod tape;

pub(crate) use lex::NotNumbers;
#[cfg(feature = "training")]
pub(crate) use number::is_not_a_number;
pub(crate) use number::read as read_number;
pub(crate) use object_text::ObjectText;
pub(crate) use tape::{Array, Object};
pub use tape::{At, Tape, Value};

/// The most levels of nested lists and objects, as in `serde_json`.
pub const MAX_DEPTH: usize = 127;
/// The error for what lies deeper.
pub(crate) const TOO_DEEP: &str = "nested more than 127 levels deep";
