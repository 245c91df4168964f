//! `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`, which may follow a word.

/// The end of the contraction at `at`, or `at` if there is none.
#[inline]
pub(super) fn end(text: &[u8], at: usize) -> usize {
    if text.get(at) == Some(&b'\'') { at + len(&text[at..]) } else { at }
}

/// The length of the contraction that a text with an apostrophe begins with, or 0.
fn len(text: &[u8]) -> usize {
    let letter = |n: usize| text.get(n).map_or(0, u8::to_ascii_lowercase);
    match (letter(1), letter(2)) {
        (b's' | b't' | b'm' | b'd', _) => 2,
        // The last one is U+017F, the long s: an s to a pattern that ignores case.
        (b'r' | b'v', b'e') | (b'l', b'l') | (0xc5, 0xbf) => 3,
        _ => 0,
    }
}
