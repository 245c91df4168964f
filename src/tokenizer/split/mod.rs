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
//! Every character is matched by some alternative, so the pieces cover the text. `window` finds those
//! in sixty-four bytes at a time. Where it does not get on, `ascii` finds one piece, and leaves it to
//! `unicode` whenever a byte that is not ASCII could have a say in it.

mod ascii;
mod chars;
mod classes;
mod contraction;
mod flags;
mod unicode;
mod window;

pub(super) use window::{WINDOW_LEN, Window};

use self::window::Seen;

/// Pieces that follow each other, found all at once.
pub(super) struct Stretch<'a> {
    /// Where in the text the window begins.
    pub(super) start: usize,
    pub(super) window: &'a Window,
    /// Where in the window the first piece begins.
    pub(super) begun: usize,
    /// Where in the window each piece ends and the next one begins, by bits; all are behind `begun`.
    pub(super) ends: u64,
}

/// Takes the pieces of a text, in their order.
pub(super) trait PieceSink {
    /// Takes all pieces of a stretch.
    fn stretch(&mut self, stretch: &Stretch<'_>);

    /// Takes the piece between two places in the text.
    fn piece(&mut self, start: usize, end: usize);
}

/// Bytes of text from which on a window is worth its while.
const SHORTEST_TEXT: usize = 16;
/// What a window has to get on, in bytes.
const LEAST_GAIN: usize = 24;
/// Bytes that are cut piece by piece where a window does not get on, at first and at most.
const FIRST_DETOUR: usize = 64;
const LONGEST_DETOUR: usize = 512;

/// Cuts a text, which is UTF-8, from `start`, where a piece begins, to the first end of a piece at or
/// behind `limit`, or the end of the text; returns where it stopped.
pub(super) fn cut(text: &[u8], start: usize, limit: usize, pieces: &mut impl PieceSink) -> usize {
    cut_by(window::look, text, start, limit, pieces)
}

/// Cuts a text by what `look` sees in windows.
#[inline]
fn cut_by(
    look: impl Look,
    text: &[u8],
    start: usize,
    limit: usize,
    pieces: &mut impl PieceSink,
) -> usize {
    let windows = Windows::of(text);
    let mut detour = Detour { end: 0, len: FIRST_DETOUR };
    // All before `start` is cut; what is before `at` was looked at too.
    let (mut start, mut at) = (start, start);
    let limit = limit.min(text.len());
    while start < limit {
        let next = match windows.at(at) {
            Some((window, len)) if at >= detour.end => {
                let next = cut_window(look, start, at, (window, len), pieces);
                let gain = next.map_or(0, |(_, next_at)| next_at - at);
                detour.note(at, gain, len);
                next
            }
            _ => None,
        };
        (start, at) = next.unwrap_or_else(|| {
            let end = piece_end(text, start);
            pieces.piece(start, end);
            (end, end)
        });
    }
    start
}

/// What looks at windows, see `window::look`.
trait Look: Fn(&Window, usize, bool) -> Seen + Copy {}

impl<F: Fn(&Window, usize, bool) -> Seen + Copy> Look for F {}

/// A part of the text in which no windows are tried. Some scripts have little that windows decide,
/// and then trying is in vain.
struct Detour {
    end: usize,
    /// How long the next one will be.
    len: usize,
}

impl Detour {
    /// Takes note that a window at `at`, with `len` bytes of text, brought the cutting `gain` bytes further.
    fn note(&mut self, at: usize, gain: usize, len: usize) {
        if gain >= LEAST_GAIN.min(len / 2) {
            self.len = FIRST_DETOUR;
        } else {
            self.end = at + gain + self.len;
            self.len = LONGEST_DETOUR.min(2 * self.len);
        }
    }
}

/// Bytes of a window, those included that are only read.
const WHOLE_LEN: usize = size_of::<Window>();

/// The windows of a text.
struct Windows<'a> {
    text: &'a [u8],
    /// The last bytes of the text, as many as a window has or all, and zeros behind them.
    last: [u8; 2 * WHOLE_LEN],
}

impl<'a> Windows<'a> {
    fn of(text: &'a [u8]) -> Self {
        let mut last = [0; 2 * WHOLE_LEN];
        match text.last_chunk::<{ WHOLE_LEN }>() {
            Some(bytes) => last[..WHOLE_LEN].copy_from_slice(bytes),
            None => last[..text.len()].copy_from_slice(text),
        }
        Self { text, last }
    }

    /// The window that begins at a place in the text, if it is worth its while, and how many of its
    /// bytes are text, of those that are looked at.
    #[inline]
    fn at(&self, at: usize) -> Option<(&Window, usize)> {
        if let Some(window) = self.text[at..].first_chunk() {
            return Some((window, WINDOW_LEN));
        }
        let len = self.text.len() - at;
        if len < SHORTEST_TEXT {
            return None;
        }
        let in_last = self.text.len().min(WHOLE_LEN) - len;
        Some((self.last[in_last..].first_chunk()?, len))
    }
}

/// Cuts what is found in the window at `at`, of which so many bytes are text, and tells where the next
/// piece begins and from where on to look for its end. `None` if nothing is found.
#[inline]
fn cut_window(
    look: impl Look,
    start: usize,
    at: usize,
    (window, len): (&Window, usize),
    pieces: &mut impl PieceSink,
) -> Option<(usize, usize)> {
    let Seen { starts: mut ends, goes_on } = look(window, len, start < at);
    let last = ends.checked_ilog2().map(|last| last as usize);
    let mut begun = 0;
    if start < at && ends != 0 {
        // The word began before the window.
        begun = ends.trailing_zeros() as usize;
        ends &= ends - 1;
        pieces.piece(start, at + begun);
    }
    if ends != 0 {
        pieces.stretch(&Stretch { start: at, window, begun, ends });
    }
    let next_start = last.map_or(start, |last| at + last);
    let next_at = goes_on.map_or(next_start, |last| at + last);
    (next_at > at).then_some((next_start, next_at))
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
            let mut begun = stretch.start + stretch.begun;
            for end in (0..WINDOW_LEN).filter(|end| stretch.ends >> end & 1 == 1) {
                self.piece(begun, stretch.start + end);
                begun = stretch.start + end;
            }
        }

        fn piece(&mut self, start: usize, end: usize) {
            self.pieces.push(&self.text[start..end]);
        }
    }

    fn by_windows(look: impl Look, text: &str) -> Vec<&str> {
        let mut gathered = Gathered { text, pieces: Vec::new() };
        cut_by(look, text.as_bytes(), 0, text.len(), &mut gathered);
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
            text in prop_oneof![
                "[aB1 \\n\\t.'/sé\u{a0}]{0,150}",
                "[aB1 \\r\\n.'/stl]{0,150}",
                "[ \\n./]{0,150}",
                "[a.' ]{0,150}",
                // Scripts that vectors know, and what they do not.
                "[aÀà中がハ한ʰ\u{301}。，🙂\u{fe0f}²1 \u{3000}\n'sſ/]{0,80}",
                "[aÀà中。' ]{0,80}",
                "[Жжאعक\u{94d}ก×÷ÿǅ .]{0,80}",
                // Capitals behind letters without case, and marks.
                "[aA中 's]{0,80}",
                "[aA\u{301}。 '1\n/]{0,80}",
            ],
        ) {
            let expected = one_by_one(&text);
            prop_assert_eq!(&by_windows(window::look, &text), &expected);
            prop_assert_eq!(&by_windows(window::look_portably, &text), &expected);
        }
    }
}
