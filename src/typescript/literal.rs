//! Values as text: defaults, examples, enum values, the names of properties.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use super::escape::escaped;
use super::sink::TextSink;
use crate::json::read_number;

/// How many more spaces a property's type is indented by than the property.
pub(super) const PROPERTY_INDENT: usize = 4;
/// How many more spaces a variant's type is indented by than the bar before it.
pub(super) const VARIANT_INDENT: usize = 3;

/// Writes `value` as compact JSON, its numbers as 0.0.8 writes them.
pub(crate) fn write_json_as_is(out: &mut impl TextSink, value: &impl Serialize) {
    write_formatted(out, value, AsIs);
}

/// Writes `value` as compact JSON that every reader sees as one line, and that is a TypeScript literal.
pub(super) fn write_json(out: &mut impl TextSink, value: &(impl Serialize + ?Sized)) {
    write_formatted(out, value, OneLine);
}

/// Writes the name of a property: unchanged if it is an identifier, else as a string. `abstract` is written as a
/// string, too: TypeScript parsers expect an abstract method after it.
pub(super) fn write_property_name(out: &mut impl TextSink, name: &str) {
    if is_identifier(name) && name != "abstract" {
        out.push_str(name);
    } else {
        write_json(out, name);
    }
}

/// Whether `name` is an identifier of ASCII characters. Other characters can be in identifiers too, but not for every
/// reader of TypeScript.
fn is_identifier(name: &str) -> bool {
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '$';
    name.starts_with(|first: char| !first.is_ascii_digit()) && name.chars().all(is_part)
}

fn write_formatted(
    out: &mut impl TextSink,
    value: &(impl Serialize + ?Sized),
    formatter: impl Formatter,
) {
    let mut bytes = Vec::new();
    // Serializing a JSON value into memory cannot fail, and JSON is always UTF-8.
    if value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter)).is_ok() {
        out.push_str(&String::from_utf8_lossy(&bytes));
    }
}

/// Compact JSON with floats that do not depend on the version of `serde_json`.
struct AsIs;

impl Formatter for AsIs {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(ryu::Buffer::new().format(value).as_bytes())
    }

    /// A number of a tape.
    fn write_raw_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        match read_number(fragment).as_ref().filter(|number| number.is_f64()) {
            Some(number) => self.write_f64(writer, number.as_f64().unwrap_or_default()),
            None => writer.write_all(fragment.as_bytes()),
        }
    }
}

/// The same, with every control character and line end escaped, not only those that JSON must.
struct OneLine;

impl Formatter for OneLine {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        AsIs.write_f64(writer, value)
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        writer.write_all(escaped(fragment, |_| false).as_bytes())
    }
}
