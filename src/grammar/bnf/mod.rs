//! A grammar -> BNF, in the two dialects that engines read: llama.cpp's GBNF, and xgrammar's EBNF, which a structural
//! tag carries.
//!
//! Both match characters, and a special token's characters as its name. So strings in JSON never hold `<|` in front of a
//! letter with which a special token's name begins; the model may write it with an escape. Tokens of the structure
//! are matched by their ids.
//!
//! Equal schemas share a rule.

mod array;
mod fitting;
mod input;
mod integers;
mod keys;
mod literals;
mod merge;
mod numbers;
mod object;
mod pattern;
mod rules;
mod schema;
mod text;

use serde_json::json;

use self::literals::literal;
use self::rules::{BnfRules, Engine};
use super::headers::MessageKind;
use super::turn::{self, Form};
use super::{Grammar, Written};
use crate::error::{Error, Result};
use crate::path::Path;
use crate::tokenizer::TokenId;

/// The special tokens that have a name in gpt-oss' vocabulary; engines sample no others.
const NAMED_TOKENS: std::ops::RangeInclusive<TokenId> = 199_998..=200_018;

/// For llama.cpp, which ends a grammar at its own stop tokens, wherever it may end, and matches no other there.
pub(super) fn gbnf(grammar: &Grammar) -> Result<Written> {
    let mut rules = BnfRules::new(Engine::LlamaCpp, grammar.options.json_space.most());
    turn::write(grammar, &mut Bnf { rules: &mut rules, stops: None })?;
    // It can exclude only one token, so this is as in strings.
    let names = rules::FIRST_OF_NAMES;
    rules.add(Bnf::TEXT, "[^<] text | \"<\" text-angle | \"\"");
    rules.add("text-angle", "\"<\" text-angle | \"|\" text-bar | [^<|] text | \"\"");
    rules.add("text-bar", format!("\"<\" text-angle | [^{names}<] text | \"\""));
    let (text, report) = rules.into_parts();
    Ok(Written { text, loosened: report.finish(grammar.options.strict.as_deref())? })
}

/// xgrammar's structural tag, for an engine that stops at these tokens, wherever the grammar may end.
pub(super) fn structural_tag(grammar: &Grammar, stops: &[TokenId]) -> Result<Written> {
    let mut rules = BnfRules::new(Engine::Xgrammar, grammar.options.json_space.most());
    turn::write(grammar, &mut Bnf { rules: &mut rules, stops: Some(stops) })?;
    let tokens: Vec<String> = NAMED_TOKENS.map(|token| token.to_string()).collect();
    rules.add(Bnf::TEXT, format!("ExcludeToken({})*", tokens.join(", ")));
    let (text, report) = rules.into_parts();
    let format = json!({"type": "grammar", "grammar": text});
    let text = json!({"type": "structural_tag", "format": format}).to_string();
    Ok(Written { text, loosened: report.finish(grammar.options.strict.as_deref())? })
}

struct Bnf<'r> {
    rules: &'r mut BnfRules,
    /// Where xgrammar's engine stops by itself; `None` of llama.cpp, which does so at all stop tokens.
    stops: Option<&'r [TokenId]>,
}

impl Form for Bnf<'_> {
    type Error = Error;
    const START: &'static str = "root";
    const TEXT: &'static str = "text";
    const OR: &'static str = " |\n  ";

    fn rule(&mut self, name: &str, is: &str) {
        self.rules.add(name, is);
    }

    fn quoted(&self, text: &str) -> String {
        literal(text)
    }

    fn token(&self, token: TokenId) -> String {
        match self.stops {
            None => format!("<[{token}]>"),
            Some(_) => format!("Token({token})"),
        }
    }

    fn stop(&self, token: TokenId) -> String {
        let is_written = self.stops.is_some_and(|stops| !stops.contains(&token));
        if is_written { self.token(token) } else { String::new() }
    }

    fn content(&mut self, grammar: &Grammar, kind: MessageKind) -> Result<String> {
        content(self.rules, grammar, kind)
    }
}

fn content(rules: &mut BnfRules, grammar: &Grammar, kind: MessageKind) -> Result<String> {
    if let Some((schema, path, recipient)) = grammar.schema_at(kind) {
        rules.report.begin(recipient);
        if let Some(written) =
            grammar.input_at(kind).and_then(|(input, path)| input::write(rules, input, &path))
        {
            return Ok(written);
        }
        let is_object = matches!(kind, MessageKind::Call(_));
        let value = schema::write(rules, schema, &path, is_object);
        rules.json("blanks");
        return Ok(format!("blanks {value} blanks"));
    }
    let Some(pattern) = grammar.pattern.as_ref().filter(|_| kind == MessageKind::Answer) else {
        return Ok(Bnf::TEXT.to_owned());
    };
    let is_regex = grammar.options.response_regex.is_some();
    let path = Path::of(if is_regex { "response_regex" } else { "response_choices" });
    let written = pattern::expression(rules, &pattern.hir, &path)?;
    rules.add("answer-text", written);
    Ok("answer-text".to_owned())
}
