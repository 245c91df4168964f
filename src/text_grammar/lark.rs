//! Lark's language of grammars.
//!
//! ```text
//! grammar    = (definition | "%import" import | "%ignore" choice)*, a line each
//! definition = ("?" | "!")* NAME ("." NUMBER)? ":" choice
//! choice     = sequence ("|" sequence)*, whose lines may begin with "|"
//! sequence   = item* ("->" NAME)?
//! item       = atom ("?" | "*" | "+" | "~" NUMBER (".." NUMBER)?)*
//! atom       = NAME | TEXT (".." TEXT)? | REGEX | "(" choice ")" | "[" choice "]"
//! import     = "common" ("." NAME ("->" NAME)? | "(" NAME ("," NAME)* ")")
//! ```
//!
//! Templates, `%declare`, `%extend`, `%override`, other modules and what llguidance adds are read by nobody here.

use std::collections::HashMap;

use super::scan::{self, Word};
use super::{Expr, MOST_ROOM, Read, Refused, common, regex};

/// How deeply groups may be nested.
const MOST_NESTED: usize = 100;

/// The rule of what is ignored, in front of each terminal of a rule and at the end.
const IGNORED: usize = 0;

/// Reads a grammar.
pub(super) fn read(text: &str) -> Result<Read, Refused> {
    let words = scan::words(text)?;
    let mut reader = Reader {
        words: &words,
        next: 0,
        nested: 0,
        is_rule: false,
        room: MOST_ROOM,
        rules: vec![None],
        names: HashMap::new(),
        ignored: Vec::new(),
    };
    while reader.next < words.len() {
        reader.statement()?;
    }
    reader.finish()
}

struct Reader<'w, 't> {
    words: &'w [(usize, Word<'t>)],
    next: usize,
    nested: usize,
    /// Whether a rule is being read, and not a terminal.
    is_rule: bool,
    /// What is left of [`MOST_ROOM`].
    room: usize,
    rules: Vec<Option<Expr>>,
    /// The rules by name, and where each is named first.
    names: HashMap<&'t str, (usize, usize)>,
    ignored: Vec<Expr>,
}

