//! How errors quote what they were given.

use std::fmt;

/// A value as an error quotes it: its first 200 characters, then `…`.
pub struct Brief<'a>(pub &'a str);

impl Brief<'_> {
    /// The quoted part, and what follows the quotation mark.
    fn parts(&self) -> (&str, &'static str) {
        const CHARACTERS: usize = 200;
        match self.0.char_indices().nth(CHARACTERS) {
            None => (self.0, ""),
            Some((end, _)) => (&self.0[..end], "…"),
        }
    }
}

impl fmt::Display for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, after) = self.parts();
        f.write_str(text)?;
        f.write_str(after)
    }
}

impl fmt::Debug for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, after) = self.parts();
        write!(f, "{text:?}{after}")
    }
}
