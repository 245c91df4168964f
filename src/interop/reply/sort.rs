//! Sorts the parser's events into segments, the same for all dialects.

use std::ops::Range;

use serde_json::json;

use super::BuiltinCall;
use super::ids::Ids;
use super::input::InputDecoder;
use super::route::{Route, Rules, Target};
use super::stop::{Passed, StopStrings};
use crate::interop::answer::{
    Call, Delta, FinishReason, Logprobs, Prefixes, Segment, SegmentState, Step, Text, TextKind,
};
use crate::interop::tools::is_object;
use crate::parse::{Event, Repair};
use crate::repair::RepairKind;

/// What became of the tokens so far.
#[derive(Debug, Clone)]
pub(super) struct Sorter {
    rules: Rules,
    pub(super) ids: Ids,
    prefixes: Prefixes,
    /// Prefilled bytes: cut from a text, kept in a call, since half the arguments are of no use.
    prompted: usize,
    open: OpenMessage,
    /// Where the open message's content begins.
    content_from: usize,
    /// Where what is known of its content ends.
    content_to: usize,
    stop: StopStrings,
    /// If the body asks for them.
    pub(super) logprobs: Option<Logprobs>,
    calls: usize,
    pub(super) segments: Vec<Segment>,
    pub(super) steps: Vec<Step>,
    pub(super) repairs: Vec<Repair>,
    pub(super) builtin_calls: Vec<BuiltinCall>,
    /// Tokens of the thoughts that are complete.
    pub(super) thought_tokens: usize,
    /// The stop string of the body that ended the visible answer.
    pub(super) stopped: Option<String>,
}

/// What the open message is.
#[derive(Debug, Clone)]
enum OpenMessage {
    None,
    /// Text; its segment begins with its first character.
    Text(TextKind, Option<usize>),
    Call(usize, Option<InputDecoder>),
    /// A call that is not shown before it is complete.
    Held(Target, CallSite, String),
    Builtin(usize),
}

/// Where a call stands, for the report of what became of it.
#[derive(Debug, Clone)]
struct CallSite {
    span: Range<usize>,
    index: usize,
    recipient: String,
}

impl Sorter {
    pub(super) fn new(
        rules: Rules,
        stop: StopStrings,
        ids: Ids,
        prefixes: Prefixes,
        prompted: usize,
        logprobs: Option<Logprobs>,
    ) -> Self {
        Self {
            rules,
            ids,
            prefixes,
            prompted,
            open: OpenMessage::None,
            content_from: 0,
            content_to: 0,
            stop,
            logprobs,
            calls: 0,
            segments: Vec::new(),
            steps: Vec::new(),
            repairs: Vec::new(),
            builtin_calls: Vec::new(),
            thought_tokens: 0,
            stopped: None,
        }
    }

    /// Takes what happened. `end` is given with the last events: why the tokens end.
    pub(super) fn take(&mut self, events: Vec<Event>, end: Option<FinishReason>) {
        // What broke off, unless the stop token was all that was missing.
        let is_cut = end.is_some_and(|reason| reason != FinishReason::Stop);
        for event in events {
            match event {
                Event::MessageStart { span, index, author, channel, recipient, .. } => {
                    self.content_from = span.end;
                    if let Some(logprobs) = &mut self.logprobs {
                        logprobs.begin(span.end);
                    }
                    let (channel, to) = (channel.as_deref(), recipient.as_deref());
                    let route = self.rules.route(&author, channel, to, self.calls);
                    let recipient = recipient.unwrap_or_default();
                    self.begin(route, CallSite { span, index, recipient });
                }
                Event::ContentDelta { span, text, .. } => {
                    self.content_to = span.end;
                    self.add(text);
                }
                Event::MessageEnd { span, stop_token, .. } => {
                    if matches!(self.open, OpenMessage::Text(TextKind::Thought, _)) {
                        self.thought_tokens += span.start.saturating_sub(self.content_from);
                    }
                    let is_cut = is_cut && stop_token.is_none();
                    self.end(if is_cut { SegmentState::Cut } else { SegmentState::Whole });
                }
                Event::Repair(repair) => self.repairs.push(repair),
            }
        }
    }

