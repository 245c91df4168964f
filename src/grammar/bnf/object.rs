//! Objects: the members that a schema names, in its order, and then others.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::fitting::{QUOTE, fitting};
use super::keys;
use super::literals::{applying, json_literal};
use super::rules::BnfRules;
use super::schema::{SchemaWriter, required};
use crate::grammar::schemas::{ecma, names};
use crate::path::Path;
use crate::text_grammar::Expr;

/// Why a pattern of names is not enforced.
const BESIDE_OTHERS: &str = "grammars cannot tell its names from additional ones";

/// What it costs, of what may be read, to read a pattern of names.
const OF_A_PATTERN: usize = 1 << 12;

impl SchemaWriter<'_> {
    /// Adds the rules of an object's members, one or two for each, and returns the object's expression; `None` if no
    /// object fits.
    pub(super) fn object(&mut self, members: &Map<String, Value>, path: &Path) -> Option<String> {
        let none = Map::new();
        let named = members.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let patterns = members.get("patternProperties").and_then(Value::as_object).unwrap_or(&none);
        let needed = required(members);
        let additional = members.get("additionalProperties");
        let counts = ["minProperties", "maxProperties"].map(|key| self.times(members, key, path));
        let says_nothing = named.is_empty() && needed.is_empty() && patterns.is_empty();
        if says_nothing && counts == [None, None] && additional.is_none_or(|value| *value == true) {
            return Some(self.rules.json("object").to_owned());
        }
        let least = counts[0].unwrap_or_default().max(needed.len());
        if counts[1].is_some_and(|most| most < least) {
            return None;
        }
        self.rules.json("blanks");
        let rest = match additional {
            Some(schema) => self.value(schema.clone(), &path.clone().then("additionalProperties")),
            // Keys that differ from some names cost an engine seconds, and authors who name members mean only these.
            None if !named.is_empty() || !patterns.is_empty() => None,
            None => Some(self.rules.json("value").to_owned()),
        };
        // JSON Schema admits others, too, where it says nothing of them.
        let unnamed = match additional {
            None => Some(self.rules.json("value").to_owned()),
            Some(_) => rest.clone(),
        };
        let pairs = self.pairs(named, &needed, patterns, unnamed.as_deref(), path)?;
        let other = self.others(named, &needed, patterns, rest, path);
        let body = match (other, counts) {
            (None, [Some(1..), _]) if pairs.is_empty() => return None,
            (Some(other), counts) if pairs.is_empty() => several(self.rules, &other, counts),
            (other, counts) => {
                let says = [
                    ("minProperties", counts[0].is_some_and(|least| least > needed.len())),
                    (
                        "maxProperties",
                        counts[1].is_some_and(|most| most < pairs.len() || other.is_some()),
                    ),
                ];
                for (keyword, _) in says.iter().filter(|(_, says)| *says) {
                    let reason = "grammars count members only where none has a name of its own";
                    self.rules.report.loosen(path, keyword, reason);
                }
                self.chain(&pairs, other)
            }
        };
        Some(format!("\"{{\" blanks {body} \"}}\""))
    }

    /// The expression of each named member, and whether it is required; `None` if a required one cannot be.
    fn pairs(
        &mut self,
        named: &Map<String, Value>,
        needed: &[&str],
        patterns: &Map<String, Value>,
        rest: Option<&str>,
        path: &Path,
    ) -> Option<Vec<(String, bool)>> {
        let mut pairs = Vec::new();
        let is_needed: HashSet<&str> = needed.iter().copied().collect();
        let others = needed.iter().copied().filter(|name| !named.contains_key(*name));
        for name in named.keys().map(String::as_str).chain(others) {
            let mut all: Vec<&Value> = Vec::new();
            for (pattern, schema) in patterns {
                if self.rules.patterns.fits(pattern, name) {
                    all.push(schema);
                }
            }
            all.extend(named.get(name));
            let inner = path.clone().then("properties").then(name.to_owned());
            let value = match all[..] {
                [] => rest.map(str::to_owned),
                [one] => self.value(one.clone(), &inner),
                _ => self.value(applying("allOf", all.into_iter().cloned().collect()), &inner),
            };
            match value {
                Some(value) => pairs.push((pair(name, &value), is_needed.contains(name))),
                None if is_needed.contains(name) => return None,
                None => {}
            }
        }
        Some(pairs)
    }

    /// The expression of a member without a name of its own, if there may be one.
    fn others(
        &mut self,
        named: &Map<String, Value>,
        needed: &[&str],
        patterns: &Map<String, Value>,
        rest: Option<String>,
        path: &Path,
    ) -> Option<String> {
        let (mut others, mut rest) = (Vec::new(), rest);
        self.rules.read += OF_A_PATTERN * patterns.len();
        if !names::overlapping(patterns).is_empty() {
            let reason = "a name may fit two patterns, and no grammar asks for both schemas";
            self.rules.report.loosen(path, "patternProperties", reason);
        }
        for (pattern, schema) in patterns {
            let inner = path.clone().then("patternProperties").then(pattern.clone());
            let Some(value) = self.value(schema.clone(), &inner) else {
                if rest.is_some() {
                    self.rules.report.loosen(path, "patternProperties", BESIDE_OTHERS);
                }
                continue;
            };
            match self.key(pattern, named, rest.is_some()) {
                Ok(key) => others.push(member(&format!("{QUOTE} {key}"), &value)),
                Err(reason) => {
                    self.rules.report.loosen(path, "patternProperties", reason);
                    rest = Some(self.rules.json("value").to_owned());
                }
            }
        }
        if let Some(value) = rest {
            let all = named.keys().map(String::as_str).chain(needed.iter().copied());
            let all: Vec<String> = all.map(str::to_owned).collect();
            let key = match keys::write(self.rules, &all) {
                Ok(key) => format!("{QUOTE} {key}"),
                Err(reason) => {
                    self.rules.report.loosen(path, "additionalProperties", reason);
                    self.rules.json("string").to_owned()
                }
            };
            others.push(member(&key, &value));
        }
        (!others.is_empty()).then(|| others.join(" | "))
    }

    /// The rest of a name that fits a pattern, after its first quote.
    fn key(
        &mut self,
        pattern: &str,
        named: &Map<String, Value>,
        has_rest: bool,
    ) -> Result<String, String> {
        if has_rest {
            return Err(BESIDE_OTHERS.to_owned());
        }
        if named.keys().any(|name| self.rules.patterns.fits(pattern, name)) {
            return Err("fits a name among the properties".to_owned());
        }
        let hir = ecma::whole(pattern)?;
        self.rules.attempt(|rules| fitting(rules, &Expr::of_hir(&hir)?))
    }

    /// From the last member to the first: what may follow where one has been written, and where none has.
    fn chain(&mut self, pairs: &[(String, bool)], other: Option<String>) -> String {
        let (mut first, mut behind) = match other {
            Some(other) => {
                let name = self.rules.made(&other);
                let more = format!("(\",\" blanks {name})*");
                (format!("({name} {more})?"), more)
            }
            None => ("\"\"".to_owned(), "\"\"".to_owned()),
        };
        let first_needed = pairs.iter().position(|(_, is_needed)| *is_needed);
        for (index, (pair, is_needed)) in pairs.iter().enumerate().rev() {
            let rest = self.rules.made(&behind);
            if first_needed.is_none_or(|first_needed| index <= first_needed) {
                let skipped = if *is_needed { String::new() } else { format!(" | {first}") };
                let written = format!("{pair} {rest}{skipped}");
                first = self.rules.made(&written);
            }
            let skipped = if *is_needed { String::new() } else { format!(" | {rest}") };
            behind = format!("\",\" blanks {pair} {rest}{skipped}");
        }
        first
    }
}

/// Members without names of their own, within the bounds of their count.
fn several(rules: &mut BnfRules, other: &str, [least, most]: [Option<usize>; 2]) -> String {
    if most == Some(0) {
        return "\"\"".to_owned();
    }
    let name = rules.made(other);
    let least = least.unwrap_or(0);
    let upper = most.map_or(String::new(), |most| (most - 1).to_string());
    let all = format!("{name} (\",\" blanks {name}){{{},{upper}}}", least.saturating_sub(1));
    if least == 0 { format!("({all})?") } else { all }
}

fn pair(name: &str, value: &str) -> String {
    member(&json_literal(&Value::from(name)), value)
}

fn member(key: &str, value: &str) -> String {
    format!("{key} blanks \":\" blanks {value} blanks")
}
