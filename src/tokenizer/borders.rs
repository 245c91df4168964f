//! Borders between characters that no merge goes over, told from the six bytes around them.
//!
//! The merge that first goes over a place in a piece is of a part that ends there and a part that
//! begins there. Every merge there is has two halves; the table holds what the halves look like:
//! the last bytes of the left one, the first of the right one. Where what is around a place
//! looks like none of them, no token of the piece reaches over it, and what is before and behind
//! is encoded apart.
//!
//! There are only 12,000 neighbours among the characters of three bytes that any token has, so of a
//! hundred borders between tokens in Chinese, Japanese and Korean, whose sentences are pieces,
//! this finds ninety. What is between them is a token most often, and found by one look. Such
//! text takes a seventh less time with it.

use super::border_bits::{self, LONG_CHAR, SIDE};
use super::tables::table;

table!(
    /// Bits as `border_bits` numbers them, 35 KiB.
    BITS, 1, "border_bits.bin"
);

const _: () = assert!(BITS.len() * 8 == border_bits::COUNT);

/// The borders among the next characters, a bit for each byte from `start` on, and the place up to
/// which they tell: past `start`, and at most `end`, where a piece ends.
///
/// `start` and `end` are borders between characters. No branch depends on what the text says, only
/// on how long its characters are: where the next border is cannot be foreseen.
#[inline]
pub(super) fn next(text: &[u8], start: usize, end: usize) -> (u64, usize) {
    let end = end.min(start + 61);
    let (mut borders, mut at) = (0, start);
    while at < end {
        let first = text[at];
        if first >= LONG_CHAR {
            borders |= u64::from(!may_merge(text, at)) << (at - start);
        }
        at += char_len(first);
    }
    (borders, at)
}

/// Whether any merge looks like the border at `at`.
#[inline]
fn may_merge(text: &[u8], at: usize) -> bool {
    let [one, two, three] =
        border_bits::of(window(text, at)).map(|bit| BITS[bit / 8][0] >> (bit % 8));
    (one | two | three) & 1 != 0
}

/// The bytes around a place. Those past the ends of a piece do no harm, since no half of a merge
/// reaches there; past the ends of the text they are zeros.
#[inline]
fn window(text: &[u8], at: usize) -> u64 {
    match at.checked_sub(SIDE).and_then(|start| text.get(start..start + 8)?.first_chunk()) {
        Some(window) => u64::from_le_bytes(*window),
        None => window_at_an_end(text, at),
    }
}

#[cold]
fn window_at_an_end(text: &[u8], at: usize) -> u64 {
    let before = text[..at].iter().rev().zip((0..SIDE).rev());
    let behind = text[at..].iter().zip(SIDE..2 * SIDE);
    before.chain(behind).fold(0, |window, (&byte, place)| window | u64::from(byte) << (8 * place))
}

/// The length of the character that begins with `first`.
#[inline]
fn char_len(first: u8) -> usize {
    1 + usize::from(first >= 0xc0) + usize::from(first >= 0xe0) + usize::from(first >= 0xf0)
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn borders_are_told_of_whole_characters_in_stretches() {
        let text = "\u{4e2d}\u{56fd}\u{7684}\u{732b}".repeat(20);
        let (mut at, mut borders) = (0, vec![]);
        while at < text.len() {
            let (bits, to) = next(text.as_bytes(), at, text.len());
            assert!(to > at && to <= text.len() && text.is_char_boundary(to));
            borders.extend((0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| at + bit));
            at = to;
        }
        assert!(borders.iter().all(|&border| text.is_char_boundary(border)));
        // The first two are a token.
        assert!(!borders.contains(&3) && borders.contains(&9), "{borders:?}");
    }

    #[test]
    fn alphabets_have_no_borders() {
        for text in ["internationalisation", "\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}"] {
            assert_eq!(next(text.as_bytes(), 0, text.len()), (0, text.len()));
        }
    }
}
