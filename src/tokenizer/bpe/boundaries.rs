//! Where a long piece falls into segments that are encoded apart.
//!
//! The merge that first reaches across an offset in a piece joins a part that ends there and a part that
//! begins there. There are 200,000 merges, each of a left and a right operand, and the table holds what
//! is around where the two meet: the last bytes of the left one, the first bytes of the right one. Where the
//! bytes around an offset look like none of them, no token of the piece reaches across it: it is a *merge
//! boundary*, and what is before it and what is after it are encoded apart. (The table is a filter: by
//! chance some boundaries look like a merge. They are missed, which costs time and changes nothing.)
//!
//! Only offsets before a character of three bytes or more are looked at, and only merges whose right operand
//! begins with one are in the table: any token has only 12,000 adjacent pairs of such characters, so this finds
//! nine in ten boundaries between tokens of Chinese, Japanese and Korean, whose sentences are pieces. What is
//! between two of them is most often one token. Without boundaries such text takes 1.7 times as long. A piece
//! of Latin letters is never cut.

use super::boundary_bits::{self, LONG_CHAR, SIDE};
use crate::tokenizer::bits;
use crate::tokenizer::tables::table;

table!(
    /// Bits as `boundary_bits` numbers them, sixty-four in a u64: 35 KiB.
    BITS, 8, "boundary_bits.bin"
);

const _: () = assert!(BITS.len() * 64 == boundary_bits::COUNT);

/// Calls `encode` with the start and the end of each segment of the piece `text[start..end]`, in order.
#[inline]
pub(in crate::tokenizer) fn for_each_segment(
    text: &[u8],
    start: usize,
    end: usize,
    mut encode: impl FnMut(usize, usize),
) {
    let (mut begun, mut at) = (start, start);
    while at < end {
        let to = end.min(at + AT_ONCE);
        for boundary in bits::set_bits(boundaries(text, at, to)).map(|bit| at + bit) {
            // The piece's own start may look like a boundary too.
            if boundary > begun {
                encode(begun, boundary);
                begun = boundary;
            }
        }
        at = to;
    }
    encode(begun, end);
}

/// How many offsets are looked at together.
const AT_ONCE: usize = 64;

/// The boundaries among the offsets `from..to`, a bit for each.
///
/// Where the next boundary is cannot be predicted, so no branch depends on that, only on where long
/// characters are: Chinese of 10 KB takes 0.93 of the time that a branch per offset takes.
#[inline]
fn boundaries(text: &[u8], from: usize, to: usize) -> u64 {
    let long_chars = match text[from..].first_chunk() {
        // All bytes from `LONG_CHAR` on have its three upper bits.
        Some(bytes) => {
            const { assert!(LONG_CHAR == 0xe0) };
            let all = bits::of_bytes(bytes, |block| block & block << 1 & block << 2);
            all & (u64::MAX >> (AT_ONCE - (to - from)))
        }
        None => text[from..to]
            .iter()
            .rev()
            .fold(0, |bits, &byte| bits << 1 | u64::from(byte >= LONG_CHAR)),
    };
    let boundary = |bit| u64::from(!may_merge(text, from + bit)) << bit;
    bits::set_bits(long_chars).fold(0, |boundaries, bit| boundaries | boundary(bit))
}

/// Whether what is around an offset looks like where the operands of any merge meet.
#[inline]
fn may_merge(text: &[u8], at: usize) -> bool {
    let around = match at.checked_sub(SIDE).and_then(|first| text[first..].first_chunk()) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => around_at_an_end(text, at),
    };
    let bit = |bit: usize| BITS[bit / 64][bit / 8 % 8] >> (bit % 8);
    let [one, two, three] = boundary_bits::of(around).map(bit);
    (one | two | three) & 1 != 0
}

/// The bytes around an offset where the text begins or ends, zeros past its ends.
///
/// Such zeros, and bytes of the text outside the piece, can only hide a boundary: a merge is looked up by as
/// many bytes as its shorter operand has, up to three, and these are inside the piece.
#[cold]
fn around_at_an_end(text: &[u8], at: usize) -> u64 {
    let byte = |index: usize| (at + index).checked_sub(SIDE).and_then(|at| text.get(at));
    let byte = |index| byte(index).map_or(0, |byte| u64::from(*byte) << (8 * index));
    (0..8).map(byte).sum()
}

#[cfg(test)]
mod tests {
    use super::for_each_segment;

    fn segments(text: &str) -> Vec<&str> {
        let mut segments = vec![];
        for_each_segment(text.as_bytes(), 0, text.len(), |start, end| {
            segments.push(&text[start..end]);
        });
        segments
    }

    #[test]
    fn what_is_in_one_token_is_in_one_segment() {
        let text = "中国的猫".repeat(20);
        let segments = segments(&text);
        assert_eq!(segments.concat(), text);
        // `中国` is a token, `的猫` is in none.
        assert!(segments.len() >= 20 && segments.iter().all(|segment| *segment != "中"));
        assert!(segments.iter().any(|segment| segment.ends_with('的')));
    }

    /// Also where the text ends or begins beside the boundary, and fewer bytes are around it.
    #[test]
    fn boundaries_depend_on_the_bytes_around_them_alone() {
        let text = "中国的猫a🙂 か中a国é猫的国".repeat(9);
        let all = segments(&text);
        let mut start = 0;
        for pair in all.windows(2) {
            let end = start + pair.concat().len();
            assert_eq!(segments(&text[start..end]), pair);
            start += pair[0].len();
        }
        assert!(all.len() > 30);
    }

    #[test]
    fn alphabets_have_no_boundaries() {
        for text in ["internationalisation", "привет", ""] {
            assert_eq!(segments(text), [text]);
        }
    }
}