    /// Whether a thought is under way.
    pub(super) fn is_thinking(&self) -> bool {
        matches!(self.open, OpenMessage::Text(TextKind::Thought, _))
    }

    /// Tokens of the thought that is under way, where so many were parsed.
    pub(super) fn open_thought_tokens(&self, parsed: usize) -> usize {
        match self.open {
            OpenMessage::Text(TextKind::Thought, _) => parsed.saturating_sub(self.content_from),
            _ => 0,
        }
    }

    fn begin(&mut self, route: Route, call_site: CallSite) {
        self.open = match route {
            Route::Text(kind) => OpenMessage::Text(kind, None),
            Route::CallAsText => {
                self.report_call_as_text(&call_site);
                OpenMessage::Text(TextKind::Answer, None)
            }
            Route::Builtin => {
                self.builtin_calls.push(BuiltinCall {
                    recipient: call_site.recipient,
                    text: String::new(),
                    is_complete: false,
                });
                OpenMessage::Builtin(self.builtin_calls.len() - 1)
            }
            Route::Call(target) if self.rules.objects => {
                OpenMessage::Held(target, call_site, String::new())
            }
            Route::Call(target) => {
                let decoder = target.is_custom.then(InputDecoder::default);
                match self.begin_call(target) {
                    Some(segment) => OpenMessage::Call(segment, decoder),
                    None => OpenMessage::None,
                }
            }
        };
    }

    /// `None` after a stop string: nothing more is said.
    fn begin_call(&mut self, target: Target) -> Option<usize> {
        if self.stopped.is_some() {
            return None;
        }
        let Target { name, namespace, is_custom, .. } = target;
        let item = if is_custom { self.prefixes.custom } else { self.prefixes.function };
        let call = Call {
            name,
            namespace,
            is_custom,
            arguments: String::new(),
            state: SegmentState::Open,
            call_id: self.ids.next(self.prefixes.call),
            id: item.map(|prefix| self.ids.next(prefix)).unwrap_or_default(),
            index: self.calls,
        };
        self.calls += 1;
        Some(self.push(Segment::Call(call)))
    }

    fn push(&mut self, segment: Segment) -> usize {
        self.segments.push(segment);
        let index = self.segments.len() - 1;
        self.steps.push(Step::Begin(index));
        index
    }

    /// Content of the open message.
    fn add(&mut self, mut text: String) {
        match &mut self.open {
            OpenMessage::None => {}
            OpenMessage::Text(kind, _) => {
                let kind = *kind;
                let prompted = std::mem::take(&mut self.prompted);
                text.drain(..prompted.min(text.len()));
                self.say(kind, text);
            }
            OpenMessage::Call(segment, None) => {
                let segment = *segment;
                self.append(segment, text);
            }
            OpenMessage::Call(segment, Some(decoder)) => {
                let (segment, input) = (*segment, decoder.push(&text));
                self.append(segment, input);
            }
            OpenMessage::Held(_, _, arguments) => arguments.push_str(&text),
            OpenMessage::Builtin(call) => self.builtin_calls[*call].text.push_str(&text),
        }
    }

    /// Text of the open message, of which stop strings may cut off the rest.
    fn say(&mut self, kind: TextKind, text: String) {
        if self.stopped.is_some() {
            return;
        }
        if kind == TextKind::Thought {
            return self.say_on(kind, text);
        }
        match self.stop.push(text) {
            Passed::Emit(text) => self.say_on(kind, text),
            Passed::Stop(text, string) => {
                self.say_on(kind, text);
                self.stopped = Some(string);
            }
        }
    }

    fn say_on(&mut self, kind: TextKind, text: String) {
        if text.is_empty() {
            return;
        }
        let segment = match self.open {
            OpenMessage::Text(_, Some(segment)) => segment,
            _ => self.begin_text(kind),
        };
        let logprobs = self.emit_logprobs(segment, text.len());
        self.append_with(segment, text, logprobs);
    }

    /// Adds to a text the log-probabilities of its next bytes, and returns where they stand.
    fn emit_logprobs(&mut self, segment: usize, bytes: usize) -> Range<usize> {
        let Some(logprobs) = &mut self.logprobs else { return 0..0 };
        match &mut self.segments[segment] {
            Segment::Text(of) if of.kind != TextKind::Thought => {
                let there = of.logprobs.len();
                let is_all = !self.stop.is_holding();
                of.logprobs.extend(logprobs.emit(bytes, self.content_to, is_all));
                there..of.logprobs.len()
            }
            _ => 0..0,
        }
    }

