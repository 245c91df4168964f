//! Lenient parsing: what to do where the tokens leave the grammar.
//!
//! Nothing here raises, and every token ends up in a message or in a repair. The header's own
//! damage is mended in `header/mend.rs`.

use std::ops::Range;

use super::event::{Event, Repair};
use super::grammar::is_stop;
use super::state::{Begin, Delta, HeaderState, State};
use super::stream::StreamableParser;
use crate::chat::{CHANNELS, Role};
use crate::header::{Ending, Mended, TO, mend};
use crate::repair::RepairKind;
use crate::tokenizer::special;

/// How many tokens behind a `<|channel|>` inside content may pass before it is taken as text.
/// A header is rarely longer than ten; until then the content's text is held back.
const HELD_AT_MOST: usize = 32;

/// Between messages.
impl StreamableParser {
    /// A token other than `<|start|>` where one is due.
    pub(super) fn stray(&mut self, token: u32, index: usize) {
        match token {
            special::CHANNEL | special::MESSAGE => self.begin_implied(token, index),
            _ if is_stop(token) => {
                self.report_stray(index);
                self.repair(RepairKind::StrayStop, index..index + 1, None);
            }
            special::ENDOFTEXT => {
                self.report_stray(index);
                self.repair(RepairKind::EndOfText, index..index + 1, None);
            }
            _ => {
                if let State::Start { stray_from } = &mut self.state {
                    stray_from.get_or_insert(index);
                }
            }
        }
    }

    /// A header without its `<|start|>`. Stray text that reads as the header's beginning, a role
    /// or a recipient, belongs to it.
    fn begin_implied(&mut self, token: u32, index: usize) {
        let mut from = index;
        if let State::Start { stray_from: Some(stray) } = self.state {
            let text = self.text_of(stray..index);
            let word = text.split_ascii_whitespace().next().unwrap_or_default();
            if Role::try_from(word).is_ok() || word.starts_with(TO) {
                from = stray;
            } else {
                self.report_stray(index);
            }
        }
        self.state = State::Header(HeaderState::new(from, Begin::Unmarked));
        self.header_token(token, index);
    }

    fn header_token(&mut self, token: u32, index: usize) {
        // Lenient parsing has no errors: the result is empty.
        let _never = self.on_header(token, index);
    }

    /// Ends a run of stray tokens and tells of it.
    pub(super) fn report_stray(&mut self, end: usize) {
        if let State::Start { stray_from } = &mut self.state
            && let Some(from) = stray_from.take()
        {
            self.repair(RepairKind::StrayText, from..end, None);
        }
    }

    pub(super) fn repair(&mut self, kind: RepairKind, span: Range<usize>, index: Option<usize>) {
        let text = self.text_of(span.clone());
        let repair = Repair { kind, span, index, text };
        if self.recording {
            self.events.push(Event::Repair(repair.clone()));
        }
        self.repairs.push(repair);
    }
}

/// Headers.
impl StreamableParser {
    /// A token that strict parsing might refuse in a header. Those that do not end the header
    /// stay in it, for its words to be told apart at its end.
    pub(super) fn mend_header(&mut self, token: u32, index: usize) {
        if is_stop(token) || token == special::ENDOFTEXT {
            self.cut_header(RepairKind::MissingMessage, index, Some(token));
        } else if token == special::START {
            self.cut_header(RepairKind::DuplicateStart, index, None);
            self.state = State::Header(HeaderState::new(index, Begin::Start));
        }
    }

    /// `<|message|>`: opens the message of a header that may be damaged.
    pub(super) fn open_mended(&mut self, header: &HeaderState, index: usize) {
        let mended = self.mend(header, Ending::Message);
        let message = self.messages.len();
        self.open(header.from, index, mended.header);
        self.repair_header(header, mended.repairs, message);
    }

    fn mend(&self, header: &HeaderState, ending: Ending) -> Mended {
        let given = self.given_role.or(header.implied_role());
        mend(&self.words, given, header.names_author(), ending)
    }

    fn repair_header(
        &mut self,
        header: &HeaderState,
        repairs: Vec<(RepairKind, Range<usize>)>,
        message: usize,
    ) {
        let body = header.body();
        if header.begin == Begin::Unmarked {
            self.repair(RepairKind::MissingStart, header.from..header.from + 1, Some(message));
        }
        for (kind, tokens) in repairs {
            self.repair(kind, body + tokens.start..body + tokens.end, Some(message));
        }
    }

