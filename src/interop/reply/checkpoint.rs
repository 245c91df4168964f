//! What a reply needs to continue its stream, without what was already sent, so that its size does not grow.
//!
//! The parser's header tells which message is open, so only the state of its content is here. Checkpoints come from
//! clients, so nothing in them is trusted.

use serde::{Deserialize, Serialize};

use super::arguments::HeldCall;
use super::input::InputDecoder;
use super::route::Route;
use super::sort::{KnownContent, OpenMessage, Sorter};
use super::{BuiltinCall, Reply};
use crate::error::Result;
use crate::interop::answer::{
    Call, Logprobs, PastSegments, Segment, SegmentKind, SegmentState, TextKind,
};
use crate::interop::dialect::Resends;
use crate::json::ObjectText;
use crate::parse::{Checkpoint, Repair, StateData, StreamableParser};
use crate::repair::RepairKind;
use crate::saved::{check, invalid};

/// The state of a reply.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReplyCheckpoint {
    parser: Checkpoint,
    is_open: bool,
    content: KnownContent,
    open: Open,
    past: PastSegments,
    thought_tokens: usize,
    /// Text that may begin a stop string; empty once one was found.
    held: String,
    stopped: Option<String>,
    logprobs: Option<Logprobs>,
}

/// What the open message has become so far.
#[derive(Debug, Serialize, Deserialize)]
enum Open {
    Nothing,
    Text {
        kind: TextKind,
        /// Whether its segment has begun.
        has_begun: bool,
        /// Its text so far, if the end of the stream repeats it.
        said: String,
    },
    Call {
        id: String,
        /// Whether arguments were sent.
        has_begun: bool,
        arguments: ObjectText,
        decoder: Option<InputDecoder>,
    },
    /// A call that is held back, and the first token of its header.
    Held {
        arguments: String,
        header: usize,
    },
    Builtin {
        text: String,
    },
}

/// Whether the dialect repeats such a text at its end.
fn repeats(kind: TextKind, resends: Resends) -> bool {
    kind == TextKind::Thought && resends == Resends::Thoughts
}

impl Reply {
    pub(super) fn checkpoint(&self) -> ReplyCheckpoint {
        let sorter = &self.sorter;
        let parser = self.parser.checkpoint();
        let open = match self.outcome {
            None => sorter.opened(self.dialect.definition().resends),
            Some(_) => Open::Nothing,
        };
        let says_more = match &open {
            Open::Text { kind, .. } => {
                *kind != TextKind::Thought && sorter.visible.stopped.is_none()
            }
            // A held call may become text.
            Open::Held { .. } => true,
            Open::Nothing | Open::Call { .. } | Open::Builtin { .. } => false,
        };
        let logprobs = sorter.visible.logprobs.as_ref();
        ReplyCheckpoint {
            logprobs: logprobs.map(|kept| kept.checkpoint(parser.first_held(), says_more)),
            parser,
            is_open: self.is_open,
            content: sorter.content.clone(),
            open,
            past: sorter.ended(),
            thought_tokens: sorter.made.thought_tokens,
            held: if sorter.visible.stopped.is_some() { "" } else { sorter.visible.stop.held() }
                .to_owned(),
            stopped: sorter.visible.stopped.clone(),
        }
    }

    /// Continues a reply that is at its beginning.
    pub(super) fn resume(&mut self, mut from: ReplyCheckpoint) -> Result<()> {
        self.parser.resume(from.parser)?;
        let sorter = &mut self.sorter;
        let fed = self.parser.fed_count();
        let held_fits = match &from.stopped {
            Some(_) => from.held.is_empty(),
            None => sorter.visible.stop.hold(&from.held),
        };
        let logprobs_fit = match (&mut from.logprobs, &sorter.visible.logprobs) {
            (Some(saved), Some(own)) => saved.resume(own),
            (None, None) => true,
            _ => false,
        };
        check(&[
            ("thought_tokens", from.thought_tokens <= fed),
            ("content", from.content.from <= fed),
            ("past", from.past.is_possible()),
            ("held", held_fits),
            ("logprobs", logprobs_fit),
        ])?;
        self.is_open = from.is_open;
        sorter.writer.resume(from.past);
        if !self.parser.has_events() {
            sorter.prompted = 0;
        }
        // Each call has a segment, and no other segment has an id: not in the APIs with checkpoints.
        let begun = usize::from(matches!(from.open, Open::Call { .. }));
        sorter.made.calls = from.past.calls + begun;
        sorter.ids.resume(sorter.made.calls);
        (sorter.content, sorter.made.thought_tokens) = (from.content, from.thought_tokens);
        (sorter.made.past, sorter.visible.stopped) = (from.past, from.stopped);
        sorter.visible.logprobs = from.logprobs;
        let resends = self.dialect.definition().resends;
        sorter.reopen(from.open, &self.parser, resends)
    }
}

