//! The fed tokens, if markers may be spelled by ordinary tokens; `spelled` reads these.

use std::ops::Range;

use crate::tokenizer::special;

/// The markers that mean something to the grammar.
const MARKERS: [(&str, u32); 8] = [
    ("<|start|>", special::START),
    ("<|channel|>", special::CHANNEL),
    ("<|constrain|>", special::CONSTRAIN),
    ("<|message|>", special::MESSAGE),
    ("<|end|>", special::END),
    ("<|return|>", special::RETURN),
    ("<|call|>", special::CALL),
    ("<|endoftext|>", special::ENDOFTEXT),
];

/// What was fed, where markers may be spelled.
#[derive(Debug, Clone, Default)]
pub(super) struct Spelling {
    /// Whether markers may be spelled; otherwise nothing is recorded here.
    pub(super) is_read: bool,
    /// All fed tokens, since the last checkpoint if there was one.
    pub(super) fed: Vec<u32>,
    /// How many were fed before these.
    pub(super) fed_before: usize,
    /// The number of fed tokens before the first token that the grammar holds.
    pub(super) before: usize,
    /// For each token of the grammar, the number of fed tokens up to its end. A span that begins inside a fed token has
    /// all of that token.
    pub(super) reach: Vec<usize>,
    /// The beginning of a marker, each byte with its reach. Nothing else is held back.
    pub(super) held: Vec<(u8, usize)>,
}

impl Spelling {
    pub(super) fn new(is_read: bool) -> Self {
        Self { is_read, ..Self::default() }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new(self.is_read);
    }

    /// The number of fed tokens, if markers may be spelled.
    pub(super) fn count(&self) -> usize {
        self.fed_before + self.fed.len()
    }

    pub(super) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// The fed tokens of a span of the grammar's tokens. Adjacent spans stay adjacent.
    pub(super) fn fed_span(&self, span: Range<usize>) -> Range<usize> {
        if !self.is_read {
            return self.before + span.start..self.before + span.end;
        }
        let reach = |end: usize| end.checked_sub(1).map_or(self.before, |last| self.reach[last]);
        reach(span.start)..reach(span.end)
    }

    /// The marker that begins with the held bytes and this one.
    pub(super) fn marker(&self, next: u8) -> Option<(&'static str, u32)> {
        let bytes = || self.held.iter().map(|(byte, _)| *byte).chain([next]);
        let begins = |name: &str| name.bytes().take(self.held.len() + 1).eq(bytes());
        MARKERS.into_iter().find(|(name, _)| begins(name))
    }

    /// Whether these bytes contain part of a marker, as far as is known.
    pub(super) fn is_part(&self, bytes: &[u8]) -> bool {
        let continues = || bytes.first().is_some_and(|&first| self.marker(first).is_some());
        bytes.contains(&b'<') || (self.is_holding() && continues())
    }
}
