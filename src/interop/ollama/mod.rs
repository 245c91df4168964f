//! The dialect of Ollama's `/api/chat`.

mod read;
mod write;
