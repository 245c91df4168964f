//! Short pieces as numbers, to look them up by.

use super::layout::dictionary;

/// A piece of 1 to 15 bytes: its bytes padded with zeros, and its length in the last of sixteen. So no two pieces have
/// the same key, and none has the key 0. The slots of `vocabulary` have the same form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::tokenizer) struct Key(pub(in crate::tokenizer) u128);

impl Key {
    /// Longest piece that has a key.
    pub(super) const LONGEST: usize = dictionary::SHORT;
    /// Of no piece.
    pub(in crate::tokenizer) const NONE: Self = Self(u128::MAX);

    /// The key of `text[start..end]`, `NONE` if that is longer.
    #[inline]
    pub(in crate::tokenizer) fn of(text: &[u8], start: usize, end: usize) -> Self {
        // Most pieces have text after them: read sixteen bytes, keep the piece's.
        let bytes = if start < text.len().saturating_sub(15) {
            // SAFETY: from `start` on there are sixteen bytes of the text. The compiler would check this twice more;
            // without the checks texts of 20 KB take 0.96 to 0.99 of the time.
            u128::from_le_bytes(unsafe { text.as_ptr().add(start).cast::<[u8; 16]>().read() })
        } else {
            last_bytes(&text[start..])
        };
        Self::of_first(bytes, end - start)
    }

    /// The key of the first `len` of sixteen bytes, `NONE` if they are more than fifteen.
    #[inline]
    fn of_first(bytes: u128, len: usize) -> Self {
        // Without a branch, since the length of a piece cannot be predicted.
        let (kept, added) = MASKS[len.min(Self::LONGEST + 1)];
        Self(bytes & kept | added)
    }

    /// The key of a part of the piece, up to its end or before it.
    #[inline]
    pub(super) fn part(self, start: usize, end: usize) -> Self {
        Self::of_first(self.0 >> (8 * start), end - start)
    }

    /// Its upper bits are good.
    #[inline]
    pub(in crate::tokenizer) fn hash(self) -> u64 {
        dictionary::hash_of_next(0, self.0)
    }
}

/// For each length, the mask that keeps that many bytes, and the length in the last byte. Longer pieces become `NONE`.
const MASKS: [(u128, u128); Key::LONGEST + 2] = {
    let mut masks = [(0, Key::NONE.0); Key::LONGEST + 2];
    let mut len = 0;
    while len <= Key::LONGEST {
        masks[len] = ((1 << (8 * len)) - 1, (len as u128) << (8 * Key::LONGEST));
        len += 1;
    }
    masks
};

/// The last bytes of a text, fewer than sixteen, with zeros after them.
#[cold]
fn last_bytes(rest: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes[..rest.len()].copy_from_slice(rest);
    u128::from_le_bytes(bytes)
}
