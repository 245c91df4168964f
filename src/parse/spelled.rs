//! Markers that ordinary tokens spell: `<`, `|`, `end`, `|`, `>`. Fine-tuned models write them.
//!
//! The grammar reads the marker's id instead of the tokens that spell it. Of a token that has a part of a marker and
//! other text, it reads that text as tokens of single bytes, which all exist. So its tokens are not those that were
//! fed, and [`Spelling::fed_span`] leads back.

use std::ops::Range;

use super::event::Repair;
use super::stream::StreamableParser;
use crate::repair::RepairKind;
use crate::tokenizer::{Tokenizer, special};

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
    /// Whether markers may be spelled; without that nothing is recorded here.
    pub(super) is_read: bool,
    /// All tokens that were fed.
    pub(super) fed: Vec<u32>,
    /// For each token of the grammar, how many fed tokens reach up to its end. What begins in a token has all of it.
    reach: Vec<usize>,
    /// The beginning of a marker, each byte with its reach. Nothing else is held back.
    held: Vec<(u8, usize)>,
}

impl Spelling {
    pub(super) fn new(is_read: bool) -> Self {
        Self { is_read, ..Self::default() }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new(self.is_read);
    }

    pub(super) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// The fed tokens of a span of the grammar's tokens. What is adjacent stays adjacent.
    pub(super) fn fed_span(&self, span: Range<usize>) -> Range<usize> {
        if !self.is_read {
            return span;
        }
        let reach = |end: usize| end.checked_sub(1).map_or(0, |last| self.reach[last]);
        reach(span.start)..reach(span.end)
    }

    /// The marker that begins with what is held and this byte.
    fn marker(&self, next: u8) -> Option<(&'static str, u32)> {
        let bytes = || self.held.iter().map(|(byte, _)| *byte).chain([next]);
        let begins = |name: &str| name.bytes().take(self.held.len() + 1).eq(bytes());
        MARKERS.into_iter().find(|(name, _)| begins(name))
    }

    /// Whether these bytes have a part of a marker, as far as is known.
    fn is_part(&self, bytes: &[u8]) -> bool {
        let continues = || bytes.first().is_some_and(|&first| self.marker(first).is_some());
        bytes.contains(&b'<') || (self.is_holding() && continues())
    }
}

impl StreamableParser {
    /// Takes a token that may spell a part of a marker. Strict parsing never comes here, so nothing is an error.
    pub(super) fn spell(&mut self, token: u32) {
        let is_text = !self.tokenizer.is_special_token(token);
        let bytes = self.tokenizer.token_bytes(token).filter(|_| is_text).unwrap_or_default();
        self.spelling.fed.push(token);
        if self.spelling.is_part(bytes) {
            for &byte in bytes {
                self.spell_byte(byte);
            }
        } else {
            self.release_spelled();
            self.read_spelled(token, self.spelling.fed.len());
        }
    }

    fn spell_byte(&mut self, byte: u8) {
        let reach = self.spelling.fed.len();
        match self.spelling.marker(byte) {
            Some((name, token)) if name.len() == self.spelling.held.len() + 1 => {
                self.spelling.held.clear();
                let from = self.spelling.reach.last().copied().unwrap_or_default();
                self.report_repair(Repair {
                    kind: RepairKind::SpelledMarker,
                    span: from..reach,
                    index: None,
                    text: name.to_owned(),
                });
                self.read_spelled(token, reach);
            }
            Some(_) => self.spelling.held.push((byte, reach)),
            None => {
                self.release_spelled();
                // Only the first byte of a marker is `<`, so nothing else of what was held begins one.
                match byte {
                    b'<' => self.spelling.held.push((byte, reach)),
                    _ => self.read_spelled(Tokenizer::byte_token(byte), reach),
                }
            }
        }
    }

    /// What was held back is text.
    pub(super) fn release_spelled(&mut self) {
        for (byte, reach) in std::mem::take(&mut self.spelling.held) {
            self.read_spelled(Tokenizer::byte_token(byte), reach);
        }
    }

    fn read_spelled(&mut self, token: u32, reach: usize) {
        self.spelling.reach.push(reach);
        // Lenient parsing has no errors.
        let _never = self.read_token(token);
    }
}

#[cfg(test)]
mod tests {
    use super::MARKERS;
    use crate::tokenizer::Tokenizer;

    /// So no token completes a message and adds text to the next one: its delta has the text of one message.
    #[test]
    fn no_token_spells_a_marker_alone() {
        let tokenizer = Tokenizer::o200k_harmony();
        for token in 0..199_998 {
            let text = String::from_utf8_lossy(tokenizer.token_bytes(token).unwrap_or_default());
            assert!(MARKERS.iter().all(|(name, _)| !text.contains(name)), "{token}");
        }
    }
}
