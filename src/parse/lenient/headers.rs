//! Headers that are malformed, incomplete, or too long to be headers.

use std::ops::Range;

use super::super::grammar::is_stop;
use super::super::state::{Begin, Delta, HELD_AT_MOST, HeaderState, State};
use super::super::stream::StreamableParser;
use super::super::utf8::Utf8Decoder;
use crate::chat::Content;
use crate::header::{HeaderEnd, Repaired, Setting, repair};
use crate::repair::RepairKind;
use crate::tokenizer::special;

impl StreamableParser {
    pub(super) fn header_token(&mut self, token: u32, index: usize) {
        // Lenient parsing has no errors: the result is empty.
        let _never = self.on_header(token, index);
    }

    /// A token in a header. Tokens that do not end the header are collected; its end decides what
    /// they are.
    pub(in super::super) fn on_lenient_header(&mut self, token: u32, index: usize) {
        if is_stop(token) || token == special::ENDOFTEXT {
            self.cut_header(index, Some(token));
        } else if token == special::START {
            self.cut_header(index, None);
            self.state = State::Header(HeaderState::new(index, Begin::Start));
        } else {
            self.open_long_header(index);
        }
    }

    /// Reads the tokens of a header that strict parsing cannot read, and the marker that ends it. The delta is the text
    /// of the last message that they complete.
    pub(in super::super) fn read_leniently(&mut self, header: &HeaderState, marker: usize) {
        let before = self.made.messages.len();
        // A header with a `<|start|>` names its author; a given role waits for a readable one.
        let waiting = self.given_role.take_if(|_| header.begin != Begin::Given);
        self.setup.strict = false;
        self.state = State::Header(HeaderState::new(header.from, header.begin));
        for at in header.body()..=marker {
            // Lenient parsing has no errors.
            let _never = self.on_token(self.tokens[at], at);
        }
        self.setup.strict = true;
        if self.made.messages.len() == before && !matches!(self.state, State::Content(_)) {
            self.given_role = self.given_role.or(waiting);
        }
        let said = self.made.messages.last().filter(|_| self.made.messages.len() > before);
        let has_text = said.is_some_and(|message| message.content != [Content::from("")]);
        self.delta = if has_text { Delta::Complete(0) } else { Delta::None };
    }

    /// `<|message|>`: opens the message of a possibly malformed header.
    pub(in super::super) fn open_repaired(&mut self, header: &HeaderState, index: usize) {
        let repaired = self.read_header(header, index, HeaderEnd::Message);
        let message = self.message_count();
        self.open(header.from, index, repaired.header.clone());
        self.repair_header(header, &repaired, message);
    }

    fn read_header(&mut self, header: &HeaderState, end: usize, ending: HeaderEnd) -> Repaired {
        self.words.split(self.setup.tokenizer, &self.tokens[header.body()..end]);
        if !ending.is_cut() {
            self.words.trim();
        }
        let setting = Setting {
            given: self.given_role.or(header.implied_role()),
            named: header.names_author(),
            stray: header.begin == Begin::Stray,
            tools: &self.setup.tools,
            end: ending,
        };
        repair(&self.words, setting)
    }

    fn repair_header(&mut self, header: &HeaderState, repaired: &Repaired, message: usize) {
        let (from, body) = (header.from, header.body());
        let is_unmarked = matches!(header.begin, Begin::Unmarked | Begin::Stray);
        if is_unmarked && !repaired.headerless {
            self.repair(RepairKind::MissingStart, from..from + 1, Some(message));
        }
        for (kind, tokens) in &repaired.repairs {
            self.repair(*kind, body + tokens.start..body + tokens.end, Some(message));
        }
    }

    /// The end of the tokens inside a header.
    pub(in super::super) fn cut_header_at_end(&mut self, end: usize) {
        if let State::Header(HeaderState { begin: Begin::Stray, from, .. }) = self.state {
            self.end_stray(from, end);
        }
        if let State::Header(header) = self.take_state() {
            self.cut(&header, end, HeaderEnd::Tokens);
        }
    }

    /// A header that ends before `end` without `<|message|>`, by a stop token or by a `<|start|>`.
    pub(super) fn cut_header(&mut self, end: usize, stop: Option<u32>) {
        if let State::Header(header) = self.take_state() {
            self.cut(&header, end, stop.map_or(HeaderEnd::Start, HeaderEnd::Stop));
        }
    }

