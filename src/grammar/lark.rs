//! A grammar -> llguidance's form of Lark. Special tokens are written by their ids, `<[200008]>`.

use std::convert::Infallible;
use std::fmt::Write;

use regex_syntax::hir::Hir;
use serde_json::{Value, json};

use super::Grammar;
use super::headers::MessageKind;
use super::options::JsonSpace;
use super::schemas::{of_object, without_words};
use super::turn::{self, Form};
use crate::tokenizer::TokenId;

pub(super) fn write(grammar: &Grammar) -> String {
    let mut lark = Lark(String::from("%llguidance {}\n"));
    let Ok(()) = turn::write(grammar, &mut lark);
    lark.rule(Lark::TEXT, "/(.|\\n)*/");
    if let Some(pattern) = &grammar.pattern {
        lark.rule("ANSWER", &regex(&pattern.hir));
    }
    lark.0
}

struct Lark(String);

impl Form for Lark {
    type Error = Infallible;
    const START: &'static str = "start";
    const TEXT: &'static str = "TEXT";
    const OR: &'static str = "\n  | ";

    fn rule(&mut self, name: &str, is: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{name}: {is}");
    }

    /// As JSON quotes it.
    fn quoted(&self, text: &str) -> String {
        Value::from(text).to_string()
    }

    fn token(&self, token: TokenId) -> String {
        format!("<[{token}]>")
    }

    fn stop(&self, token: TokenId) -> String {
        self.token(token)
    }

    fn content(&mut self, grammar: &Grammar, kind: MessageKind) -> Result<String, Infallible> {
        Ok(match grammar.schema_of(kind) {
            Some(schema) => {
                let is_call = matches!(kind, MessageKind::Call(_));
                let schema = if is_call { of_object(schema) } else { without_words(schema) };
                json(schema, grammar.options.json_space)
            }
            None if kind == MessageKind::Answer && grammar.pattern.is_some() => "ANSWER".to_owned(),
            None => Self::TEXT.to_owned(),
        })
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
