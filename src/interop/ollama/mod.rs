//! The dialect of Ollama, `/api/chat`.

mod line;
mod read;
mod write;

pub use line::{ChatLine, LineCall, LineFunction, LineMessage, Metrics};
pub use read::read;
#[cfg(feature = "training")]
pub(super) use read::{FIELDS, collect};
pub(super) use write::Ollama;