    /// A header without `<|message|>` is a message if it has anything beyond its author, otherwise only
    /// a repair. A call without arguments is only a repair too, unless `<|call|>` ends it: it must not
    /// run.
    fn cut(&mut self, header: &HeaderState, end: usize, ending: HeaderEnd) {
        let repaired = self.read_header(header, end, ending);
        let is_broken_call = repaired.header.recipient.is_some()
            && repaired.content.is_empty()
            && ending != HeaderEnd::Stop(special::CALL);
        if !repaired.is_empty() && !is_broken_call {
            return self.complete_cut(header, repaired, end, ending);
        }
        let stop = ending.stop_token();
        let past = end + usize::from(stop.is_some());
        let kind = match (ending, stop) {
            _ if is_broken_call => RepairKind::TruncatedHeader,
            (_, Some(special::ENDOFTEXT)) if header.from == end => RepairKind::EndOfText,
            (_, Some(_)) if header.from == end => RepairKind::StrayStop,
            (HeaderEnd::Start, _) => RepairKind::DuplicateStart,
            (HeaderEnd::Tokens, _) => RepairKind::TruncatedHeader,
            _ => RepairKind::MissingMessage,
        };
        if header.from < past {
            self.repair(kind, header.from..past, None);
        }
    }

    fn complete_cut(
        &mut self,
        header: &HeaderState,
        repaired: Repaired,
        end: usize,
        ending: HeaderEnd,
    ) {
        let kind = missing_part(&repaired, ending);
        let message = self.message_count();
        let from = self.report_cut(header, &repaired, kind, end);
        let text = self.decode_cut(&repaired.content, from..end, ending);
        if !text.is_empty() {
            self.delta = Delta::Complete(0);
        }
        if from < end || !text.is_empty() {
            self.report_delta(from..end, text.clone());
        }
        let stop = ending.stop_token();
        if stop == Some(special::ENDOFTEXT) {
            self.repair(RepairKind::EndOfText, end..end + 1, Some(message));
        }
        self.complete(repaired.header, text, stop);
        self.report_end(end, stop);
    }

    /// Reports the message of a header without `<|message|>` and its repairs. Returns where its
    /// content begins.
    fn report_cut(
        &mut self,
        header: &HeaderState,
        repaired: &Repaired,
        kind: RepairKind,
        end: usize,
    ) -> usize {
        self.given_role = None;
        let message = self.message_count();
        let from = header.body() + repaired.content_from;
        self.report_start(header.from..from, &repaired.header);
        self.repair_header(header, repaired, message);
        self.repair(kind, from..end, Some(message));
        from
    }

    /// A character cut off by the end of the tokens is in no content.
    fn decode_cut(&mut self, content: &[u8], span: Range<usize>, ending: HeaderEnd) -> String {
        let (mut decoder, mut text) = (Utf8Decoder::default(), String::new());
        decoder.push(content, &mut text);
        if ending == HeaderEnd::Tokens {
            let cut = decoder.drop_pending();
            self.repair_cut_character(cut, span);
        } else {
            decoder.finish(&mut text);
        }
        text
    }

    /// Checks whether a header has more text than headers have. The text is then the content of a message without
    /// `<|message|>`.
    ///
    /// The next check comes when the text may be long enough, at the latest when the header has doubled, so the total
    /// cost is linear in its length.
    pub(super) fn open_long_header(&mut self, index: usize) {
        let State::Header(header) = &mut self.state else { return };
        let length = index + 1 - header.body();
        if length < header.next_check {
            return;
        }
        let header = header.clone();
        let repaired = self.read_header(&header, index + 1, HeaderEnd::Open);
        let next_check = self.next_check(&header, &repaired, length);
        if length >= next_check {
            self.open_without_message(&header, repaired, index);
        } else if let State::Header(header) = &mut self.state {
            header.next_check = next_check;
        }
    }

    /// The number of tokens at which a header may have more text than headers have. A marker after the text means that
    /// the header continues, so the count restarts after the first one.
    fn next_check(&self, header: &HeaderState, repaired: &Repaired, length: usize) -> usize {
        if repaired.content.is_empty() {
            return length * 2;
        }
        let text = &self.tokens[header.body() + repaired.content_from..];
        let is_marker = |token: &u32| matches!(*token, special::CHANNEL | special::CONSTRAIN);
        let behind_marker = text.iter().position(is_marker).map_or(0, |at| at + 1);
        repaired.content_from + behind_marker + HELD_AT_MOST + 1
    }

    fn open_without_message(&mut self, header: &HeaderState, repaired: Repaired, index: usize) {
        let kind = missing_part(&repaired, HeaderEnd::Open);
        let from = self.report_cut(header, &repaired, kind, index + 1);
        self.open_content(repaired.header, from);
        if let State::Content(open) = &mut self.state {
            open.headerless = true;
            open.decoder.push(&repaired.content, &mut open.text);
        }
        self.delta = Delta::Open(0);
    }
}

/// What a header without `<|message|>` lacks.
fn missing_part(repaired: &Repaired, ending: HeaderEnd) -> RepairKind {
    match ending {
        _ if repaired.headerless => RepairKind::MissingHeader,
        HeaderEnd::Tokens => RepairKind::TruncatedHeader,
        _ => RepairKind::MissingMessage,
    }
}
