//! Where text is written: a string, or a string with a limit.

/// A destination for text.
pub(crate) trait TextSink {
    /// Adds `text` at the end.
    fn push_str(&mut self, text: &str);

    /// Adds each of `parts` at the end.
    fn push_all(&mut self, parts: &[&str]) {
        for part in parts {
            self.push_str(part);
        }
    }

    /// Adds that many spaces.
    fn push_indent(&mut self, indent: usize) {
        const SPACES: &str = "                                ";
        let mut left = indent;
        while left > 0 {
            let count = left.min(SPACES.len());
            self.push_str(&SPACES[..count]);
            left -= count;
        }
    }
}

impl TextSink for String {
    fn push_str(&mut self, text: &str) {
        self.push_str(text);
    }
}

/// A string, and how many more bytes may be written into it. Text beyond the limit is dropped, so the text is complete
/// unless [`Self::is_over`].
pub(super) struct Limited<'a> {
    out: &'a mut String,
    left: &'a mut usize,
    is_over: bool,
}

impl<'a> Limited<'a> {
    pub(super) fn new(out: &'a mut String, left: &'a mut usize) -> Self {
        Self { out, left, is_over: false }
    }

    /// Whether text exceeded the limit.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }
}

impl TextSink for Limited<'_> {
    fn push_str(&mut self, text: &str) {
        match self.left.checked_sub(text.len()) {
            Some(left) if !self.is_over => {
                *self.left = left;
                self.out.push_str(text);
            }
            _ => self.is_over = true,
        }
    }
}
