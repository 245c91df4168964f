//! Where the chunks of an answer go: bytes, in the frames of a stream.

use serde::Serialize;

use super::json::{write_json, write_text};

/// What surrounds each chunk on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::interop) enum Framing {
    /// Server-sent events.
    Events,
    /// Server-sent events, each named after its `type`.
    NamedEvents,
    /// A line for each chunk.
    Lines,
}

impl Framing {
    pub(in crate::interop) fn media_type(self) -> &'static str {
        match self {
            Self::Events | Self::NamedEvents => "text/event-stream",
            Self::Lines => "application/x-ndjson",
        }
    }
}

/// Appends the chunks of any dialect to a buffer, as bytes.
#[derive(Debug)]
pub(in crate::interop) struct Sink<'a> {
    bytes: &'a mut Vec<u8>,
    framing: Framing,
}

impl<'a> Sink<'a> {
    pub(in crate::interop) fn new(bytes: &'a mut Vec<u8>, framing: Framing) -> Self {
        Self { bytes, framing }
    }

    /// Sends a chunk: `write` writes its JSON on one line. `name` names the event, unless it is empty.
    pub(in crate::interop) fn chunk(&mut self, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
        if self.framing == Framing::NamedEvents && !name.is_empty() {
            self.bytes.extend_from_slice(b"event: ");
            self.bytes.extend_from_slice(name.as_bytes());
            self.bytes.push(b'\n');
        }
        if self.framing != Framing::Lines {
            self.bytes.extend_from_slice(b"data: ");
        }
        write(self.bytes);
        let end: &[u8] = if self.framing == Framing::Lines { b"\n" } else { b"\n\n" };
        self.bytes.extend_from_slice(end);
    }

    /// Sends an event: an object with its name as the `type`.
    pub(in crate::interop) fn event(&mut self, name: &str, write: impl FnOnce(&mut Members<'_>)) {
        self.chunk(name, |bytes| {
            write_object(bytes, |event| {
                event.text("type", name);
                write(event);
            });
        });
    }
}

/// Writes an object; `write` writes its members.
///
/// Objects are written straight in their wire form. With structs that own their texts, streaming one token at a time
/// took 1.3 to 1.55 times the instructions in Anthropic's, Ollama's and the Responses API.
pub(in crate::interop) fn write_object(bytes: &mut Vec<u8>, write: impl FnOnce(&mut Members<'_>)) {
    bytes.push(b'{');
    write(&mut Members { bytes, is_empty: true });
    bytes.push(b'}');
}

/// The members of an object, one after the other. Keys need no escapes.
pub(in crate::interop) struct Members<'a> {
    bytes: &'a mut Vec<u8>,
    is_empty: bool,
}

impl Members<'_> {
    fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.bytes.push(b',');
        }
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(key.as_bytes());
        self.bytes.extend_from_slice(b"\":");
        self.bytes
    }

    pub(in crate::interop) fn text(&mut self, key: &str, text: &str) -> &mut Self {
        write_text(text, self.key(key));
        self
    }

    pub(in crate::interop) fn value(
        &mut self,
        key: &str,
        value: &(impl Serialize + ?Sized),
    ) -> &mut Self {
        write_json(value, self.key(key));
        self
    }

    pub(in crate::interop) fn object(
        &mut self,
        key: &str,
        write: impl FnOnce(&mut Members<'_>),
    ) -> &mut Self {
        write_object(self.key(key), write);
        self
    }

    /// A list of objects.
    pub(in crate::interop) fn objects<I: IntoIterator>(
        &mut self,
        key: &str,
        items: I,
        mut write: impl FnMut(I::Item, &mut Members<'_>),
    ) -> &mut Self {
        let bytes = self.key(key);
        bytes.push(b'[');
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                bytes.push(b',');
            }
            write_object(bytes, |members| write(item, members));
        }
        bytes.push(b']');
        self
    }
}
