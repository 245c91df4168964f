//! Bytes to text while they arrive: characters may be split between tokens.

use serde::{Deserialize, Serialize};

/// The first bytes of an incomplete character; at most three.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Utf8Decoder {
    pending: [u8; 4],
    length: usize,
}

impl Utf8Decoder {
    /// Appends the text that these bytes complete. Bytes that cannot become UTF-8 are replaced by
    /// U+FFFD, one for each maximal subpart, as the Unicode standard recommends (section 3.9,
    /// "U+FFFD Substitution of Maximal Subparts").
    pub(crate) fn push(&mut self, mut bytes: &[u8], text: &mut String) {
        while self.length > 0 {
            let Some((&next, rest)) = bytes.split_first() else { return };
            self.pending[self.length] = next;
            match std::str::from_utf8(&self.pending[..=self.length]) {
                Ok(character) => text.push_str(character),
                Err(error) if error.error_len().is_none() => {
                    self.length += 1;
                    bytes = rest;
                    continue;
                }
                Err(_) => {
                    // The byte does not continue the character: it is read again as a first byte.
                    self.finish(text);
                    break;
                }
            }
            self.length = 0;
            bytes = rest;
        }
        self.push_whole(bytes, text);
    }

    /// [`Self::push`] where nothing is pending.
    fn push_whole(&mut self, bytes: &[u8], text: &mut String) {
        // Most tokens are an ASCII word; the standard library's check is optimised for longer texts. A token takes 23
        // ns with this and 28 without.
        if bytes.len() <= 16 && bytes.is_ascii() {
            return text.extend(bytes.iter().map(|&byte| char::from(byte)));
        }
        if let Ok(whole) = std::str::from_utf8(bytes) {
            return text.push_str(whole);
        }
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            let is_cut =
                std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if chunks.peek().is_none() && is_cut {
                self.pending[..invalid.len()].copy_from_slice(invalid);
                self.length = invalid.len();
            } else if !invalid.is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }

    /// Ends the text: a character that was cut off becomes one U+FFFD. Returns whether there was one.
    pub(crate) fn finish(&mut self, text: &mut String) -> bool {
        let is_cut = self.length > 0;
        if is_cut {
            text.push(char::REPLACEMENT_CHARACTER);
            self.length = 0;
        }
        is_cut
    }
}

impl Utf8Decoder {
    /// Whether a character's end has not arrived.
    pub(super) fn is_pending(&self) -> bool {
        self.length > 0
    }

    /// Whether the pending bytes can begin a character; a checkpoint may have been tampered with.
    pub(crate) fn is_possible(&self) -> bool {
        match self.pending.get(..self.length).map(std::str::from_utf8) {
            Some(Ok(whole)) => whole.is_empty(),
            Some(Err(error)) => error.valid_up_to() == 0 && error.error_len().is_none(),
            None => false,
        }
    }

    /// Drops an incomplete character, and returns how many bytes of it had arrived.
    pub(super) fn drop_pending(&mut self) -> usize {
        std::mem::take(&mut self.length)
    }
}