    fn begin_text(&mut self, kind: TextKind) -> usize {
        let prefix = match kind {
            TextKind::Thought => self.prefixes.thought,
            TextKind::Preamble | TextKind::Answer => self.prefixes.message,
        };
        let id = prefix.map(|prefix| self.ids.next(prefix)).unwrap_or_default();
        let text =
            Text { kind, text: String::new(), state: SegmentState::Open, id, logprobs: Vec::new() };
        let segment = self.push(Segment::Text(text));
        self.open = OpenMessage::Text(kind, Some(segment));
        segment
    }

    fn append(&mut self, segment: usize, text: String) {
        self.append_with(segment, text, 0..0);
    }

    fn append_with(&mut self, segment: usize, text: String, logprobs: Range<usize>) {
        if text.is_empty() {
            return;
        }
        let whole = self.segments[segment].text_mut();
        let is_first = whole.is_empty();
        whole.push_str(&text);
        self.steps.push(Step::Delta(segment, Delta { text, is_first, logprobs }));
    }

    /// The end of the open message.
    fn end(&mut self, how: SegmentState) {
        self.prompted = 0;
        match std::mem::replace(&mut self.open, OpenMessage::None) {
            OpenMessage::None => {}
            OpenMessage::Text(kind, segment) => {
                self.open = OpenMessage::Text(kind, segment);
                if kind != TextKind::Thought && self.stopped.is_none() {
                    let held = self.stop.flush();
                    self.say_on(kind, held);
                }
                if let OpenMessage::Text(_, Some(segment)) =
                    std::mem::replace(&mut self.open, OpenMessage::None)
                {
                    self.end_segment(segment, how);
                }
            }
            OpenMessage::Call(segment, decoder) => self.end_call(segment, decoder, how),
            OpenMessage::Held(target, call_site, arguments) => {
                self.place(target, &call_site, &arguments, how);
            }
            OpenMessage::Builtin(call) => {
                self.builtin_calls[call].is_complete = how == SegmentState::Whole;
            }
        }
    }

    fn end_call(&mut self, segment: usize, decoder: Option<InputDecoder>, how: SegmentState) {
        match decoder {
            Some(decoder) => self.append(segment, decoder.finish()),
            None if how == SegmentState::Whole && self.segments[segment].text().is_empty() => {
                self.append(segment, NO_ARGUMENTS.to_owned());
            }
            None => {}
        }
        self.end_segment(segment, how);
    }

    fn end_segment(&mut self, segment: usize, how: SegmentState) {
        // What stands before a stop string is whole.
        let how = if self.stopped.is_some() { SegmentState::Whole } else { how };
        self.segments[segment].set_state(how);
        self.steps.push(Step::End(segment));
    }

    /// A call whose arguments are complete: a call if they are an object, else text.
    fn place(&mut self, target: Target, call_site: &CallSite, arguments: &str, how: SegmentState) {
        if target.is_code && how == SegmentState::Whole {
            let arguments = json!({"code": arguments}).to_string();
            return self.place(Target { is_code: false, ..target }, call_site, &arguments, how);
        }
        let arguments = match arguments.trim() {
            "" if how == SegmentState::Whole => NO_ARGUMENTS,
            _ => arguments,
        };
        if how == SegmentState::Whole && is_object(arguments) {
            if let Some(segment) = self.begin_call(target) {
                self.append(segment, arguments.to_owned());
                self.end_segment(segment, how);
            }
            return;
        }
        self.report_call_as_text(call_site);
        self.open = OpenMessage::Text(TextKind::Answer, None);
        self.say(TextKind::Answer, arguments.to_owned());
        self.end(how);
    }

    fn report_call_as_text(&mut self, call_site: &CallSite) {
        self.repairs.push(Repair {
            kind: RepairKind::CallAsText,
            span: call_site.span.clone(),
            index: Some(call_site.index),
            text: call_site.recipient.clone(),
        });
    }
}

/// What a call without arguments is given.
const NO_ARGUMENTS: &str = "{}";
