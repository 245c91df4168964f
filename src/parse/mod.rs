//! Tokens to messages, one token at a time.
//!
//! [`StreamableParser`] is the one parser; parsing a whole sequence is a loop over it. Its
//! grammar between headers is that of the guide's section "Message format":
//!
//! ```text
//! messages = { <|start|> header <|message|> content stop }
//! stop     = <|end|> | <|return|> | <|call|>
//! ```
//!
//! Strict parsing returns an error where the tokens leave the grammar, and continues at the next
//! `<|start|>`. Lenient parsing returns no error and loses nothing (docs/parsing.md).

mod accessors;
mod checkpoint;
mod event;
mod grammar;
mod lenient;
mod options;
mod owned;
mod prefill;
mod report;
mod saved;
mod spans;
mod spelled;
mod spelling;
mod state;
mod stream;
mod stripped;
mod utf8;

pub use crate::repair::RepairKind;
pub(crate) use checkpoint::Checkpoint;
pub use event::{Event, Repair};
pub(crate) use grammar::STOP_TOKENS;
pub use options::{ParseOptions, ParserOptions};
pub use state::{HeaderData, StateData, StreamState};
pub use stream::StreamableParser;
pub(crate) use stripped::read as read_stripped;
pub(crate) use utf8::Utf8Decoder;
