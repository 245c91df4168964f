//! A JSON schema -> rules: what a grammar can hold of it; the rest is reported by keyword and path, and loosened.
//!
//! Members are in the order in which the schema has them, and then others where it has `additionalProperties`; a
//! schema that names some and does not have it admits only these. `format` is no assertion in JSON Schema, and none here.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::literals::{admits, applying, json_literal, list};
use super::rules::{BnfRules, TOO_LARGE};
use super::{integers, numbers};
use crate::grammar::schemas::decimal::Bounds;
use crate::grammar::schemas::{TYPES, clean};
use crate::path::Path;

/// How deeply schemas may be put together from others.
const MOST_LEVELS: usize = 150;

/// Adds the rules of a schema, and returns the expression of its values.
pub(super) fn write(rules: &mut BnfRules, schema: &Value, path: &Path, is_object: bool) -> String {
    let root = clean(schema, is_object, path, &mut rules.report);
    rules.roots += 1;
    let written = SchemaWriter { rules, root: &root, path, level: 0 }.value(root.clone(), path);
    written.unwrap_or_else(|| {
        rules.report.loosen(path, "type", "no value fits this schema");
        rules.json(if is_object { "object" } else { "value" }).to_owned()
    })
}

/// All that a value has to fit.
#[derive(Default)]
pub(super) struct Gathered {
    /// Keywords of one schema.
    pub(super) members: Map<String, Value>,
    /// Lists of schemas, one of each of which it has to fit, with the keyword.
    pub(super) choices: Vec<(&'static str, Vec<Value>)>,
    /// Whether no value fits.
    pub(super) is_nothing: bool,
    /// The references that were followed.
    pub(super) followed: HashMap<String, Followed>,
}

/// How far a reference was followed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Followed {
    Begun,
    Gathered,
}

/// Writes the rules of one schema.
pub(super) struct SchemaWriter<'w> {
    pub(super) rules: &'w mut BnfRules,
    /// Where references lead.
    pub(super) root: &'w Value,
    /// Of the root.
    path: &'w Path,
    level: usize,
}

