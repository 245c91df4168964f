//! Segments -> lines, and a whole answer.

use std::borrow::Cow;

use crate::interop::answer::{
    AnswerState, Delta, Head, LogprobEntry, Members, Segment, Sink, Writer, joined,
    visible_logprobs, write_object,
};
use crate::interop::body::parse_arguments;
use crate::interop::options::civil;
use crate::interop::{FinishReason, ThoughtDisplay, Turn};

/// Writes Ollama's answers.
#[derive(Debug)]
pub(super) struct Ollama {
    model: String,
    created_at: String,
    shows_thoughts: bool,
}

/// A message of a line.
#[derive(Default)]
struct LineMessage<'a> {
    content: Cow<'a, str>,
    thinking: Option<Cow<'a, str>>,
    /// The calls that are complete.
    calls: Vec<&'a Segment>,
    /// The log-probabilities of the content.
    logprobs: Vec<&'a LogprobEntry>,
}

impl Ollama {
    pub(super) fn new(head: Head, turn: &Turn) -> Self {
        Self {
            model: head.model,
            created_at: timestamp(head.created),
            shows_thoughts: turn.answer.thought_display == ThoughtDisplay::Shown,
        }
    }

    /// Writes a line; the last line also says how the answer ended.
    fn write(&self, message: &LineMessage<'_>, end: Option<&AnswerState<'_>>, bytes: &mut Vec<u8>) {
        write_object(bytes, |line| {
            line.text("model", &self.model).text("created_at", &self.created_at);
            line.object("message", |line| {
                line.text("role", "assistant").text("content", &message.content);
                if let Some(thinking) = &message.thinking {
                    line.text("thinking", thinking);
                }
                if !message.calls.is_empty() {
                    line.objects("tool_calls", message.calls.iter().copied(), write_call);
                }
            });
            if !message.logprobs.is_empty() {
                line.value("logprobs", &message.logprobs);
            }
            let is_done = end.is_some_and(|state| state.outcome.is_some());
            line.value("done", &is_done);
            if let Some(state) = end {
                write_end(state, line);
            }
        });
    }
}

impl Writer for Ollama {
    fn delta(&mut self, _index: usize, segment: &Segment, new: Delta<'_>, sink: &mut Sink<'_>) {
        let is_thought = segment.is_thought();
        if segment.as_call().is_some() || is_thought && !self.shows_thoughts {
            return;
        }
        let text = new.joined();
        let logprobs = new.logprobs.iter().collect();
        let mut message = LineMessage { logprobs, ..LineMessage::default() };
        if is_thought {
            message.thinking = Some(text);
        } else {
            message.content = text;
        }
        sink.chunk("", |bytes| self.write(&message, None, bytes));
    }

    fn end(&mut self, _index: usize, segment: &Segment, sink: &mut Sink<'_>) {
        if segment.is_whole_call() {
            let message = LineMessage { calls: vec![segment], ..LineMessage::default() };
            sink.chunk("", |bytes| self.write(&message, None, bytes));
        }
    }

    fn close(&mut self, state: &AnswerState<'_>, sink: &mut Sink<'_>) {
        sink.chunk("", |bytes| self.write(&LineMessage::default(), Some(state), bytes));
    }

    fn response(&self, state: &AnswerState<'_>, bytes: &mut Vec<u8>) {
        let thoughts = joined(state.segments, Segment::is_thought);
        let message = LineMessage {
            content: joined(state.segments, Segment::is_visible).into(),
            thinking: (self.shows_thoughts && !thoughts.is_empty()).then_some(thoughts.into()),
            calls: state.segments.iter().filter(|segment| segment.is_whole_call()).collect(),
            logprobs: visible_logprobs(state.segments).collect(),
        };
        self.write(&message, Some(state), bytes);
    }
}

fn write_call(segment: &Segment, item: &mut Members<'_>) {
    let Some(call) = segment.as_call() else { return };
    item.text("id", &call.id).object("function", |function| {
        function.value("index", &call.index).text("name", &call.tool.name);
        // `Sorter` makes calls only of objects.
        function.value("arguments", &parse_arguments(&segment.text));
    });
}

/// Writes how an answer ended: durations in nanoseconds, counts of tokens.
fn write_end(state: &AnswerState<'_>, line: &mut Members<'_>) {
    let Some(outcome) = state.outcome else { return };
    let reason = match outcome.reason {
        FinishReason::Stop => "stop",
        FinishReason::Length | FinishReason::Abort => "length",
    };
    let [prompt, answer] = outcome.durations;
    line.text("done_reason", reason);
    line.value("total_duration", &prompt.saturating_add(answer).as_nanos())
        .value("load_duration", &0);
    line.value("prompt_eval_count", &state.usage.prompt_tokens);
    line.value("prompt_eval_duration", &prompt.as_nanos());
    line.value("eval_count", &state.usage.completion_tokens);
    line.value("eval_duration", &answer.as_nanos());
}

/// The last second of a year with four digits.
const LAST_SECOND: u64 = 253_402_300_799;

/// A time in seconds since 1970 as `2025-06-28T12:00:00Z`.
fn timestamp(seconds: u64) -> String {
    let seconds = seconds.min(LAST_SECOND);
    let (year, month, day) = civil(seconds / 86_400);
    let (hours, minutes, seconds) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}Z")
}
