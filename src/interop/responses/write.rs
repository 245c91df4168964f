//! Steps -> events, segments -> a response.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::interop::answer::{
    Call, Delta, Head, Members, Outcome, Segment, SegmentState, Sink, State, Step, Text, TextKind,
    Usage, Writer, write_object,
};
use crate::interop::thought_blob::write_thought;
use crate::interop::{FinishReason, Turn};

/// Writes responses. An item has the index of its segment.
#[derive(Debug)]
pub(super) struct Responses {
    head: Head,
    /// The fields that no token changes.
    fixed: Map<String, Value>,
    encrypted_thoughts: bool,
    next_number: u64,
}

impl Responses {
    pub(super) fn new(head: Head, turn: &Turn) -> Self {
        let fixed = fixed_fields(&head, turn);
        Self { head, fixed, encrypted_thoughts: turn.answer.encrypted_thoughts, next_number: 0 }
    }

    /// Sends an event with its number in the stream.
    fn push(
        &mut self,
        name: &str,
        sink: &mut Sink<'_>,
        write: impl FnOnce(&Self, &mut Members<'_>),
    ) {
        sink.event(name, |event| {
            event.value("sequence_number", &self.next_number);
            write(self, event);
        });
        self.next_number += 1;
    }

    /// Sends an event with the response as it stands.
    fn push_response(&mut self, name: &str, state: &State<'_>, sink: &mut Sink<'_>) {
        self.push(name, sink, |writer, event| {
            event.object("response", |response| {
                writer.write_response(state, state.outcome.map(|_| state.usage), response);
            });
        });
    }

    fn write_response(&self, state: &State<'_>, usage: Option<Usage>, response: &mut Members<'_>) {
        let reason = state.outcome.map(|outcome| outcome.reason);
        response.text("id", &self.head.id).text("object", "response");
        response.value("created_at", &self.head.created);
        let completed_at = |outcome: &Outcome| {
            self.head.created + outcome.durations.iter().sum::<Duration>().as_secs()
        };
        let completed = state.outcome.filter(|outcome| outcome.reason == FinishReason::Stop);
        response.value("completed_at", &completed.map(completed_at));
        let (status, error, details) = match reason {
            None => (IN_PROGRESS, Value::Null, Value::Null),
            Some(FinishReason::Stop) => ("completed", Value::Null, Value::Null),
            Some(FinishReason::Length) => {
                ("incomplete", Value::Null, json!({"reason": "max_output_tokens"}))
            }
            Some(FinishReason::Abort) => {
                ("failed", json!({"code": "server_error", "message": ABORTED}), Value::Null)
            }
        };
        response.text("status", status).value("error", &error);
        response.value("incomplete_details", &details);
        for (name, value) in &self.fixed {
            response.value(name, value);
        }
        response.objects("output", state.segments, |segment, item| {
            self.write_item(segment, status_of(segment), segment.text(), item);
        });
        response.value("usage", &usage.map(usage_of));
    }

    /// Writes a segment as an item with this status, and this text or these arguments.
    fn write_item(&self, segment: &Segment, status: &str, text: &str, item: &mut Members<'_>) {
        match segment {
            Segment::Text(of) => self.write_text_item(of, status, text, item),
            Segment::Call(call) => write_call_item(call, status, text, item),
        }
    }

    fn write_text_item(&self, of: &Text, status: &str, text: &str, item: &mut Members<'_>) {
        let parts = if text.is_empty() { None } else { Some(text) };
        let phase = match of.kind {
            TextKind::Thought => {
                item.text("type", "reasoning").text("id", &of.id).value("summary", &NOTHING);
                item.objects("content", parts, |text, part| write_part(of, text, part));
                if self.encrypted_thoughts && !text.is_empty() {
                    item.text("encrypted_content", &write_thought(text));
                }
                item.text("status", status);
                return;
            }
            TextKind::Preamble => "commentary",
            TextKind::Answer => "final_answer",
        };
        item.text("type", "message").text("id", &of.id).text("role", "assistant");
        item.text("status", status).text("phase", phase);
        item.objects("content", parts, |text, part| write_part(of, text, part));
    }

    fn begin(&mut self, index: usize, segment: &Segment, sink: &mut Sink<'_>) {
        self.push("response.output_item.added", sink, |writer, event| {
            event.value("output_index", &index).object("item", |item| {
                // Whatever else the same tokens did to it.
                writer.write_item(segment, IN_PROGRESS, "", item);
            });
        });
        if let Segment::Text(text) = segment {
            self.push("response.content_part.added", sink, |_, event| {
                write_place(&text.id, index, true, event);
                event.object("part", |part| write_part(text, "", part));
            });
        }
    }

    fn delta(&mut self, index: usize, segment: &Segment, delta: &Delta, sink: &mut Sink<'_>) {
        let (id, name, logprobs) = match segment {
            Segment::Text(of) if of.kind == TextKind::Thought => {
                (&of.id, "response.reasoning_text.delta", None)
            }
            Segment::Text(of) => {
                (&of.id, "response.output_text.delta", Some(of.new_logprobs(delta)))
            }
            Segment::Call(call) if call.is_custom => {
                (&call.id, "response.custom_tool_call_input.delta", None)
            }
            Segment::Call(call) => (&call.id, "response.function_call_arguments.delta", None),
        };
        self.push(name, sink, |_, event| {
            write_place(id, index, segment.as_call().is_none(), event);
            event.text("delta", &delta.text);
            if let Some(logprobs) = logprobs {
                event.value("logprobs", logprobs);
            }
        });
    }

    fn end(&mut self, index: usize, segment: &Segment, sink: &mut Sink<'_>) {
        match segment {
            Segment::Text(text) => self.end_text(index, text, sink),
            // Clients run a call when its item is done: one that was cut off never is.
            Segment::Call(call) if call.state == SegmentState::Cut => return,
            Segment::Call(call) => self.end_arguments(index, call, sink),
        }
        self.push("response.output_item.done", sink, |writer, event| {
            event.value("output_index", &index).object("item", |item| {
                writer.write_item(segment, status_of(segment), segment.text(), item);
            });
        });
    }

    fn end_text(&mut self, index: usize, of: &Text, sink: &mut Sink<'_>) {
        let is_thought = of.kind == TextKind::Thought;
        let name = if is_thought { "reasoning_text" } else { "output_text" };
        self.push(&format!("response.{name}.done"), sink, |_, event| {
            write_place(&of.id, index, true, event);
            event.text("text", &of.text);
            if !is_thought {
                event.value("logprobs", &of.logprobs);
            }
        });
        self.push("response.content_part.done", sink, |_, event| {
            write_place(&of.id, index, true, event);
            event.object("part", |part| write_part(of, &of.text, part));
        });
    }

    fn end_arguments(&mut self, index: usize, call: &Call, sink: &mut Sink<'_>) {
        let kind =
            if call.is_custom { "custom_tool_call_input" } else { "function_call_arguments" };
        self.push(&format!("response.{kind}.done"), sink, |_, event| {
            write_place(&call.id, index, false, event);
            if call.is_custom {
                event.text("input", &call.arguments);
            } else {
                event.text("name", &call.name).text("arguments", &call.arguments);
            }
        });
    }
}

impl Writer for Responses {
    fn open(&mut self, usage: Usage, sink: &mut Sink<'_>) {
        let state = State { segments: &[], usage, outcome: None };
        self.push_response("response.created", &state, sink);
        self.push_response("response.in_progress", &state, sink);
    }

