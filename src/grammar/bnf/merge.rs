//! What several schemas ask of one value, as one schema: `allOf`, and keywords next to `$ref` and `anyOf`.

use serde_json::{Map, Value, json};

use super::literals::{applying, list};
use super::rules::{BnfRules, TOO_LARGE};
use super::schema::{Followed, Gathered, SchemaWriter};
use crate::grammar::schemas::decimal::Decimal;
use crate::grammar::schemas::names::Patterns;
use crate::grammar::schemas::{TYPES, is_of_kind, target};
use crate::path::Path;

/// The most pairs of listed values that are compared.
const MOST_COMPARED: usize = 1 << 20;

/// The most ways in which several `anyOf` are combined.
const MOST_WAYS: usize = 64;

/// What it costs, of what may be read, to look at a schema, or to compare two.
const OF_EACH: usize = 32;

impl SchemaWriter<'_> {
    /// Puts a schema together with all that it refers to.
    pub(super) fn gathered(&mut self, schema: Value, path: &Path) -> Gathered {
        let mut gathered = Gathered::default();
        self.gather(&mut gathered, schema, path);
        let mut ways: usize = 1;
        gathered.choices.retain(|(keyword, all)| {
            ways = ways.saturating_mul(all.len());
            let is_held = ways <= MOST_WAYS || all.len() == ways;
            if !is_held {
                ways /= all.len();
                self.rules.report.loosen(path, keyword, "too many ways to combine it with others");
            }
            is_held
        });
        gathered
    }

    fn gather(&mut self, gathered: &mut Gathered, schema: Value, path: &Path) {
        let members = match schema {
            Value::Object(members) => members,
            other => return gathered.is_nothing |= other == Value::Bool(false),
        };
        self.rules.read += OF_EACH;
        if self.is_full() {
            return;
        }
        let mut own = Map::new();
        for (key, value) in members {
            match key.as_str() {
                "$ref" => self.follow(gathered, &value, path),
                "allOf" => {
                    for one in list(value) {
                        self.gather(gathered, one, path);
                    }
                }
                "anyOf" => gathered.choices.push(("anyOf", list(value))),
                "oneOf" => gathered.choices.push(("oneOf", list(value))),
                "$defs" | "definitions" | "format" => {}
                _ => _ = own.insert(key, value),
            }
        }
        self.merge(&mut gathered.members, own, path);
        // What there was no room to combine is loosened.
        self.is_full();
    }

    fn follow(&mut self, gathered: &mut Gathered, value: &Value, path: &Path) {
        let reference = value.as_str().unwrap_or_default();
        match gathered.followed.get(reference) {
            Some(Followed::Begun) => {
                return self.rules.report.loosen(path, "$ref", "leads back to itself");
            }
            Some(Followed::Gathered) => return,
            None => {}
        }
        gathered.followed.insert(reference.to_owned(), Followed::Begun);
        match target(self.root, reference) {
            Some(found) => {
                self.rules.read += size(found);
                self.gather(gathered, found.clone(), path);
            }
            None => self.rules.report.loosen(path, "$ref", "leads to what no grammar can enforce"),
        }
        gathered.followed.insert(reference.to_owned(), Followed::Gathered);
    }

    /// Adds the keywords of another schema of the same value.
    fn merge(&mut self, into: &mut Map<String, Value>, mut other: Map<String, Value>, path: &Path) {
        if into.is_empty() {
            return *into = other;
        }
        merge_members(into, &mut other, self.rules);
        merge_items(into, &mut other, self.rules);
        for (key, value) in other {
            let Some(own) = into.get_mut(&key) else {
                into.insert(key, value);
                continue;
            };
            if *own == value {
                continue;
            }
            match (key.as_str(), &mut *own) {
                ("type", _) => *own = shared_kinds(own, &value),
                // Two that differ.
                ("const", _) => _ = into.insert("enum".to_owned(), json!([])),
                ("enum", Value::Array(own)) => {
                    let value = value.as_array().map_or(&[][..], |all| all);
                    let compared = own.len().saturating_mul(value.len());
                    if compared > MOST_COMPARED {
                        self.rules.report.loosen(path, "enum", TOO_LARGE);
                    } else {
                        self.rules.read += compared;
                        own.retain(|one| value.contains(one));
                    }
                }
                ("required", Value::Array(own)) => own.append(&mut list(value)),
                ("multipleOf", _) => *own = self.shared_multiple(own, &value, path),
                ("pattern", _) => {
                    let reason = "no grammar can enforce two patterns of one text";
                    self.rules.report.loosen(path, "pattern", reason);
                }
                (keyword, own) => {
                    if is_tighter(keyword, &value, own) {
                        *own = value;
                    }
                }
            }
        }
    }

    fn shared_multiple(&mut self, one: &Value, other: &Value, path: &Path) -> Value {
        let shared = one.as_u64().zip(other.as_u64()).and_then(|(one, other)| {
            let (mut a, mut b) = (one, other);
            while b != 0 {
                (a, b) = (b, a % b);
            }
            (one / a).checked_mul(other)
        });
        if shared.is_none() {
            let reason = "no grammar can enforce multiples of two such numbers";
            self.rules.report.loosen(path, "multipleOf", reason);
        }
        shared.map_or_else(|| one.clone(), Value::from)
    }
}

