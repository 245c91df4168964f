//! Steps -> chunks, segments -> a completion.

use serde_json::{Map, Value, json};

use crate::interop::answer::{
    Call, Delta, Head, Members, Outcome, Segment, Sink, State, Step, Text, TextKind, Usage, Writer,
    joined, visible_logprobs, whole_calls, write_json, write_object,
};
use crate::interop::{FinishReason, ReasoningField, Turn};

/// Writes chat completions.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "two of the request, two of the stream")]
pub(super) struct Chat {
    head: Head,
    /// What all chunks with a choice begin with, up to its delta, and how much of it stands before the choices: written
    /// anew for each chunk it costs half of the instructions of `feed_into`.
    begin: Vec<u8>,
    before_choices: usize,
    include_usage: bool,
    /// Whether a call is answered in its old form.
    function_call: bool,
    /// Whether content, and thoughts, were sent, so that more of them begins with an empty line.
    has_content: bool,
    has_thoughts: bool,
}

const VISIBLE: &[TextKind] = &[TextKind::Preamble, TextKind::Answer];
const THOUGHTS: &[TextKind] = &[TextKind::Thought];

impl Chat {
    pub(super) fn new(head: Head, turn: &Turn) -> Self {
        let mut begin = Vec::new();
        write_object(&mut begin, |chunk| {
            chunk.text("id", &head.id).text("object", "chat.completion.chunk");
            chunk.value("created", &head.created).text("model", &head.model);
        });
        // The object goes on.
        begin.pop();
        let before_choices = begin.len();
        begin.extend(format!(",\"choices\":[{{\"index\":{},\"delta\":", head.index).bytes());
        Self {
            begin,
            before_choices,
            head,
            include_usage: turn.answer.include_usage,
            function_call: turn.answer.function_call,
            has_content: false,
            has_thoughts: false,
        }
    }

    /// Sends a chunk with this delta.
    fn push(&self, delta: impl FnOnce(&mut Members<'_>), sink: &mut Sink<'_>) {
        let end = |bytes: &mut Vec<u8>| {
            bytes.extend_from_slice(b",\"logprobs\":null,\"finish_reason\":null");
        };
        self.push_choice(delta, end, sink);
    }

    /// Sends a chunk with this delta, and what follows it in the choice.
    fn push_choice(
        &self,
        delta: impl FnOnce(&mut Members<'_>),
        rest: impl FnOnce(&mut Vec<u8>),
        sink: &mut Sink<'_>,
    ) {
        sink.chunk("", |bytes| {
            bytes.extend_from_slice(&self.begin);
            write_object(bytes, delta);
            rest(bytes);
            let end: &[u8] = if self.include_usage { b"}],\"usage\":null}" } else { b"}]}" };
            bytes.extend_from_slice(end);
        });
    }

    fn push_text(&mut self, of: &Text, new: Delta, sink: &mut Sink<'_>) {
        let is_thought = of.kind == TextKind::Thought;
        let logprobs = of.new_logprobs(&new);
        let sent = if is_thought { &mut self.has_thoughts } else { &mut self.has_content };
        let text = new.behind(std::mem::replace(sent, true));
        let fields = if is_thought { self.thought_fields() } else { &["content"] };
        if !fields.is_empty() {
            let delta = |delta: &mut Members<'_>| {
                for field in fields {
                    delta.text(field, &text);
                }
            };
            if logprobs.is_empty() {
                return self.push(delta, sink);
            }
            let rest = |bytes: &mut Vec<u8>| {
                bytes.extend_from_slice(b",\"logprobs\":");
                write_json(&json!({"content": logprobs, "refusal": null}), bytes);
                bytes.extend_from_slice(b",\"finish_reason\":null");
            };
            self.push_choice(delta, rest, sink);
        }
    }

    /// Sends more of a call's arguments; with its name, where it begins.
    fn push_call(&self, call: &Call, is_first: bool, more: &str, sink: &mut Sink<'_>) {
        let write = |function: &mut Members<'_>| {
            if is_first {
                function.text("name", &name_of(call));
            }
            function.text(argument_of(call), more);
        };
        let delta = |delta: &mut Members<'_>| {
            if self.function_call {
                delta.object("function_call", write);
                return;
            }
            delta.objects("tool_calls", [write], |write, item| {
                item.value("index", &call.index);
                if is_first {
                    item.text("id", &call.call_id).text("type", kind_of(call));
                }
                item.object(kind_of(call), write);
            });
        };
        self.push(delta, sink);
    }

    fn finish_reason(&self, segments: &[Segment], outcome: &Outcome) -> &'static str {
        match outcome.reason {
            FinishReason::Length | FinishReason::Abort => "length",
            FinishReason::Stop if whole_calls(segments).next().is_none() => "stop",
            FinishReason::Stop if self.function_call => "function_call",
            FinishReason::Stop => "tool_calls",
        }
    }

    fn message(&self, segments: &[Segment]) -> Value {
        let calls: Vec<&Call> = segments.iter().filter_map(Segment::as_call).collect();
        let content = joined(segments, VISIBLE);
        let content = if content.is_empty() && !calls.is_empty() { None } else { Some(content) };
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("assistant"));
        message.insert("content".to_owned(), json!(content));
        message.insert("refusal".to_owned(), Value::Null);
        let thoughts = joined(segments, THOUGHTS);
        for field in self.thought_fields() {
            if !thoughts.is_empty() {
                message.insert((*field).to_owned(), json!(thoughts));
            }
        }
        if let (true, Some(call)) = (self.function_call, calls.first()) {
            let call = json!({"name": name_of(call), "arguments": call.arguments});
            message.insert("function_call".to_owned(), call);
        } else if !calls.is_empty() {
            let calls = calls.into_iter().map(whole_call).collect();
            message.insert("tool_calls".to_owned(), Value::Array(calls));
        }
        Value::Object(message)
    }

    /// The fields in which thoughts stand.
    fn thought_fields(&self) -> &'static [&'static str] {
        match self.head.reasoning_field {
            ReasoningField::ReasoningContent => &["reasoning_content"],
            ReasoningField::Reasoning => &["reasoning"],
            ReasoningField::Both => &["reasoning_content", "reasoning"],
            ReasoningField::Omitted => &[],
        }
    }
}

