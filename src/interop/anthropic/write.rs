//! Steps -> events, segments -> a message.

use super::event::{
    BlockDelta, ContentBlock, MessageEvent, MessageObject, MessageUsage, StopDelta,
};
use crate::interop::answer::{
    Arguments, Call, Head, Segment, Sink, State, Step, Text, TextKind, Usage, Writer, whole_calls,
};
use crate::interop::carried::carry_thought;
use crate::interop::{FinishReason, Thoughts, Turn};

/// Writes Anthropic's messages.
#[derive(Debug)]
pub(in crate::interop) struct Anthropic {
    head: Head,
    thoughts: Thoughts,
    /// The index of the block that is open or begins next.
    index: usize,
}

impl Anthropic {
    pub(in crate::interop) fn new(head: Head, turn: &Turn) -> Self {
        Self { head, thoughts: turn.answer.thoughts, index: 0 }
    }

    fn is_shown(&self, segment: &Segment) -> bool {
        match segment {
            Segment::Text(Text { kind: TextKind::Thought, .. }) => {
                self.thoughts != Thoughts::Hidden
            }
            Segment::Text(_) | Segment::Call(_) => true,
        }
    }

    /// A block as it begins.
    fn empty_block(segment: &Segment) -> ContentBlock {
        match segment {
            Segment::Text(Text { kind: TextKind::Thought, .. }) => {
                ContentBlock::Thinking { thinking: String::new(), signature: String::new() }
            }
            Segment::Text(_) => ContentBlock::Text { text: String::new() },
            Segment::Call(call) => tool_use(call, Arguments::default()),
        }
    }

    fn whole_block(&self, segment: &Segment) -> ContentBlock {
        match segment {
            Segment::Text(Text { kind: TextKind::Thought, text, .. }) => {
                let is_shown = self.thoughts == Thoughts::Shown;
                let thinking = if is_shown { text.clone() } else { String::new() };
                ContentBlock::Thinking { thinking, signature: carry_thought(text) }
            }
            Segment::Text(text) => ContentBlock::Text { text: text.text.clone() },
            // What `Sorter` makes a call of is an object.
            Segment::Call(call) => {
                tool_use(call, Arguments::read(&call.arguments).unwrap_or_default())
            }
        }
    }

    fn delta(&self, segment: &Segment, new: String) -> Option<BlockDelta> {
        Some(match segment {
            Segment::Text(Text { kind: TextKind::Thought, .. }) => {
                if self.thoughts == Thoughts::Omitted {
                    return None;
                }
                BlockDelta::ThinkingDelta { thinking: new }
            }
            Segment::Text(_) => BlockDelta::TextDelta { text: new },
            Segment::Call(_) => BlockDelta::InputJsonDelta { partial_json: new },
        })
    }

    fn message(&self, content: Vec<ContentBlock>, usage: Usage, stop: StopDelta) -> MessageObject {
        MessageObject {
            id: self.head.id.clone(),
            kind: "message",
            role: "assistant",
            model: self.head.model.clone(),
            content,
            stop_reason: stop.stop_reason,
            stop_sequence: stop.stop_sequence,
            usage: usage.into(),
        }
    }
}

impl Writer for Anthropic {
    type Chunk = MessageEvent;
    type Response = MessageObject;

    fn open(
        &mut self,
        prompt_tokens: usize,
        cached_tokens: usize,
        chunks: &mut dyn Sink<MessageEvent>,
    ) {
        let usage = Usage { prompt_tokens, cached_tokens, ..Usage::default() };
        let stop = StopDelta { stop_reason: None, stop_sequence: None };
        let message = self.message(Vec::new(), usage, stop);
        chunks.push(MessageEvent::MessageStart { message });
    }

    fn step(&mut self, step: Step, segments: &[Segment], chunks: &mut dyn Sink<MessageEvent>) {
        let index = self.index;
        let (Step::Begin(segment) | Step::Delta(segment, _) | Step::End(segment)) = &step;
        let segment = &segments[*segment];
        if !self.is_shown(segment) {
            return;
        }
        let mut push_delta = |delta| {
            chunks.push(MessageEvent::ContentBlockDelta { index, delta });
        };
        match step {
            Step::Begin(_) => {
                let content_block = Self::empty_block(segment);
                let event = MessageEvent::ContentBlockStart { index, content_block };
                chunks.push(event);
            }
            Step::Delta(_, new) => {
                if let Some(delta) = self.delta(segment, new.text) {
                    push_delta(delta);
                }
            }
            Step::End(_) => {
                if let Segment::Text(Text { kind: TextKind::Thought, text, .. }) = segment {
                    push_delta(BlockDelta::SignatureDelta { signature: carry_thought(text) });
                }
                chunks.push(MessageEvent::ContentBlockStop { index });
                self.index += 1;
            }
        }
    }

    fn close(&mut self, state: &State<'_>, chunks: &mut dyn Sink<MessageEvent>) {
        let (delta, usage) = (stop(state), state.usage.into());
        chunks.push(MessageEvent::MessageDelta { delta, usage });
        chunks.push(MessageEvent::MessageStop);
    }

    fn response(&self, state: &State<'_>) -> MessageObject {
        let shown = state.segments.iter().filter(|segment| self.is_shown(segment));
        let content = shown.map(|segment| self.whole_block(segment)).collect();
        self.message(content, state.usage, stop(state))
    }
}

/// Why the message ended.
fn stop(state: &State<'_>) -> StopDelta {
    let Some(outcome) = state.outcome else {
        return StopDelta { stop_reason: None, stop_sequence: None };
    };
    let stop_reason = match outcome.reason {
        _ if outcome.stop_sequence.is_some() => "stop_sequence",
        FinishReason::Length | FinishReason::Abort => "max_tokens",
        FinishReason::Stop if whole_calls(state.segments).next().is_some() => "tool_use",
        FinishReason::Stop => "end_turn",
    };
    StopDelta { stop_reason: Some(stop_reason), stop_sequence: outcome.stop_sequence.clone() }
}

fn tool_use(call: &Call, input: Arguments) -> ContentBlock {
    ContentBlock::ToolUse { id: call.call_id.clone(), name: call.name.clone(), input }
}

impl From<Usage> for MessageUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.prompt_tokens.saturating_sub(usage.cached_tokens),
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: usage.cached_tokens,
            output_tokens: usage.completion_tokens,
        }
    }
}
