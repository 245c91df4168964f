//! Sixty-four bytes of a text at a time.

/// The bytes that are scanned, and sixteen more, so that sixteen can be read from each of them on.
pub(super) type Window = [u8; WINDOW_LEN + 16];

/// How many bytes of a window are scanned.
pub(super) const WINDOW_LEN: usize = 64;

/// Bytes by which a scan has to get on to be worth its while.
pub(super) const LEAST_GAIN: usize = 24;

/// Bytes of text from which on a window is worth its while.
const SHORTEST_TEXT: usize = 16;

/// Bytes of a window, those included that are only read.
const WHOLE_LEN: usize = size_of::<Window>();

/// The windows of a text.
pub(super) struct Windows<'a> {
    text: &'a [u8],
    /// The last bytes of the text, as many as a window has or all, and zeros behind them.
    last: [u8; 2 * WHOLE_LEN],
}

impl<'a> Windows<'a> {
    pub(super) fn of(text: &'a [u8]) -> Self {
        let mut last = [0; 2 * WHOLE_LEN];
        match text.last_chunk::<{ WHOLE_LEN }>() {
            Some(bytes) => last[..WHOLE_LEN].copy_from_slice(bytes),
            None => last[..text.len()].copy_from_slice(text),
        }
        Self { text, last }
    }

    /// The window that begins at an offset, if it is worth its while, and how many of the bytes to be
    /// scanned are text.
    #[inline]
    pub(super) fn at(&self, at: usize) -> Option<(&Window, usize)> {
        if let Some(window) = self.text[at..].first_chunk() {
            return Some((window, WINDOW_LEN));
        }
        let len = self.text.len() - at;
        if len < SHORTEST_TEXT {
            return None;
        }
        let in_last = self.text.len().min(WHOLE_LEN) - len;
        Some((self.last[in_last..].first_chunk()?, len.min(WINDOW_LEN)))
    }
}

#[cfg(test)]
mod tests {
    use super::Windows;

    /// Checks the windows at all offsets of a text of `text_len` bytes.
    fn check(text_len: u8) {
        let text: Vec<u8> = (1..=text_len).collect();
        let windows = Windows::of(&text);
        for at in 0..text.len() {
            let rest = &text[at..];
            let mut expected = rest.to_vec();
            expected.resize(80.max(rest.len()), 0);
            let window = windows.at(at).map(|(window, len)| (window.as_slice(), len));
            let expected = (rest.len() >= 16).then_some((&expected[..80], rest.len().min(64)));
            assert_eq!(window, expected, "at {at} of {text_len}");
        }
    }

    #[test]
    fn a_window_is_eighty_bytes_of_the_text_and_zeros_behind_it() {
        for text_len in [0, 1, 15, 16, 17, 40, 64, 79, 80, 81, 96, 144, 160, 161, 250] {
            check(text_len);
        }
    }
}
