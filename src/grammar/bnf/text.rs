//! Texts in JSON that fit a pattern, or have so many characters.
//!
//! Each character leads to a rule of what may follow, up to the quote that ends the text. xgrammar decides a token within
//! one chain of such rules when it compiles; where a rule ends inside a token, it has to try the token each time, which
//! took it 3 seconds for one token of a text of at most 500 characters. A rule whose characters are many costs it tens of
//! milliseconds to compile, so a grammar has room for a few of them ([`BnfRules::spend`]).

use std::fmt::Write;

use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind, Repetition};
use serde_json::{Map, Value};

use super::literals::{count, json_text, literal};
use super::pattern::class_of;
use super::rules::{BnfRules, NO_TIME};
use super::schema::SchemaWriter;
use crate::grammar::schemas::{ecma, lengths};
use crate::path::Path;

/// The quote that ends a text.
pub(super) const QUOTE: &str = r#""\"""#;

/// The most rules of one pattern.
const MOST_RULES: usize = 3000;

/// More characters are never counted in xgrammar: there would be no time for their rules.
const MOST_STEPS: usize = 100;

/// The time that xgrammar takes for a rule of nearly all characters, in milliseconds.
pub(super) const WIDE: usize = 37;

impl SchemaWriter<'_> {
    /// What stands for the texts of a schema; `None` if there are none.
    pub(super) fn text(&mut self, members: &Map<String, Value>, path: &Path) -> Option<String> {
        let least = count(members, "minLength").unwrap_or(0);
        let most = count(members, "maxLength");
        if most.is_some_and(|most| most < least) {
            return None;
        }
        let pattern = members.get("pattern").and_then(Value::as_str);
        let Some(hir) = pattern.and_then(|pattern| ecma::whole(pattern).ok()) else {
            return Some(self.counted(least, most, path));
        };
        let (hir, unheld) = lengths::within(hir, least, most);
        for keyword in unheld {
            self.rules.report.loosen(path, keyword, "no grammar holds it beside this pattern");
        }
        match self.rules.attempt(|rules| fitting(rules, &hir, QUOTE.to_owned())) {
            Ok(rest) => Some(format!("{QUOTE} {rest}")),
            Err(reason) => {
                self.rules.report.loosen(path, "pattern", reason);
                Some(self.counted(least, most, path))
            }
        }
    }

    /// Any texts of so many characters.
    fn counted(&mut self, least: usize, most: Option<usize>, path: &Path) -> String {
        match counted(self.rules, least, most) {
            Ok(written) => written,
            // Without the upper bound there may be room for the lower one.
            Err(reason) => {
                let (keyword, least) =
                    if most.is_some() { ("maxLength", least) } else { ("minLength", 0) };
                self.rules.report.loosen(path, keyword, reason);
                self.counted(least, None, path)
            }
        }
    }
}

