//! Steps -> events, segments -> a response.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::event::ResponseEvent;
use super::item::{ContentPart, OutputItem};
use crate::interop::answer::{
    Call, Ending, Head, Outcome, Segment, Sink, State, Step, Text, TextKind, Usage, Writer,
};
use crate::interop::carried::carry_thought;
use crate::interop::{FinishReason, Turn};

/// Writes responses. An item has the index of its segment.
#[derive(Debug)]
pub(in crate::interop) struct Responses {
    head: Head,
    /// The fields that no token changes.
    fixed: Map<String, Value>,
    encrypted_thoughts: bool,
    next_number: u64,
}

impl Responses {
    pub(in crate::interop) fn new(head: Head, turn: &Turn) -> Self {
        let fixed = fixed_fields(&head, turn);
        Self { head, fixed, encrypted_thoughts: turn.answer.encrypted_thoughts, next_number: 0 }
    }

    fn number(&mut self) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        number
    }

    /// The response of this status.
    fn object(&self, status: &str, output: &[OutputItem], state: Option<&State<'_>>) -> Value {
        let mut response = Map::with_capacity(self.fixed.len() + 8);
        response.insert("id".to_owned(), json!(*self.head.id));
        response.insert("object".to_owned(), json!("response"));
        response.insert("created_at".to_owned(), json!(self.head.created));
        let outcome = state.and_then(|state| state.outcome);
        let completed_at =
            outcome.filter(|outcome| outcome.reason == FinishReason::Stop).map(|outcome| {
                self.head.created + outcome.durations.iter().sum::<Duration>().as_secs()
            });
        response.insert("completed_at".to_owned(), json!(completed_at));
        response.insert("status".to_owned(), json!(status));
        let (error, details) = match status {
            "failed" => (json!({"code": "server_error", "message": ABORTED}), Value::Null),
            "incomplete" => (Value::Null, json!({"reason": "max_output_tokens"})),
            _ => (Value::Null, Value::Null),
        };
        response.insert("error".to_owned(), error);
        response.insert("incomplete_details".to_owned(), details);
        response.extend(self.fixed.clone());
        response.insert("output".to_owned(), json!(output));
        response.insert("usage".to_owned(), json!(state.map(|state| usage(state.usage))));
        Value::Object(response)
    }

    fn output(&self, segments: &[Segment]) -> Vec<OutputItem> {
        segments.iter().map(|segment| self.item(segment)).collect()
    }

    /// A segment as an item.
    fn item(&self, segment: &Segment) -> OutputItem {
        let status = match segment.ending() {
            Ending::Open => IN_PROGRESS,
            Ending::Whole => "completed",
            Ending::Cut => "incomplete",
        };
        self.item_with(segment, status, segment.text())
    }

    /// The same with this status, and this text or these arguments.
    fn item_with(&self, segment: &Segment, status: &'static str, text: &str) -> OutputItem {
        match segment {
            Segment::Text(of) => self.text_item(of, status, text),
            Segment::Call(call) => call_item(call, status, text.to_owned()),
        }
    }

    fn text_item(&self, of: &Text, status: &'static str, text: &str) -> OutputItem {
        let id = of.id.clone();
        let content = if text.is_empty() { Vec::new() } else { vec![part(of.kind, text)] };
        let phase = match of.kind {
            TextKind::Thought => {
                let is_carried = self.encrypted_thoughts && !text.is_empty();
                let encrypted_content = is_carried.then(|| carry_thought(text));
                return OutputItem::Reasoning {
                    id,
                    summary: [],
                    content,
                    encrypted_content,
                    status,
                };
            }
            TextKind::Preamble => "commentary",
            TextKind::Answer => "final_answer",
        };
        OutputItem::Message { id, role: "assistant", status, phase, content }
    }

    fn begin(&mut self, index: usize, segment: &Segment, chunks: &mut dyn Sink<ResponseEvent>) {
        // Whatever else the same tokens did to it.
        let item = self.item_with(segment, IN_PROGRESS, "");
        let sequence_number = self.number();
        let event = ResponseEvent::OutputItemAdded { sequence_number, output_index: index, item };
        chunks.push(event);
        if let Segment::Text(text) = segment {
            let event = ResponseEvent::ContentPartAdded {
                sequence_number: self.number(),
                item_id: text.id.clone(),
                output_index: index,
                content_index: 0,
                part: part(text.kind, ""),
            };
            chunks.push(event);
        }
    }

    fn delta(&mut self, output_index: usize, segment: &Segment, delta: String) -> ResponseEvent {
        let sequence_number = self.number();
        match segment {
            Segment::Text(Text { kind: TextKind::Thought, id, .. }) => {
                ResponseEvent::ReasoningTextDelta {
                    sequence_number,
                    item_id: id.clone(),
                    output_index,
                    content_index: 0,
                    delta,
                }
            }
            Segment::Text(text) => ResponseEvent::OutputTextDelta {
                sequence_number,
                item_id: text.id.clone(),
                output_index,
                content_index: 0,
                delta,
                logprobs: [],
            },
            Segment::Call(call) if call.is_custom => ResponseEvent::CustomToolCallInputDelta {
                sequence_number,
                item_id: call.id.clone(),
                output_index,
                delta,
            },
            Segment::Call(call) => ResponseEvent::FunctionCallArgumentsDelta {
                sequence_number,
                item_id: call.id.clone(),
                output_index,
                delta,
            },
        }
    }

    fn end(
        &mut self,
        output_index: usize,
        segment: &Segment,
        chunks: &mut dyn Sink<ResponseEvent>,
    ) {
        match segment {
            Segment::Text(text) => self.end_text(output_index, text, chunks),
            // Clients run a call when its item is done: one that was cut off never is.
            Segment::Call(call) if call.ending == Ending::Cut => return,
            Segment::Call(call) => {
                let event = self.arguments_done(output_index, call);
                chunks.push(event);
            }
        }
        let item = self.item(segment);
        let sequence_number = self.number();
        let event = ResponseEvent::OutputItemDone { sequence_number, output_index, item };
        chunks.push(event);
    }

    fn end_text(&mut self, output_index: usize, text: &Text, chunks: &mut dyn Sink<ResponseEvent>) {
        let (sequence_number, item_id) = (self.number(), text.id.clone());
        let (content_index, whole) = (0, text.text.clone());
        let event = if text.kind == TextKind::Thought {
            ResponseEvent::ReasoningTextDone {
                sequence_number,
                item_id,
                output_index,
                content_index,
                text: whole,
            }
        } else {
            ResponseEvent::OutputTextDone {
                sequence_number,
                item_id,
                output_index,
                content_index,
                text: whole,
                logprobs: [],
            }
        };
        chunks.push(event);
        let event = ResponseEvent::ContentPartDone {
            sequence_number: self.number(),
            item_id: text.id.clone(),
            output_index,
            content_index,
            part: part(text.kind, &text.text),
        };
        chunks.push(event);
    }

    fn arguments_done(&mut self, output_index: usize, call: &Call) -> ResponseEvent {
        let sequence_number = self.number();
        let (item_id, whole) = (call.id.clone(), call.arguments.clone());
        if call.is_custom {
            return ResponseEvent::CustomToolCallInputDone {
                sequence_number,
                item_id,
                output_index,
                input: whole,
            };
        }
        ResponseEvent::FunctionCallArgumentsDone {
            sequence_number,
            item_id,
            output_index,
            name: call.name.clone(),
            arguments: whole,
        }
    }
}

