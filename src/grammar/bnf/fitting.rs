//! Texts in JSON that fit an expression.
//!
//! Each character leads to a rule of what may follow, up to the quote that ends the text. xgrammar decides a token within
//! one chain of such rules when it compiles; where a rule ends inside a token, it has to try the token each time, which
//! took it 3 seconds for one token of a text of at most 500 characters. A rule whose characters are many costs it tens of
//! milliseconds to compile, so a grammar has room for a few of them ([`BnfRules::spend`]).
//!
//! After a `<` that is written as it is, no `|` is: the two begin the name of a special token. One of them is an escape
//! there.

use regex_syntax::hir::ClassUnicode;

use super::literals::literal;
use super::pattern::class_of;
use super::rules::BnfRules;
use crate::grammar::input::{MOST_TEXT, escaped};
use crate::text_grammar::{Expr, TextRules, has, is_wide, letters};

/// The quote that ends a text.
pub(super) const QUOTE: &str = r#""\"""#;

/// The most rules of one expression.
const MOST_RULES: usize = 3000;

/// What is longer has a rule, so that nothing is written again for each part of a long row.
pub(super) const LONG: usize = 1000;

/// The time that xgrammar takes for a rule of nearly all characters, in milliseconds.
pub(super) const WIDE: usize = 37;

/// What fits an expression, and then the quote that ends the text.
///
/// # Errors
///
/// Why there is no room for it.
pub(super) fn fitting(rules: &mut BnfRules, expr: &Expr) -> Result<String, String> {
    let mut texts = Texts { rules, names: &[], nullable: &[], has_bar: false };
    texts.rest(expr, Rest::quote(), false).map(|rest| rest.after)
}

/// The same of an expression with rules that may lead to themselves; each is a rule here.
pub(super) fn fitting_rules(rules: &mut BnfRules, of: &TextRules) -> Result<String, String> {
    let names: Vec<String> = of.rules.iter().map(|_| rules.name()).collect();
    let nullable = of.nullable();
    let has_bar = of.rules.iter().any(|rule| rule.any(&has_bar));
    let mut texts = Texts { rules, names: &names, nullable: &nullable, has_bar };
    for (name, rule) in names.iter().zip(&of.rules) {
        let written = texts.rest(rule, Rest::end(), false)?;
        texts.rules.add(name, written.after);
    }
    texts.rest(&of.start, Rest::quote(), false).map(|rest| rest.after)
}

fn has_bar(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(text) => text.contains('|'),
        Expr::Class(class) => has(class, '|'),
        _ => false,
    }
}

/// What follows in a text, as symbols of a rule.
#[derive(Debug, Clone)]
struct Rest {
    after: String,
    /// The same directly after a `<`; `None` if none may be there, so that it is an escape.
    after_angle: Option<String>,
}

impl Rest {
    fn quote() -> Self {
        Self { after: QUOTE.to_owned(), after_angle: Some(QUOTE.to_owned()) }
    }

    /// The end of a rule, of which nobody knows what follows.
    fn end() -> Self {
        Self { after: "\"\"".to_owned(), after_angle: None }
    }

    /// Whether it is the same after a `<`.
    fn is_even(&self) -> bool {
        self.after_angle.as_ref() == Some(&self.after)
    }
}

struct Texts<'t> {
    rules: &'t mut BnfRules,
    /// The names of the expression's rules.
    names: &'t [String],
    nullable: &'t [bool],
    /// Whether these rules have a `|`.
    has_bar: bool,
}

