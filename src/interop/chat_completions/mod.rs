//! The dialect of chat completions, `/v1/chat/completions`.

mod read;
mod write;

pub use read::read;