impl Writer for Responses {
    type Chunk = ResponseEvent;
    type Response = Value;

    fn open(
        &mut self,
        _prompt_tokens: usize,
        _cached_tokens: usize,
        chunks: &mut dyn Sink<ResponseEvent>,
    ) {
        let response = self.object(IN_PROGRESS, &[], None);
        let created =
            ResponseEvent::Created { sequence_number: self.number(), response: response.clone() };
        let in_progress = ResponseEvent::InProgress { sequence_number: self.number(), response };
        chunks.push(created);
        chunks.push(in_progress);
    }

    fn step(&mut self, step: Step, segments: &[Segment], chunks: &mut dyn Sink<ResponseEvent>) {
        match step {
            Step::Begin(index) => self.begin(index, &segments[index], chunks),
            Step::Delta(index, new) => {
                let event = self.delta(index, &segments[index], new.text);
                chunks.push(event);
            }
            Step::End(index) => self.end(index, &segments[index], chunks),
        }
    }

    fn close(&mut self, state: &State<'_>, chunks: &mut dyn Sink<ResponseEvent>) {
        let response = self.response(state);
        let sequence_number = self.number();
        let event = match state.outcome.map_or(FinishReason::Abort, |outcome| outcome.reason) {
            FinishReason::Stop => ResponseEvent::Completed { sequence_number, response },
            FinishReason::Length => ResponseEvent::Incomplete { sequence_number, response },
            FinishReason::Abort => ResponseEvent::Failed { sequence_number, response },
        };
        chunks.push(event);
    }

    fn response(&self, state: &State<'_>) -> Value {
        self.object(status(state.outcome), &self.output(state.segments), Some(state))
    }
}

fn status(outcome: Option<&Outcome>) -> &'static str {
    match outcome.map(|outcome| outcome.reason) {
        None => IN_PROGRESS,
        Some(FinishReason::Stop) => "completed",
        Some(FinishReason::Length) => "incomplete",
        Some(FinishReason::Abort) => "failed",
    }
}

const IN_PROGRESS: &str = "in_progress";

const ABORTED: &str = "The answer was aborted before its end.";

fn part(kind: TextKind, text: &str) -> ContentPart {
    let text = text.to_owned();
    match kind {
        TextKind::Thought => ContentPart::ReasoningText { text },
        TextKind::Preamble | TextKind::Answer => {
            ContentPart::OutputText { text, annotations: [], logprobs: [] }
        }
    }
}

fn call_item(call: &Call, status: &'static str, arguments: String) -> OutputItem {
    let (id, call_id) = (call.id.clone(), call.call_id.clone());
    let (name, namespace) = (call.name.clone(), call.namespace.clone());
    if call.is_custom {
        return OutputItem::CustomToolCall {
            id,
            call_id,
            name,
            namespace,
            input: arguments,
            status,
        };
    }
    OutputItem::FunctionCall { id, call_id, name, namespace, arguments, status }
}

fn usage(usage: Usage) -> Value {
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
        "model": *head.model,
        "instructions": null,
        "metadata": {},
        "tools": [],
        "tool_choice": "auto",
        "parallel_tool_calls": true,
        "temperature": turn.sampling.temperature,
        "top_p": turn.sampling.top_p,
        "presence_penalty": turn.sampling.presence_penalty.unwrap_or(0.0),
        "frequency_penalty": turn.sampling.frequency_penalty.unwrap_or(0.0),
        "top_logprobs": 0,
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
