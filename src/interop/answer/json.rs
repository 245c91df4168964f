//! JSON as it goes over the wire.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

/// Writes a value as JSON in one line, whatever a client takes for the end of one: some split text
/// at U+0085, U+2028 and U+2029, too, so these are escaped.
pub(in crate::interop) fn write_json<T: Serialize + ?Sized>(value: &T, bytes: &mut Vec<u8>) {
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