impl SchemaWriter<'_> {
    /// The name of the rule of a schema's values; `None` if no value fits.
    pub(super) fn value(&mut self, schema: Value, path: &Path) -> Option<String> {
        match schema {
            Value::Object(_) => {}
            Value::Bool(false) => return None,
            _ => return Some(self.rules.json("value").to_owned()),
        }
        if self.level >= MOST_LEVELS {
            self.rules.report.loosen(path, "$ref", TOO_LARGE);
        }
        if self.level >= MOST_LEVELS || self.is_full() {
            return Some(self.rules.json("value").to_owned());
        }
        let text = schema.to_string();
        self.rules.read += 4 * text.len();
        let has_reference = text.contains("\"$ref\"");
        let key = if has_reference { format!("{}:{text}", self.rules.roots) } else { text };
        if let Some(name) = self.rules.of_schemas.get(&key) {
            return name.clone();
        }
        // Before its rule is written: a reference in it may lead to itself.
        let name = self.rules.name();
        if has_reference {
            self.rules.of_schemas.insert(key.clone(), Some(name.clone()));
        }
        self.level += 1;
        let gathered = self.gathered(schema, path);
        let is = self.alternatives(gathered, path);
        self.level -= 1;
        // What leads to itself may have named it already.
        if let Some(is) = is.clone().or_else(|| has_reference.then(|| "\"\"".to_owned())) {
            self.rules.add(&name, is);
        }
        let name = is.map(|_| name);
        self.rules.of_schemas.insert(key, name.clone());
        name
    }

    /// Whether there is no room for more; then what is left of the whole schema is loosened.
    pub(super) fn is_full(&mut self) -> bool {
        if self.rules.is_full() {
            self.rules.report.loosen(self.path, "type", TOO_LARGE);
        }
        self.rules.is_full()
    }

    fn alternatives(&mut self, mut gathered: Gathered, path: &Path) -> Option<String> {
        if gathered.is_nothing {
            return None;
        }
        if !gathered.choices.is_empty() {
            let (keyword, all) = gathered.choices.remove(0);
            let base = base_of(gathered);
            let path = path.clone().then(keyword);
            let written = all.into_iter().enumerate().filter_map(|(index, one)| {
                let path = path.clone().then(index);
                match base.as_ref().filter(|_| !self.rules.is_full()) {
                    None => self.value(one, &path),
                    Some(base) => self.value(applying("allOf", vec![base.clone(), one]), &path),
                }
            });
            return joined(&written.collect::<Vec<_>>());
        }
        let members = &gathered.members;
        if members.contains_key("const") || members.contains_key("enum") {
            return self.values(members, path);
        }
        let kinds: Vec<&str> = match members.get("type") {
            None => TYPES.to_vec(),
            Some(Value::Array(some)) => some.iter().filter_map(Value::as_str).collect(),
            Some(one) => one.as_str().into_iter().collect(),
        };
        if members.is_empty() {
            return Some(self.rules.json("value").to_owned());
        }
        let is_number = kinds.contains(&"number");
        let kinds = kinds.iter().filter(|kind| !is_number || **kind != "integer");
        let written = kinds.filter_map(|kind| self.of_kind(kind, members, path));
        joined(&written.collect::<Vec<_>>())
    }

    /// One of the values that a schema lists.
    fn values(&mut self, members: &Map<String, Value>, path: &Path) -> Option<String> {
        let one = members.get("const");
        let all = members.get("enum").cloned().map(list).or(one.map(|one| vec![one.clone()]));
        let mut all = all.unwrap_or_default();
        all.retain(|value| one.is_none_or(|one| value == one));
        let is_inner = |value: &Value| value.is_object() || value.is_array();
        if all.iter().any(is_inner) {
            const INNER: [&str; 6] = [
                "properties",
                "patternProperties",
                "required",
                "additionalProperties",
                "items",
                "prefixItems",
            ];
            for keyword in INNER.iter().filter(|keyword| members.contains_key(**keyword)) {
                let reason = "no grammar can enforce it together with a list of values";
                self.rules.report.loosen(path, keyword, reason);
            }
        }
        let patterns = &mut self.rules.patterns;
        let admitted =
            all.iter().filter(|value| admits(members, patterns, value)).map(json_literal);
        joined(&admitted.collect::<Vec<_>>())
    }

    fn of_kind(&mut self, kind: &str, members: &Map<String, Value>, path: &Path) -> Option<String> {
        match kind {
            "object" => self.object(members, path),
            "array" => self.array(members, path),
            "string" => self.text(members, path),
            "integer" => self.integer(members, path),
            "number" => self.number(members, path),
            "boolean" => Some(r#""true" | "false""#.to_owned()),
            _ => Some(r#""null""#.to_owned()),
        }
    }

    fn integer(&mut self, members: &Map<String, Value>, path: &Path) -> Option<String> {
        let bounds = Bounds::of(members);
        let (least, most) = bounds.rounded(0);
        if let Some(multiple) = members.get("multipleOf").filter(|of| of.as_f64() != Some(1.0)) {
            let written = multiple
                .as_u64()
                .and_then(|of| integers::multiples(self.rules, of, least.as_ref(), most.as_ref()));
            if written.as_ref().is_some_and(String::is_empty) {
                return None;
            }
            if written.is_some() {
                return written;
            }
            let reason = "no grammar can enforce the multiples of this number between these bounds";
            self.rules.report.loosen(path, "multipleOf", reason);
        }
        if bounds.are_none() {
            return Some(self.rules.json("integer").to_owned());
        }
        integers::between(least.as_ref(), most.as_ref())
    }

    /// With bounds or places after the point, a number is written without an exponent.
    fn number(&mut self, members: &Map<String, Value>, path: &Path) -> Option<String> {
        let mut bounds = Bounds::of(members);
        let mut places = None;
        if let Some(multiple) = members.get("multipleOf") {
            if multiple.as_f64().is_some_and(|of| of.fract() == 0.0) {
                return self.integer(members, path);
            }
            places = places_of(multiple);
            if let Some(places) = places {
                let (least, most) = bounds.rounded(places);
                let included = |number| (number, false);
                bounds = Bounds { least: least.map(included), most: most.map(included) };
            } else {
                let reason = "grammars hold multiples of integers, and of 0.1, 0.01 and so on";
                self.rules.report.loosen(path, "multipleOf", reason);
            }
        }
        match places {
            None if bounds.are_none() => Some(self.rules.json("number").to_owned()),
            places => numbers::between(&bounds, places),
        }
    }
}

/// What has to hold with each of several alternatives.
fn base_of(gathered: Gathered) -> Option<Value> {
    let Gathered { members, choices, .. } = gathered;
    if choices.is_empty() {
        return (!members.is_empty()).then_some(Value::Object(members));
    }
    let others = choices.into_iter().map(|(keyword, all)| applying(keyword, all));
    Some(applying("allOf", others.chain([Value::Object(members)]).collect()))
}

/// Alternatives; `None` if there are none.
fn joined(options: &[String]) -> Option<String> {
    (!options.is_empty()).then(|| options.join(" | "))
}

/// How many digits have multiples of 0.1, 0.01 and so on after the point.
fn places_of(multiple: &Value) -> Option<usize> {
    let text = multiple.as_f64()?.to_string();
    let digits = text.strip_prefix("0.")?;
    (digits.trim_start_matches('0') == "1").then_some(digits.len())
}

/// The names of the members that have to be there, each once.
pub(super) fn required(members: &Map<String, Value>) -> Vec<&str> {
    let all = members.get("required").and_then(Value::as_array);
    let mut seen = HashSet::new();
    let all = all.into_iter().flatten().filter_map(Value::as_str);
    all.filter(|name| seen.insert(*name)).collect()
}