impl Sorter {
    /// Counts of the segments that have ended.
    fn ended(&self) -> PastSegments {
        let ended = self.made.segments.iter().filter(|segment| segment.state != SegmentState::Open);
        ended.fold(self.made.past, PastSegments::with)
    }

    fn opened(&self, resends: Resends) -> Open {
        match &self.open {
            OpenMessage::None => Open::Nothing,
            OpenMessage::Text(kind, segment) => {
                let said = segment.map(|at| &self.made.segments[at].text);
                let said = said.filter(|_| repeats(*kind, resends));
                let has_begun = segment.is_some();
                Open::Text { kind: *kind, has_begun, said: said.cloned().unwrap_or_default() }
            }
            OpenMessage::Call { segment, arguments, decoder } => {
                let segment = &self.made.segments[*segment];
                let id = segment.as_call().map(|call| call.id.clone()).unwrap_or_default();
                let decoder = decoder.as_ref().map(InputDecoder::checkpoint);
                Open::Call { id, has_begun: !segment.is_new(), arguments: *arguments, decoder }
            }
            OpenMessage::Held(call) => {
                Open::Held { arguments: call.arguments.clone(), header: call.report.span.start }
            }
            OpenMessage::Builtin(call) => {
                Open::Builtin { text: self.made.builtin_calls[*call].text.clone() }
            }
        }
    }

    /// Opens the message of this header again.
    fn reopen(&mut self, open: Open, parser: &StreamableParser, resends: Resends) -> Result<()> {
        let mismatch = || invalid("`open` does not fit its other fields");
        let StateData::Content { header, .. } = parser.state_data() else {
            return if matches!(open, Open::Nothing) { Ok(()) } else { Err(mismatch()) };
        };
        let calls = self.made.past.calls;
        let route = self.rules.route(header.author, header.channel, header.recipient, calls);
        let recipient = header.recipient.unwrap_or_default().to_owned();
        self.open = match (open, route) {
            (Open::Nothing, _) => OpenMessage::None,
            (Open::Text { kind, has_begun, said }, Route::Text(_) | Route::CallAsText)
                if said.is_empty() || repeats(kind, resends) && has_begun =>
            {
                let at =
                    has_begun.then(|| self.reopen_segment(SegmentKind::Text(kind), said, true));
                OpenMessage::Text(kind, at)
            }
            (Open::Call { id, has_begun, arguments, decoder }, Route::Call(tool))
                if decoder.as_ref().is_none_or(InputDecoder::is_possible) =>
            {
                let kind = SegmentKind::Call(Call { tool, id, index: calls });
                let segment = self.reopen_segment(kind, String::new(), has_begun);
                OpenMessage::Call { segment, arguments, decoder }
            }
            (Open::Held { arguments, header }, Route::Call(tool))
                if header <= self.content.from =>
            {
                let (kind, span) = (RepairKind::CallAsText, header..self.content.from);
                let report =
                    Repair { kind, span, index: Some(parser.message_count()), text: recipient };
                let mut held = HeldCall::new(tool, report);
                held.arguments = arguments;
                OpenMessage::Held(Box::new(held))
            }
            (Open::Builtin { text }, Route::Builtin) => {
                self.made.builtin_calls.push(BuiltinCall { recipient, text, is_complete: false });
                OpenMessage::Builtin(0)
            }
            _ => return Err(mismatch()),
        };
        Ok(())
    }

    fn reopen_segment(&mut self, kind: SegmentKind, text: String, has_past: bool) -> usize {
        self.made.segments.push(Segment { text, has_past, ..Segment::new(kind, String::new()) });
        self.made.segments.len() - 1
    }
}
