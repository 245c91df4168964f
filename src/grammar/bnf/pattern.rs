//! A regular expression, or texts of which the answer is one -> an expression of a grammar.
//!
//! No part takes a `<` that might begin the name of a special token, since engines compare those with characters.

use std::fmt::Write;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, Hir};

use super::literals::literal;
use super::rules::BnfRules;
use crate::error::Result;
use crate::grammar::{input, invalid};
use crate::path::Path;
use crate::text_grammar::Expr;

/// Writes it; `path` is where it is among the options.
pub(super) fn expression(rules: &BnfRules, hir: &Hir, path: &Path) -> Result<String> {
    let expr = Expr::of_hir(hir).map_err(|reason| invalid(path.clone(), reason))?;
    if let Some(reason) = flaw(rules, &expr) {
        return Err(invalid(path.clone(), reason));
    }
    Ok(input::written(&expr, &|atom| match atom {
        Expr::Literal(text) => literal(text),
        // It has others than `<`.
        Expr::Class(class) => class_of(class, &[('<', '<')]).unwrap_or_default(),
        // An answer has no rules.
        _ => String::new(),
    }))
}

/// Why an engine does not hold a part of an expression.
fn flaw(rules: &BnfRules, expr: &Expr) -> Option<String> {
    let own = match expr {
        Expr::Literal(text) if text.ends_with('<') || text.contains("<|") => {
            Some("an engine may take its < for the beginning of a special token".to_owned())
        }
        Expr::Repeat(_, least, most) => {
            rules.repeats(usize::try_from(most.unwrap_or(*least)).unwrap_or(usize::MAX)).err()
        }
        _ => None,
    };
    own.or_else(|| expr.parts().iter().find_map(|part| flaw(rules, part)))
}

/// A class without the characters of some ranges, of which there may be none.
pub(super) fn class_of(class: &ClassUnicode, out: &[(char, char)]) -> Option<String> {
    let out = out.iter().map(|&(first, last)| ClassUnicodeRange::new(first, last));
    let mut left = class.clone();
    left.difference(&ClassUnicode::new(out));
    let mut class = String::new();
    for range in left.ranges() {
        class_char(&mut class, range.start());
        if range.start() != range.end() {
            class.push('-');
            class_char(&mut class, range.end());
        }
    }
    (!class.is_empty()).then(|| format!("[{class}]"))
}

fn class_char(class: &mut String, char: char) {
    if char.is_control() || matches!(char, '^' | '-' | '[' | ']' | '\\' | '"') {
        // Writing to a string cannot fail.
        let _ = write!(class, "\\u{:04x}", u32::from(char));
    } else {
        class.push(char);
    }
}
