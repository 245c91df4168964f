//! Steps -> chunks, segments -> a completion.

use serde_json::{Map, Value, json};

use super::chunk::{
    ChatCompletionChunk, ChatUsage, ChunkChoice, ChunkDelta, CustomDelta, FunctionDelta,
    ToolCallDelta,
};
use crate::interop::answer::{
    Call, Delta, Head, Outcome, Segment, Sink, State, Step, TextKind, Writer, joined, whole_calls,
    write_json, write_text,
};
use crate::interop::{FinishReason, ReasoningField, Turn};

/// Writes chat completions.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "two of the request, two of the stream")]
pub(in crate::interop) struct Chat {
    head: Head,
    /// What the frames of deltas begin and end with.
    frame_begin: String,
    frame_end: &'static str,
    reasoning_field: ReasoningField,
    include_usage: bool,
    /// Whether a call is answered in its old form.
    function_call: bool,
    /// Whether content, and thoughts, were sent, so that more of them begins with an empty line.
    has_content: bool,
    has_thoughts: bool,
}

const CHUNK: &str = "chat.completion.chunk";
const VISIBLE: &[TextKind] = &[TextKind::Preamble, TextKind::Answer];
const THOUGHTS: &[TextKind] = &[TextKind::Thought];

impl Chat {
    pub(in crate::interop) fn new(
        head: Head,
        turn: &Turn,
        reasoning_field: ReasoningField,
    ) -> Self {
        let include_usage = turn.answer.include_usage;
        Self {
            frame_begin: frame_begin(&head),
            frame_end: if include_usage { FRAME_END_WITH_USAGE } else { FRAME_END },
            head,
            reasoning_field,
            include_usage,
            function_call: turn.answer.function_call,
            has_content: false,
            has_thoughts: false,
        }
    }

    fn chunk(&self, delta: ChunkDelta, finish_reason: Option<&'static str>) -> ChatCompletionChunk {
        let index = self.head.index;
        let choice = ChunkChoice { index, delta, logprobs: None, finish_reason };
        self.chunk_of(vec![choice], None)
    }

    fn chunk_of(&self, choices: Vec<ChunkChoice>, usage: Option<ChatUsage>) -> ChatCompletionChunk {
        ChatCompletionChunk {
            id: self.head.id.clone(),
            object: CHUNK,
            created: self.head.created,
            model: self.head.model.clone(),
            choices,
            usage: self.include_usage.then_some(usage),
        }
    }

    /// Sends a text. Its bytes stand between what all frames have in common: through a chunk of each
    /// text, `feed_bytes` takes 1.4 times as long in Python.
    fn push_text(
        &mut self,
        kind: TextKind,
        delta: Delta,
        chunks: &mut dyn Sink<ChatCompletionChunk>,
    ) {
        let is_thought = kind == TextKind::Thought;
        let said = if is_thought { &mut self.has_thoughts } else { &mut self.has_content };
        let text = delta.behind(std::mem::replace(said, true));
        let fields = if is_thought { self.reasoning_field.names() } else { &["content"] };
        match (fields, chunks.bytes()) {
            ([], _) => {}
            ([first, more @ ..], Some(bytes)) => {
                bytes.extend_from_slice(self.frame_begin.as_bytes());
                write_member(b'{', first, &text, bytes);
                for field in more {
                    write_member(b',', field, &text, bytes);
                }
                bytes.push(b'}');
                bytes.extend_from_slice(self.frame_end.as_bytes());
            }
            (_, None) => chunks.push(self.chunk(self.text_delta(kind, text), None)),
        }
    }

    /// Sends any other delta in the same prebuilt frame.
    fn push_delta(&self, delta: ChunkDelta, chunks: &mut dyn Sink<ChatCompletionChunk>) {
        let Some(bytes) = chunks.bytes() else { return chunks.push(self.chunk(delta, None)) };
        bytes.extend_from_slice(self.frame_begin.as_bytes());
        write_json(&delta, bytes);
        bytes.extend_from_slice(self.frame_end.as_bytes());
    }

    fn text_delta(&self, kind: TextKind, text: String) -> ChunkDelta {
        let delta = ChunkDelta::default();
        if kind != TextKind::Thought {
            return ChunkDelta { content: Some(text), ..delta };
        }
        match self.reasoning_field {
            ReasoningField::ReasoningContent => {
                ChunkDelta { reasoning_content: Some(text), ..delta }
            }
            ReasoningField::Reasoning => ChunkDelta { reasoning: Some(text), ..delta },
            ReasoningField::Both => {
                ChunkDelta { reasoning_content: Some(text.clone()), reasoning: Some(text), ..delta }
            }
            ReasoningField::Omitted => delta,
        }
    }

