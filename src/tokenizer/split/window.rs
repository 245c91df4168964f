//! The part of a text that is scanned at once.

/// The sixty-four bytes that are scanned, and the sixteen after them, which are only read if a rule, a character or a
/// vector reaches past the scanned bytes.
pub(super) type Window = [u8; SCANNED_LEN + 16];

/// How many bytes of a window are scanned.
pub(super) const SCANNED_LEN: usize = 64;

/// A scan pays off if it advances by this many bytes; otherwise `pattern` is as fast.
pub(super) const LEAST_GAIN: usize = 24;

/// At the end of a text, with fewer bytes than this, `pattern` is as fast.
const SHORTEST_TEXT: usize = 16;

/// Bytes of a window, including those that are only read.
const WINDOW_LEN: usize = size_of::<Window>();

/// The windows of a text.
pub(super) struct Windows<'a> {
    text: &'a [u8],
    /// The last bytes of the text, at most a window's, then zeros.
    last: [u8; 2 * WINDOW_LEN],
}

impl<'a> Windows<'a> {
    pub(super) fn of(text: &'a [u8]) -> Self {
        let mut last = [0; 2 * WINDOW_LEN];
        match text.last_chunk::<WINDOW_LEN>() {
            Some(bytes) => last[..WINDOW_LEN].copy_from_slice(bytes),
            None => last[..text.len()].copy_from_slice(text),
        }
        Self { text, last }
    }

    /// The window that begins at an offset, and how many of its scanned bytes are text; `None` if too little text is
    /// left.
    #[inline]
    pub(super) fn at(&self, at: usize) -> Option<(&Window, usize)> {
        if let Some(window) = self.text[at..].first_chunk::<WINDOW_LEN>() {
            return Some((window, SCANNED_LEN));
        }
        let len = self.text.len() - at;
        if len < SHORTEST_TEXT {
            return None;
        }
        let in_last = self.text.len().min(WINDOW_LEN) - len;
        Some((self.last[in_last..].first_chunk::<WINDOW_LEN>()?, len.min(SCANNED_LEN)))
    }
}