    /// A header that ends before `end` without `<|message|>`: a message, if it says anything
    /// beyond its author, else only a repair.
    fn cut_header(&mut self, kind: RepairKind, end: usize, stop: Option<u32>) {
        let state = std::mem::replace(&mut self.state, State::Start { stray_from: None });
        let State::Header(header) = state else { return };
        self.words.split(self.tokenizer, &self.tokens[header.body()..end]);
        let mended = self.mend(&header, Ending::Cut);
        if mended.says_something {
            let kind = match kind {
                RepairKind::DuplicateStart => RepairKind::MissingMessage,
                kind => kind,
            };
            return self.complete_cut(kind, &header, mended, end, stop);
        }
        let past = end + usize::from(stop.is_some());
        let kind = match stop {
            Some(special::ENDOFTEXT) if header.from == end => RepairKind::EndOfText,
            Some(_) if header.from == end => RepairKind::StrayStop,
            _ => kind,
        };
        if header.from < past {
            self.repair(kind, header.from..past, None);
        }
    }

    /// The end of the tokens inside a header.
    pub(super) fn cut_header_at_end(&mut self, end: usize) {
        self.cut_header(RepairKind::TruncatedHeader, end, None);
    }

    fn complete_cut(
        &mut self,
        kind: RepairKind,
        header: &HeaderState,
        mended: Mended,
        end: usize,
        stop: Option<u32>,
    ) {
        self.given_role = None;
        let message = self.messages.len();
        let content_from = header.body() + mended.content_from;
        self.report_start(header.from..content_from, &mended.header);
        self.repair_header(header, mended.repairs, message);
        self.repair(kind, content_from..end, Some(message));
        if !mended.content.is_empty() {
            self.delta = Delta::Complete(0);
            if self.recording {
                self.events.push(Event::ContentDelta {
                    span: content_from..end,
                    index: message,
                    text: mended.content.clone(),
                });
            }
        }
        if stop == Some(special::ENDOFTEXT) {
            self.repair(RepairKind::EndOfText, end..end + 1, Some(message));
        }
        self.complete(mended.header.into_message(), mended.content);
        self.report_end(end, stop);
    }
}

/// Content.
impl StreamableParser {
    /// A token inside content that may be no content. Says whether it was dealt with.
    pub(super) fn mend_content(&mut self, token: u32, index: usize) -> bool {
        if self.held_from().is_some() {
            return self.mend_held(token, index);
        }
        match token {
            special::START => {
                self.end_early(index);
                self.state = State::Header(HeaderState::new(index, Begin::Start));
            }
            special::CHANNEL => self.hold_from(index),
            special::ENDOFTEXT => {
                self.repair(RepairKind::EndOfText, index..index + 1, Some(self.messages.len()));
                self.close(index, Some(token));
            }
            _ => return self.replace_unknown(token, index),
        }
        true
    }

    /// The message ends before `end`, where another begins.
    fn end_early(&mut self, end: usize) {
        self.repair(RepairKind::MissingEnd, end..end, Some(self.messages.len()));
        self.close(end, None);
    }

    /// An id without text becomes U+FFFD.
    fn replace_unknown(&mut self, token: u32, index: usize) -> bool {
        if self.tokenizer.token_bytes(token).is_some() {
            return false;
        }
        if let State::Content(open) = &mut self.state {
            let before = open.text.len();
            open.decoder.finish(&mut open.text);
            open.text.push(char::REPLACEMENT_CHARACTER);
            self.delta.begin_at(before);
        }
        self.repair(RepairKind::UnknownToken, index..index + 1, Some(self.messages.len()));
        true
    }

    fn held_from(&self) -> Option<usize> {
        match &self.state {
            State::Content(open) => open.held_from,
            _ => None,
        }
    }

    /// Holds back what follows `<|channel|>` until it is known whether a header began.
    fn hold_from(&mut self, index: usize) {
        if let State::Content(open) = &mut self.state {
            open.held_from = Some(index);
        }
    }

    /// A token behind a `<|channel|>` inside content. A known channel or `<|message|>` makes it
    /// a header; any other structure, or too many tokens, makes it text.
    fn mend_held(&mut self, token: u32, index: usize) -> bool {
        let Some(from) = self.held_from() else { return false };
        let word = self.text_of(from + 1..index + 1);
        let is_header = token == special::MESSAGE
            || CHANNELS.iter().any(|channel| word.trim_ascii_start().starts_with(channel));
        if is_header {
            self.begin_held_header(from, index);
            return true;
        }
        let is_special = self.tokenizer.is_special_token(token);
        if is_special && token != special::CONSTRAIN || index - from >= HELD_AT_MOST {
            self.release_held(index);
            return self.mend_content(token, index);
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

    /// What was held back is text after all.
    pub(super) fn release_held(&mut self, end: usize) {
        let State::Content(open) = &mut self.state else { return };
        let Some(from) = open.held_from.take() else { return };
        for at in from..end {
            let token = self.tokens[at];
            if !self.replace_unknown(token, at) {
                self.push_content(token);
            }
        }
    }
}