    /// More of a call's arguments; with its name, where it begins.
    fn call_delta(&self, call: &Call, is_first: bool, more: String) -> ChunkDelta {
        let name = is_first.then(|| name_of(call));
        let delta = ChunkDelta::default();
        if self.function_call {
            let function_call = Some(FunctionDelta { name, arguments: more });
            return ChunkDelta { function_call, ..delta };
        }
        let (function, custom) = if call.is_custom {
            (None, Some(CustomDelta { name, input: more }))
        } else {
            (Some(FunctionDelta { name, arguments: more }), None)
        };
        let call = ToolCallDelta {
            index: call.index,
            id: is_first.then(|| call.call_id.clone()),
            kind: is_first.then(|| kind_of(call)),
            function,
            custom,
        };
        ChunkDelta { tool_calls: vec![call], ..delta }
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
        for field in self.reasoning_field.names() {
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
}

impl Writer for Chat {
    type Chunk = ChatCompletionChunk;
    type Response = Value;

    fn open(
        &mut self,
        _prompt_tokens: usize,
        _cached_tokens: usize,
        chunks: &mut dyn Sink<ChatCompletionChunk>,
    ) {
        let content = Some(String::new());
        let delta = ChunkDelta { role: Some("assistant"), content, ..ChunkDelta::default() };
        chunks.push(self.chunk(delta, None));
    }

    fn step(
        &mut self,
        step: Step,
        segments: &[Segment],
        chunks: &mut dyn Sink<ChatCompletionChunk>,
    ) {
        match step {
            Step::Begin(segment) => {
                if let Some(call) = segments[segment].as_call() {
                    self.push_delta(self.call_delta(call, true, String::new()), chunks);
                }
            }
            Step::Delta(segment, new) => match &segments[segment] {
                Segment::Text(text) => self.push_text(text.kind, new, chunks),
                Segment::Call(call) => {
                    self.push_delta(self.call_delta(call, false, new.text), chunks);
                }
            },
            Step::End(_) => {}
        }
    }

    fn close(&mut self, state: &State<'_>, chunks: &mut dyn Sink<ChatCompletionChunk>) {
        let reason = state.outcome.map(|outcome| self.finish_reason(state.segments, outcome));
        chunks.push(self.chunk(ChunkDelta::default(), reason));
        if self.include_usage {
            chunks.push(self.chunk_of(Vec::new(), Some(state.usage.into())));
        }
    }

    fn response(&self, state: &State<'_>) -> Value {
        let Head { id, created, model, index } = &self.head;
        let reason = state.outcome.map(|outcome| self.finish_reason(state.segments, outcome));
        json!({
            "id": **id,
            "object": "chat.completion",
            "created": created,
            "model": **model,
            "choices": [{
                "index": index,
                "message": self.message(state.segments),
                "logprobs": null,
                "finish_reason": reason,
            }],
            "usage": ChatUsage::from(state.usage),
        })
    }
}

impl ReasoningField {
    /// The fields' names.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::ReasoningContent => &["reasoning_content"],
            Self::Reasoning => &["reasoning"],
            Self::Both => &["reasoning_content", "reasoning"],
            Self::Omitted => &[],
        }
    }
}

const FRAME_END: &str = ",\"logprobs\":null,\"finish_reason\":null}]}\n\n";
const FRAME_END_WITH_USAGE: &str =
    ",\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}\n\n";

/// Writes a member of an object after the byte that stands before it.
fn write_member(before: u8, field: &str, text: &str, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&[before, b'"']);
    bytes.extend_from_slice(field.as_bytes());
    bytes.extend_from_slice(b"\":");
    write_text(text, bytes);
}

/// A frame up to its choice's delta.
fn frame_begin(head: &Head) -> String {
    let Head { id, created, model, index } = head;
    let common = json!({"id": **id, "object": CHUNK, "created": created, "model": **model});
    let mut bytes = b"data: ".to_vec();
    write_json(&common, &mut bytes);
    // The object goes on.
    bytes.pop();
    bytes.extend(format!(",\"choices\":[{{\"index\":{index},\"delta\":").bytes());
    String::from_utf8_lossy(&bytes).into_owned()
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

fn whole_call(call: &Call) -> Value {
    let kind = kind_of(call);
    let argument = if call.is_custom { "input" } else { "arguments" };
    json!({
        "id": call.call_id,
        "type": kind,
        kind: {"name": name_of(call), argument: call.arguments},
    })
}
