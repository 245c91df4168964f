//! A grammar -> llguidance's form of Lark. Special tokens are written by their ids, `<[200008]>`.

use std::convert::Infallible;
use std::fmt::Write;

use serde_json::{Value, json};

use super::headers::MessageKind;
use super::input;
use super::options::JsonSpace;
use super::schemas::{self, Report, guidance};
use super::turn::{self, Form};
use super::{Grammar, Written};
use crate::error::Result;
use crate::tokenizer::TokenId;

pub(super) fn write(grammar: &Grammar) -> Result<Written> {
    let text = String::from("%llguidance {}\n");
    let mut lark = Lark { text, has_blanks: false, report: Report::default() };
    let Ok(()) = turn::write(grammar, &mut lark);
    lark.rule(Lark::TEXT, "/(.|\\n)*/");
    if let Some(pattern) = &grammar.pattern {
        // As `regex-syntax` writes it, which llguidance reads with.
        lark.rule("ANSWER", &input::slashes(&pattern.hir.to_string()));
    }
    let loosened = lark.report.finish(grammar.options.strict.as_deref())?;
    Ok(Written { text: lark.text, loosened })
}

struct Lark {
    text: String,
    /// Whether the rule of white space is there.
    has_blanks: bool,
    report: Report,
}

impl Form for Lark {
    type Error = Infallible;
    const START: &'static str = "start";
    const TEXT: &'static str = "TEXT";
    const OR: &'static str = "\n  | ";

    fn rule(&mut self, name: &str, is: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{name}: {is}");
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

    fn content(
        &mut self,
        grammar: &Grammar,
        kind: MessageKind,
    ) -> std::result::Result<String, Infallible> {
        Ok(match grammar.schema_at(kind) {
            Some((schema, path, recipient)) => {
                self.report.begin(recipient);
                if let (MessageKind::Call(tool), Some((input, path))) =
                    (kind, grammar.input_at(kind))
                {
                    let space = grammar.options.json_space;
                    match input.rules().and_then(|rules| input::in_lark(tool, &rules, space)) {
                        Ok(rules) => return Ok(self.input(rules)),
                        Err(reason) => self.report.loosen(&path, "definition", reason),
                    }
                }
                let is_object = matches!(kind, MessageKind::Call(_));
                let schema = schemas::clean(schema, is_object, &path, &mut self.report);
                let schema = guidance::limited(&schema, &path, &mut self.report);
                json(schema, grammar.options.json_space)
            }
            None if kind == MessageKind::Answer && grammar.pattern.is_some() => "ANSWER".to_owned(),
            None => Self::TEXT.to_owned(),
        })
    }
}

impl Lark {
    /// The object with the input of a custom tool.
    fn input(&mut self, rules: Vec<(String, String)>) -> String {
        let mut object = String::new();
        for (name, is) in rules {
            match name.as_str() {
                "" => object = is,
                "BLANKS" if self.has_blanks => {}
                _ => self.rule(&name, &is),
            }
            self.has_blanks |= name == "BLANKS";
        }
        object
    }
}

/// JSON of a schema; llguidance itself puts white space neither before nor after it. Whether no value fits two schemas
/// of a `oneOf` was looked at before.
fn json(schema: Value, space: JsonSpace) -> String {
    let mut options = json!({"coerce_one_of": true});
    match space.most() {
        None => {}
        Some(0) => options["whitespace_flexible"] = false.into(),
        Some(most) => {
            options["whitespace_pattern"] = format!("[ \\t\\n\\r]{{0,{most}}}").into();
        }
    }
    let schema = match schema {
        Value::Object(mut members) => {
            members.insert("x-guidance".to_owned(), options);
            Value::Object(members)
        }
        Value::Bool(true) => json!({"x-guidance": options}),
        schema => schema,
    };
    format!("%json {schema}")
}
