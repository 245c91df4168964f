//! Chunks, and their bytes on the wire.

use serde::Serialize;

use crate::interop::answer::{Sink, write_json};
use crate::interop::anthropic::MessageEvent;
use crate::interop::chat_completions::ChatCompletionChunk;
use crate::interop::ollama::ChatLine;
use crate::interop::responses::ResponseEvent;

/// What an API sends at a time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Chunk {
    /// A chunk of a chat completion.
    ChatCompletions(ChatCompletionChunk),
    /// An event of a response.
    Responses(ResponseEvent),
    /// An event of a message.
    Anthropic(MessageEvent),
    /// A line of Ollama's.
    Ollama(ChatLine),
}

/// Where chunks go: to the caller, or appended to a buffer as bytes.
#[derive(Debug)]
pub(super) enum Out<'a> {
    Chunks(&'a mut Vec<Chunk>),
    Bytes(&'a mut Vec<u8>),
}

/// A kind of chunks: what they are among all chunks, and their bytes.
trait Framed: Serialize {
    fn into_chunk(self) -> Chunk;

    /// Writes the chunk's bytes.
    fn frame(&self, bytes: &mut Vec<u8>);
}

/// Bytes are made of the chunk as it is: as a [`Chunk`] it would be moved about, which takes longer than
/// writing it.
impl<C: Framed> Sink<C> for Out<'_> {
    fn push(&mut self, chunk: C) {
        match self {
            Self::Chunks(chunks) => chunks.push(chunk.into_chunk()),
            Self::Bytes(bytes) => chunk.frame(bytes),
        }
    }

    fn bytes(&mut self) -> Option<&mut Vec<u8>> {
        match self {
            Self::Chunks(_) => None,
            Self::Bytes(bytes) => Some(bytes),
        }
    }
}

impl Framed for ChatCompletionChunk {
    fn into_chunk(self) -> Chunk {
        Chunk::ChatCompletions(self)
    }

    fn frame(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(b"data: ");
        write_json(self, bytes);
        bytes.extend_from_slice(b"\n\n");
    }
}

impl Framed for ResponseEvent {
    fn into_chunk(self) -> Chunk {
        Chunk::Responses(self)
    }

    fn frame(&self, bytes: &mut Vec<u8>) {
        write_event(self.name(), self, bytes);
    }
}

impl Framed for MessageEvent {
    fn into_chunk(self) -> Chunk {
        Chunk::Anthropic(self)
    }

    fn frame(&self, bytes: &mut Vec<u8>) {
        write_event(self.name(), self, bytes);
    }
}

impl Framed for ChatLine {
    fn into_chunk(self) -> Chunk {
        Chunk::Ollama(self)
    }

    fn frame(&self, bytes: &mut Vec<u8>) {
        write_json(self, bytes);
        bytes.push(b'\n');
    }
}

/// Writes the chunk's bytes.
pub(super) fn frame(chunk: &Chunk, bytes: &mut Vec<u8>) {
    match chunk {
        Chunk::ChatCompletions(chunk) => chunk.frame(bytes),
        Chunk::Responses(event) => event.frame(bytes),
        Chunk::Anthropic(event) => event.frame(bytes),
        Chunk::Ollama(line) => line.frame(bytes),
    }
}

/// Writes an event with its name.
fn write_event(name: &str, event: &impl Serialize, bytes: &mut Vec<u8>) {
    for part in ["event: ", name, "\ndata: "] {
        bytes.extend_from_slice(part.as_bytes());
    }
    write_json(event, bytes);
    bytes.extend_from_slice(b"\n\n");
}
