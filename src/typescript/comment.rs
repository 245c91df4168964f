//! Lines that begin with `// `.

use super::escape::{escaped, is_line_end};
use super::sink::TextSink;

/// Writes each line of `text` as a comment, as 0.0.8 does: `\n` and `\r\n` end a line, a final
/// one adds no empty line, and a lone `\r` stays where it is.
pub(super) fn write_comment_as_is(out: &mut String, text: &str) {
    for line in text.lines() {
        out.extend(["// ", line, "\n"]);
    }
}

/// Writes each line of `text` as a comment from which the text cannot escape: anything that some reader takes for a
/// line end begins a new comment line, and other control characters are escaped.
pub(crate) fn write_comment(out: &mut impl TextSink, text: &str, indent: usize) {
    for line in lines(text) {
        out.push_indent(indent);
        out.push_all(&["// ", &escaped(line, |char| char == '\t'), "\n"]);
    }
}

/// The lines of `text`; a line end at its end adds no empty line.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (line, end) = rest.split_at(rest.find(is_line_end).unwrap_or(rest.len()));
        rest = end.strip_prefix("\r\n").or_else(|| end.strip_prefix(is_line_end)).unwrap_or("");
        Some(line)
    })
}
