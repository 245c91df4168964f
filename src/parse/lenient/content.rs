//! Content interrupted by another header, an unknown id or the end of the tokens.

use std::ops::Range;

use super::super::state::{Begin, HELD_AT_MOST, HeaderState, State};
use super::super::stream::StreamableParser;
use crate::chat::CHANNELS;
use crate::repair::RepairKind;
use crate::tokenizer::special;

impl StreamableParser {
    /// A token inside content that may not be content. Returns whether it was handled.
    pub(in super::super) fn on_lenient_content(&mut self, token: u32, index: usize) -> bool {
        if self.held_from().is_some() {
            return self.on_held(token, index);
        }
        match token {
            special::START => {
                self.end_early(index);
                self.state = State::Header(HeaderState::new(index, Begin::Start));
            }
            special::CHANNEL => self.hold_from(index),
            // Long text was taken for content, but was a header after all.
            special::MESSAGE if self.is_headerless() => {
                self.end_early(index);
                self.begin_implied(token, index);
            }
            special::ENDOFTEXT => {
                self.repair(RepairKind::EndOfText, index..index + 1, Some(self.message_count()));
                self.close(index, Some(token));
            }
            _ => return false,
        }
        true
    }

    fn is_headerless(&self) -> bool {
        matches!(&self.state, State::Content(open) if open.headerless)
    }

    /// The message ends before `end`, where another begins.
    fn end_early(&mut self, end: usize) {
        self.repair(RepairKind::MissingEnd, end..end, Some(self.message_count()));
        self.close(end, None);
    }

    fn held_from(&self) -> Option<usize> {
        match &self.state {
            State::Content(open) => open.held_from,
            _ => None,
        }
    }

    /// Holds back tokens after `<|channel|>` until it is known whether a header began.
    fn hold_from(&mut self, index: usize) {
        if let State::Content(open) = &mut self.state {
            open.held_from = Some(index);
        }
    }

    /// A token after a `<|channel|>` inside content. With a known channel or `<|message|>` it is a
    /// header; with any other special token, or too many tokens, it is text.
    fn on_held(&mut self, token: u32, index: usize) -> bool {
        let Some(from) = self.held_from() else { return false };
        let word = self.text_of(from + 1..index + 1);
        let is_header = token == special::MESSAGE
            || CHANNELS.iter().any(|channel| word.trim_ascii_start().starts_with(channel));
        if is_header {
            self.begin_held_header(from, index);
            return true;
        }
        let is_special = self.setup.tokenizer.is_special_token(token);
        if is_special && token != special::CONSTRAIN || index - from >= HELD_AT_MOST {
            self.release_held(index);
            return self.on_lenient_content(token, index);
        }
        true
    }

    fn begin_held_header(&mut self, from: usize, index: usize) {
        self.end_early(from);
        self.state = State::Header(HeaderState::new(from, Begin::InContent));
        for at in from..=index {
            self.header_token(self.tokens[at], at);
        }
    }

    /// What was held back is text.
    pub(in super::super) fn release_held(&mut self, end: usize) {
        let State::Content(open) = &mut self.state else { return };
        let Some(from) = open.held_from.take() else { return };
        for at in from..end {
            self.push_content(self.tokens[at], at);
        }
    }

    /// The end of the tokens inside content: a character that is cut off there is in no content.
    pub(in super::super) fn end_content(&mut self, end: usize) {
        self.release_held(end);
        let State::Content(open) = &mut self.state else { return };
        if !self.setup.strict {
            let (from, cut) = (open.from, open.decoder.drop_pending());
            self.repair_cut_character(cut, from..end);
            self.report_content(end);
            self.cover_cut_character(end);
        }
        self.close(end, None);
    }

    /// Reports the last `cut` bytes of a span, an incomplete character.
    pub(super) fn repair_cut_character(&mut self, cut: usize, span: Range<usize>) {
        if cut == 0 {
            return;
        }
        let mut from = span.end;
        let mut bytes = 0;
        while bytes < cut && from > span.start {
            from -= 1;
            bytes += self.setup.tokenizer.token_bytes(self.tokens[from]).map_or(0, <[u8]>::len);
        }
        self.repair(RepairKind::CutCharacter, from..span.end, Some(self.message_count()));
    }
}
