//! Pre-tokenisation: a text is cut into pieces, and no token reaches across the end of a piece.
//!
//! The o200k pattern defines where. Its seven alternatives are tried in order at the end of each piece, and the
//! first that matches takes the next one; `pattern` has five functions for them:
//!
//! | function | pattern |
//! |---|---|
//! | `word` | `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+C?` |
//! | `word` | `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*C?` |
//! | `number` | `\p{N}{1,3}` |
//! | `punctuation` | ` ?[^\s\p{L}\p{N}]+[\r\n/]*` |
//! | `lines` | `\s*[\r\n]+` |
//! | `spaces` | `\s+(?!\S)` and `\s+` |
//!
//! `C` is a contraction: `(?i:'s|'t|'re|'ve|'m|'ll|'d)`.
//!
//! Every character is matched by some alternative, so the pieces cover the text. The pattern never looks
//! back, so the pieces from a piece's start on are those of the rest of the text by itself.
//!
//! `pattern` is the definition, and finds one piece. `scan` finds all pieces in a window of sixty-four bytes at
//! once, by asking of every byte at the same time whether a piece starts there: `classes` has a bit per byte for
//! each class of the pattern, and a rule is a few operations on such masks. Code, French and Russian are
//! encoded in half the time that going from piece to piece takes, prose and Chinese in two thirds. What a
//! window by itself cannot decide, such as the end of the last word in it, is left to the next window, and
//! what no window decides to `pattern`. The test at the end of this file compares the two.

mod chars;
mod classes;
mod contraction;
mod flags;
mod pattern;
mod pieces;
mod scan;
mod window;

pub(super) use self::pieces::Pieces;
use self::window::{LEAST_GAIN, Window, Windows};

/// Cuts a text, which is UTF-8, and calls `encode` with its pieces in their order, many at a time.
pub(super) fn cut(text: &[u8], pieces: &mut Pieces, encode: impl FnMut(&Pieces)) {
    cut_by(scan::piece_starts, text, pieces, encode);
}

/// `cut` with the scan as a parameter, so that tests can run both: see `scan::piece_starts`.
#[inline]
fn cut_by(
    scan: impl Fn(&Window, usize) -> u64,
    text: &[u8],
    pieces: &mut Pieces,
    mut encode: impl FnMut(&Pieces),
) {
    let windows = Windows::of(text);
    let mut backoff = Backoff { until: 0, len: Backoff::SHORTEST };
    pieces.begin(0);
    while pieces.end() < text.len() {
        let start = pieces.end();
        let mut starts = 0;
        if start >= backoff.until
            && let Some((window, len)) = windows.at(start)
        {
            starts = scan(window, len);
            backoff.note(start, starts.checked_ilog2().map_or(0, |last| last as usize), len);
        }
        if starts == 0 {
            let end = pattern::piece_end(text, start);
            debug_assert!(end > start, "a piece has a character");
            pieces.push(end);
        } else {
            pieces.push_all(start, starts);
        }
        if pieces.are_enough() {
            encode(pieces);
            pieces.begin(pieces.end());
        }
    }
    if !pieces.is_empty() {
        encode(pieces);
    }
}

/// A part of the text in which no windows are tried. In some scripts, such as Hindi and Thai, windows decide little;
/// always trying them takes 1.3 to 1.5 of the time.
struct Backoff {
    until: usize,
    /// How long the next one will be.
    len: usize,
}

impl Backoff {
    const SHORTEST: usize = 64;
    const LONGEST: usize = 512;

    /// Notes a window at `at`, with `len` bytes of text, whose last certain start is at its offset `gain`.
    fn note(&mut self, at: usize, gain: usize, len: usize) {
        if gain >= LEAST_GAIN.min(len / 2) {
            self.len = Self::SHORTEST;
        } else {
            self.until = at + gain + self.len;
            self.len = Self::LONGEST.min(2 * self.len);
        }
    }
}
