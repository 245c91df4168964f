//! The rules that every form of a grammar has: the messages of a turn and their headers. How a rule is spelled, and what
//! a message contains, is up to the form.
//!
//! What all tools share of a header is a rule of its own; a tool adds its name, once for each place of the recipient, and
//! its schema once.

use super::headers::{
    CALL_CHANNELS, CHANNEL, MESSAGE, MessageKind, Piece, answer_types, stop_of, types,
};
use super::options::{HeaderForms, Thinking};
use super::{Grammar, GrammarTool};
use crate::chat::{ANALYSIS, COMMENTARY, FINAL};
use crate::tokenizer::{TokenId, special};

/// A form of grammars. Names of rules have letters and digits only, which all of them take.
pub(super) trait Form {
    type Error;
    /// The rule with which a turn begins.
    const START: &'static str;
    /// The rule of any text without special tokens.
    const TEXT: &'static str;
    /// Between alternatives on lines of their own.
    const OR: &'static str;

    fn rule(&mut self, name: &str, is: &str);
    fn quoted(&self, text: &str) -> String;
    fn token(&self, token: TokenId) -> String;

    /// The token that ends a message for good; empty where the engine adds it itself.
    fn stop(&self, token: TokenId) -> String;

    /// The rule of the content of an answer or a call.
    fn content(&mut self, grammar: &Grammar, kind: MessageKind) -> Result<String, Self::Error>;
}

/// Writes the rules of a turn, and of what its messages hold.
///
/// # Errors
///
/// What the form cannot hold.
pub(super) fn write<F: Form>(grammar: &Grammar, form: &mut F) -> Result<(), F::Error> {
    let options = &grammar.options;
    form.rule(F::START, &start::<F>(grammar));
    let has_headers = grammar
        .begun
        .is_none_or(|kind| matches!(kind, MessageKind::Thought | MessageKind::Preamble));
    let is_answered = !options.tool_choice.is_required();
    if has_headers {
        let next =
            [Piece::Token(special::END), Piece::Token(special::START), Piece::Text("assistant")];
        form.rule("next", &sequence(form, &next));
        for (name, channel) in before(grammar) {
            let header = sequence(form, &[CHANNEL, Piece::Text(channel), MESSAGE]);
            form.rule(name, &joined(&[&header, F::TEXT, "next"]));
        }
        let mut last = Vec::new();
        if is_answered {
            last.push("answer");
            let header = sequence(form, &[CHANNEL, Piece::Text(FINAL)]);
            let [kinds, message] =
                [alternatives(form, answer_types(options)), sequence(form, &[MESSAGE])];
            form.rule(
                "answer",
                &joined(&[&header, &kinds, &message, &rule_of(MessageKind::Answer)]),
            );
        }
        if !grammar.tools.is_empty() {
            last.push("call");
            write_calls(&grammar.tools, options.header_forms, form);
        }
        form.rule("last", &last.join(" | "));
    }
    let calls = (0..grammar.tools.len()).map(MessageKind::Call);
    for kind in is_answered.then_some(MessageKind::Answer).into_iter().chain(calls) {
        if has_headers || grammar.begun == Some(kind) {
            let (content, stop) = (form.content(grammar, kind)?, form.stop(stop_of(kind)));
            let has_end = options.header_forms == HeaderForms::All;
            let end =
                if has_end { format!("({})?", form.token(special::END)) } else { String::new() };
            form.rule(&rule_of(kind), &joined(&[&content, &end, &stop]));
        }
    }
    Ok(())
}

/// The rule of the content of an answer or a call.
fn rule_of(kind: MessageKind) -> String {
    match kind {
        MessageKind::Call(tool) => format!("arguments{tool}"),
        _ => "content".to_owned(),
    }
}

/// The rules of the messages that may come before the last, and their channels.
fn before(grammar: &Grammar) -> impl Iterator<Item = (&'static str, &'static str)> {
    let thought = (grammar.options.thinking != Thinking::Off).then_some(("thought", ANALYSIS));
    let preamble = grammar.options.preambles.then_some(("preamble", COMMENTARY));
    thought.into_iter().chain(preamble)
}

/// What comes before the last message, and it.
fn start<F: Form>(grammar: &Grammar) -> String {
    let options = &grammar.options;
    let before: Vec<&str> = before(grammar).map(|(name, _)| name).collect();
    let is_required = options.thinking == Thinking::Required;
    let first = usize::from(is_required || grammar.begun.is_some());
    let most = options.max_messages.map(|most| most.saturating_sub(1 + first));
    let many = match (before.is_empty(), most) {
        (true, _) | (false, Some(0)) => String::new(),
        (false, None) => format!("({})*", before.join(" | ")),
        (false, Some(most)) => format!("({}){{0,{most}}}", before.join(" | ")),
    };
    match grammar.begun {
        None => joined(&[if is_required { "thought" } else { "" }, &many, "last"]),
        Some(MessageKind::Thought | MessageKind::Preamble) => {
            joined(&[F::TEXT, "next", &many, "last"])
        }
        Some(kind) => rule_of(kind),
    }
}

fn write_calls<F: Form>(tools: &[GrammarTool], forms: HeaderForms, form: &mut F) {
    let to = sequence(form, &[Piece::Text(" to=")]);
    let (channel, message) = (sequence(form, &[CHANNEL]), sequence(form, &[MESSAGE]));
    form.rule("call", &format!("{channel} callchannel {to} inchannel | {to} inrole"));
    form.rule("callchannel", &CALL_CHANNELS.map(|channel| form.quoted(channel)).join(" | "));
    for is_json in [true, false] {
        if let Some(tool) = tools.iter().find(|tool| tool.parameters.is_some() == is_json) {
            let (name, kinds) = (name_of(tool), alternatives(form, types(is_json, forms)));
            form.rule(&format!("channel{name}"), &joined(&[&kinds, &message]));
            let header = joined(&[&channel, "callchannel", &kinds, &message]);
            form.rule(&format!("role{name}"), &header);
        }
    }
    for place in ["channel", "role"] {
        let named = tools.iter().enumerate().map(|(index, tool)| {
            let rest = format!("{place}{} {}", name_of(tool), rule_of(MessageKind::Call(index)));
            joined(&[&form.quoted(&tool.recipient), &rest])
        });
        form.rule(&format!("in{place}"), &named.collect::<Vec<_>>().join(F::OR));
    }
}

/// What a tool takes, in the names of the rules of its header.
fn name_of(tool: &GrammarTool) -> &'static str {
    if tool.parameters.is_some() { "json" } else { "text" }
}

fn sequence(form: &impl Form, pieces: &[Piece<'_>]) -> String {
    let pieces = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => form.quoted(text),
        Piece::Token(token) => form.token(*token),
    });
    pieces.collect::<Vec<_>>().join(" ")
}

/// One of several sequences, of which one is empty.
fn alternatives(form: &impl Form, all: &[&[Piece<'_>]]) -> String {
    let others: Vec<String> =
        all.iter().filter(|one| !one.is_empty()).map(|one| sequence(form, one)).collect();
    if others.is_empty() { String::new() } else { format!("({})?", others.join(" | ")) }
}

/// What is not empty, in a row.
fn joined(parts: &[&str]) -> String {
    let parts = parts.iter().copied().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" ")
}
