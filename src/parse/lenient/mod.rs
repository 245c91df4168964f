//! Lenient parsing: what to do where the tokens leave the grammar.
//!
//! Nothing here returns an error, and every token ends up in a message or in a repair. Malformed
//! headers are read in `header/repair`.
//!
//! Text between messages may be a header that lost its `<|start|>`, or an answer that lost its
//! whole header. So the text is held back like a header until a marker, a stop token or the 33rd
//! token decides.

mod content;
mod headers;

use std::ops::Range;

use super::event::Repair;
use super::grammar::is_stop;
use super::state::{Begin, HeaderState, State};
use super::stream::StreamableParser;
use crate::chat::Role;
use crate::header::{NameRun, TO};
use crate::repair::RepairKind;
use crate::tokenizer::special;

/// Between messages.
impl StreamableParser {
    /// A token other than `<|start|>` where `<|start|>` is expected.
    pub(super) fn stray(&mut self, token: u32, index: usize) {
        match token {
            special::CHANNEL | special::MESSAGE | special::CONSTRAIN => {
                self.begin_implied(token, index);
            }
            special::ENDOFTEXT => self.repair(RepairKind::EndOfText, index..index + 1, None),
            _ if is_stop(token) => self.repair(RepairKind::StrayStop, index..index + 1, None),
            _ => self.state = State::Header(HeaderState::new(index, Begin::Stray)),
        }
    }

    /// A header without its `<|start|>`.
    fn begin_implied(&mut self, token: u32, index: usize) {
        self.state = State::Header(HeaderState::new(index, Begin::Unmarked));
        self.header_token(token, index);
    }

    /// A token after text between messages.
    pub(super) fn on_stray(&mut self, from: usize, token: u32, index: usize) {
        match token {
            special::START => {
                self.end_stray_before_start(from, index);
                self.state = State::Header(HeaderState::new(index, Begin::Start));
            }
            special::CHANNEL | special::MESSAGE | special::CONSTRAIN => {
                let mut begin = from;
                if !self.reads_as_header(from..index) {
                    self.repair(RepairKind::StrayText, from..index, None);
                    begin = index;
                }
                self.state = State::Header(HeaderState::new(begin, Begin::Unmarked));
                self.header_token(token, index);
            }
            _ if is_stop(token) || token == special::ENDOFTEXT => {
                self.end_stray(from, index);
                if matches!(self.state, State::Header(_)) {
                    self.cut_header(index, Some(token));
                } else {
                    self.stray(token, index);
                }
            }
            _ => self.open_long_header(index),
        }
    }

    /// Text without meaning is reported; other text is left to be read as a message.
    pub(super) fn end_stray(&mut self, from: usize, end: usize) {
        let text = self.text_of(from..end);
        let says_nothing =
            |word: &str| NameRun::read(word).is_some() || word.chars().all(|c| c == '\u{FFFD}');
        if text.split_ascii_whitespace().all(says_nothing) {
            self.report_stray(from..end);
        }
    }

    /// Short text before a `<|start|>` is a mistake of the model, unless it calls a tool.
    fn end_stray_before_start(&mut self, from: usize, end: usize) {
        let is_call =
            self.text_of(from..end).split_ascii_whitespace().any(|word| word.starts_with(TO));
        if is_call {
            self.cut_header(end, None);
        } else {
            self.report_stray(from..end);
        }
    }

    fn report_stray(&mut self, span: Range<usize>) {
        self.state = State::Start;
        self.repair(RepairKind::StrayText, span, None);
    }

    /// Whether text before a marker is the beginning of its header: a role, a channel, a
    /// recipient or a known tool.
    fn reads_as_header(&self, span: Range<usize>) -> bool {
        let text = self.text_of(span);
        let mut words = text.split_ascii_whitespace();
        let Some(first) = words.next() else { return false };
        Role::try_from(first).is_ok()
            || NameRun::read(first).is_some()
            || first.starts_with(TO)
            || self.setup.tools.names(first)
            || (first == "to" && words.clone().next().is_some_and(|next| next.starts_with('=')))
            || words.any(|word| word.starts_with(TO))
    }

    pub(super) fn repair(&mut self, kind: RepairKind, span: Range<usize>, index: Option<usize>) {
        let text = match (kind, &self.tokens[span.clone()]) {
            (RepairKind::UnknownToken, [token]) => token.to_string(),
            _ => self.text_of(span.clone()),
        };
        self.report_repair(Repair { kind, span: self.spelling.fed_span(span), index, text });
    }
}
