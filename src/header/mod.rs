//! The grammar of message headers, written and read side by side, over tokens.
//!
//! ```text
//! header       = [ author ] { " to=" recipient | <|channel|> channel | " " content-type }
//! author       = role [ ":" name ]        of a tool, only its name
//! content-type = word | <|constrain|> word
//! ```
//!
//! A word ends at ASCII white space or at a marker. Markers are token ids: a marker spelled in
//! ordinary tokens is text. A word that begins with `to=` is the recipient. Of the other words after
//! the author, a single one is the recipient, unless it is `json`, `code` or `text` and there is a
//! channel; of several, the last is the content type. So a content type without `<|constrain|>`, a channel
//! and a recipient is written, but read as the recipient, as in 0.0.8.
//!
//! [`pieces`] writes a message's header, [`read`] reads it back, as a message without content, or returns what is wrong
//! with it, and [`repair`] reads a malformed one.

mod groups;
mod name_run;
mod prefill;
mod read;
mod repair;
mod tools;
mod words;
mod write;

pub(crate) use name_run::NameRun;
pub use prefill::Prefill;
pub(crate) use read::{Given, read, role};
pub(crate) use repair::{HeaderEnd, Repaired, Setting, repair};
pub(crate) use tools::{CONTENT_TYPES, TOOL_PREFIXES, Tools};
pub(crate) use words::Words;
pub use write::HeaderStyle;
pub(crate) use write::{Piece, check, fields, pieces, written_recipient};

pub(crate) use crate::names::TO;

/// The marker of a constrained content type, as text in a message's `content_type`.
const CONSTRAIN: &str = "<|constrain|>";