/// Makes a schema one of what fits another, too, in which each schema is there once: so those that lead to themselves
/// come back to what they were.
fn combine(one: &mut Value, with: &Value, rules: &mut BnfRules) {
    if says_nothing(with) || one == with {
        return;
    }
    rules.read += 2 * size(with);
    if rules.is_full() {
        return;
    }
    if says_nothing(one) {
        return one.clone_from(with);
    }
    let mut all = match combined(one) {
        Some(_) => list(one["allOf"].take()),
        None => vec![one.take()],
    };
    for part in combined(with).unwrap_or(std::slice::from_ref(with)) {
        rules.read += OF_EACH * all.len();
        if !all.contains(part) {
            all.push(part.clone());
        }
    }
    *one = applying("allOf", all);
}

/// The schemas of an `allOf` without other keywords.
fn combined(schema: &Value) -> Option<&[Value]> {
    let all = schema.as_object().filter(|members| members.len() == 1)?.get("allOf")?;
    all.as_array().map(Vec::as_slice)
}

fn says_nothing(schema: &Value) -> bool {
    *schema == Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty)
}

/// How much memory a value takes, about, in eighths of it.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(all) => all.iter().map(|one| size(one) + 10).sum(),
        Value::Object(all) => {
            all.iter().map(|(key, one)| key.len() + size(one) + 14).sum::<usize>() + OF_EACH
        }
        Value::String(text) => text.len() / 8 + 4,
        _ => 0,
    }
}

/// The members of an object; what one schema does not name, its additional schema is for.
fn merge_members(
    into: &mut Map<String, Value>,
    other: &mut Map<String, Value>,
    rules: &mut BnfRules,
) {
    const KEYS: [&str; 2] = ["properties", "patternProperties"];
    let others = KEYS.map(|key| members_of(other.remove(key)));
    let rest = [into.get("additionalProperties").cloned(), other.remove("additionalProperties")];
    if rest[1].is_none() && others.iter().all(Map::is_empty) {
        return;
    }
    let mut own = KEYS.map(|key| members_of(into.get_mut(key).map(Value::take)));
    let mut added: [Vec<(String, Value)>; 2] = Default::default();
    for at in 0..KEYS.len() {
        for (name, schema) in &others[at] {
            if own[at].contains_key(name) {
                continue;
            }
            let mut schema = schema.clone();
            if let Some(with) = unnamed(&own, rest[0].as_ref(), at, name, &mut rules.patterns) {
                combine(&mut schema, with, rules);
            }
            added[at].push((name.clone(), schema));
        }
    }
    for ((at, key), added) in KEYS.iter().enumerate().zip(added) {
        let mut merged = std::mem::take(&mut own[at]);
        for (name, schema) in &mut merged {
            let with = others[at]
                .get(name)
                .or_else(|| unnamed(&others, rest[1].as_ref(), at, name, &mut rules.patterns));
            if let Some(with) = with {
                combine(schema, with, rules);
            }
        }
        merged.extend(added);
        if !merged.is_empty() || into.contains_key(*key) {
            into.insert((*key).to_owned(), Value::Object(merged));
        }
    }
    if let Some(rest) = &rest[1] {
        combine(into.entry("additionalProperties").or_insert(Value::Bool(true)), rest, rules);
    }
}

fn members_of(value: Option<Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    }
}

/// What a schema says of a member that it does not name, or of those of a pattern. Where a pattern fits a name, the writer
/// of objects adds that; it reports a pattern of other names, too.
fn unnamed<'r>(
    [named, of_patterns]: &[Map<String, Value>; 2],
    rest: Option<&'r Value>,
    at: usize,
    name: &str,
    patterns: &mut Patterns,
) -> Option<&'r Value> {
    let has_pattern = of_patterns.keys().any(|pattern| patterns.fits(pattern, name));
    let is_of_named = at == 1 && named.keys().any(|of| patterns.fits(name, of));
    rest.filter(|_| !has_pattern && !is_of_named)
}

fn merge_items(
    into: &mut Map<String, Value>,
    other: &mut Map<String, Value>,
    rules: &mut BnfRules,
) {
    let others = other.remove("prefixItems").map(list).unwrap_or_default();
    let rest = other.remove("items");
    if others.is_empty() && rest.is_none() {
        return;
    }
    let any = Value::Bool(true);
    let two = rest.as_ref().unwrap_or(&any);
    let one = into.get("items").unwrap_or(&any).clone();
    rules.read += size(&one) * others.len();
    if rules.is_full() {
        return;
    }
    let mut first = into.remove("prefixItems").map(list).unwrap_or_default();
    first.resize(first.len().max(others.len()), one);
    for (at, own) in first.iter_mut().enumerate() {
        combine(own, others.get(at).unwrap_or(two), rules);
    }
    if !first.is_empty() {
        into.insert("prefixItems".to_owned(), Value::Array(first));
    }
    if let Some(rest) = &rest {
        combine(into.entry("items").or_insert(any), rest, rules);
    }
}

fn shared_kinds(one: &Value, other: &Value) -> Value {
    let admits = |kinds: &Value, kind: &str| {
        is_of_kind(kinds, kind) || kind == "integer" && is_of_kind(kinds, "number")
    };
    TYPES.into_iter().filter(|kind| admits(one, kind) && admits(other, kind)).collect()
}

/// Whether a bound or a count admits less than another.
fn is_tighter(key: &str, value: &Value, than: &Value) -> bool {
    let is_upper = key.starts_with("max") || key == "exclusiveMaximum";
    let (Value::Number(value), Value::Number(than)) = (value, than) else { return false };
    (Decimal::of(value) < Decimal::of(than)) == is_upper
}
