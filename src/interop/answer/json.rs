//! JSON as it goes over the wire.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

/// Characters besides the line feed that some clients treat as line ends. JSON allows them unescaped in strings.
const LINE_ENDS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// Writes a value as JSON on one line: [`LINE_ENDS`] are escaped.
pub(in crate::interop) fn write_json<T: Serialize + ?Sized>(value: &T, bytes: &mut Vec<u8>) {
    let mut serializer = Serializer::with_formatter(bytes, OneLine(CompactFormatter));
    // Neither serializing a chunk nor writing to a `Vec` can fail.
    let _never = value.serialize(&mut serializer);
}

/// [`write_json`] for a text. Most texts have nothing to escape. This checks many bytes at a time; the serializer goes
/// byte by byte.
pub(super) fn write_text(text: &str, bytes: &mut Vec<u8>) {
    let is_plain = |byte: u8| byte.is_ascii() && byte >= b' ' && byte != b'"' && byte != b'\\';
    // Not `all`: it stops at the first byte that fails, so it would check the bytes one by one.
    if text.bytes().fold(true, |plain, byte| plain & is_plain(byte)) {
        bytes.push(b'"');
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(b'"');
    } else {
        write_json(text, bytes);
    }
}

struct OneLine(CompactFormatter);

impl Formatter for OneLine {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        // Searching ASCII for the three takes longer than writing it.
        if fragment.is_ascii() {
            return self.0.write_string_fragment(writer, fragment);
        }
        let mut rest = fragment;
        while let Some(at) = rest.find(LINE_ENDS) {
            let (before, from) = rest.split_at(at);
            let Some(separator) = from.chars().next() else { break };
            self.0.write_string_fragment(writer, before)?;
            write!(writer, "\\u{:04x}", u32::from(separator))?;
            rest = &from[separator.len_utf8()..];
        }
        self.0.write_string_fragment(writer, rest)
    }
}