impl<'t> Reader<'_, 't> {
    fn word(&self) -> Option<&Word<'t>> {
        self.words.get(self.next).map(|(_, word)| word)
    }

    /// Where the next word begins.
    fn at(&self) -> usize {
        self.words.get(self.next).or(self.words.last()).map_or(0, |(at, _)| *at)
    }

    fn wrong(&self, reason: impl Into<String>) -> Refused {
        Refused::wrong(self.at(), reason)
    }

    fn unheld(&self, what: &str) -> Refused {
        Refused::unheld(self.at(), format!("no grammar of an engine has {what}"))
    }

    fn take(&mut self, sign: &str) -> bool {
        let is_there = matches!(self.word(), Some(Word::Sign(found)) if *found == sign);
        self.next += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, sign: &str) -> Result<(), Refused> {
        if self.take(sign) { Ok(()) } else { Err(self.wrong(format!("expected {sign}"))) }
    }

    fn name(&mut self) -> Result<&'t str, Refused> {
        let Some(Word::Name(name)) = self.word() else { return Err(self.wrong("expected a name")) };
        let name = *name;
        self.next += 1;
        Ok(name)
    }

    fn number(&mut self) -> Result<u32, Refused> {
        let Some(Word::Number(number)) = self.word() else {
            return Err(self.wrong("expected a number"));
        };
        let number = *number;
        self.next += 1;
        Ok(number)
    }

    fn end_line(&mut self) -> Result<(), Refused> {
        if self.word() != Some(&Word::Line) {
            return Err(self.wrong("expected |, an operator or the end of the line"));
        }
        Ok(())
    }

    fn statement(&mut self) -> Result<(), Refused> {
        match self.word() {
            Some(Word::Line) => {
                self.next += 1;
                return Ok(());
            }
            Some(Word::Directive(directive)) => {
                let directive = *directive;
                match directive {
                    "import" => {
                        self.next += 1;
                        self.import()?;
                    }
                    "ignore" => {
                        self.next += 1;
                        self.is_rule = false;
                        let ignored = self.choice()?;
                        self.ignored.push(ignored);
                    }
                    _ => return Err(self.unheld(&format!("%{directive}"))),
                }
            }
            _ => self.definition()?,
        }
        self.end_line()
    }

    fn import(&mut self) -> Result<(), Refused> {
        let is_common = self.word() == Some(&Word::Name("common"));
        if !is_common {
            return Err(self.unheld("modules other than common"));
        }
        self.next += 1;
        if self.take("(") {
            loop {
                let (at, name) = (self.at(), self.name()?);
                self.import_as(at, name, name)?;
                if self.take(")") {
                    return Ok(());
                }
                self.expect(",")?;
            }
        }
        self.expect(".")?;
        let (at, name) = (self.at(), self.name()?);
        let known = if self.take("->") { self.name()? } else { name };
        self.import_as(at, name, known)
    }

    fn import_as(&mut self, at: usize, name: &'t str, known: &'t str) -> Result<(), Refused> {
        let pattern = common::terminal(name);
        let pattern = pattern.ok_or_else(|| {
            Refused::wrong(at, format!("the module common has no terminal {name}"))
        })?;
        let expr = regex::expression(pattern, "", at)?;
        self.define(at, known, expr)
    }

    fn definition(&mut self) -> Result<(), Refused> {
        while self.take("?") || self.take("!") {}
        let at = self.at();
        let name = self.name()?;
        if self.take(".") {
            // Which of several readings is preferred says nothing of texts.
            self.take("-");
            self.number()?;
        }
        match self.word() {
            Some(Word::Sign("{")) => return Err(self.unheld("templates")),
            Some(Word::Sign("[")) => return Err(self.unheld("attributes of rules")),
            _ => self.expect(":")?,
        }
        self.is_rule = !is_terminal(name);
        let expr = self.choice()?;
        self.define(at, name, expr)
    }

    fn define(&mut self, at: usize, name: &'t str, expr: Expr) -> Result<(), Refused> {
        let rule = self.rule(name, at);
        if self.rules[rule].is_some() {
            return Err(Refused::wrong(at, format!("{name} is defined twice")));
        }
        self.rules[rule] = Some(expr);
        Ok(())
    }

    /// The index of a name that may be defined later.
    fn rule(&mut self, name: &'t str, at: usize) -> usize {
        let next = self.rules.len();
        let (rule, _) = *self.names.entry(name).or_insert((next, at));
        if rule == next {
            self.rules.push(None);
        }
        rule
    }

    fn choice(&mut self) -> Result<Expr, Refused> {
        let mut options = vec![self.sequence()?];
        loop {
            let is_continued =
                matches!(&self.words[self.next..], [(_, Word::Line), (_, Word::Sign("|")), ..]);
            self.next += usize::from(is_continued);
            if !self.take("|") {
                return Ok(Expr::choice(options));
            }
            options.push(self.sequence()?);
        }
    }

    fn sequence(&mut self) -> Result<Expr, Refused> {
        let mut items = Vec::new();
        loop {
            if self.nested > 0 && self.word() == Some(&Word::Line) {
                self.next += 1;
            }
            match self.word() {
                Some(Word::Name(_) | Word::Text(..) | Word::Regex(..) | Word::Sign("(" | "[")) => {
                    let atom = self.atom()?;
                    items.push(self.operators(atom)?);
                }
                Some(Word::Sign("->")) => {
                    self.next += 1;
                    self.name()?;
                    return Ok(Expr::concat(items));
                }
                Some(Word::Sign("<")) => return Err(self.unheld("special tokens")),
                Some(Word::Directive(directive)) => {
                    return Err(self.unheld(&format!("%{directive}")));
                }
                _ => return Ok(Expr::concat(items)),
            }
        }
    }

    fn operators(&mut self, mut expr: Expr) -> Result<Expr, Refused> {
        loop {
            expr = if self.take("?") {
                expr.optional()
            } else if self.take("*") {
                expr.repeat(0, None)
            } else if self.take("+") {
                expr.repeat(1, None)
            } else if self.take("~") {
                let at = self.at();
                let least = self.number()?;
                let most = if self.take("..") { self.number()? } else { least };
                if most < least {
                    return Err(Refused::wrong(at, format!("{least}..{most} is no range")));
                }
                expr.repeat(least, Some(most))
            } else {
                return Ok(expr);
            };
        }
    }

    fn atom(&mut self) -> Result<Expr, Refused> {
        let (at, word) = self.words[self.next].clone();
        self.next += 1;
        let terminal = match word {
            Word::Name(name) => {
                if matches!(self.word(), Some(Word::Sign("{"))) {
                    return Err(self.unheld("templates"));
                }
                let rule = Expr::Rule(self.rule(name, at));
                if !is_terminal(name) {
                    return Ok(rule);
                }
                rule
            }
            Word::Text(text, is_case_ignored) => {
                if self.take("..") {
                    self.range(at, &text)?
                } else if is_case_ignored {
                    Expr::literal_of_any_case(&text)
                } else {
                    Expr::literal(&text)
                }
            }
            Word::Regex(pattern, flags) => regex::expression(pattern, flags, at + 1)?,
            word => {
                let is_optional = word == Word::Sign("[");
                self.nested += 1;
                if self.nested > MOST_NESTED {
                    return Err(Refused::unheld(at, "too many groups within one another"));
                }
                let inner = self.choice()?;
                self.expect(if is_optional { "]" } else { ")" })?;
                self.nested -= 1;
                return Ok(if is_optional { inner.optional() } else { inner });
            }
        };
        let left = self.room.checked_sub(terminal.size());
        self.room = left.ok_or_else(|| Refused::unheld(at, "too large"))?;
        if !self.is_rule {
            return Ok(terminal);
        }
        Ok(Expr::concat([Expr::Rule(IGNORED), terminal]))
    }

    fn range(&mut self, at: usize, first: &str) -> Result<Expr, Refused> {
        let Some(Word::Text(last, false)) = self.word() else {
            return Err(self.wrong("expected the last character of a range"));
        };
        let one = |text: &str| {
            let mut chars = text.chars();
            chars.next().filter(|_| chars.next().is_none())
        };
        let range = one(first).zip(one(last)).filter(|(first, last)| first <= last);
        let (first, last) = range
            .ok_or_else(|| Refused::wrong(at, "a range is from one character to a later one"))?;
        self.next += 1;
        Ok(Expr::range(first, last))
    }

    fn finish(mut self) -> Result<Read, Refused> {
        let Some(&(start, _)) = self.names.get("start") else {
            return Err(Refused::wrong(0, "no rule is called start"));
        };
        self.rules[IGNORED] = Some(Expr::choice(self.ignored).repeat(0, None));
        let last = Expr::concat([Expr::Rule(start), Expr::Rule(IGNORED)]);
        self.rules.push(Some(last));
        let missing = self.names.iter().filter(|(_, (rule, _))| self.rules[*rule].is_none());
        if let Some((name, (_, at))) = missing.min_by_key(|(_, (_, at))| *at) {
            return Err(Refused::wrong(*at, format!("no rule or terminal is called {name}")));
        }
        let rules: Vec<Expr> = self.rules.into_iter().flatten().collect();
        let start = rules.len() - 1;
        Ok(Read { rules, start })
    }
}

/// Terminals have their names in capitals.
fn is_terminal(name: &str) -> bool {
    name.trim_start_matches('_').starts_with(|char: char| char.is_ascii_uppercase())
}
