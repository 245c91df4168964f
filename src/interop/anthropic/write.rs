//! Segments -> events, and a message.

use serde_json::Map;

use crate::interop::answer::{
    AnswerState, Delta, Head, Members, Outcome, PastSegments, Segment, SegmentKind, Sink, TextKind,
    Usage, Writer, write_object,
};
use crate::interop::body::parse_arguments;
use crate::interop::thought_blob::write_thought;
use crate::interop::{FinishReason, Json, ThoughtDisplay, Turn};

/// Writes Anthropic's messages.
#[derive(Debug)]
pub(super) struct Anthropic {
    head: Head,
    thoughts: ThoughtDisplay,
    /// The index of the block that is open or begins next.
    index: usize,
}

impl Anthropic {
    pub(super) fn new(head: Head, turn: &Turn) -> Self {
        Self { head, thoughts: turn.answer.thought_display, index: 0 }
    }

    fn is_shown(&self, segment: &Segment) -> bool {
        !segment.is_thought() || self.thoughts != ThoughtDisplay::Hidden
    }

    /// Writes a segment as a block; an empty segment as the block's beginning.
    fn write_block(&self, segment: &Segment, block: &mut Members<'_>) {
        let text = &segment.text;
        match &segment.kind {
            SegmentKind::Text(TextKind::Thought) => {
                let is_shown = self.thoughts == ThoughtDisplay::Shown;
                block.text("type", "thinking").text("thinking", if is_shown { text } else { "" });
                let signature = Some(text).filter(|text| !text.is_empty());
                block.text(
                    "signature",
                    &signature.map_or(String::new(), |text| write_thought(text)),
                );
            }
            SegmentKind::Text(_) => {
                block.text("type", "text").text("text", text);
            }
            // `Sorter` makes calls only of objects.
            SegmentKind::Call(call) => {
                block.text("type", "tool_use").text("id", &call.id).text("name", &call.tool.name);
                let none = || Json::from(Map::new());
                block.value("input", &parse_arguments(text).unwrap_or_else(none));
                if let Some(toolset) = &call.tool.namespace {
                    block.text("toolset_name", toolset);
                }
            }
        }
    }

    /// Sends more of the open block.
    fn push_delta(&self, kind: &str, field: &str, text: &str, sink: &mut Sink<'_>) {
        sink.event("content_block_delta", |event| {
            event.value("index", &self.index).object("delta", |delta| {
                delta.text("type", kind).text(field, text);
            });
        });
    }

    /// Writes the message with these blocks.
    fn write_message(
        &self,
        blocks: &[&Segment],
        state: &AnswerState<'_>,
        message: &mut Members<'_>,
    ) {
        message.text("id", &self.head.id).text("type", "message").text("role", "assistant");
        message.text("model", &self.head.model);
        message.objects("content", blocks, |block, members| self.write_block(block, members));
        write_stop(state, message);
        message.object("usage", |usage| write_usage(state.usage, usage));
    }
}

impl Writer for Anthropic {
    fn open(&mut self, usage: Usage, sink: &mut Sink<'_>) {
        let state = AnswerState::opening(usage);
        sink.event("message_start", |event| {
            event.object("message", |message| self.write_message(&[], &state, message));
        });
    }

    fn resume(&mut self, past: PastSegments) {
        let thoughts = if self.thoughts == ThoughtDisplay::Hidden { 0 } else { past.thoughts };
        self.index = thoughts + past.texts + past.calls;
    }

    fn begin(&mut self, _index: usize, segment: &Segment, sink: &mut Sink<'_>) {
        if self.is_shown(segment) {
            sink.event("content_block_start", |event| {
                event.value("index", &self.index);
                event.object("content_block", |block| self.write_block(segment, block));
            });
        }
    }

    fn delta(&mut self, _index: usize, segment: &Segment, new: Delta<'_>, sink: &mut Sink<'_>) {
        let (kind, field) = match segment.kind {
            SegmentKind::Call(_) => ("input_json_delta", "partial_json"),
            SegmentKind::Text(TextKind::Thought) if self.thoughts != ThoughtDisplay::Shown => {
                return;
            }
            SegmentKind::Text(TextKind::Thought) => ("thinking_delta", "thinking"),
            SegmentKind::Text(_) => ("text_delta", "text"),
        };
        self.push_delta(kind, field, new.text, sink);
    }

    fn end(&mut self, _index: usize, segment: &Segment, sink: &mut Sink<'_>) {
        if !self.is_shown(segment) {
            return;
        }
        if segment.is_thought() {
            let signature = write_thought(&segment.text);
            self.push_delta("signature_delta", "signature", &signature, sink);
        }
        sink.event("content_block_stop", |event| {
            event.value("index", &self.index);
        });
        self.index += 1;
    }

    fn close(&mut self, state: &AnswerState<'_>, sink: &mut Sink<'_>) {
        sink.event("message_delta", |event| {
            event.object("delta", |delta| write_stop(state, delta));
            event.object("usage", |usage| write_usage(state.usage, usage));
        });
        sink.event("message_stop", |_| {});
    }

    fn response(&self, state: &AnswerState<'_>, bytes: &mut Vec<u8>) {
        let shown = state.segments.iter().filter(|segment| self.is_shown(segment));
        let blocks: Vec<&Segment> = shown.collect();
        write_object(bytes, |message| self.write_message(&blocks, state, message));
    }
}

/// Writes why the message ended; null while it is under way.
fn write_stop(state: &AnswerState<'_>, members: &mut Members<'_>) {
    let reason = |outcome: &Outcome| match outcome.reason {
        _ if outcome.stop_sequence.is_some() => "stop_sequence",
        FinishReason::Length | FinishReason::Abort => "max_tokens",
        FinishReason::Stop if state.has_whole_call() => "tool_use",
        FinishReason::Stop => "end_turn",
    };
    members.value("stop_reason", &state.outcome.map(reason));
    let stop_sequence = state.outcome.and_then(|outcome| outcome.stop_sequence.as_deref());
    members.value("stop_sequence", &stop_sequence);
}

fn write_usage(usage: Usage, members: &mut Members<'_>) {
    members.value("input_tokens", &usage.prompt_tokens.saturating_sub(usage.cached_tokens));
    // How many tokens are newly cached is unknown.
    members.value("cache_creation_input_tokens", &0);
    members.value("cache_read_input_tokens", &usage.cached_tokens);
    members.value("output_tokens", &usage.completion_tokens);
    members.object("output_tokens_details", |details| {
        details.value("thinking_tokens", &usage.reasoning_tokens);
    });
}
