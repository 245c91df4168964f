//! A grammar -> llguidance's form of Lark.
//!
//! Special tokens are written by their ids, `<[200008]>`. What all tools share of a header is a rule of its own; a
//! tool adds its name, once for each place of the recipient, and its schema once.

use std::fmt::Write;

use regex_syntax::hir::Hir;
use serde_json::{Value, json};

use super::headers::{CALL_CHANNELS, CHANNEL, Kind, MESSAGE, Piece, answer_types, types};
use super::options::{GrammarOptions, JsonSpace, Thoughts, ToolUse};
use super::schemas::{of_object, without_words};
use super::{GrammarTool, Parts};
use crate::chat::{ANALYSIS, COMMENTARY, FINAL};
use crate::tokenizer::special;

pub(super) fn write(grammar: &Parts) -> String {
    let options = &grammar.options;
    let mut lark = String::from("%llguidance {}\n");
    rule(&mut lark, "start", &start(grammar));
    let next = [Piece::Token(special::END), Piece::Token(special::START), Piece::Text("assistant")];
    rule(&mut lark, "next", &sequence(&next));
    if options.thoughts != Thoughts::Off {
        let header = sequence(&[CHANNEL, Piece::Text(ANALYSIS), MESSAGE]);
        rule(&mut lark, "thought", &format!("{header} TEXT next"));
    }
    if options.preambles {
        let header = sequence(&[CHANNEL, Piece::Text(COMMENTARY), MESSAGE]);
        rule(&mut lark, "preamble", &format!("{header} TEXT next"));
    }
    let mut last = Vec::new();
    if options.tool_use != ToolUse::Required {
        last.push("answer".to_owned());
        let header = sequence(&[CHANNEL, Piece::Text(FINAL)]);
        let kinds = alternatives(&answer_types(options));
        let content = match (&options.response_schema, &grammar.pattern) {
            (Some(schema), _) => json(without_words(schema), options.json_space),
            (None, Some(_)) => "ANSWER".to_owned(),
            (None, None) => "TEXT".to_owned(),
        };
        let [message, stop] = [sequence(&[MESSAGE]), sequence(&[Piece::Token(special::RETURN)])];
        rule(&mut lark, "answer", &format!("{header} {kinds} {message} answer_content"));
        rule(&mut lark, "answer_content", &format!("{content} {stop}"));
    }
    if !grammar.tools.is_empty() {
        last.push("call".to_owned());
        write_calls(&mut lark, &grammar.tools, options);
    }
    rule(&mut lark, "last", &last.join(" | "));
    lark.push_str("TEXT: /(.|\\n)*/\n");
    if let Some(pattern) = &grammar.pattern {
        rule(&mut lark, "ANSWER", &regex(&pattern.hir));
    }
    lark
}

/// What comes before the last message, and it.
fn start(grammar: &Parts) -> String {
    let options = &grammar.options;
    let kinds = [("thought", options.thoughts != Thoughts::Off), ("preamble", options.preambles)];
    let before: Vec<&str> = kinds.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
    let is_required = options.thoughts == Thoughts::Required;
    let first = usize::from(is_required || grammar.begun.is_some());
    let most = options.max_messages.map(|most| most.saturating_sub(1 + first));
    let many = match (before.is_empty(), most) {
        (true, _) | (false, Some(0)) => String::new(),
        (false, None) => format!("({})* ", before.join(" | ")),
        (false, Some(most)) => format!("({}){{0,{most}}} ", before.join(" | ")),
    };
    match grammar.begun {
        None => format!("{}{many}last", if is_required { "thought " } else { "" }),
        Some(Kind::Thought | Kind::Preamble) => format!("TEXT next {many}last"),
        Some(Kind::Answer) => "answer_content".to_owned(),
        Some(Kind::Call(tool)) => format!("arguments_{tool}"),
    }
}

fn write_calls(lark: &mut String, tools: &[GrammarTool], options: &GrammarOptions) {
    let to = sequence(&[Piece::Text(" to=")]);
    let (channel, message) = (sequence(&[CHANNEL]), sequence(&[MESSAGE]));
    let channels = CALL_CHANNELS.map(quoted).join(" | ");
    rule(lark, "call", &format!("{channel} call_channel {to} by_channel | {to} by_role"));
    rule(lark, "call_channel", &channels);
    let of_json = GrammarTool::new("", Value::Bool(true));
    for (name, like) in [("of_json", &of_json), ("of_text", &GrammarTool::of_text(""))] {
        if tools.iter().any(|tool| tool.parameters.is_some() == like.parameters.is_some()) {
            let kinds = alternatives(&types(like, options.headers));
            rule(lark, &format!("channel_{name}"), &format!("{kinds} {message}"));
            let behind = format!("{channel} call_channel {kinds} {message}");
            rule(lark, &format!("role_{name}"), &behind);
        }
    }
    for place in ["channel", "role"] {
        let named = tools.iter().enumerate().map(|(index, tool)| {
            let kind = if tool.parameters.is_some() { "of_json" } else { "of_text" };
            format!("{} {place}_{kind} arguments_{index}", quoted(&tool.recipient))
        });
        rule(lark, &format!("by_{place}"), &named.collect::<Vec<_>>().join("\n  | "));
    }
    let stop = sequence(&[Piece::Token(special::CALL)]);
    for (index, tool) in tools.iter().enumerate() {
        let content = match &tool.parameters {
            Some(schema) => json(of_object(schema), options.json_space),
            None => "TEXT".to_owned(),
        };
        rule(lark, &format!("arguments_{index}"), &format!("{content} {stop}"));
    }
}

/// JSON of a schema; llguidance itself puts white space neither before nor behind it.
fn json(schema: Value, space: JsonSpace) -> String {
    let options = match space.most() {
        None => None,
        Some(0) => Some(json!({"whitespace_flexible": false})),
        Some(most) => Some(json!({"whitespace_pattern": format!("[ \\t\\n\\r]{{0,{most}}}")})),
    };
    let schema = match (schema, options) {
        (Value::Object(mut members), Some(options)) => {
            members.insert("x-guidance".to_owned(), options);
            Value::Object(members)
        }
        (Value::Bool(true), Some(options)) => json!({"x-guidance": options}),
        (schema, _) => schema,
    };
    format!("%json {schema}")
}

/// A regular expression between slashes, as `regex-syntax` writes it, which llguidance reads with.
fn regex(hir: &Hir) -> String {
    let mut quoted = String::from("/");
    let mut is_escaped = false;
    for char in hir.to_string().chars() {
        match char {
            '/' if !is_escaped => quoted.push_str("\\/"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            _ => quoted.push(char),
        }
        is_escaped = char == '\\' && !is_escaped;
    }
    quoted.push('/');
    quoted
}

fn rule(lark: &mut String, name: &str, is: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(lark, "{name}: {is}");
}

fn sequence(pieces: &[Piece<'_>]) -> String {
    let pieces = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => quoted(text),
        Piece::Token(token) => format!("<[{token}]>"),
    });
    pieces.collect::<Vec<_>>().join(" ")
}

/// One of several sequences, of which one is empty.
fn alternatives(all: &[Vec<Piece<'_>>]) -> String {
    let others: Vec<String> =
        all.iter().filter(|one| !one.is_empty()).map(|one| sequence(one)).collect();
    if others.is_empty() { String::new() } else { format!("({})?", others.join(" | ")) }
}

/// A text as Lark quotes it, which is as JSON does.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
