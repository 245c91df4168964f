//! Steps -> lines, segments -> a whole answer.

use crate::interop::answer::{
    Call, Delta, Head, LogprobEntry, Members, Segment, SegmentState, Sink, State, Step, Text,
    TextKind, Usage, Writer, joined, visible_logprobs, write_object,
};
use crate::interop::body::parse_arguments;
use crate::interop::options::civil;
use crate::interop::{FinishReason, Json, Thoughts, Turn};

/// Writes Ollama's answers.
#[derive(Debug)]
pub(super) struct Ollama {
    model: String,
    created_at: String,
    shows_thoughts: bool,
    /// Whether content, and thoughts, were sent, so that more of them begins with an empty line.
    has_content: bool,
    has_thoughts: bool,
}

/// A message of a line.
#[derive(Default)]
struct LineMessage<'a> {
    content: String,
    thinking: Option<String>,
    calls: Vec<LineCall>,
    /// Of the content.
    logprobs: Vec<&'a LogprobEntry>,
}

/// A call that is complete, and its arguments, which are an object.
struct LineCall {
    call: Call,
    arguments: Json,
}

impl Ollama {
    pub(super) fn new(head: Head, turn: &Turn) -> Self {
        Self {
            model: head.model,
            created_at: timestamp(head.created),
            shows_thoughts: turn.answer.thoughts == Thoughts::Shown,
            has_content: false,
            has_thoughts: false,
        }
    }

    /// Writes a line; the last one, of an answer that has ended, with how it did.
    fn write(&self, message: &LineMessage<'_>, end: Option<&State<'_>>, bytes: &mut Vec<u8>) {
        write_object(bytes, |line| {
            line.text("model", &self.model).text("created_at", &self.created_at);
            line.object("message", |line| {
                line.text("role", "assistant").text("content", &message.content);
                if let Some(thinking) = &message.thinking {
                    line.text("thinking", thinking);
                }
                if !message.calls.is_empty() {
                    line.objects("tool_calls", &message.calls, write_call);
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

    fn text<'a>(&mut self, of: &'a Text, new: Delta) -> Option<LineMessage<'a>> {
        let is_thought = of.kind == TextKind::Thought;
        if is_thought && !self.shows_thoughts {
            return None;
        }
        let sent = if is_thought { &mut self.has_thoughts } else { &mut self.has_content };
        let logprobs = of.new_logprobs(&new).iter().collect();
        let text = new.behind(std::mem::replace(sent, true));
        let message = LineMessage { logprobs, ..LineMessage::default() };
        Some(if is_thought {
            LineMessage { thinking: Some(text), ..message }
        } else {
            LineMessage { content: text, ..message }
        })
    }
}

impl Writer for Ollama {
    /// Nothing opens a stream of lines.
    fn open(&mut self, _usage: Usage, _sink: &mut Sink<'_>) {}

    fn step(&mut self, step: Step, segments: &[Segment], sink: &mut Sink<'_>) {
        let message = match step {
            Step::Delta(segment, new) => match &segments[segment] {
                Segment::Text(text) => self.text(text, new),
                Segment::Call(_) => None,
            },
            Step::End(segment) => segments[segment].as_call().and_then(|call| {
                Some(LineMessage { calls: vec![LineCall::of(call)?], ..LineMessage::default() })
            }),
            Step::Begin(_) => None,
        };
        if let Some(message) = message {
            sink.chunk("", |bytes| self.write(&message, None, bytes));
        }
    }

    fn close(&mut self, state: &State<'_>, sink: &mut Sink<'_>) {
        sink.chunk("", |bytes| self.write(&LineMessage::default(), Some(state), bytes));
    }

    fn response(&self, state: &State<'_>, bytes: &mut Vec<u8>) {
        let calls = state.segments.iter().filter_map(Segment::as_call);
        let thoughts = joined(state.segments, &[TextKind::Thought]);
        let message = LineMessage {
            content: joined(state.segments, &[TextKind::Preamble, TextKind::Answer]),
            thinking: (self.shows_thoughts && !thoughts.is_empty()).then_some(thoughts),
            calls: calls.filter_map(LineCall::of).collect(),
            logprobs: visible_logprobs(state.segments).collect(),
        };
        self.write(&message, Some(state), bytes);
    }
}

impl LineCall {
    fn of(call: &Call) -> Option<Self> {
        let arguments = parse_arguments(&call.arguments)?;
        (call.state == SegmentState::Whole).then(|| Self { call: call.clone(), arguments })
    }
}

fn write_call(LineCall { call, arguments }: &LineCall, item: &mut Members<'_>) {
    item.text("id", &call.call_id).object("function", |function| {
        function.value("index", &call.index).text("name", &call.name);
        function.value("arguments", arguments);
    });
}

/// Writes how an answer ended: durations in nanoseconds, counts of tokens.
fn write_end(state: &State<'_>, line: &mut Members<'_>) {
    let Some(outcome) = state.outcome else { return };
    let reason = match outcome.reason {
        FinishReason::Stop => "stop",
        FinishReason::Length | FinishReason::Abort => "length",
    };
    let [prompt, answer] = outcome.durations;
    line.text("done_reason", reason);
    line.value("total_duration", &(prompt + answer).as_nanos()).value("load_duration", &0);
    line.value("prompt_eval_count", &state.usage.prompt_tokens);
    line.value("prompt_eval_duration", &prompt.as_nanos());
    line.value("eval_count", &state.usage.completion_tokens);
    line.value("eval_duration", &answer.as_nanos());
}
/// The last second that four digits of a year can tell.
const LAST_SECOND: u64 = 253_402_300_799;

/// A time in seconds since 1970 as `2025-06-28T12:00:00Z`.
fn timestamp(seconds: u64) -> String {
    let seconds = seconds.min(LAST_SECOND);
    let (year, month, day) = civil(seconds / 86_400);
    let (hours, minutes, seconds) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}Z")
}

#[cfg(test)]
mod tests {
    use super::timestamp;

    #[test]
    fn timestamps_are_in_utc() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00Z");
        assert_eq!(timestamp(1_751_112_000), "2025-06-28T12:00:00Z");
        assert_eq!(timestamp(1_751_112_000 + 3_661), "2025-06-28T13:01:01Z");
        assert_eq!(timestamp(u64::MAX), "9999-12-31T23:59:59Z");
    }
}