impl Texts<'_> {
    /// What fits, and then what follows. `is_behind`: whether a `<` may come before it.
    fn rest(&mut self, expr: &Expr, next: Rest, is_behind: bool) -> Result<Rest, String> {
        self.rules.has_room(MOST_RULES)?;
        match expr {
            Expr::Literal(text) => Ok(of_literal(text, &next)),
            Expr::Class(class) => self.one_of(class, next, is_behind),
            Expr::Rule(rule) => {
                let after = format!("{} {}", self.names[*rule], next.after);
                let is_even = !self.has_bar && (!self.nullable[*rule] || next.is_even());
                Ok(Rest { after_angle: is_even.then(|| after.clone()), after })
            }
            Expr::Concat(parts) => {
                let mut behind = Vec::with_capacity(parts.len());
                let mut is_behind = is_behind;
                for part in parts {
                    behind.push(is_behind);
                    is_behind = is_behind && self.is_nullable(part) || self.ends_open(part);
                }
                let mut parts = parts.iter().zip(behind).rev();
                parts.try_fold(next, |next, (part, is_behind)| {
                    let next = if next.after.len() > LONG { self.named(next) } else { next };
                    self.rest(part, next, is_behind)
                })
            }
            Expr::Choice(options) => {
                let next = self.named(next);
                let options: Result<Vec<Rest>, String> =
                    options.iter().map(|one| self.rest(one, next.clone(), is_behind)).collect();
                Ok(self.one(&options?))
            }
            Expr::Repeat(one, least, most) => self.repeated(one, *least, *most, next, is_behind),
        }
    }

    fn is_nullable(&self, expr: &Expr) -> bool {
        expr.is_nullable(&|rule| self.nullable[rule])
    }

    /// Whether a text may end with a `<` that is written as it is.
    fn ends_open(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Literal(text) => text.ends_with('<'),
            Expr::Class(class) => has(class, '<'),
            Expr::Rule(_) => false,
            Expr::Concat(parts) => {
                let empty = parts.iter().rev().take_while(|part| self.is_nullable(part)).count();
                parts.iter().rev().take(empty + 1).any(|part| self.ends_open(part))
            }
            Expr::Choice(options) => options.iter().any(|option| self.ends_open(option)),
            Expr::Repeat(one, ..) => self.ends_open(one),
        }
    }

    /// One symbol for what is written more than once.
    fn named(&mut self, rest: Rest) -> Rest {
        let is_even = rest.is_even();
        let name = |rules: &mut BnfRules, symbols: String| {
            if symbols.contains(' ') { rules.made(&symbols) } else { symbols }
        };
        let after = name(self.rules, rest.after);
        let after_angle = if is_even {
            Some(after.clone())
        } else {
            rest.after_angle.map(|symbols| name(self.rules, symbols))
        };
        Rest { after, after_angle }
    }

    /// One of several.
    fn one(&mut self, options: &[Rest]) -> Rest {
        let after: Vec<&str> = options.iter().map(|one| one.after.as_str()).collect();
        let behind: Option<Vec<&str>> =
            options.iter().map(|one| one.after_angle.as_deref()).collect();
        let made = self.rules.made(&after.join(" | "));
        let after_angle = match behind {
            Some(behind) if behind == after => Some(made.clone()),
            Some(behind) => Some(self.rules.made(&behind.join(" | "))),
            None => None,
        };
        Rest { after: made, after_angle }
    }

    fn repeated(
        &mut self,
        one: &Expr,
        least: u32,
        most: Option<u32>,
        next: Rest,
        is_behind: bool,
    ) -> Result<Rest, String> {
        let (one, least) = if self.is_nullable(one) {
            let of_rule = |rule: usize| self.nullable[rule];
            let one = one.without_empty(&of_rule, &mut MOST_TEXT.clone());
            (&one.ok_or("too large")?, 0)
        } else {
            (one, least)
        };
        if self.is_nullable(one) {
            return Err("no grammar repeats what may be empty".to_owned());
        }
        let next = self.named(next);
        let may_open = !self.has_bar || !one.any(&|part| matches!(part, Expr::Rule(_)));
        let next = Rest { after_angle: next.after_angle.filter(|_| may_open), ..next };
        let is_behind = is_behind || self.ends_open(one);
        let (mut rest, mut written) = (next.clone(), 0);
        if let Some(most) = most {
            for _ in least..most {
                let more = self.rest(one, rest, is_behind)?;
                rest = self.one(&[more, next.clone()]);
            }
        } else {
            let name = self.rules.name();
            let angle = next.after_angle.as_ref().filter(|_| is_behind);
            let angle = angle.map(|symbols| (self.rules.name(), symbols));
            let after_angle = angle.as_ref().map(|(name, _)| name.clone());
            let again = Rest { after: name.clone(), after_angle };
            let more = self.rest(one, again.clone(), is_behind)?;
            self.rules.add(&name, format!("{} | {}", more.after, next.after));
            if let (Some((name, next)), Some(more)) = (angle, &more.after_angle) {
                self.rules.add(&name, format!("{more} | {next}"));
            }
            // Of at least one, the first is written already.
            (rest, written) = if least > 0 { (more, 1) } else { (again, 0) };
        }
        for _ in written..least {
            let more = self.rest(one, rest, is_behind)?;
            rest = self.named(more);
        }
        Ok(rest)
    }

    /// One character of a class, as JSON writes it, and then what follows.
    fn one_of(
        &mut self,
        class: &ClassUnicode,
        next: Rest,
        is_behind: bool,
    ) -> Result<Rest, String> {
        let next = self.named(next);
        self.rules.spend(cost(class))?;
        let after = self.rules.made(&characters(class, &next, false)?);
        let is_even = !has(class, '|');
        if is_even || !is_behind {
            return Ok(Rest { after_angle: is_behind.then(|| after.clone()), after });
        }
        self.rules.spend(cost(class))?;
        let after_angle = Some(self.rules.made(&characters(class, &next, true)?));
        Ok(Rest { after, after_angle })
    }
}

