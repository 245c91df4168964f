//! The body's stop strings, found in text that arrives in pieces.

/// Looks for strings in text and holds back what may be the beginning of one.
#[derive(Debug, Clone, Default)]
pub(super) struct StopStrings {
    strings: Vec<String>,
    /// Text that may be the beginning of a stop string.
    held: String,
}

/// What came of a piece of text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Passed {
    /// This much can be said.
    On(String),
    /// This much can be said, then the stop string of this index begins.
    Stop(String, usize),
}

impl StopStrings {
    /// Empty strings stop nothing.
    pub(super) fn new(strings: &[String]) -> Self {
        let strings = strings.iter().filter(|string| !string.is_empty()).cloned().collect();
        Self { strings, held: String::new() }
    }

    pub(super) fn string(&self, index: usize) -> &str {
        &self.strings[index]
    }

    /// Takes text. Of several strings the one that is complete first counts, of those that end
    /// together the longest, so that the cut of the pieces does not matter.
    pub(super) fn push(&mut self, text: String) -> Passed {
        if self.strings.is_empty() {
            return Passed::On(text);
        }
        let mut all = std::mem::take(&mut self.held);
        all.push_str(&text);
        let found = self.strings.iter().enumerate().filter_map(|(index, string)| {
            let start = all.find(string.as_str())?;
            Some((start + string.len(), start, index))
        });
        if let Some((_, start, index)) = found.min() {
            all.truncate(start);
            return Passed::Stop(all, index);
        }
        self.held = all.split_off(all.len() - self.undecided(&all));
        Passed::On(all)
    }

    /// The text's end: what was held back is text.
    pub(super) fn flush(&mut self) -> String {
        std::mem::take(&mut self.held)
    }

    /// How many bytes at the end may be the beginning of a stop string.
    fn undecided(&self, text: &str) -> usize {
        let longest = self.strings.iter().map(|string| string.len() - 1).max().unwrap_or(0);
        let from = text.len().saturating_sub(longest);
        (from..text.len())
            .filter(|&at| text.is_char_boundary(at))
            .find(|&at| self.strings.iter().any(|string| string.starts_with(&text[at..])))
            .map_or(0, |at| text.len() - at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is said of a text in pieces, and the string that stopped it.
    fn said(strings: &[&str], pieces: &[&str]) -> (String, Option<usize>) {
        let strings: Vec<String> = strings.iter().map(|&string| string.to_owned()).collect();
        let (mut stop, mut said) = (StopStrings::new(&strings), String::new());
        for &piece in pieces {
            match stop.push(piece.to_owned()) {
                Passed::On(text) => said += &text,
                Passed::Stop(text, index) => return (said + &text, Some(index)),
            }
        }
        (said + &stop.flush(), None)
    }

    #[test]
    fn a_string_is_found_across_pieces() {
        assert_eq!(said(&["END"], &["a E", "N", "D b"]), ("a ".to_owned(), Some(0)));
        assert_eq!(said(&["END"], &["a E", "N", "X"]), ("a ENX".to_owned(), None));
        assert_eq!(said(&["aab"], &["aa", "ab"]), ("a".to_owned(), Some(0)));
        assert_eq!(said(&["END"], &["EN"]), ("EN".to_owned(), None));
    }

    #[test]
    fn the_first_to_be_complete_counts() {
        assert_eq!(said(&["abcd", "bc"], &["abcd"]), ("a".to_owned(), Some(1)));
        assert_eq!(said(&["c", "abc"], &["ab", "c"]), (String::new(), Some(1)));
        assert_eq!(said(&["", "é"], &["né"]), ("n".to_owned(), Some(0)));
    }

    proptest! {
        #[test]
        fn the_cut_of_pieces_does_not_matter(
            strings in prop::collection::vec("[abé]{1,4}", 0..3),
            pieces in prop::collection::vec("[abcé]{0,3}", 0..12),
        ) {
            let strings: Vec<_> = strings.iter().map(String::as_str).collect();
            let pieces: Vec<_> = pieces.iter().map(String::as_str).collect();
            let whole = pieces.concat();
            prop_assert_eq!(said(&strings, &pieces), said(&strings, &[&whole]));
        }
    }
}
