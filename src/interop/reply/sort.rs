//! Sorts the parser's events into segments, the same for all dialects.

use serde::{Deserialize, Serialize};

use super::BuiltinCall;
use super::arguments::{HeldCall, Meaning, takes_code};
use super::ids::Ids;
use super::input::InputDecoder;
use super::route::{Route, RouteRules};
use super::stop::StopStrings;
use crate::chat::{Author, Role};
use crate::error::Result;
use crate::interop::answer::{
    Call, Delta, FinishReason, Logprobs, PastSegments, Prefixes, Segment, SegmentKind,
    SegmentState, Sink, TextKind, Writer,
};
use crate::interop::tools::NO_ARGUMENTS;
use crate::interop::{Tool, ToolKind, Turn};
use crate::json::ObjectText;
use crate::parse::{Event, Repair};
use crate::repair::RepairKind;

/// What the tokens so far have become. Segments go to the writer as they arise.
#[derive(Debug)]
pub(super) struct Sorter {
    pub(super) rules: RouteRules,
    pub(super) writer: Box<dyn Writer>,
    pub(super) ids: Ids,
    prefixes: Prefixes,
    /// Prefilled bytes: cut from a text, kept in a call, since half the arguments are of no use.
    pub(super) prompted: usize,
    pub(super) open: OpenMessage,
    pub(super) content: KnownContent,
    pub(super) visible: VisibleText,
    pub(super) made: Made,
}

/// The tokens of the open message's content.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct KnownContent {
    /// Where it begins.
    pub(super) from: usize,
    /// Where the known part of it ends.
    pub(super) to: usize,
    /// Whether that is all of it, and no character at its end was dropped.
    pub(super) ends: bool,
}

/// What limits and accompanies the text that the user sees.
#[derive(Debug)]
pub(super) struct VisibleText {
    pub(super) stop: StopStrings,
    /// The stop string of the body that ended it.
    pub(super) stopped: Option<String>,
    /// `Some` if the body asks for them.
    pub(super) logprobs: Option<Logprobs>,
}

/// What has been made of the tokens.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub(super) segments: Vec<Segment>,
    /// Counts of the segments before a checkpoint.
    pub(super) past: PastSegments,
    pub(super) calls: usize,
    pub(super) builtin_calls: Vec<BuiltinCall>,
    pub(super) repairs: Vec<Repair>,
    /// Tokens of the thoughts that are complete.
    pub(super) thought_tokens: usize,
}

/// What the open message has become.
#[derive(Debug)]
pub(super) enum OpenMessage {
    None,
    /// Text; its segment begins with its first character.
    Text(TextKind, Option<usize>),
    Call {
        segment: usize,
        arguments: ObjectText,
        decoder: Option<InputDecoder>,
    },
    /// A call that is not shown before it is complete.
    Held(Box<HeldCall>),
    Builtin(usize),
}

impl Sorter {
    pub(super) fn new(turn: &Turn, writer: Box<dyn Writer>, ids: Ids) -> Result<Self> {
        let begun = turn.prefill.as_ref().and_then(|prefill| prefill.text.as_ref());
        Ok(Self {
            rules: RouteRules::new(turn),
            writer,
            ids,
            prefixes: turn.dialect.definition().prefixes,
            prompted: begun.map_or(0, String::len),
            open: OpenMessage::None,
            content: KnownContent::default(),
            visible: VisibleText {
                stop: StopStrings::new(&turn.stop_strings)?,
                stopped: None,
                logprobs: Logprobs::of(turn),
            },
            made: Made::default(),
        })
    }

    /// Takes the parser's events. `end`, with the last events, is the reason the tokens end.
    pub(super) fn take(
        &mut self,
        events: Vec<Event>,
        end: Option<FinishReason>,
        sink: &mut Sink<'_>,
    ) {
        let mut events = events.into_iter().peekable();
        while let Some(event) = events.next() {
            match event {
                Event::MessageStart { span, index, author, channel, recipient, .. } => {
                    self.content.from = span.end;
                    if let Some(logprobs) = &mut self.visible.logprobs {
                        logprobs.begin(span.end);
                    }
                    let (channel, to) = (channel.as_deref(), recipient.as_deref());
                    let route = self.rules.route(&author, channel, to, self.made.calls);
                    let (kind, text) = if route == Route::Foreign {
                        (RepairKind::ForeignAuthor, written(author))
                    } else {
                        (RepairKind::CallAsText, recipient.unwrap_or_default())
                    };
                    self.begin(route, Repair { kind, span, index: Some(index), text }, sink);
                }
                Event::ContentDelta { span, text, .. } => {
                    self.content.to = span.end;
                    self.content.ends = events.peek().is_some_and(|next| {
                        let Event::MessageEnd { stop_token, .. } = next else { return false };
                        stop_token.is_some() || end.is_none()
                    });
                    self.add(text, sink);
                }
                Event::MessageEnd { span, stop_token, .. } => {
                    self.made.thought_tokens += self.open_thought_tokens(span.start);
                    // The message broke off, unless only its stop token was missing.
                    let is_cut = match end {
                        _ if stop_token.is_some() => false,
                        Some(reason) => reason != FinishReason::Stop,
                        None => self.is_half_a_call(),
                    };
                    self.end(if is_cut { SegmentState::Cut } else { SegmentState::Whole }, sink);
                }
                Event::Repair(repair) => self.made.repairs.push(repair),
            }
        }
    }

