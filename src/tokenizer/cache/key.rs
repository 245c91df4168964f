//! Short pieces as numbers, to look them up by.

use super::hash;
use crate::tokenizer::bits::low_64;

/// A piece of 1 to 15 bytes: its bytes padded with zeros, and its length in the last of sixteen, as two
/// words. So no two pieces have the same key, and none has the key 0.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) words: [u64; 2],
}

impl Key {
    /// Longest piece that has a key.
    const LONGEST: usize = 15;

    /// The key of `text[start..end]`, if that is short.
    #[inline]
    pub(super) fn of(text: &[u8], start: usize, end: usize) -> Option<Self> {
        if end - start > Self::LONGEST {
            return None;
        }
        // Most pieces have text after them: read sixteen bytes, keep the piece's.
        let bytes = match text[start..].first_chunk() {
            Some(bytes) => u128::from_le_bytes(*bytes),
            None => last_bytes(&text[start..]),
        };
        let (low, high) = *MASKS.get(end - start)?;
        let length = ((end - start) as u64) << 56;
        Some(Self { words: [low_64(bytes) & low, low_64(bytes >> 64) & high | length] })
    }

    #[inline]
    pub(super) fn hash(self) -> u64 {
        let [low, high] = self.words;
        hash::mix(low, high)
    }
}

/// For each length, what keeps that many bytes, in two words.
const MASKS: [(u64, u64); Key::LONGEST + 1] = {
    let mut masks = [(0, 0); Key::LONGEST + 1];
    let mut len = 0;
    while len <= Key::LONGEST {
        let mask = (1 << (8 * len)) - 1;
        masks[len] = (low_64(mask), low_64(mask >> 64));
        len += 1;
    }
    masks
};

/// The last bytes of a text, fewer than sixteen, with zeros after them.
fn last_bytes(rest: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes[..rest.len()].copy_from_slice(rest);
    u128::from_le_bytes(bytes)
}
