//! Markers that ordinary tokens spell: `<`, `|`, `end`, `|`, `>`. Fine-tuned models write them.
//!
//! The grammar reads the marker's id instead of the tokens that spell it. If a token contains part of a marker and
//! other text, the grammar reads that text as single-byte tokens, which all exist. So its tokens differ from the fed
//! ones; `Spelling::fed_span` maps them back.

use super::event::Repair;
use super::stream::StreamableParser;
use crate::repair::RepairKind;
use crate::tokenizer::Tokenizer;

impl StreamableParser {
    /// Takes a token that may spell a part of a marker. Only lenient parsing calls this, so nothing is an error.
    pub(super) fn spell(&mut self, token: u32) {
        let is_text = !self.setup.tokenizer.is_special_token(token);
        let bytes = self.setup.tokenizer.token_bytes(token).filter(|_| is_text).unwrap_or_default();
        self.spelling.fed.push(token);
        if self.spelling.is_part(bytes) {
            for &byte in bytes {
                self.spell_byte(byte);
            }
        } else {
            self.release_spelled();
            self.read_spelled(token, self.spelling.count());
        }
    }

    fn spell_byte(&mut self, byte: u8) {
        let reach = self.spelling.count();
        match self.spelling.marker(byte) {
            Some((name, token)) if name.len() == self.spelling.held.len() + 1 => {
                self.spelling.held.clear();
                let from = self.spelling.reach.last().copied().unwrap_or(self.spelling.before);
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
                // Only the first byte of a marker is `<`, so no other held byte begins one.
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
