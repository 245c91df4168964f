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
//! text takes three fifths of the time with it.

use super::bits;
use super::border_bits::{self, LONG_CHAR, SIDE};
use super::tables::table;

table!(
    /// Bits as `border_bits` numbers them, sixty-four in a u64: 35 KiB.
    BITS, 8, "border_bits.bin"
);

const _: () = assert!(BITS.len() * 64 == border_bits::COUNT);

/// Places that are told of at once.
const PLACES: usize = 64;
/// What tells of them: some bytes before the first of them, and some behind the last.
type Around = [u8; AROUND_LEN];
const AROUND_LEN: usize = SIDE + PLACES + 5;

/// The borders among the places from `start` on, a bit for each, and the place up to which they tell: past
/// `start`, and at most `end`, where a piece ends.
///
/// No branch depends on what the text says, only on where its long characters are: where the next
/// border is cannot be foreseen.
#[inline]
pub(super) fn next(text: &[u8], start: usize, end: usize) -> (u64, usize) {
    let to = end.min(start + PLACES);
    let borders = match start.checked_sub(SIDE).and_then(|first| text[first..].first_chunk()) {
        Some(around) => among(around, to - start),
        None => among(&at_an_end(text, start), to - start),
    };
    (borders, to)
}

/// The borders among the first so many places, one at least.
#[inline]
fn among(around: &Around, count: usize) -> u64 {
    let places = long_chars(around) & (u64::MAX >> (PLACES - count));
    let border = |place| u64::from(!may_merge(around, place)) << place;
    bits::places(places).fold(0, |borders, place| borders | border(place))
}

/// The places where a long character begins.
#[inline]
fn long_chars(around: &Around) -> u64 {
    // All from `LONG_CHAR` on have its three bits.
    const { assert!(LONG_CHAR == 0xe0) };
    let places = around[SIDE..].first_chunk();
    places.map_or(0, |places| bits::of_bytes(places, |block| block & block << 1 & block << 2))
}

/// Whether any merge looks like the border at a place.
#[inline]
fn may_merge(around: &Around, place: usize) -> bool {
    let window = around[place..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let [one, two, three] =
        border_bits::of(window).map(|bit| u64::from_le_bytes(BITS[bit / 64]) >> (bit % 64));
    (one | two | three) & 1 != 0
}

/// What is around the places from `start` on where the text begins or ends. What is past the end of a
/// piece does no harm, since no half of a merge reaches there; past those of the text are zeros.
#[cold]
fn at_an_end(text: &[u8], start: usize) -> Around {
    let mut around = [0; AROUND_LEN];
    let first = start.saturating_sub(SIDE);
    let behind = &mut around[first + SIDE - start..];
    let count = behind.len().min(text.len() - first);
    behind[..count].copy_from_slice(&text[first..first + count]);
    around
}

#[cfg(test)]
mod tests {
    use super::next;

    /// All borders in a text that is one piece.
    fn borders(text: &str) -> Vec<usize> {
        let (mut at, mut borders) = (0, vec![]);
        while at < text.len() {
            let (bits, to) = next(text.as_bytes(), at, text.len());
            assert!(to > at && to <= text.len());
            borders.extend((0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| at + bit));
            at = to;
        }
        borders
    }

    #[test]
    fn borders_are_between_characters() {
        // The first two are a token.
        let text = "\u{4e2d}\u{56fd}\u{7684}\u{732b}".repeat(20);
        let borders = borders(&text);
        assert!(borders.iter().all(|&border| text.is_char_boundary(border)));
        assert!(!borders.contains(&3) && borders.contains(&9), "{borders:?}");
    }

    #[test]
    fn borders_are_the_same_wherever_one_begins() {
        let text = "\u{4e2d}a\u{56fd}\u{7684}\u{e9}\u{732b}\u{1f642} \u{304b}".repeat(9);
        let all = borders(&text);
        for start in 0..text.len() {
            let (bits, to) = next(text.as_bytes(), start, text.len());
            for place in start..to {
                assert_eq!(bits >> (place - start) & 1 == 1, all.contains(&place), "{place}");
            }
        }
    }

    #[test]
    fn alphabets_have_no_borders() {
        for text in ["internationalisation", "\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}"] {
            assert_eq!(next(text.as_bytes(), 0, text.len()), (0, text.len()));
        }
    }
}