    /// Whether the open message is a call with arguments that are not an object so far.
    fn is_half_a_call(&self) -> bool {
        match &self.open {
            OpenMessage::Held(call) => call.is_half(),
            OpenMessage::Call { segment, arguments, decoder: None } => {
                let SegmentKind::Call(call) = &self.made.segments[*segment].kind else {
                    return false;
                };
                !takes_code(&call.tool) && *arguments != ObjectText::Whole
            }
            _ => false,
        }
    }

    /// Whether a thought is under way.
    pub(super) fn is_thinking(&self) -> bool {
        matches!(self.open, OpenMessage::Text(TextKind::Thought, _))
    }

    /// Tokens of the open thought, after `parsed` tokens in all.
    pub(super) fn open_thought_tokens(&self, parsed: usize) -> usize {
        if self.is_thinking() { parsed.saturating_sub(self.content.from) } else { 0 }
    }

    /// `report` is the repair of a message that does not become what it is.
    fn begin(&mut self, route: Route, report: Repair, sink: &mut Sink<'_>) {
        self.open = match route {
            Route::Text(kind) => OpenMessage::Text(kind, None),
            Route::CallAsText => {
                self.made.repairs.push(report);
                OpenMessage::Text(TextKind::Answer, None)
            }
            Route::Foreign => {
                self.made.repairs.push(report);
                OpenMessage::None
            }
            Route::Builtin => {
                let (recipient, text) = (report.text, String::new());
                self.made.builtin_calls.push(BuiltinCall { recipient, text, is_complete: false });
                OpenMessage::Builtin(self.made.builtin_calls.len() - 1)
            }
            Route::Call(tool) if self.rules.objects || tool.kind.takes_object() => {
                OpenMessage::Held(Box::new(HeldCall::new(tool, report)))
            }
            Route::Call(tool) => {
                let decoder = (tool.kind == ToolKind::Custom).then(InputDecoder::default);
                match self.begin_call(tool, sink) {
                    Some(segment) => {
                        OpenMessage::Call { segment, arguments: ObjectText::Before, decoder }
                    }
                    None => OpenMessage::None,
                }
            }
        };
    }

    /// `None` after a stop string: nothing more is emitted.
    fn begin_call(&mut self, tool: Tool, sink: &mut Sink<'_>) -> Option<usize> {
        if self.visible.stopped.is_some() {
            return None;
        }
        let call = Call { tool, id: self.ids.next(self.prefixes.call), index: self.made.calls };
        self.made.calls += 1;
        let Prefixes { custom, function, .. } = self.prefixes;
        let prefix = match call.tool.kind.client_call() {
            Some([_, _, prefix]) => function.map(|_| prefix),
            None if call.is_custom() => custom,
            None => function,
        };
        Some(self.begin_segment(SegmentKind::Call(call), prefix, sink))
    }

    fn begin_segment(
        &mut self,
        kind: SegmentKind,
        prefix: Option<&str>,
        sink: &mut Sink<'_>,
    ) -> usize {
        let id = prefix.map(|prefix| self.ids.next(prefix)).unwrap_or_default();
        let (index, segment) = (self.made.segments.len(), Segment::new(kind, id));
        self.writer.begin(index, &segment, sink);
        self.made.segments.push(segment);
        index
    }

    /// Adds content to the open message.
    fn add(&mut self, mut text: String, sink: &mut Sink<'_>) {
        match &mut self.open {
            OpenMessage::None => {}
            OpenMessage::Text(kind, _) => {
                let kind = *kind;
                let prompted = std::mem::take(&mut self.prompted);
                text.drain(..prompted.min(text.len()));
                self.say(kind, text, sink);
            }
            OpenMessage::Call { segment, arguments, decoder } => {
                let segment = *segment;
                match decoder {
                    Some(decoder) => text = decoder.push(&text),
                    None => arguments.push(&text),
                }
                self.append(segment, &text, sink);
            }
            OpenMessage::Held(call) => call.arguments.push_str(&text),
            OpenMessage::Builtin(call) => self.made.builtin_calls[*call].text.push_str(&text),
        }
    }

    /// Adds text to the open message; a stop string may cut off the rest.
    fn say(&mut self, kind: TextKind, text: String, sink: &mut Sink<'_>) {
        if self.visible.stopped.is_some() {
            return;
        }
        if kind == TextKind::Thought {
            return self.say_on(kind, &text, sink);
        }
        let (text, stopped) = self.visible.stop.push(text);
        self.say_on(kind, &text, sink);
        self.visible.stopped = stopped;
    }

