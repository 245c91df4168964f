//! The body's stop strings, found in text that arrives in pieces.
//!
//! An Aho-Corasick automaton reads each byte once, whatever the number and the length of the strings. Its state tells
//! how much of the text so far may be the beginning of a stop string; that much is held back.

use std::collections::HashMap;

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;

use crate::error::{ErrorKind, Result};
use crate::path::Path;

/// Searches text for stop strings and holds back what may be the beginning of one.
#[derive(Debug, Default)]
pub(super) struct StopStrings {
    /// `None` without strings.
    search: Option<Search>,
    held: Held,
}

/// Text that may begin a stop string: `text[emitted..]` is held back.
#[derive(Debug, Default)]
struct Held {
    text: String,
    emitted: usize,
}

#[derive(Debug)]
struct Search {
    strings: Vec<String>,
    automaton: NFA,
    start: StateID,
    /// Depth of each state in the trie: the number of trailing bytes that may begin a stop string.
    depths: HashMap<StateID, usize>,
    state: StateID,
}

impl StopStrings {
    /// Empty strings stop nothing.
    ///
    /// # Errors
    ///
    /// The strings need more states than an automaton can have; [`read`](super::super) refuses that many.
    pub(super) fn new(strings: &[String]) -> Result<Self> {
        let strings: Vec<_> = strings.iter().filter(|string| !string.is_empty()).cloned().collect();
        if strings.is_empty() {
            return Ok(Self::default());
        }
        let search = Search::new(strings).map_err(|error| ErrorKind::InvalidRequest {
            path: Path::of("stop_strings"),
            reason: error.to_string().into(),
        })?;
        Ok(Self { search: Some(search), held: Held::default() })
    }

    /// Takes text and returns what to emit, and the stop string that begins after it. If several strings occur, the one
    /// that is complete first counts; of those that end together, the longest. So it does not matter how the text is
    /// cut into pieces.
    pub(super) fn push(&mut self, text: String) -> (String, Option<String>) {
        let Some(search) = &mut self.search else { return (text, None) };
        let held = self.held.text.len();
        self.held.text.push_str(&text);
        if let Some((end, string)) = search.find(text.as_bytes()) {
            let string = search.strings[string].clone();
            return (self.held.emit(held + end - string.len()), Some(string));
        }
        (self.held.emit(self.held.text.len() - search.undecided()), None)
    }

    /// Whether some text is held back, or was cut off.
    pub(super) fn is_holding(&self) -> bool {
        self.held.emitted < self.held.text.len()
    }

    /// The text that is held back.
    pub(super) fn held(&self) -> &str {
        &self.held.text[self.held.emitted..]
    }

    /// Holds this text back; `false` if these strings would not.
    pub(super) fn hold(&mut self, text: &str) -> bool {
        let Some(search) = &mut self.search else { return text.is_empty() };
        let is_held = search.find(text.as_bytes()).is_none() && search.undecided() == text.len();
        self.held = Held { text: text.to_owned(), emitted: 0 };
        is_held
    }

    /// Ends the text and returns what was held back.
    pub(super) fn flush(&mut self) -> String {
        if let Some(search) = &mut self.search {
            search.state = search.start;
        }
        self.held.emit(self.held.text.len())
    }
}

impl Held {
    /// Emits the text up to this byte. What is emitted is removed once it is the larger part, so that no
    /// byte is moved more than once.
    fn emit(&mut self, end: usize) -> String {
        let text = self.text[self.emitted..end].to_owned();
        self.emitted = end;
        if self.emitted > self.text.len() / 2 {
            self.text.drain(..self.emitted);
            self.emitted = 0;
        }
        text
    }
}

impl Search {
    fn new(strings: Vec<String>) -> std::result::Result<Self, Box<dyn std::error::Error>> {
        let automaton = NFA::new(&strings)?;
        let start = automaton.start_state(Anchored::No)?;
        let mut depths = HashMap::new();
        for string in &strings {
            let mut state = start;
            for (depth, byte) in string.bytes().enumerate() {
                state = automaton.next_state(Anchored::No, state, byte);
                depths.insert(state, depth + 1);
            }
        }
        Ok(Self { strings, automaton, start, depths, state: start })
    }

    /// The end of the first string to be complete, and its index. Each state lists its strings from the
    /// longest to the shortest.
    fn find(&mut self, bytes: &[u8]) -> Option<(usize, usize)> {
        for (at, &byte) in bytes.iter().enumerate() {
            self.state = self.automaton.next_state(Anchored::No, self.state, byte);
            if self.automaton.is_match(self.state) {
                return Some((at + 1, self.automaton.match_pattern(self.state, 0).as_usize()));
            }
        }
        None
    }

    /// How many bytes at the end may be the beginning of a stop string.
    fn undecided(&self) -> usize {
        self.depths.get(&self.state).copied().unwrap_or(0)
    }
}
