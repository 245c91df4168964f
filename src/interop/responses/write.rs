//! Segments -> events, and a response.

use serde_json::{Map, Value, json};

use crate::interop::answer::{
    AnswerState, Delta, Head, Members, Outcome, Segment, SegmentKind, SegmentState, Sink, TextKind,
    Usage, Writer, write_object,
};
use crate::interop::client_calls::called;
use crate::interop::thought_blob::write_thought;
use crate::interop::{FinishReason, ToolKind, Turn};

/// Writes responses. An item has the index of its segment.
#[derive(Debug)]
pub(super) struct Responses {
    head: Head,
    /// The fields that do not depend on the tokens.
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

    /// Sends an event with the response so far.
    fn push_response(&mut self, name: &str, state: &AnswerState<'_>, sink: &mut Sink<'_>) {
        self.push(name, sink, |writer, event| {
            event.object("response", |response| {
                writer.write_response(state, state.outcome.map(|_| state.usage), response);
            });
        });
    }

    fn write_response(
        &self,
        state: &AnswerState<'_>,
        usage: Option<Usage>,
        response: &mut Members<'_>,
    ) {
        let reason = state.outcome.map(|outcome| outcome.reason);
        response.text("id", &self.head.id).text("object", "response");
        response.value("created_at", &self.head.created);
        let completed_at = |outcome: &Outcome| {
            let [prompt, answer] = outcome.durations;
            self.head.created.saturating_add(prompt.saturating_add(answer).as_secs())
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
                let failure = state.outcome.map(|outcome| &outcome.failure);
                ("failed", json!({"code": "server_error", "message": failure}), Value::Null)
            }
        };
        response.text("status", status).value("error", &error);
        response.value("incomplete_details", &details);
        for (name, value) in &self.fixed {
            response.value(name, value);
        }
        response.objects("output", state.segments, |segment, item| self.write_item(segment, item));
        response.value("usage", &usage.map(usage_of));
    }

    /// Writes a segment as an item.
    fn write_item(&self, segment: &Segment, item: &mut Members<'_>) {
        let Segment { text, id, .. } = segment;
        let status = match segment.state {
            SegmentState::Open => IN_PROGRESS,
            SegmentState::Whole => "completed",
            SegmentState::Cut => "incomplete",
        };
        let parts = if text.is_empty() { None } else { Some(segment) };
        let phase = match &segment.kind {
            SegmentKind::Text(TextKind::Thought) => {
                item.text("type", "reasoning").text("id", id).value("summary", &NOTHING);
                item.objects("content", parts, write_part);
                if self.encrypted_thoughts && !text.is_empty() {
                    item.text("encrypted_content", &write_thought(text));
                }
                item.text("status", status);
                return;
            }
            SegmentKind::Text(TextKind::Preamble) => "commentary",
            SegmentKind::Text(TextKind::Answer) => "final_answer",
            SegmentKind::Call(call) => {
                if let Some([of_call, field, _]) = call.tool.kind.client_call() {
                    let called = called(call.tool.kind, text);
                    item.text("type", of_call).text("id", id).text("call_id", &call.id);
                    item.text("status", status).value(field, &called);
                    if call.tool.kind == ToolKind::ToolSearch {
                        item.text("execution", "client");
                    }
                    return;
                }
                item.text(
                    "type",
                    if call.is_custom() { "custom_tool_call" } else { "function_call" },
                );
                item.text("id", id).text("call_id", &call.id).text("name", &call.tool.name);
                if let Some(namespace) = &call.tool.namespace {
                    item.text("namespace", namespace);
                }
                item.text(call.argument(), text).text("status", status);
                return;
            }
        };
        item.text("type", "message").text("id", id).text("role", "assistant");
        item.text("status", status).text("phase", phase);
        item.objects("content", parts, write_part);
    }

    /// Sends an event about an item, and its part, if it has parts.
    fn push_of(
        &mut self,
        name: &str,
        index: usize,
        segment: &Segment,
        sink: &mut Sink<'_>,
        write: impl FnOnce(&mut Members<'_>),
    ) {
        self.push(name, sink, |_, event| {
            event.text("item_id", &segment.id).value("output_index", &index);
            if segment.as_call().is_none() {
                event.value("content_index", &0);
            }
            write(event);
        });
    }

    /// Sends an event with an item so far.
    fn push_item(&mut self, name: &str, index: usize, segment: &Segment, sink: &mut Sink<'_>) {
        self.push(name, sink, |writer, event| {
            event.value("output_index", &index);
            event.object("item", |item| writer.write_item(segment, item));
        });
    }
}

/// Whether a segment is a call of a tool with its own type of item, which has no text that could grow.
fn is_of_client(segment: &Segment) -> bool {
    segment.as_call().is_some_and(|call| call.tool.kind.takes_object())
}

/// The names of the events that add to a segment's text and that end it.
fn text_events(segment: &Segment) -> [&'static str; 2] {
    match &segment.kind {
        SegmentKind::Text(TextKind::Thought) => {
            ["response.reasoning_text.delta", "response.reasoning_text.done"]
        }
        SegmentKind::Text(_) => ["response.output_text.delta", "response.output_text.done"],
        SegmentKind::Call(call) if call.is_custom() => {
            ["response.custom_tool_call_input.delta", "response.custom_tool_call_input.done"]
        }
        SegmentKind::Call(_) => {
            ["response.function_call_arguments.delta", "response.function_call_arguments.done"]
        }
    }
}

