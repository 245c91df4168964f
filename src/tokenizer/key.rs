//! Short pieces as numbers, to look them up by.

use std::num::NonZeroU64;

use super::perfect_hash;
use super::split::{WINDOW_LEN, Window};
use super::tables::low_64;

/// The bytes of a piece of at most fifteen, padded with zeros, and its length in the last of sixteen:
/// two halves, which fit into two registers, even where there may be no key.
#[derive(Clone, Copy)]
pub(super) struct Key {
    low: u64,
    high: NonZeroU64,
}

impl Key {
    /// Longest piece that has a key.
    const LONGEST: usize = 15;

    /// The key of `text[start..end]`, if that is short.
    #[inline]
    pub(super) fn of(text: &[u8], start: usize, end: usize) -> Option<Self> {
        let len = end - start;
        // Long pieces need no look at the text.
        if len > Self::LONGEST {
            return None;
        }
        // The text goes on behind most pieces: read sixteen bytes, keep the piece's.
        let bytes = match text.get(start..start + 16).and_then(<[u8]>::first_chunk) {
            Some(bytes) => u128::from_le_bytes(*bytes),
            None => last_bytes(text, start),
        };
        Self::of_first(bytes, len)
    }

    /// The key of `window[start..end]`, if that is short; `start` is less than `WINDOW_LEN`.
    #[inline]
    pub(super) fn in_window(window: &Window, start: usize, end: usize) -> Option<Self> {
        // The remainder changes nothing, and lets the compiler leave out a check.
        debug_assert!(start < WINDOW_LEN, "a piece begins among the bytes that are looked at");
        let bytes = window[start % WINDOW_LEN..].first_chunk()?;
        Self::of_first(u128::from_le_bytes(*bytes), end - start)
    }

    /// The key of the first so many bytes, if there are 1 to 15 of them.
    #[inline]
    fn of_first(bytes: u128, len: usize) -> Option<Self> {
        let (low, high) = *MASKS.get(len)?;
        let high = low_64(bytes >> 64) & high | (len as u64) << 56;
        Some(Self { low: low_64(bytes) & low, high: NonZeroU64::new(high)? })
    }

    #[inline]
    pub(super) fn halves(self) -> [u64; 2] {
        [self.low, self.high.get()]
    }

    #[inline]
    pub(super) fn hash(self) -> u64 {
        perfect_hash::hash(self.low, self.high.get())
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
fn last_bytes(text: &[u8], start: usize) -> u128 {
    let rest = &text[start..];
    if let Some(last) = text.last_chunk() {
        return u128::from_le_bytes(*last) >> (8 * (16 - rest.len()));
    }
    let mut bytes = [0; 16];
    bytes[..rest.len()].copy_from_slice(rest);
    u128::from_le_bytes(bytes)
}
