//! The one form of JSON that others give: a [`Tape`].
//!
//! `lex` writes the tape of a text, of whose beginning `prefix` makes a short one, the Python binding that of objects, and [`Tape::tree`] that of a
//! `serde_json::Value`. Numbers are text on it, so that integers of any length, and the digits that a model wrote, are
//! what they were. [`Value`] is what is at a place [`At`] it.

mod lex;
mod number;
mod prefix;
mod tape;

pub(crate) use lex::NotNumbers;
#[cfg(feature = "training")]
pub(crate) use number::is_not_a_number;
pub(crate) use number::read as read_number;
pub(crate) use prefix::shortest_prefix;
pub(crate) use tape::{Array, Object};
pub use tape::{At, Tape, Value};

/// How many levels of lists and objects JSON may have, as in texts that `serde_json` reads.
pub const MAX_DEPTH: usize = 127;
/// The error for what lies deeper.
pub(crate) const TOO_DEEP: &str = "nested more than 127 levels deep";