    fn step(&mut self, step: Step, segments: &[Segment], sink: &mut Sink<'_>) {
        match step {
            Step::Begin(index) => self.begin(index, &segments[index], sink),
            Step::Delta(index, new) => self.delta(index, &segments[index], &new, sink),
            Step::End(index) => self.end(index, &segments[index], sink),
        }
    }

    fn close(&mut self, state: &State<'_>, sink: &mut Sink<'_>) {
        let name = match state.outcome.map_or(FinishReason::Abort, |outcome| outcome.reason) {
            FinishReason::Stop => "response.completed",
            FinishReason::Length => "response.incomplete",
            FinishReason::Abort => "response.failed",
        };
        self.push_response(name, state, sink);
    }

    fn response(&self, state: &State<'_>, bytes: &mut Vec<u8>) {
        write_object(bytes, |response| self.write_response(state, Some(state.usage), response));
    }
}

const IN_PROGRESS: &str = "in_progress";

fn status_of(segment: &Segment) -> &'static str {
    match segment.state() {
        SegmentState::Open => IN_PROGRESS,
        SegmentState::Whole => "completed",
        SegmentState::Cut => "incomplete",
    }
}

const ABORTED: &str = "The answer was aborted before its end.";

/// A list that is always empty.
const NOTHING: [(); 0] = [];