    fn say_on(&mut self, kind: TextKind, text: &str, sink: &mut Sink<'_>) {
        if text.is_empty() {
            return;
        }
        let segment = if let OpenMessage::Text(_, Some(segment)) = self.open {
            segment
        } else {
            let Prefixes { thought, message, .. } = self.prefixes;
            let prefix = if kind == TextKind::Thought { thought } else { message };
            self.begin_segment(SegmentKind::Text(kind), prefix, sink)
        };
        self.open = OpenMessage::Text(kind, Some(segment));
        self.append(segment, text, sink);
    }

    /// Adds to a segment; visible text gets its log-probabilities.
    fn append(&mut self, index: usize, text: &str, sink: &mut Sink<'_>) {
        if text.is_empty() {
            return;
        }
        let (before, rest) = self.made.segments.split_at_mut(index);
        let Some(segment) = rest.first_mut() else { return };
        let (is_joined, past): (fn(&Segment) -> bool, _) = if segment.is_thought() {
            (Segment::is_thought, self.made.past.thoughts)
        } else {
            (Segment::is_visible, self.made.past.texts)
        };
        let is_behind_others = segment.is_new() && (past > 0 || before.iter().any(is_joined));
        segment.text.push_str(text);
        let sent = segment.logprobs.len();
        if let Some(logprobs) = self.visible.logprobs.as_mut().filter(|_| segment.is_visible()) {
            let is_all = !self.visible.stop.is_holding();
            let (to, ends) = (self.content.to, self.content.ends);
            segment.logprobs.extend(logprobs.emit(text, to, is_all, ends));
        }
        let new = Delta { text, is_behind_others, logprobs: &segment.logprobs[sent..] };
        self.writer.delta(index, segment, new, sink);
    }

    /// Ends the open message.
    fn end(&mut self, how: SegmentState, sink: &mut Sink<'_>) {
        self.prompted = 0;
        if let OpenMessage::Text(kind, _) = self.open
            && kind != TextKind::Thought
            && self.visible.stopped.is_none()
        {
            let held = self.visible.stop.flush();
            self.say_on(kind, &held, sink);
        }
        match std::mem::replace(&mut self.open, OpenMessage::None) {
            OpenMessage::None | OpenMessage::Text(_, None) => {}
            OpenMessage::Text(_, Some(segment)) => self.end_segment(segment, how, sink),
            OpenMessage::Call { segment, decoder, .. } => {
                match decoder {
                    Some(decoder) => self.append(segment, &decoder.finish(), sink),
                    None if how == SegmentState::Whole && self.made.segments[segment].is_new() => {
                        self.append(segment, NO_ARGUMENTS, sink);
                    }
                    None => {}
                }
                self.end_segment(segment, how, sink);
            }
            OpenMessage::Held(call) => self.place(*call, how, sink),
            OpenMessage::Builtin(call) => {
                self.made.builtin_calls[call].is_complete = how == SegmentState::Whole;
            }
        }
    }

    fn end_segment(&mut self, index: usize, how: SegmentState, sink: &mut Sink<'_>) {
        let segment = &mut self.made.segments[index];
        // The text before a stop string is complete.
        segment.state = if self.visible.stopped.is_some() { SegmentState::Whole } else { how };
        self.writer.end(index, segment, sink);
    }

    /// Writes a held call that has ended as the calls that it means, else as text.
    fn place(&mut self, held: HeldCall, how: SegmentState, sink: &mut Sink<'_>) {
        let mut report = held.report.clone();
        let meaning = if how == SegmentState::Whole {
            held.meaning(&self.rules)
        } else {
            Meaning::Text(held.arguments)
        };
        match meaning {
            Meaning::Call(tool, arguments) => self.say_call(tool, &arguments, sink),
            Meaning::Repaired(calls) => {
                report.kind = RepairKind::RepairedArguments;
                self.made.repairs.push(report);
                for (tool, arguments) in calls {
                    self.say_call(tool, &arguments, sink);
                }
            }
            Meaning::Text(text) => {
                self.made.repairs.push(report);
                self.open = OpenMessage::Text(TextKind::Answer, None);
                self.say(TextKind::Answer, text, sink);
                self.end(how, sink);
            }
        }
    }

    /// Writes a complete call at once.
    fn say_call(&mut self, tool: Tool, arguments: &str, sink: &mut Sink<'_>) {
        if let Some(segment) = self.begin_call(tool, sink) {
            self.append(segment, arguments, sink);
            self.end_segment(segment, SegmentState::Whole, sink);
        }
    }
}

/// An author as written in a header.
fn written(author: Author) -> String {
    match (author.role, author.name) {
        (Role::Tool, Some(name)) => name,
        (role, Some(name)) => [role.as_str(), ":", &name].concat(),
        (role, None) => role.as_str().to_owned(),
    }
}
