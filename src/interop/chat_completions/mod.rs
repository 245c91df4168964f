//! The dialect of chat completions, `/v1/chat/completions`.

mod messages;
mod read;
mod tools;
mod write;

pub use read::read;
