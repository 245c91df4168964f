//! Short pieces as numbers, to look them up by.

use super::tables::low_64;

/// The bytes of a piece of at most fifteen, padded with zeros, and its length.
#[derive(Clone, Copy)]
pub(super) struct Key {
    /// The first eight bytes.
    pub(super) low: u64,
    /// The other bytes.
    pub(super) high: u64,
    pub(super) len: usize,
}

impl Key {
    /// Longest piece that has a key.
    pub(super) const LONGEST: usize = 15;

    /// The key of `text[start..end]`, if that is short.
    #[inline]
    pub(super) fn of(text: &[u8], start: usize, end: usize) -> Option<Self> {
        let len = end - start;
        let (low_mask, high_mask) = *MASKS.get(len)?;
        // The text goes on behind most pieces: read sixteen bytes, keep the piece's.
        let window = match text.get(start..start + 16).and_then(<[u8]>::first_chunk) {
            Some(window) => u128::from_le_bytes(*window),
            None => last_window(text, start),
        };
        Some(Self { low: low_64(window) & low_mask, high: low_64(window >> 64) & high_mask, len })
    }

    /// Both halves, the length in the last byte.
    #[inline]
    pub(super) fn halves(self) -> [u64; 2] {
        [self.low, self.high | (self.len as u64) << 56]
    }
}

/// For each length, what keeps that many bytes, in two halves.
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

/// Sixteen bytes from `start` on, zeros behind the end of the text, of which there are fewer left.
#[cold]
fn last_window(text: &[u8], start: usize) -> u128 {
    let rest = &text[start..];
    if let Some(last) = text.last_chunk() {
        return u128::from_le_bytes(*last) >> (8 * (16 - rest.len()));
    }
    let mut window = [0; 16];
    window[..rest.len()].copy_from_slice(rest);
    u128::from_le_bytes(window)
}
