//! The dialect of Ollama, `/api/chat`.

mod read;
mod write;

pub use read::read;
