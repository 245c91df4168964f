//! What llguidance does not hold of a clean schema.

use std::collections::HashSet;

use serde_json::{Map, Number, Value};

use super::decimal::Decimal;
use super::report::OF_EACH;
use super::{Report, is_of_kind, names, target};
use crate::path::Path;

const BOUNDS: [&str; 4] = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"];

/// llguidance reads doubles: integers are exact up to this one.
const MOST_INTEGER: u64 = 1 << 53;

/// The most digits of other bounds, and the most after the point.
const MOST_DIGITS: [usize; 2] = [15, 50];

/// The most digits of a multiple, and the most after the point.
const MOST_OF_MULTIPLE: [usize; 2] = [5, 9];

/// How deeply references are followed for the bounds of one value.
const MOST_FOLLOWED: usize = 8;

/// A clean schema without it.
pub(in crate::grammar) fn limited(schema: &Value, path: &Path, report: &mut Report) -> Value {
    Limits { root: schema, report }.schema(schema, path, &[])
}

struct Limits<'l> {
    root: &'l Value,
    report: &'l mut Report,
}

/// A keyword, and the number that it has.
type Bound = (&'static str, f64);

impl Limits<'_> {
    /// A schema; `around` are bounds that other schemas have for its value.
    fn schema(&mut self, schema: &Value, path: &Path, around: &[Bound]) -> Value {
        let Value::Object(members) = schema else { return schema.clone() };
        let bounds = self.bounds(schema, around);
        let mut limited = Map::new();
        for (key, value) in members {
            let inner = path.clone().then(key.clone());
            let value = match (key.as_str(), value) {
                ("$ref", Value::String(to)) if target(self.root, to).is_none() => {
                    self.report.loosen(path, "$ref", "leads to what no grammar can enforce");
                    continue;
                }
                ("patternProperties", Value::Object(named)) => {
                    let named = self.apart(named, path);
                    self.named(&named, &inner)
                }
                ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                    self.named(named, &inner)
                }
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(all)) => {
                    let around = if key == "prefixItems" { &[] } else { bounds.as_slice() };
                    let all = all.iter().enumerate();
                    let one = |(at, one)| self.schema(one, &inner.clone().then(at), around);
                    all.map(one).collect()
                }
                ("items" | "additionalProperties", _) => self.schema(value, &inner, &[]),
                ("multipleOf", Value::Number(of)) if !is_short(of, MOST_OF_MULTIPLE) => {
                    let reason = "llguidance holds multiples of numbers of few digits";
                    self.report.loosen(path, "multipleOf", reason);
                    continue;
                }
                (key, Value::Number(number)) => {
                    let has_room = self.report.has_room(bounds.len());
                    match flaw(members, key, number, &bounds, has_room) {
                        None => value.clone(),
                        Some((keyword, reason)) => {
                            self.report.loosen(path, keyword, reason);
                            continue;
                        }
                    }
                }
                _ => value.clone(),
            };
            limited.insert(key.clone(), value);
        }
        Value::Object(limited)
    }

    /// The bounds that a schema has for its value, with those that it is combined with: each schema's once, as far as there
    /// is room to look.
    fn bounds(&mut self, schema: &Value, around: &[Bound]) -> Vec<Bound> {
        let mut bounds = Vec::new();
        if self.report.has_room(around.len()) {
            bounds.extend_from_slice(around);
        }
        let (mut seen, mut level) = (HashSet::new(), vec![schema]);
        for _ in 0..=MOST_FOLLOWED {
            if !self.report.has_room(OF_EACH * level.len()) {
                break;
            }
            level.retain(|one| seen.insert(std::ptr::from_ref(*one)));
            for one in &level {
                let bound = |key: &'static str| Some((key, one.get(key)?.as_f64()?));
                bounds.extend(BOUNDS.into_iter().filter_map(bound));
            }
            level = level.iter().flat_map(|one| combined(self.root, one)).collect();
        }
        bounds
    }

    fn named(&mut self, named: &Map<String, Value>, path: &Path) -> Value {
        let schema = |(name, one): (&String, &Value)| {
            (name.clone(), self.schema(one, &path.clone().then(name.clone()), &[]))
        };
        named.iter().map(schema).collect()
    }

    /// Patterns of names of which none fits two.
    fn apart(&mut self, named: &Map<String, Value>, path: &Path) -> Map<String, Value> {
        let overlapping = names::overlapping(named);
        if !overlapping.is_empty() {
            let reason = "llguidance cannot tell its names from those of another pattern";
            self.report.loosen(path, "patternProperties", reason);
        }
        let mut named = named.clone();
        named.retain(|pattern, _| !overlapping.contains(pattern));
        named
    }
}

/// The schemas that apply to the same value.
fn combined<'s>(root: &'s Value, schema: &'s Value) -> impl Iterator<Item = &'s Value> {
    let lists = ["allOf", "anyOf", "oneOf"].map(|key| schema.get(key).and_then(Value::as_array));
    let found = schema.get("$ref").and_then(Value::as_str).and_then(|to| target(root, to));
    lists.into_iter().flatten().flatten().chain(found)
}

/// A bound that llguidance takes for another, and why.
fn flaw(
    members: &Map<String, Value>,
    key: &str,
    number: &Number,
    bounds: &[Bound],
    has_room: bool,
) -> Option<(&'static str, &'static str)> {
    let keyword = BOUNDS.into_iter().find(|bound| *bound == key)?;
    let is_integer = members
        .get("type")
        .is_some_and(|kind| is_of_kind(kind, "integer") && !is_of_kind(kind, "number"));
    let is_exact = if is_integer {
        let double = number.as_f64().filter(|_| number.is_f64());
        double.is_some_and(|double| double.abs() <= 2.0_f64.powi(53))
            || number.as_i64().is_some_and(|number| number.unsigned_abs() <= MOST_INTEGER)
            || key == "maximum" && number.as_i64() == Some(i64::MAX)
    } else {
        is_short(number, MOST_DIGITS)
    };
    if !is_exact {
        return Some((keyword, "llguidance holds bounds of few digits"));
    }
    if !has_room && !is_integer {
        return Some((keyword, "too many bounds to compare it with"));
    }
    let own = (keyword, number.as_f64()?);
    let is_mistaken = |of: &Bound| is_admitted(own, *of) || is_admitted(*of, own);
    (!is_integer && bounds.iter().any(is_mistaken))
        .then_some((keyword, "llguidance admits an excluded bound with such another"))
}

/// llguidance admits 1 above an excluded 1 and below 1.5, and -1 above -1.5 and below an excluded -1.
fn is_admitted((key, excluded): Bound, (key_of_other, other): Bound) -> bool {
    let is_between = match key {
        "exclusiveMinimum" => {
            excluded >= 0.0 && excluded < other && BOUNDS[2..].contains(&key_of_other)
        }
        "exclusiveMaximum" => {
            excluded < 0.0 && excluded > other && BOUNDS[..2].contains(&key_of_other)
        }
        _ => false,
    };
    is_between && excluded.fract() == 0.0 && (other - excluded).abs() < 1.0
}

/// Whether a number has at most this many digits, and this many after the point.
fn is_short(number: &Number, [digits, places]: [usize; 2]) -> bool {
    let number = Decimal::of(number);
    let all = format!("{}{}", number.whole, number.fraction);
    let is_few = all.trim_matches('0').len() <= digits;
    is_few && number.fraction.len() <= places && number.whole.len() <= digits
}
