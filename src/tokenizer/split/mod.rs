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
//! Every character is matched by some alternative, so the pieces cover the text. `window` finds the
//! pieces of ASCII, sixty-four bytes at a time. `ascii` finds one piece, for those that reach out of a
//! window, and leaves it to `unicode` whenever a byte that is not ASCII could have a say in it.

mod ascii;
mod chars;
mod classes;
mod contraction;
mod flags;
mod unicode;
mod window;

pub(super) use window::{WINDOW_LEN, Window};

/// Pieces that follow each other, found all at once.
pub(super) struct Stretch<'a> {
    /// Where in the text the window begins, and the first piece with it.
    pub(super) start: usize,
    pub(super) window: &'a Window,
    /// Where in the window each piece ends and the next one begins, by bits; at least one.
    pub(super) ends: u64,
}

/// Takes the pieces of a text, in their order.
pub(super) trait PieceSink {
    /// Takes all pieces of a stretch.
    fn stretch(&mut self, stretch: &Stretch<'_>);

    /// Takes the piece between two places in the text.
    fn piece(&mut self, start: usize, end: usize);
}

/// Bytes of ASCII from which on a window is worth its while. With 8 French takes 1.06 of the time.
const LEAST_ASCII: usize = 16;

/// Cuts a text, which is UTF-8.
pub(super) fn cut(text: &[u8], pieces: &mut impl PieceSink) {
    let mut start = 0;
    while start < text.len() {
        let rest = &text[start..];
        let stretch_end = match rest.first_chunk::<LEAST_ASCII>() {
            Some(first) if first.is_ascii() => match rest.first_chunk() {
                Some(window) => cut_window(start, window, pieces),
                None => cut_window(start, &last_window(rest), pieces),
            },
            _ => None,
        };
        start = stretch_end.unwrap_or_else(|| {
            let end = piece_end(text, start);
            pieces.piece(start, end);
            end
        });
    }
}

/// Where the last piece ends that is found in a window.
#[inline]
fn cut_window(start: usize, window: &Window, pieces: &mut impl PieceSink) -> Option<usize> {
    let ends = window::starts(window);
    let last = ends.checked_ilog2()?;
    pieces.stretch(&Stretch { start, window, ends });
    Some(start + last as usize)
}

/// A window at the end of the text, whose last piece `window` leaves to others: what is behind the
/// text looks like characters other than ASCII.
fn last_window(rest: &[u8]) -> Window {
    let mut window: Window = [0x80; _];
    window[..rest.len()].copy_from_slice(rest);
    window
}

/// The end of the piece that begins at `start`, which is less than the text's length.
fn piece_end(text: &[u8], start: usize) -> usize {
    ascii::piece_end(text, start).unwrap_or_else(|| unicode::piece_end(text, start))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gathers the pieces of a text.
    struct Gathered<'a> {
        text: &'a str,
        pieces: Vec<&'a str>,
    }

    impl PieceSink for Gathered<'_> {
        fn stretch(&mut self, stretch: &Stretch<'_>) {
            let mut begun = stretch.start;
            for end in (0..WINDOW_LEN).filter(|end| stretch.ends >> end & 1 == 1) {
                self.piece(begun, stretch.start + end);
                begun = stretch.start + end;
            }
        }

        fn piece(&mut self, start: usize, end: usize) {
            self.pieces.push(&self.text[start..end]);
        }
    }

    fn by_windows(text: &str) -> Vec<&str> {
        let mut gathered = Gathered { text, pieces: Vec::new() };
        cut(text.as_bytes(), &mut gathered);
        gathered.pieces
    }

    fn one_by_one(text: &str) -> Vec<&str> {
        let mut gathered = Gathered { text, pieces: Vec::new() };
        let mut start = 0;
        while start < text.len() {
            let end = unicode::piece_end(text.as_bytes(), start);
            gathered.piece(start, end);
            start = end;
        }
        gathered.pieces
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(3000)))]

        #[test]
        fn windows_cut_as_the_pattern_does(
            text in "[aB1 \\n\\t.'/sé\u{a0}]{0,150}|[aB1 \\r\\n.'/stl]{0,150}|[ \\n./]{0,150}|[a.' ]{0,150}",
        ) {
            prop_assert_eq!(by_windows(&text), one_by_one(&text));
        }
    }
}
