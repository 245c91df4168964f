//! Steps -> lines, segments -> a whole answer.

use super::line::{ChatLine, LineCall, LineFunction, LineMessage, Metrics};
use crate::interop::answer::{
    Arguments, Call, Delta, Ending, Head, Segment, Sink, State, Step, TextKind, Writer, joined,
};
use crate::interop::options::civil;
use crate::interop::{FinishReason, SharedText, Thoughts, Turn};

/// Writes Ollama's answers.
#[derive(Debug)]
pub(in crate::interop) struct Ollama {
    model: SharedText,
    created_at: SharedText,
    shows_thoughts: bool,
    /// Whether content, and thoughts, were sent, so that more of them begins with an empty line.
    has_content: bool,
    has_thoughts: bool,
}

impl Ollama {
    pub(in crate::interop) fn new(head: Head, turn: &Turn) -> Self {
        Self {
            model: head.model,
            created_at: SharedText::from(&*timestamp(head.created)),
            shows_thoughts: turn.answer.thoughts == Thoughts::Shown,
            has_content: false,
            has_thoughts: false,
        }
    }

    fn line(&self, message: LineMessage) -> ChatLine {
        ChatLine {
            model: self.model.clone(),
            created_at: self.created_at.clone(),
            message,
            done: false,
            done_reason: None,
            metrics: None,
        }
    }

    fn last_line(&self, message: LineMessage, state: &State<'_>) -> ChatLine {
        let Some(outcome) = state.outcome else { return self.line(message) };
        let [prompt, answer] = outcome.durations;
        let nanoseconds =
            |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let metrics = Metrics {
            total_duration: nanoseconds(prompt + answer),
            load_duration: 0,
            prompt_eval_count: state.usage.prompt_tokens,
            prompt_eval_duration: nanoseconds(prompt),
            eval_count: state.usage.completion_tokens,
            eval_duration: nanoseconds(answer),
        };
        let done_reason = match outcome.reason {
            FinishReason::Stop => "stop",
            FinishReason::Length | FinishReason::Abort => "length",
        };
        ChatLine {
            done: true,
            done_reason: Some(done_reason),
            metrics: Some(metrics),
            ..self.line(message)
        }
    }

    fn text(&mut self, kind: TextKind, delta: Delta) -> Option<LineMessage> {
        let is_thought = kind == TextKind::Thought;
        if is_thought && !self.shows_thoughts {
            return None;
        }
        let said = if is_thought { &mut self.has_thoughts } else { &mut self.has_content };
        let text = delta.behind(std::mem::replace(said, true));
        let empty = empty_message();
        Some(if is_thought {
            LineMessage { thinking: Some(text), ..empty }
        } else {
            LineMessage { content: text, ..empty }
        })
    }
}

impl Writer for Ollama {
    type Chunk = ChatLine;
    type Response = ChatLine;

    /// Nothing opens a stream of lines.
    fn open(
        &mut self,
        _prompt_tokens: usize,
        _cached_tokens: usize,
        _chunks: &mut dyn Sink<ChatLine>,
    ) {
    }

    fn step(&mut self, step: Step, segments: &[Segment], chunks: &mut dyn Sink<ChatLine>) {
        let message = match step {
            Step::Delta(segment, new) => match &segments[segment] {
                Segment::Text(text) => self.text(text.kind, new),
                Segment::Call(_) => None,
            },
            Step::End(segment) => segments[segment].as_call().and_then(|call| {
                let tool_calls = vec![whole_call(call)?];
                Some(LineMessage { tool_calls, ..empty_message() })
            }),
            Step::Begin(_) => None,
        };
        if let Some(message) = message {
            chunks.push(self.line(message));
        }
    }

    fn close(&mut self, state: &State<'_>, chunks: &mut dyn Sink<ChatLine>) {
        chunks.push(self.last_line(empty_message(), state));
    }

    fn response(&self, state: &State<'_>) -> ChatLine {
        let calls = state.segments.iter().filter_map(Segment::as_call);
        let thoughts = joined(state.segments, &[TextKind::Thought]);
        let message = LineMessage {
            content: joined(state.segments, &[TextKind::Preamble, TextKind::Answer]),
            thinking: (self.shows_thoughts && !thoughts.is_empty()).then_some(thoughts),
            tool_calls: calls.filter_map(whole_call).collect(),
            ..empty_message()
        };
        self.last_line(message, state)
    }
}

fn empty_message() -> LineMessage {
    LineMessage {
        role: "assistant",
        content: String::new(),
        thinking: None,
        tool_calls: Vec::new(),
    }
}

/// A call that is complete, whose arguments are an object.
fn whole_call(call: &Call) -> Option<LineCall> {
    if call.ending != Ending::Whole {
        return None;
    }
    let function = LineFunction {
        index: call.index,
        name: call.name.clone(),
        arguments: Arguments::read(&call.arguments)?,
    };
    Some(LineCall { id: call.call_id.clone(), function })
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
