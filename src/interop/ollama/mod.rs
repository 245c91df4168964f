//! The dialect of Ollama, `/api/chat`.

mod line;
mod read;
mod write;

pub use line::{ChatLine, LineCall, LineFunction, LineMessage, Metrics};
pub use read::{read, read_owned};
pub(super) use write::Ollama;
