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

/// Where chunks go: to the caller, or as their bytes behind those that are there, which spares the
/// way through the caller's hands.
#[derive(Debug)]
pub(super) enum Out<'a> {
    Chunks(&'a mut Vec<Chunk>),
    Bytes(&'a mut Vec<u8>),
}

impl Out<'_> {
    fn take(&mut self, chunk: Chunk) {
        match self {
            Self::Chunks(chunks) => chunks.push(chunk),
            Self::Bytes(bytes) => frame(&chunk, bytes),
        }
    }
}

impl Sink<ChatCompletionChunk> for Out<'_> {
    fn push(&mut self, chunk: ChatCompletionChunk) {
        self.take(Chunk::ChatCompletions(chunk));
    }
}

impl Sink<ResponseEvent> for Out<'_> {
    fn push(&mut self, event: ResponseEvent) {
        self.take(Chunk::Responses(event));
    }
}

impl Sink<MessageEvent> for Out<'_> {
    fn push(&mut self, event: MessageEvent) {
        self.take(Chunk::Anthropic(event));
    }
}

impl Sink<ChatLine> for Out<'_> {
    fn push(&mut self, line: ChatLine) {
        self.take(Chunk::Ollama(line));
    }
}

/// Writes the chunk's bytes.
pub(super) fn frame(chunk: &Chunk, bytes: &mut Vec<u8>) {
    let event = match chunk {
        Chunk::ChatCompletions(_) | Chunk::Ollama(_) => None,
        Chunk::Responses(event) => Some(event.name()),
        Chunk::Anthropic(event) => Some(event.name()),
    };
    if let Some(event) = event {
        bytes.extend_from_slice(b"event: ");
        bytes.extend_from_slice(event.as_bytes());
        bytes.push(b'\n');
    }
    let is_line = matches!(chunk, Chunk::Ollama(_));
    if !is_line {
        bytes.extend_from_slice(b"data: ");
    }
    match chunk {
        Chunk::ChatCompletions(chunk) => write_chat(chunk, bytes),
        _ => write_json(chunk, bytes),
    }
    bytes.extend_from_slice(if is_line { b"\n" } else { b"\n\n" });
}

/// What stands behind the delta in nearly all chunks of chat completions.
const GOES_ON: &[u8] = b",\"logprobs\":null,\"finish_reason\":null}]}";

/// A chunk's JSON, of which all chunks with a choice have the head in common.
fn write_chat(chunk: &ChatCompletionChunk, bytes: &mut Vec<u8>) {
    let [choice] = &chunk.choices[..] else { return write_json(chunk, bytes) };
    if choice.finish_reason.is_some() || chunk.usage.is_some() {
        return write_json(chunk, bytes);
    }
    bytes.extend_from_slice(chunk.head.as_bytes());
    write_json(&choice.delta, bytes);
    bytes.extend_from_slice(GOES_ON);
}
