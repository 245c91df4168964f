//! Events, recorded while they happen.

use std::ops::Range;

use super::event::Event;
use super::state::State;
use super::stream::StreamableParser;
use crate::header::Header;

impl StreamableParser {
    pub(super) fn report_start(&mut self, span: Range<usize>, header: &Header) {
        if self.recording {
            let Header { author, channel, recipient, content_type } = header.clone();
            let index = self.messages.len();
            self.events.push(Event::MessageStart {
                span,
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
        if self.recording && open.reported < open.text.len() {
            self.events.push(Event::ContentDelta {
                span: open.uncovered..end,
                index: self.messages.len(),
                text: open.text[open.reported..].to_owned(),
            });
            open.reported = open.text.len();
            open.uncovered = end;
        }
    }

    /// Reports the last tokens of a message if they brought no text: the first bytes of a character
    /// whose other bytes never came.
    pub(super) fn cover_cut_character(&mut self, end: usize) {
        let State::Content(open) = &mut self.state else { return };
        if self.recording && open.uncovered < end {
            let span = open.uncovered..end;
            open.uncovered = end;
            let index = self.messages.len();
            self.events.push(Event::ContentDelta { span, index, text: String::new() });
        }
    }

    pub(super) fn report_end(&mut self, end: usize, stop_token: Option<u32>) {
        if self.recording {
            self.events.push(Event::MessageEnd {
                span: end..end + usize::from(stop_token.is_some()),
                index: self.messages.len() - 1,
                stop_token,
            });
        }
    }
}
