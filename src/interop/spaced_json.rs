//! JSON in the format of Python's `json.dumps`, for prompts of engines that write a call's arguments that way.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

/// A space after commas and colons, and non-ASCII characters as escapes.
pub(super) fn spaced_json(value: &Value) -> String {
    let mut bytes = Vec::new();
    // Writing a value that was read from JSON into memory cannot fail.
    _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, Spaced));
    let mut escaped = String::with_capacity(bytes.len());
    for character in String::from_utf8_lossy(&bytes).chars() {
        if character.is_ascii() {
            escaped.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
