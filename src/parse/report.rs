//! Events, recorded as they happen.
//!
//! Here the grammar's spans are mapped to the fed tokens.

use std::ops::Range;

use super::event::{Event, Repair};
use super::state::State;
use super::stream::StreamableParser;
use crate::chat::Message;

impl StreamableParser {
    pub(super) fn report_start(&mut self, span: Range<usize>, header: &Message) {
        if self.reports.recording {
            let Message { author, channel, recipient, content_type, .. } = header.clone();
            let index = self.message_count();
            self.reports.events.push(Event::MessageStart {
                span: self.spelling.fed_span(span),
                index,
                author,
                channel,
                recipient,
                content_type,
            });
        }
    }

    /// Reports the content that no event has reported yet, in tokens before `end`.
    pub(super) fn report_content(&mut self, end: usize) {
        let State::Content(open) = &mut self.state else { return };
        let end = open.held_from.unwrap_or(end);
        if self.reports.recording && open.reported < open.text.len() {
            let (span, text) = (open.uncovered..end, open.text[open.reported..].to_owned());
            open.reported = open.text.len();
            open.uncovered = end;
            self.report_delta(span, text);
        }
    }

    /// Reports the last tokens of a message if they brought no text: the first bytes of a character
    /// whose other bytes never came.
    pub(super) fn cover_cut_character(&mut self, end: usize) {
        let State::Content(open) = &mut self.state else { return };
        if self.reports.recording && open.uncovered < end {
            let span = open.uncovered..end;
            open.uncovered = end;
            self.report_delta(span, String::new());
        }
    }

    /// Reports text of the message that will be completed next.
    pub(super) fn report_delta(&mut self, span: Range<usize>, text: String) {
        if self.reports.recording {
            let (span, index) = (self.spelling.fed_span(span), self.message_count());
            self.reports.events.push(Event::ContentDelta { span, index, text });
        }
    }

    pub(super) fn report_end(&mut self, end: usize, stop_token: Option<u32>) {
        if self.reports.recording {
            let span = end..end + usize::from(stop_token.is_some());
            self.reports.events.push(Event::MessageEnd {
                span: self.spelling.fed_span(span),
                index: self.message_count() - 1,
                stop_token,
            });
        }
    }

    pub(super) fn report_repair(&mut self, repair: Repair) {
        if self.reports.recording {
            self.reports.events.push(Event::Repair(repair.clone()));
        }
        self.made.repairs.push(repair);
    }
}