impl Writer for Chat {
    fn open(&mut self, _usage: Usage, sink: &mut Sink<'_>) {
        let delta = |delta: &mut Members<'_>| {
            delta.text("role", "assistant").text("content", "");
        };
        self.push(delta, sink);
    }

    fn step(&mut self, step: Step, segments: &[Segment], sink: &mut Sink<'_>) {
        match step {
            Step::Begin(segment) => {
                if let Some(call) = segments[segment].as_call() {
                    self.push_call(call, true, "", sink);
                }
            }
            Step::Delta(segment, new) => match &segments[segment] {
                Segment::Text(text) => self.push_text(text, new, sink),
                Segment::Call(call) => self.push_call(call, false, &new.text, sink),
            },
            Step::End(_) => {}
        }
    }

    fn close(&mut self, state: &State<'_>, sink: &mut Sink<'_>) {
        let reason = state.outcome.map(|outcome| self.finish_reason(state.segments, outcome));
        let end = |bytes: &mut Vec<u8>| {
            bytes.extend_from_slice(b",\"logprobs\":null,\"finish_reason\":");
            write_json(&reason, bytes);
        };
        self.push_choice(|_| {}, end, sink);
        if self.include_usage {
            sink.chunk("", |bytes| {
                bytes.extend_from_slice(&self.begin[..self.before_choices]);
                bytes.extend_from_slice(b",\"choices\":[],\"usage\":");
                write_json(&usage(state.usage), bytes);
                bytes.push(b'}');
            });
        }
    }

    fn response(&self, state: &State<'_>, bytes: &mut Vec<u8>) {
        let Head { id, created, model, index, .. } = &self.head;
        let reason = state.outcome.map(|outcome| self.finish_reason(state.segments, outcome));
        let response = json!({
            "id": id,
            "object": "chat.completion",
            "created": created,
            "model": model,
            "choices": [{
                "index": index,
                "message": self.message(state.segments),
                "logprobs": whole_logprobs(state.segments),
                "finish_reason": reason,
            }],
            "usage": usage(state.usage),
        });
        write_json(&response, bytes);
    }
}

/// Those of all visible text.
fn whole_logprobs(segments: &[Segment]) -> Option<Value> {
    let logprobs: Vec<_> = visible_logprobs(segments).collect();
    (!logprobs.is_empty()).then(|| json!({"content": logprobs, "refusal": null}))
}

fn usage(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens(),
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    })
}

/// Chat has no namespaces: one is part of the name.
fn name_of(call: &Call) -> String {
    match &call.namespace {
        Some(namespace) => [namespace, ".", &call.name].concat(),
        None => call.name.clone(),
    }
}

fn kind_of(call: &Call) -> &'static str {
    if call.is_custom { "custom" } else { "function" }
}

fn argument_of(call: &Call) -> &'static str {
    if call.is_custom { "input" } else { "arguments" }
}

fn whole_call(call: &Call) -> Value {
    let kind = kind_of(call);
    json!({
        "id": call.call_id,
        "type": kind,
        kind: {"name": name_of(call), argument_of(call): call.arguments},
    })
}
