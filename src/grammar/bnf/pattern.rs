//! A regular expression, or texts of which the answer is one -> an expression of a grammar.
//!
//! No part takes a `<` that might begin the name of a special token, since engines compare those with characters.

use std::fmt::Write;

use regex_syntax::hir::{Class, ClassUnicodeRange, Hir, HirKind, Repetition};

use super::literals::literal;
use super::rules::BnfRules;
use crate::error::{Reason, Result};
use crate::grammar::invalid;
use crate::path::Path;

/// Writes it; `path` is where it stands.
pub(super) fn expression(rules: &BnfRules, hir: &Hir, path: &Path) -> Result<String> {
    let nested = |hir| expression(rules, hir, path);
    Ok(match hir.kind() {
        HirKind::Empty => "\"\"".to_owned(),
        HirKind::Literal(text) => {
            let Ok(text) = std::str::from_utf8(&text.0) else { return Err(of_bytes(path)) };
            let is_open = |(at, _): (usize, &str)| {
                let behind = &text[at + 1..];
                behind.is_empty() || behind.starts_with('|')
            };
            if text.match_indices('<').any(is_open) {
                let reason = "an engine may take its < for the beginning of a special token";
                return Err(invalid(path.clone(), reason));
            }
            literal(text)
        }
        HirKind::Class(Class::Unicode(class)) => class_of(class.ranges(), path)?,
        HirKind::Class(Class::Bytes(_)) => return Err(of_bytes(path)),
        HirKind::Look(_) => return Err(invalid(path.clone(), "holds an anchor")),
        HirKind::Repetition(repetition) => {
            format!("({}){}", nested(&repetition.sub)?, times(rules, repetition, path)?)
        }
        HirKind::Capture(capture) => nested(&capture.sub)?,
        HirKind::Concat(parts) => {
            let parts: Result<Vec<String>> = parts.iter().map(nested).collect();
            parts?.join(" ")
        }
        HirKind::Alternation(parts) => {
            let parts: Result<Vec<String>> = parts.iter().map(nested).collect();
            format!("({})", parts?.join(" | "))
        }
    })
}

fn of_bytes(path: &Path) -> crate::Error {
    invalid(path.clone(), Reason::is("of bytes; an answer is of characters"))
}

fn times(rules: &BnfRules, repetition: &Repetition, path: &Path) -> Result<String> {
    let most = repetition.max.unwrap_or(repetition.min);
    rules.bounded(usize::try_from(most).unwrap_or(usize::MAX), "{}", path)?;
    Ok(match (repetition.min, repetition.max) {
        (0, None) => "*".to_owned(),
        (1, None) => "+".to_owned(),
        (0, Some(1)) => "?".to_owned(),
        (least, None) => format!("{{{least},}}"),
        (least, Some(most)) => format!("{{{least},{most}}}"),
    })
}

fn class_of(ranges: &[ClassUnicodeRange], path: &Path) -> Result<String> {
    let mut class = String::from("[");
    let mut add = |first: char, last: char| {
        if first <= last {
            class_char(&mut class, first);
            if first != last {
                class.push('-');
                class_char(&mut class, last);
            }
        }
    };
    for range in ranges {
        let (first, last) = (range.start(), range.end());
        if first <= '<' && '<' <= last {
            add(first, ';');
            add('=', last);
        } else {
            add(first, last);
        }
    }
    if class.len() == 1 {
        return Err(invalid(path.clone(), "has a class of no character"));
    }
    class.push(']');
    Ok(class)
}

fn class_char(class: &mut String, char: char) {
    if char.is_control() || matches!(char, '^' | '-' | '[' | ']' | '\\' | '"') {
        // Writing to a string cannot fail.
        let _ = write!(class, "\\u{:04x}", u32::from(char));
    } else {
        class.push(char);
    }
}
