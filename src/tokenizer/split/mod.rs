//! Pre-tokenisation: a text is cut into pieces, and no token reaches over the end of a piece.
//!
//! The o200k pattern says where. Its alternatives are tried in order at each place, and the first
//! that matches takes its piece; `unicode` has a function for each, by name:
//!
//! | function | pattern |
//! |---|---|
//! | `word` | `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s\|'t\|'re\|'ve\|'m\|'ll\|'d)?` |
//! | `word` | `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s\|'t\|'re\|'ve\|'m\|'ll\|'d)?` |
//! | `number` | `\p{N}{1,3}` |
//! | `punctuation` | ` ?[^\s\p{L}\p{N}]+[\r\n/]*` |
//! | `lines` | `\s*[\r\n]+` |
//! | `spaces` | `\s+(?!\S)` and `\s+` |
//!
//! Every character is matched by some alternative, so the pieces cover the text. `ascii` is
//! the same for pieces of ASCII, and much faster: it answers for most pieces, and leaves a piece
//! to `unicode` whenever a byte that is not ASCII could have a say in it.

mod ascii;
mod chars;
mod contraction;
mod flags;
mod unicode;

/// The end of the piece that begins at `start`, the end of the piece before it.
///
/// `text` is UTF-8 and longer than `start`.
#[inline]
pub(super) fn piece_end(text: &[u8], start: usize) -> usize {
    match ascii::plain_word_end(text, start) {
        Some(end) => end,
        None => other_piece_end(text, start),
    }
}

fn other_piece_end(text: &[u8], start: usize) -> usize {
    ascii::piece_end(text, start).unwrap_or_else(|| unicode::piece_end(text, start))
}
