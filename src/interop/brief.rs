//! Words of a body in errors.

/// A word that an error can show.
pub(crate) fn brief(word: &str) -> &str {
    const MOST: usize = 80;
    word.char_indices().nth(MOST).map_or(word, |(end, _)| &word[..end])
}
