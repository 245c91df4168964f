//! What several schemas ask of one value, as one schema: `allOf`, and keywords next to `$ref` and `anyOf`.

use serde_json::{Map, Value, json};

use super::literals::list;
use super::schema::{Followed, Gathered, SchemaWriter};
use crate::grammar::schemas::decimal::Decimal;
use crate::grammar::schemas::names::Patterns;
use crate::grammar::schemas::{TYPES, is_of_kind, target};
use crate::path::Path;

/// The most pairs of listed values that are compared.
const MOST_COMPARED: usize = 1 << 20;

/// The most ways in which several `anyOf` are combined.
const MOST_WAYS: usize = 64;

impl SchemaWriter<'_> {
    /// Puts a schema together with all that it refers to.
    pub(super) fn gathered(&mut self, schema: &Value, path: &Path) -> Gathered {
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

    fn gather(&mut self, gathered: &mut Gathered, schema: &Value, path: &Path) {
        let members = match schema {
            Value::Object(members) => members,
            other => return gathered.is_nothing |= *other == Value::Bool(false),
        };
        let mut own = Map::new();
        for (key, value) in members {
            match key.as_str() {
                "$ref" => self.follow(gathered, value, path),
                "allOf" => {
                    for one in value.as_array().into_iter().flatten() {
                        self.gather(gathered, one, path);
                    }
                }
                "anyOf" => gathered.choices.push(("anyOf", list(value))),
                "oneOf" => gathered.choices.push(("oneOf", list(value))),
                "$defs" | "definitions" | "format" => {}
                _ => _ = own.insert(key.clone(), value.clone()),
            }
        }
        self.merge(&mut gathered.members, own, path);
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
        match target(self.root, reference).cloned() {
            Some(found) => self.gather(gathered, &found, path),
            None => self.rules.report.loosen(path, "$ref", "leads to what no grammar can enforce"),
        }
        gathered.followed.insert(reference.to_owned(), Followed::Gathered);
    }

    /// Adds the keywords of another schema of the same value.
    fn merge(&mut self, into: &mut Map<String, Value>, mut other: Map<String, Value>, path: &Path) {
        if into.is_empty() {
            return into.clone_from(&other);
        }
        merge_members(into, &mut other, &mut self.rules.patterns);
        merge_items(into, &mut other);
        for (key, value) in other {
            let Some(own) = into.get(&key).cloned() else {
                into.insert(key, value);
                continue;
            };
            if own == value {
                continue;
            }
            let both = match key.as_str() {
                "type" => shared_kinds(&own, &value),
                // Two that differ.
                "const" => {
                    into.insert("enum".to_owned(), json!([]));
                    continue;
                }
                "enum" => {
                    let (own, value) = (list(&own), list(&value));
                    if own.len().saturating_mul(value.len()) > MOST_COMPARED {
                        self.rules.report.loosen(path, "enum", "too large for a grammar");
                        own.into()
                    } else {
                        own.into_iter().filter(|one| value.contains(one)).collect()
                    }
                }
                "required" => list(&own).into_iter().chain(list(&value)).collect(),
                "multipleOf" => self.shared_multiple(&own, &value, path),
                "pattern" => {
                    let reason = "no grammar can enforce two patterns of one text";
                    self.rules.report.loosen(path, "pattern", reason);
                    own
                }
                _ if is_tighter(&key, &value, &own) => value,
                _ => own,
            };
            into.insert(key, both);
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

/// A schema of what fits both.
fn both(one: &Value, other: &Value) -> Value {
    if one == other { one.clone() } else { json!({"allOf": [one, other]}) }
}

/// The members of an object; what one schema does not name, its additional schema is for.
fn merge_members(
    into: &mut Map<String, Value>,
    other: &mut Map<String, Value>,
    patterns: &mut Patterns,
) {
    const KEYS: [&str; 2] = ["properties", "patternProperties"];
    let rest = [into.get("additionalProperties").cloned(), other.remove("additionalProperties")];
    let own = KEYS.map(|key| members_of(into.get(key)));
    let others = KEYS.map(|key| members_of(other.remove(key).as_ref()));
    for (at, key) in KEYS.iter().enumerate() {
        let mut merged = own[at].clone();
        for (name, schema) in &mut merged {
            let with = others[at]
                .get(name)
                .or_else(|| unnamed(&others, rest[1].as_ref(), at, name, patterns));
            *schema = with.map_or_else(|| schema.clone(), |with| both(schema, with));
        }
        for (name, schema) in others[at].iter().filter(|(name, _)| !own[at].contains_key(*name)) {
            let with = unnamed(&own, rest[0].as_ref(), at, name, patterns);
            merged.insert(
                name.clone(),
                with.map_or_else(|| schema.clone(), |with| both(schema, with)),
            );
        }
        if !merged.is_empty() {
            into.insert((*key).to_owned(), Value::Object(merged));
        }
    }
    let rest = match rest {
        [Some(one), Some(other)] => Some(both(&one, &other)),
        [one, other] => one.or(other),
    };
    if let Some(rest) = rest {
        into.insert("additionalProperties".to_owned(), rest);
    }
}

fn members_of(value: Option<&Value>) -> Map<String, Value> {
    value.and_then(Value::as_object).cloned().unwrap_or_default()
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

fn merge_items(into: &mut Map<String, Value>, other: &mut Map<String, Value>) {
    let list_of = |value: Option<Value>| value.as_ref().map(list).unwrap_or_default();
    let own = list_of(into.get("prefixItems").cloned());
    let others = list_of(other.remove("prefixItems"));
    let rest = [into.get("items").cloned(), other.remove("items")];
    let [one, two] = [&rest[0], &rest[1]].map(|rest| rest.clone().unwrap_or(Value::Bool(true)));
    let longer = own.len().max(others.len());
    let first: Vec<Value> = (0..longer)
        .map(|at| both(own.get(at).unwrap_or(&one), others.get(at).unwrap_or(&two)))
        .collect();
    if !first.is_empty() {
        into.insert("prefixItems".to_owned(), Value::Array(first));
    }
    if rest.iter().any(Option::is_some) {
        into.insert("items".to_owned(), both(&one, &two));
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
