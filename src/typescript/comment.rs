//! Lines that begin with `// `.

use std::fmt::Write as _;

use super::literal::write_indent;

/// Writes each line of `text` as a comment, as 0.0.8 does: `\n` and `\r\n` end a line, a final
/// one adds no empty line, and a lone `\r` stays where it is.
pub(super) fn write_comment_as_is(out: &mut String, text: &str) {
    for line in text.lines() {
        out.extend(["// ", line, "\n"]);
    }
}

/// Writes each line of `text` as a comment that cannot be left: whatever any reader takes for a
/// line end begins a new comment line, and other control characters are escaped.
pub(crate) fn write_comment(out: &mut String, text: &str, indent: usize) {
    for line in lines(text) {
        write_indent(out, indent);
        out.push_str("// ");
        write_one_line(out, line);
        out.push('\n');
    }
}

/// Writes `text` with its control characters escaped, but for the tab, as JSON escapes them.
pub(super) fn write_one_line(out: &mut String, text: &str) {
    write_escaped(out, text, |char| char == '\t');
}

/// Writes `text` with the control characters and line ends that are not `kept` escaped as JSON
/// escapes them.
pub(super) fn write_escaped(out: &mut String, text: &str, kept: impl Fn(char) -> bool) {
    let is_hidden = |char: char| (is_line_end(char) || char.is_control()) && !kept(char);
    let mut rest = text;
    while let Some((at, hidden)) = rest.char_indices().find(|(_, char)| is_hidden(*char)) {
        out.push_str(&rest[..at]);
        // Writing into a string cannot fail.
        _ = write!(out, "\\u{:04x}", u32::from(hidden));
        rest = &rest[at + hidden.len_utf8()..];
    }
    out.push_str(rest);
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

/// What TypeScript, Unicode or Python's `splitlines` take for a line end.
pub(crate) fn is_line_end(char: char) -> bool {
    matches!(
        char,
        '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}