/// Writes where an event belongs: its item, and the part, if the item has parts.
fn write_place(id: &str, index: usize, has_parts: bool, event: &mut Members<'_>) {
    event.text("item_id", id).value("output_index", &index);
    if has_parts {
        event.value("content_index", &0);
    }
}

fn write_part(of: &Text, text: &str, part: &mut Members<'_>) {
    if of.kind == TextKind::Thought {
        part.text("type", "reasoning_text").text("text", text);
    } else {
        part.text("type", "output_text").text("text", text);
        // Those of a part that begins come with its deltas.
        let logprobs = if text.is_empty() { &[] } else { &of.logprobs[..] };
        part.value("annotations", &NOTHING).value("logprobs", logprobs);
    }
}

fn write_call_item(call: &Call, status: &str, arguments: &str, item: &mut Members<'_>) {
    let kind = if call.is_custom { "custom_tool_call" } else { "function_call" };
    item.text("type", kind).text("id", &call.id).text("call_id", &call.call_id);
    item.text("name", &call.name);
    if let Some(namespace) = &call.namespace {
        item.text("namespace", namespace);
    }
    let field = if call.is_custom { "input" } else { "arguments" };
    item.text(field, arguments).text("status", status);
}

fn usage_of(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.total_tokens(),
    })
}

/// What the response repeats of the request, and what it always has by the specification (Open Responses).
/// Whether it is stored is the server's to decide: it sets `store` in the body.
fn fixed_fields(head: &Head, turn: &Turn) -> Map<String, Value> {
    let defaults = json!({
        "model": head.model,
        "instructions": null,
        "metadata": {},
        "tools": [],
        "tool_choice": "auto",
        "parallel_tool_calls": true,
        "temperature": turn.sampling.temperature,
        "top_p": turn.sampling.top_p,
        "presence_penalty": turn.sampling.presence_penalty.unwrap_or(0.0),
        "frequency_penalty": turn.sampling.frequency_penalty.unwrap_or(0.0),
        "top_logprobs": turn.sampling.logprobs.unwrap_or(0),
        "max_output_tokens": turn.sampling.max_tokens,
        "max_tool_calls": null,
        "previous_response_id": null,
        "reasoning": {"effort": null, "summary": null},
        "text": {"format": {"type": "text"}},
        "truncation": "disabled",
        "store": false,
        "background": false,
        "service_tier": "default",
        "user": null,
        "safety_identifier": null,
        "prompt_cache_key": null,
    });
    let mut fixed = match defaults {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    for (name, value) in &turn.answer.repeated {
        // A null is what a client sends that leaves a field to its default.
        if !value.is_null() && !OWN.contains(&name.as_str()) {
            let value = match value {
                // A request may name a conversation by its id alone.
                Value::String(id) if name == "conversation" => json!({"id": id}),
                value => value.clone(),
            };
            fixed.insert(name.clone(), value);
        }
    }
    fixed
}

/// The fields that the answer decides, whatever the request says.
const OWN: &[&str] = &[
    "id",
    "object",
    "created_at",
    "completed_at",
    "status",
    "error",
    "incomplete_details",
    "model",
    "output",
    "usage",
];
