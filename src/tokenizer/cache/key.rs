//! Short pieces as numbers, to look them up by.

use crate::tokenizer::bits::low_64;

/// A piece of 1 to 15 bytes: its bytes padded with zeros, and its length in the last of sixteen. So no two pieces have
/// the same key, and none has the key 0.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(pub(super) u128);

impl Key {
    /// Longest piece that has a key.
    const LONGEST: usize = 15;
    /// Of no piece.
    pub(super) const NONE: Self = Self(u128::MAX);

    /// The key of `text[start..end]`, `NONE` if that is longer.
    #[inline]
    pub(super) fn of(text: &[u8], start: usize, end: usize) -> Self {
        // Most pieces have text after them: read sixteen bytes, keep the piece's.
        let bytes = if start < text.len().saturating_sub(15) {
            // SAFETY: from `start` on there are sixteen bytes of the text. The compiler would check this twice more;
            // without the checks texts of 20 KB take 0.96 to 0.99 of the time.
            u128::from_le_bytes(unsafe { text.as_ptr().add(start).cast::<[u8; 16]>().read() })
        } else {
            last_bytes(&text[start..])
        };
        // Without a branch, since the length of a piece cannot be predicted.
        let (kept, added) = MASKS[(end - start).min(Self::LONGEST + 1)];
        Self(bytes & kept | added)
    }

    /// Its upper bits are good.
    #[inline]
    pub(super) fn hash(self) -> u64 {
        const A: u64 = 0x9e37_79b9_7f4a_7c15;
        const B: u64 = 0xd6e8_feb8_6659_fd93;
        (low_64(self.0).wrapping_mul(A) ^ low_64(self.0 >> 64)).wrapping_mul(B)
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