impl Writer for Responses {
    fn open(&mut self, usage: Usage, sink: &mut Sink<'_>) {
        let state = AnswerState::opening(usage);
        self.push_response("response.created", &state, sink);
        self.push_response("response.in_progress", &state, sink);
    }

    fn begin(&mut self, index: usize, segment: &Segment, sink: &mut Sink<'_>) {
        if is_of_client(segment) {
            return;
        }
        self.push_item("response.output_item.added", index, segment, sink);
        if segment.as_call().is_none() {
            self.push_of("response.content_part.added", index, segment, sink, |event| {
                event.object("part", |part| write_part(segment, part));
            });
        }
    }

    fn delta(&mut self, index: usize, segment: &Segment, new: Delta<'_>, sink: &mut Sink<'_>) {
        if is_of_client(segment) {
            return;
        }
        let [name, _] = text_events(segment);
        self.push_of(name, index, segment, sink, |event| {
            event.text("delta", new.text);
            if segment.is_visible() {
                event.value("logprobs", new.logprobs);
            }
        });
    }

    fn end(&mut self, index: usize, segment: &Segment, sink: &mut Sink<'_>) {
        if is_of_client(segment) {
            let open = Segment { state: SegmentState::Open, ..segment.clone() };
            self.push_item("response.output_item.added", index, &open, sink);
            self.push_item("response.output_item.done", index, segment, sink);
            return;
        }
        let [_, name] = text_events(segment);
        match segment.as_call() {
            // Clients run a call when its item is done, so the item of a call that was cut off never is.
            Some(_) if segment.state == SegmentState::Cut => return,
            Some(call) => self.push_of(name, index, segment, sink, |event| {
                if !call.is_custom() {
                    event.text("name", &call.tool.name);
                }
                event.text(call.argument(), &segment.text);
            }),
            None => {
                self.push_of(name, index, segment, sink, |event| {
                    event.text("text", &segment.text);
                    if segment.is_visible() {
                        event.value("logprobs", &segment.logprobs);
                    }
                });
                self.push_of("response.content_part.done", index, segment, sink, |event| {
                    event.object("part", |part| write_part(segment, part));
                });
            }
        }
        self.push_item("response.output_item.done", index, segment, sink);
    }

    fn close(&mut self, state: &AnswerState<'_>, sink: &mut Sink<'_>) {
        let name = match state.outcome.map_or(FinishReason::Abort, |outcome| outcome.reason) {
            FinishReason::Stop => "response.completed",
            FinishReason::Length => "response.incomplete",
            FinishReason::Abort => "response.failed",
        };
        self.push_response(name, state, sink);
    }

    fn fail(&mut self, state: &AnswerState<'_>, _error: &Value, sink: &mut Sink<'_>) {
        self.close(state, sink);
    }

    fn response(&self, state: &AnswerState<'_>, bytes: &mut Vec<u8>) {
        write_object(bytes, |response| self.write_response(state, Some(state.usage), response));
    }
}

const IN_PROGRESS: &str = "in_progress";

/// A list that is always empty.
const NOTHING: [(); 0] = [];

fn write_part(segment: &Segment, part: &mut Members<'_>) {
    if segment.is_thought() {
        part.text("type", "reasoning_text").text("text", &segment.text);
    } else {
        part.text("type", "output_text").text("text", &segment.text);
        part.value("annotations", &NOTHING).value("logprobs", &segment.logprobs);
    }
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

/// The fields that the response repeats from the request, and those that the specification (Open Responses) always
/// requires. The server decides whether it is stored: it sets `store` in the body.
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
        // A client sends null to leave a field at its default.
        if !value.is_null() {
            fixed.insert(name.clone(), completed(name, value.clone()));
        }
    }
    fixed
}

/// The value of a field with the members that requests may leave out.
fn completed(field: &str, mut value: Value) -> Value {
    let complete = |value: &mut Value, kind: Option<&str>, defaults: &[(&str, Value)]| {
        let Some(members) = value.as_object_mut() else { return };
        if kind.is_none_or(|kind| members.get("type").is_some_and(|given| given == kind)) {
            for (name, default) in defaults {
                members.entry(*name).or_insert_with(|| default.clone());
            }
        }
    };
    let null = Value::Null;
    match field {
        // A request may name a conversation by its id only.
        "conversation" if value.is_string() => return json!({"id": value}),
        "reasoning" => complete(&mut value, None, &[("effort", null.clone()), ("summary", null)]),
        "text" => {
            complete(&mut value, None, &[("format", json!({"type": "text"}))]);
            let defaults = [("description", null), ("strict", false.into())];
            complete(&mut value["format"], Some("json_schema"), &defaults);
        }
        "tools" => {
            let defaults = ["description", "parameters", "strict"].map(|name| (name, Value::Null));
            let tools = value.as_array_mut().into_iter().flatten();
            tools.for_each(|tool| complete(tool, Some("function"), &defaults));
        }
        _ => {}
    }
    value
}
