//! Characters that would end a line or hide text.

use std::fmt::Write as _;

/// Writes `text` with the control characters and line ends that are not `kept` escaped as JSON
/// escapes them.
pub(super) fn escaped(text: &str, kept: impl Fn(char) -> bool) -> std::borrow::Cow<'_, str> {
    let is_hidden = |char: char| (is_line_end(char) || char.is_control()) && !kept(char);
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        if is_hidden(char) {
            // Writing into a string cannot fail.
            _ = write!(out, "\\u{:04x}", u32::from(char));
        } else {
            out.push(char);
        }
    }
    out.into()
}

/// The characters that TypeScript, Unicode or Python's `splitlines` treat as line ends.
pub(crate) fn is_line_end(char: char) -> bool {
    matches!(
        char,
        '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}
