//! Segments -> chunks, and a completion.

use serde_json::{Value, json};

use crate::interop::answer::{
    AnswerState, Call, Delta, Head, LogprobEntry, Members, Segment, Sink, Usage, Writer, joined,
    visible_logprobs, write_json, write_object,
};
use crate::interop::{FinishReason, ReasoningField, ThoughtDisplay, Turn};

/// Writes chat completions.
#[derive(Debug)]
pub(super) struct Chat {
    head: Head,
    /// The beginning of all chunks with a choice, up to its delta, and how much of it precedes the choices. Writing it
    /// again for each chunk would cost half of the instructions of `feed_into`.
    begin: Vec<u8>,
    before_choices: usize,
    include_usage: bool,
    /// Whether calls are written in the old form, `function_call`.
    function_call: bool,
}

impl Chat {
    pub(super) fn new(head: Head, turn: &Turn) -> Self {
        let reasoning_field = match turn.answer.thought_display {
            ThoughtDisplay::Shown => head.reasoning_field,
            ThoughtDisplay::Omitted | ThoughtDisplay::Hidden => ReasoningField::Omitted,
        };
        let head = Head { reasoning_field, ..head };
        let mut begin = Vec::new();
        write_object(&mut begin, |chunk| {
            chunk.text("id", &head.id).text("object", "chat.completion.chunk");
            chunk.value("created", &head.created).text("model", &head.model);
        });
        // The object continues.
        begin.pop();
        let before_choices = begin.len();
        begin.extend(format!(",\"choices\":[{{\"index\":{},\"delta\":", head.index).bytes());
        Self {
            begin,
            before_choices,
            head,
            include_usage: turn.answer.include_usage,
            function_call: turn.answer.function_call,
        }
    }

    /// Sends a chunk with this delta.
    fn push(&self, delta: impl FnOnce(&mut Members<'_>), sink: &mut Sink<'_>) {
        let end = |bytes: &mut Vec<u8>| {
            bytes.extend_from_slice(b",\"logprobs\":null,\"finish_reason\":null");
        };
        self.push_choice(delta, end, sink);
    }

    /// Sends a chunk with this delta, followed by the rest of the choice.
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

    fn push_text(&self, segment: &Segment, new: Delta<'_>, sink: &mut Sink<'_>) {
        let text = new.joined();
        let fields = if segment.is_thought() { self.thought_fields() } else { &["content"] };
        if fields.is_empty() {
            return;
        }
        let delta = |delta: &mut Members<'_>| {
            for field in fields {
                delta.text(field, &text);
            }
        };
        if new.logprobs.is_empty() {
            return self.push(delta, sink);
        }
        let rest = |bytes: &mut Vec<u8>| {
            bytes.extend_from_slice(b",\"logprobs\":");
            write_json(&logprobs_of(&new.logprobs.iter().collect::<Vec<_>>()), bytes);
            bytes.extend_from_slice(b",\"finish_reason\":null");
        };
        self.push_choice(delta, rest, sink);
    }

    /// Sends more of a call's arguments; the first time with its name.
    fn push_call(&self, call: &Call, is_first: bool, more: &str, sink: &mut Sink<'_>) {
        let write = |function: &mut Members<'_>| {
            if is_first {
                function.text("name", &name_of(call));
            }
            function.text(self.argument(call), more);
        };
        let delta = |delta: &mut Members<'_>| {
            if self.function_call {
                delta.object("function_call", write);
                return;
            }
            delta.objects("tool_calls", [write], |write, item| {
                item.value("index", &call.index);
                if is_first {
                    item.text("id", &call.id).text("type", kind_of(call));
                }
                item.object(kind_of(call), write);
            });
        };
        self.push(delta, sink);
    }

    /// Why the answer ended; `None` while it is under way.
    fn finish_reason(&self, state: &AnswerState<'_>) -> Option<&'static str> {
        Some(match state.outcome?.reason {
            FinishReason::Length | FinishReason::Abort => "length",
            FinishReason::Stop if !state.has_whole_call() => "stop",
            FinishReason::Stop if self.function_call => "function_call",
            FinishReason::Stop => "tool_calls",
        })
    }

    /// The field of a call's arguments: the old form has no free text.
    fn argument(&self, call: &Call) -> &'static str {
        if self.function_call { "arguments" } else { call.argument() }
    }

    fn message(&self, segments: &[Segment]) -> Value {
        let calls = segments.iter().filter_map(|segment| Some((segment.as_call()?, &segment.text)));
        let calls: Vec<_> = calls.collect();
        let content = joined(segments, Segment::is_visible);
        let content = (!content.is_empty() || calls.is_empty()).then_some(content);
        let mut message = json!({"role": "assistant", "content": content, "refusal": null});
        let thoughts = joined(segments, Segment::is_thought);
        for field in self.thought_fields() {
            if !thoughts.is_empty() {
                message[field] = json!(thoughts);
            }
        }
        let function = |(call, text): &(&Call, &String)| json!({"name": name_of(call), self.argument(call): text});
        match calls.first() {
            None => {}
            Some(call) if self.function_call => message["function_call"] = function(call),
            Some(_) => {
                let whole = calls.iter().map(|call| {
                    let kind = kind_of(call.0);
                    json!({"id": call.0.id, "type": kind, kind: function(call)})
                });
                message["tool_calls"] = whole.collect();
            }
        }
        message
    }

    /// The fields that hold thoughts.
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

    fn begin(&mut self, _index: usize, segment: &Segment, sink: &mut Sink<'_>) {
        if let Some(call) = segment.as_call() {
            self.push_call(call, true, "", sink);
        }
    }

    fn delta(&mut self, _index: usize, segment: &Segment, new: Delta<'_>, sink: &mut Sink<'_>) {
        match segment.as_call() {
            Some(call) => self.push_call(call, false, new.text, sink),
            None => self.push_text(segment, new, sink),
        }
    }

    fn close(&mut self, state: &AnswerState<'_>, sink: &mut Sink<'_>) {
        let reason = self.finish_reason(state);
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

    fn response(&self, state: &AnswerState<'_>, bytes: &mut Vec<u8>) {
        let Head { id, created, model, index, .. } = &self.head;
        let logprobs: Vec<_> = visible_logprobs(state.segments).collect();
        let logprobs = (!logprobs.is_empty()).then(|| logprobs_of(&logprobs));
        let response = json!({
            "id": id,
            "object": "chat.completion",
            "created": created,
            "model": model,
            "choices": [{
                "index": index,
                "message": self.message(state.segments),
                "logprobs": logprobs,
                "finish_reason": self.finish_reason(state),
            }],
            "usage": usage(state.usage),
        });
        write_json(&response, bytes);
    }
}

fn logprobs_of(entries: &[&LogprobEntry]) -> Value {
    json!({"content": entries, "refusal": null})
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

/// Chat has no namespaces, so the namespace becomes part of the name.
fn name_of(call: &Call) -> String {
    match &call.tool.namespace {
        Some(namespace) => [namespace, ".", &call.tool.name].concat(),
        None => call.tool.name.clone(),
    }
}

fn kind_of(call: &Call) -> &'static str {
    if call.is_custom() { "custom" } else { "function" }
}
