//! Segments -> chunks, and a completion.

use serde_json::{Value, json};

use crate::interop::answer::{
    AnswerState, Call, Delta, Head, LogprobEntry, Logprobs, Members, Segment, Sink, Usage, Writer,
    joined, visible_logprobs, write_json, write_object,
};
use crate::interop::{FinishReason, ReasoningField, ThoughtDisplay, Turn};
use crate::tokenizer::TokenId;

/// Writes chat completions.
#[derive(Debug)]
pub(super) struct Chat {
    head: Head,
    /// The beginning of all chunks with a choice, up to its delta, and how much of it precedes the choices. Writing it
    /// again for each chunk would cost half of the instructions of `feed_into`.
    begin: Vec<u8>,
    before_choices: usize,
    include_usage: bool,
    /// Whether chunks and answer have the ids of the sampled tokens.
    token_ids: bool,
    /// Tokens that no chunk has sent, and their log-probabilities.
    unsent: (Vec<TokenId>, Vec<LogprobEntry>),
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
            token_ids: turn.answer.token_ids,
            unsent: (Vec::new(), Vec::new()),
            function_call: turn.answer.function_call,
        }
    }

    /// Sends a chunk with this delta, the log-probabilities of its text, and the tokens that no chunk has sent.
    fn push(
        &mut self,
        delta: impl FnOnce(&mut Members<'_>),
        logprobs: &[LogprobEntry],
        reason: Option<&str>,
        sink: &mut Sink<'_>,
    ) {
        let (ids, all) = std::mem::take(&mut self.unsent);
        let logprobs = if all.is_empty() { logprobs } else { &all };
        sink.chunk("", |bytes| {
            bytes.extend_from_slice(&self.begin);
            write_object(bytes, delta);
            if logprobs.is_empty() && reason.is_none() {
                bytes.extend_from_slice(b",\"logprobs\":null,\"finish_reason\":null");
            } else {
                bytes.extend_from_slice(b",\"logprobs\":");
                write_json(&logprobs_of(logprobs), bytes);
                bytes.extend_from_slice(b",\"finish_reason\":");
                write_json(&reason, bytes);
            }
            if self.token_ids {
                bytes.extend_from_slice(b",\"token_ids\":");
                write_json(&ids, bytes);
            }
            self.end_chunk(bytes);
        });
    }

    /// Writes the end of a chunk's choice and of the chunk.
    fn end_chunk(&self, bytes: &mut Vec<u8>) {
        let end: &[u8] = if self.include_usage { b"}],\"usage\":null}" } else { b"}]}" };
        bytes.extend_from_slice(end);
    }

    fn push_text(&mut self, segment: &Segment, new: Delta<'_>, sink: &mut Sink<'_>) {
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
        self.push(delta, new.logprobs, None, sink);
    }

    /// Sends more of a call's arguments; the first time with its name.
    fn push_call(&mut self, call: &Call, is_first: bool, more: &str, sink: &mut Sink<'_>) {
        let (argument, is_old) = (self.argument(call), self.function_call);
        let write = |function: &mut Members<'_>| {
            if is_first {
                function.text("name", &name_of(call));
            }
            function.text(argument, more);
        };
        let delta = |delta: &mut Members<'_>| {
            if is_old {
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
        self.push(delta, &[], None, sink);
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
        sink.chunk("", |bytes| {
            let (head, choices) = self.begin.split_at(self.before_choices);
            bytes.extend_from_slice(head);
            if let Some(ids) = &self.head.prompt_token_ids {
                bytes.extend_from_slice(b",\"prompt_token_ids\":");
                write_json(ids, bytes);
            }
            bytes.extend_from_slice(choices);
            bytes.extend_from_slice(b"{\"role\":\"assistant\",\"content\":\"\"}");
            bytes.extend_from_slice(b",\"logprobs\":null,\"finish_reason\":null");
            self.end_chunk(bytes);
        });
    }

    fn sampled(&mut self, tokens: &[TokenId], logprobs: Vec<LogprobEntry>) {
        if self.token_ids {
            self.unsent.0.extend_from_slice(tokens);
        }
        self.unsent.1.extend(logprobs);
    }

    fn flush(&mut self, sink: &mut Sink<'_>) {
        if !self.unsent.0.is_empty() || !self.unsent.1.is_empty() {
            self.push(|_| {}, &[], None, sink);
        }
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
        self.push(|_| {}, &[], reason, sink);
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
        let all = state.logprobs.and_then(Logprobs::all);
        let visible = || visible_logprobs(state.segments).cloned().collect();
        let mut choice = json!({
            "index": index,
            "message": self.message(state.segments),
            "logprobs": logprobs_of(&all.unwrap_or_else(visible)),
            "finish_reason": self.finish_reason(state),
        });
        if self.token_ids {
            choice["token_ids"] = json!(state.tokens);
        }
        let mut response = json!({
            "id": id,
            "object": "chat.completion",
            "created": created,
            "model": model,
            "choices": [choice],
            "usage": usage(state.usage),
        });
        if let Some(ids) = &self.head.prompt_token_ids {
            response["prompt_token_ids"] = json!(ids);
        }
        write_json(&response, bytes);
    }
}

/// Null if there are none.
fn logprobs_of(entries: &[LogprobEntry]) -> Value {
    if entries.is_empty() { Value::Null } else { json!({"content": entries, "refusal": null}) }
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
