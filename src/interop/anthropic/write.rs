//! Steps -> events, segments -> a message.

use serde_json::Map;

use crate::interop::answer::{
    Call, Head, Members, Outcome, Segment, Sink, State, Step, Text, TextKind, Usage, Writer,
    whole_calls, write_object,
};
use crate::interop::body::parse_arguments;
use crate::interop::thought_blob::write_thought;
use crate::interop::{FinishReason, Json, Thoughts, Turn};

/// Writes Anthropic's messages.
#[derive(Debug)]
pub(super) struct Anthropic {
    head: Head,
    thoughts: Thoughts,
    /// The index of the block that is open or begins next.
    index: usize,
}

impl Anthropic {
    pub(super) fn new(head: Head, turn: &Turn) -> Self {
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

    fn write_whole_block(&self, segment: &Segment, block: &mut Members<'_>) {
        match segment {
            Segment::Text(Text { kind: TextKind::Thought, text, .. }) => {
                let is_shown = self.thoughts == Thoughts::Shown;
                block.text("type", "thinking").text("thinking", if is_shown { text } else { "" });
                block.text("signature", &write_thought(text));
            }
            Segment::Text(text) => {
                block.text("type", "text").text("text", &text.text);
            }
            // What `Sorter` makes a call of is an object.
            Segment::Call(call) => {
                write_call(call, &parse_arguments(&call.arguments).unwrap_or_else(none), block);
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
    fn write_message(&self, blocks: &[&Segment], state: &State<'_>, message: &mut Members<'_>) {
        message.text("id", &self.head.id).text("type", "message").text("role", "assistant");
        message.text("model", &self.head.model);
        message.objects("content", blocks, |block, members| self.write_whole_block(block, members));
        write_stop(state, message);
        message.object("usage", |usage| write_usage(state.usage, usage));
    }
}

impl Writer for Anthropic {
    fn open(&mut self, usage: Usage, sink: &mut Sink<'_>) {
        let state = State { segments: &[], usage, outcome: None };
        sink.event("message_start", |event| {
            event.object("message", |message| self.write_message(&[], &state, message));
        });
    }

    fn step(&mut self, step: Step, segments: &[Segment], sink: &mut Sink<'_>) {
        let (Step::Begin(segment) | Step::Delta(segment, _) | Step::End(segment)) = &step;
        let segment = &segments[*segment];
        if !self.is_shown(segment) {
            return;
        }
        let thought = match segment {
            Segment::Text(Text { kind: TextKind::Thought, text, .. }) => Some(text),
            Segment::Text(_) | Segment::Call(_) => None,
        };
        match step {
            Step::Begin(_) => sink.event("content_block_start", |event| {
                event.value("index", &self.index);
                event.object("content_block", |block| write_empty_block(segment, block));
            }),
            Step::Delta(_, new) => match segment {
                Segment::Call(_) => {
                    self.push_delta("input_json_delta", "partial_json", &new.text, sink);
                }
                Segment::Text(_) if thought.is_none() => {
                    self.push_delta("text_delta", "text", &new.text, sink);
                }
                Segment::Text(_) if self.thoughts == Thoughts::Omitted => {}
                Segment::Text(_) => {
                    self.push_delta("thinking_delta", "thinking", &new.text, sink);
                }
            },
            Step::End(_) => {
                if let Some(text) = thought {
                    self.push_delta("signature_delta", "signature", &write_thought(text), sink);
                }
                sink.event("content_block_stop", |event| {
                    event.value("index", &self.index);
                });
                self.index += 1;
            }
        }
    }

    fn close(&mut self, state: &State<'_>, sink: &mut Sink<'_>) {
        sink.event("message_delta", |event| {
            event.object("delta", |delta| write_stop(state, delta));
            event.object("usage", |usage| write_usage(state.usage, usage));
        });
        sink.event("message_stop", |_| {});
    }

    fn response(&self, state: &State<'_>, bytes: &mut Vec<u8>) {
        let shown = state.segments.iter().filter(|segment| self.is_shown(segment));
        let blocks: Vec<&Segment> = shown.collect();
        write_object(bytes, |message| self.write_message(&blocks, state, message));
    }
}

/// Writes a block as it begins.
fn write_empty_block(segment: &Segment, block: &mut Members<'_>) {
    match segment {
        Segment::Text(Text { kind: TextKind::Thought, .. }) => {
            block.text("type", "thinking").text("thinking", "").text("signature", "");
        }
        Segment::Text(_) => {
            block.text("type", "text").text("text", "");
        }
        Segment::Call(call) => write_call(call, &none(), block),
    }
}

/// No arguments: `{}`.
fn none() -> Json {
    Map::new().into()
}

fn write_call(call: &Call, input: &Json, block: &mut Members<'_>) {
    block.text("type", "tool_use").text("id", &call.call_id).text("name", &call.name);
    block.value("input", input);
}

/// Writes why the message ended; null while it is under way.
fn write_stop(state: &State<'_>, members: &mut Members<'_>) {
    let reason = |outcome: &Outcome| match outcome.reason {
        _ if outcome.stop_sequence.is_some() => "stop_sequence",
        FinishReason::Length | FinishReason::Abort => "max_tokens",
        FinishReason::Stop if whole_calls(state.segments).next().is_some() => "tool_use",
        FinishReason::Stop => "end_turn",
    };
    members.value("stop_reason", &state.outcome.map(reason));
    let stop_sequence = state.outcome.and_then(|outcome| outcome.stop_sequence.as_deref());
    members.value("stop_sequence", &stop_sequence);
}

fn write_usage(usage: Usage, members: &mut Members<'_>) {
    members.value("input_tokens", &usage.prompt_tokens.saturating_sub(usage.cached_tokens));
    // What is newly cached is not known.
    members.value("cache_creation_input_tokens", &0);
    members.value("cache_read_input_tokens", &usage.cached_tokens);
    members.value("output_tokens", &usage.completion_tokens);
    members.object("output_tokens_details", |details| {
        details.value("thinking_tokens", &usage.reasoning_tokens);
    });
}
