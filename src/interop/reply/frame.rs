//! Chunks, and their bytes on the wire.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use crate::interop::answer::Sink;
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

impl Sink<ChatCompletionChunk> for Vec<Chunk> {
    fn push(&mut self, chunk: ChatCompletionChunk) {
        self.push(Chunk::ChatCompletions(chunk));
    }
}

impl Sink<ResponseEvent> for Vec<Chunk> {
    fn push(&mut self, event: ResponseEvent) {
        self.push(Chunk::Responses(event));
    }
}

impl Sink<MessageEvent> for Vec<Chunk> {
    fn push(&mut self, event: MessageEvent) {
        self.push(Chunk::Anthropic(event));
    }
}

impl Sink<ChatLine> for Vec<Chunk> {
    fn push(&mut self, line: ChatLine) {
        self.push(Chunk::Ollama(line));
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
    frame_json(chunk, bytes);
    bytes.extend_from_slice(if is_line { b"\n" } else { b"\n\n" });
}

/// Writes a value as JSON in one line, whatever a client takes for the end of one: some split text
/// at U+0085, U+2028 and U+2029, too, so these are escaped.
fn frame_json<T: Serialize + ?Sized>(value: &T, bytes: &mut Vec<u8>) {
    let mut serializer = Serializer::with_formatter(bytes, OneLine(CompactFormatter));
    // Neither the chunks nor a `Vec` have anything that could fail.
    let _never = value.serialize(&mut serializer);
}

struct OneLine(CompactFormatter);

impl Formatter for OneLine {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        // Looking for the three in ASCII takes longer than writing it.
        if fragment.is_ascii() {
            return self.0.write_string_fragment(writer, fragment);
        }
        let mut rest = fragment;
        while let Some(at) = rest.find(['\u{85}', '\u{2028}', '\u{2029}']) {
            let (before, from) = rest.split_at(at);
            let Some(separator) = from.chars().next() else { break };
            self.0.write_string_fragment(writer, before)?;
            write!(writer, "\\u{:04x}", u32::from(separator))?;
            rest = &from[separator.len_utf8()..];
        }
        self.0.write_string_fragment(writer, rest)
    }
}