/// A text, and then what follows.
fn of_literal(text: &str, next: &Rest) -> Rest {
    let open = next.after_angle.as_ref().filter(|_| text.ends_with('<'));
    let written = |is_behind: bool| {
        let mut written = String::new();
        for (at, char) in text.char_indices() {
            let rest = &text[at + char.len_utf8()..];
            let is_closed = if rest.is_empty() { open.is_none() } else { rest.starts_with('|') };
            match char {
                '<' if is_closed => written.push_str("\\u003c"),
                '|' if at == 0 && is_behind => written.push_str("\\u007c"),
                _ => written.push_str(&escaped(char)),
            }
        }
        format!("{} {}", literal(&written), open.unwrap_or(&next.after))
    };
    Rest { after: written(false), after_angle: Some(written(true)) }
}

/// The characters of a class, each with what follows. `is_behind`: after a `<`.
fn characters(class: &ClassUnicode, next: &Rest, is_behind: bool) -> Result<String, String> {
    let mut out = vec![('\0', '\x1f'), ('"', '"'), ('<', '<'), ('\\', '\\')];
    out.extend(is_behind.then_some(('|', '|')));
    let mut options: Vec<String> = class_of(class, &out).into_iter().collect();
    for (char, code) in [('<', "003"), ('|', "007")] {
        if has(class, char) && (is_behind || char == '<') {
            options.push(format!(r#""\\u{code}" [cC]"#));
        }
    }
    let all = ('\0'..' ').chain(['"', '\\']).filter(|char| has(class, *char)).map(escaped);
    let (short, rare): (Vec<String>, Vec<String>) = all.partition(|escape| escape.len() == 2);
    if !short.is_empty() {
        let short = short.iter().map(|escape| if escape == r"\\" { escape } else { &escape[1..] });
        options.push(format!(r#""\\" [{}]"#, short.collect::<String>()));
    }
    if rare.len() == 27 {
        options.push(r#""\\u00" ("0" [0-7bBeEfF] | "1" [0-9a-fA-F])"#.to_owned());
    } else {
        options.extend(rare.iter().map(|escape| literal(escape)));
    }
    let mut all: Vec<String> =
        options.iter().map(|option| format!("{option} {}", next.after)).collect();
    if let Some(after) = next.after_angle.as_ref().filter(|_| has(class, '<')) {
        all.push(format!("\"<\" {after}"));
    }
    if all.is_empty() { Err("admits no character".to_owned()) } else { Ok(all.join(" | ")) }
}

/// What xgrammar takes for a rule that begins with one of these characters, by how many tokens begin with several:
/// `benches/schemas.py` shows it.
fn cost(class: &ClassUnicode) -> usize {
    match letters(class) {
        0..20 => 1,
        _ if is_wide(class) => WIDE,
        _ => 7,
    }
}
