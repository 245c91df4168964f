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

/// Writes it; `path` is where it is in the schema.
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
        HirKind::Class(Class::Unicode(class)) => class_of(class.ranges(), |char| char == '<')
            .ok_or_else(|| invalid(path.clone(), "has a class of no character"))?,
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
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    rules.repeats(most).map_err(|reason| invalid(path.clone().then("{}"), reason))?;
    Ok(match (repetition.min, repetition.max) {
        (0, None) => "*".to_owned(),
        (1, None) => "+".to_owned(),
        (0, Some(1)) => "?".to_owned(),
        (least, None) => format!("{{{least},}}"),
        (least, Some(most)) => format!("{{{least},{most}}}"),
    })
}

/// After the characters of ASCII, which are all that are left out of classes.
const END: char = '\u{80}';

/// A class of these characters without some, of which there may be none.
pub(super) fn class_of(
    ranges: &[ClassUnicodeRange],
    is_out: impl Fn(char) -> bool,
) -> Option<String> {
    let mut class = String::from("[");
    let mut add = |first: char, last: char| {
        class_char(&mut class, first);
        if first != last {
            class.push('-');
            class_char(&mut class, last);
        }
    };
    for range in ranges {
        let mut open = None;
        for char in (range.start()..=range.end()).take_while(|char| *char < END) {
            match (open, is_out(char)) {
                (None, false) => open = Some((char, char)),
                (Some((first, _)), false) => open = Some((first, char)),
                (Some((first, last)), true) => {
                    add(first, last);
                    open = None;
                }
                (None, true) => {}
            }
        }
        let (start, end) = (range.start().max(END), range.end());
        match open {
            Some((first, last)) if end < END || last < '\u{7f}' => add(first, last),
            Some((first, _)) => add(first, end),
            None if start <= end => add(start, end),
            None => {}
        }
    }
    class.push(']');
    (class.len() > 2).then_some(class)
}

fn class_char(class: &mut String, char: char) {
    if char.is_control() || matches!(char, '^' | '-' | '[' | ']' | '\\' | '"') {
        // Writing to a string cannot fail.
        let _ = write!(class, "\\u{:04x}", u32::from(char));
    } else {
        class.push(char);
    }
}