fn counted(rules: &mut BnfRules, least: usize, most: Option<usize>) -> Result<String, String> {
    if least == 0 && most.is_none() {
        return Ok(rules.json("string").to_owned());
    }
    if rules.repeats(least.max(most.unwrap_or(0)))? {
        let char = rules.json("char");
        if let Some(most) = most {
            return Ok(format!("{QUOTE} {char}{{{least},{most}}} {QUOTE}"));
        }
        rules.json("string");
        return Ok(format!("{QUOTE} {char}{{{least},{least}}} chars"));
    }
    // Of so many characters that may follow, so many have to; from the last to the first.
    let steps = most.unwrap_or(least);
    if steps > MOST_STEPS {
        return Err(NO_TIME.to_owned());
    }
    let key = |step: usize| {
        let needed = least.saturating_sub(steps - step);
        (needed, most.map(|_| step))
    };
    let known = (1..=steps).rev().find(|step| rules.of_texts.contains_key(&key(*step)));
    let cost = |step: usize| if most.is_some() { WIDE.min(4 * step) } else { WIDE };
    let mut cost_of_all = 0;
    for step in known.unwrap_or(0) + 1..=steps {
        cost_of_all += cost(step);
        rules.can_spend(cost_of_all)?;
    }
    rules.spend(cost_of_all)?;
    rules.json("string");
    let mut rest = match known {
        Some(step) => rules.of_texts[&key(step)].clone(),
        None if most.is_some() => QUOTE.to_owned(),
        None => "chars".to_owned(),
    };
    for step in known.unwrap_or(0) + 1..=steps {
        let end = if key(step).0 == 0 { format!(" | {QUOTE}") } else { String::new() };
        rest = rules.made(&format!(r#"[^<"\\\u0000-\u001f] {rest} | "\\" escape {rest}{end}"#));
        rules.of_texts.insert(key(step), rest.clone());
    }
    Ok(format!("{QUOTE} {rest}"))
}

/// What fits an expression, and then what follows.
///
/// # Errors
///
/// Why there is no room for it.
pub(super) fn fitting(rules: &mut BnfRules, hir: &Hir, next: String) -> Result<String, String> {
    rules.has_room(MOST_RULES)?;
    match hir.kind() {
        HirKind::Empty => Ok(next),
        HirKind::Literal(text) => {
            let text = std::str::from_utf8(&text.0).map_err(|_| "not of characters".to_owned())?;
            Ok(format!("{} {next}", literal(&json_text(text))))
        }
        HirKind::Class(Class::Unicode(class)) => one_of(rules, class, &next),
        HirKind::Class(Class::Bytes(_)) | HirKind::Look(_) => Err("not of characters".to_owned()),
        HirKind::Repetition(repetition) => repeated(rules, repetition, next),
        HirKind::Capture(capture) => fitting(rules, &capture.sub, next),
        HirKind::Concat(parts) => {
            parts.iter().rev().try_fold(next, |next, part| fitting(rules, part, next))
        }
        HirKind::Alternation(parts) => {
            let next = named(rules, next);
            let options: Result<Vec<String>, String> =
                parts.iter().map(|part| fitting(rules, part, next.clone())).collect();
            Ok(rules.made(&options?.join(" | ")))
        }
    }
}

/// One symbol for what is written more than once.
fn named(rules: &mut BnfRules, next: String) -> String {
    if next.contains(' ') { rules.made(&next) } else { next }
}

fn repeated(rules: &mut BnfRules, repetition: &Repetition, next: String) -> Result<String, String> {
    let next = named(rules, next);
    let mut rest = match repetition.max {
        Some(most) => {
            let mut rest = next.clone();
            for _ in repetition.min..most {
                let written = fitting(rules, &repetition.sub, rest)?;
                rest = rules.made(&format!("{written} | {next}"));
            }
            rest
        }
        None if repetition.sub.properties().minimum_len() == Some(0) => {
            return Err("no grammar repeats what may be empty".to_owned());
        }
        None => {
            let name = rules.name();
            let written = fitting(rules, &repetition.sub, name.clone())?;
            rules.add(&name, format!("{written} | {next}"));
            name
        }
    };
    for _ in 0..repetition.min {
        let written = fitting(rules, &repetition.sub, rest)?;
        rest = named(rules, written);
    }
    Ok(rest)
}

/// One character of a class, as JSON writes it, and then what follows.
fn one_of(rules: &mut BnfRules, class: &ClassUnicode, next: &str) -> Result<String, String> {
    const SHORT: [(char, char); 7] = [
        ('"', '"'),
        ('\\', '\\'),
        ('\u{8}', 'b'),
        ('\u{c}', 'f'),
        ('\n', 'n'),
        ('\r', 'r'),
        ('\t', 't'),
    ];
    rules.spend(cost(class))?;
    let next = named(rules, next.to_owned());
    let is_in = |char: char| class.iter().any(|range| range.start() <= char && char <= range.end());
    let mut options = Vec::new();
    options.extend(class_of(class.ranges(), |char| matches!(char, '"' | '\\' | '<') || char < ' '));
    let short: String = SHORT
        .iter()
        .filter(|(char, _)| is_in(*char))
        .map(|(_, name)| if *name == '\\' { "\\\\".to_owned() } else { name.to_string() })
        .collect();
    if !short.is_empty() {
        options.push(format!(r#""\\" [{short}]"#));
    }
    if is_in('<') {
        options.push(r#""\\u003" [cC]"#.to_owned());
    }
    let rare: Vec<char> = ('\0'..' ')
        .filter(|char| is_in(*char) && SHORT.iter().all(|(short, _)| short != char))
        .collect();
    if rare.len() == 27 {
        options.push(r#""\\u00" [01] [0-9a-fA-F]"#.to_owned());
    } else {
        options.extend(rare.iter().map(|char| format!(r#""\\u{:04x}""#, u32::from(*char))));
    }
    let mut made = String::new();
    for option in &options {
        let or = if made.is_empty() { "" } else { " | " };
        // Writing to a string cannot fail.
        let _ = write!(made, "{or}{option} {next}");
    }
    if made.is_empty() { Err("admits no character".to_owned()) } else { Ok(rules.made(&made)) }
}

/// What xgrammar takes for a rule that begins with one of these characters, by how many tokens begin with several:
/// `benches/schemas.py` shows it.
fn cost(class: &ClassUnicode) -> usize {
    let is_in = |char: char| class.iter().any(|range| range.start() <= char && char <= range.end());
    let letters = ('a'..='z').chain('A'..='Z').filter(|char| is_in(*char)).count();
    let is_prose = is_in(' ') || class.iter().any(|range| !range.end().is_ascii());
    match letters {
        0..20 => 1,
        _ if is_prose => WIDE,
        _ => 7,
    }
}
