//! Whether a value satisfies a tool's schema, so that a call which was written in some other way is delivered only if
//! it does.

use crate::options::words;
use crate::typescript::resolve;

use serde_json::{Map, Value};

/// Keywords that allow every value.
const NOTES: &[&str] = words!(
    "$schema $id $comment $defs definitions title description default examples example deprecated"
    "readOnly writeOnly format strict"
);

/// How many references may follow one another, and how deep values may be.
const DEEPEST: usize = 100;

/// Whether the value satisfies the schema; `None` if a keyword decides that is not known here.
pub(super) fn fits(value: &Value, schema: &Value) -> Option<bool> {
    Check { root: schema }.value(value, schema, 0)
}

/// The only required member of an object with this schema, and its schema.
pub(super) fn only_member(schema: &Value) -> Option<(&str, &Value)> {
    let [Value::String(name)] = &schema.get("required")?.as_array()?[..] else { return None };
    Some((name, schema.get("properties")?.get(name)?))
}

struct Check<'s> {
    root: &'s Value,
}

impl Check<'_> {
    fn value(&self, value: &Value, schema: &Value, depth: usize) -> Option<bool> {
        let members = match schema {
            Value::Bool(allowed) => return Some(*allowed),
            Value::Object(_) if depth > DEEPEST => return None,
            Value::Object(members) => members,
            _ => return None,
        };
        if value.is_null() && members.get("nullable") == Some(&Value::Bool(true)) {
            return Some(true);
        }
        all(members.iter().map(|(key, rule)| self.keyword(value, key, rule, members, depth)))
    }

    fn keyword(
        &self,
        value: &Value,
        key: &str,
        rule: &Value,
        schema: &Map<String, Value>,
        depth: usize,
    ) -> Option<bool> {
        let each = |schemas: &Value| -> Option<Vec<Option<bool>>> {
            Some(schemas.as_array()?.iter().map(|one| self.value(value, one, depth + 1)).collect())
        };
        let size = |length: Option<usize>, least: bool| -> Option<bool> {
            let (Some(length), Some(limit)) = (length, rule.as_u64()) else {
                return length.is_none().then_some(true);
            };
            let length = u64::try_from(length).ok()?;
            Some(if least { length >= limit } else { length <= limit })
        };
        let number = |holds: fn(f64, f64) -> bool| match value.as_f64() {
            Some(value) => Some(holds(value, rule.as_f64()?)),
            None => Some(true),
        };
        let characters = || value.as_str().map(|text| text.chars().count());
        let items = || value.as_array().map(Vec::len);
        match key {
            "type" => match rule {
                Value::Array(kinds) => any(kinds.iter().map(|kind| is_kind(value, kind))),
                kind => is_kind(value, kind),
            },
            "enum" => Some(rule.as_array()?.contains(value)),
            "const" => Some(rule == value),
            "$ref" => self.value(value, resolve(self.root, rule.as_str()?).ok()?, depth + 1),
            "allOf" => all(each(rule)?.into_iter()),
            "anyOf" => any(each(rule)?.into_iter()),
            "oneOf" => {
                let each: Option<Vec<bool>> = each(rule)?.into_iter().collect();
                Some(each?.into_iter().filter(|fits| *fits).count() == 1)
            }
            "required" => {
                let Some(members) = value.as_object() else { return Some(true) };
                let names = rule.as_array()?;
                Some(
                    names
                        .iter()
                        .all(|name| name.as_str().is_some_and(|name| members.contains_key(name))),
                )
            }
            "properties" => {
                let Some(members) = value.as_object() else { return Some(true) };
                let rules = rule.as_object()?;
                let known =
                    members.iter().filter_map(|(key, value)| Some((rules.get(key)?, value)));
                all(known.map(|(rule, value)| self.value(value, rule, depth + 1)))
            }
            "additionalProperties" => {
                let Some(members) = value.as_object() else { return Some(true) };
                if schema.contains_key("patternProperties") {
                    return None;
                }
                let known = schema.get("properties").and_then(Value::as_object);
                let others = members
                    .iter()
                    .filter(|(key, _)| known.is_none_or(|known| !known.contains_key(*key)));
                all(others.map(|(_, value)| self.value(value, rule, depth + 1)))
            }
            "items" if !schema.contains_key("prefixItems") => {
                let Some(items) = value.as_array() else { return Some(true) };
                all(items.iter().map(|item| self.value(item, rule, depth + 1)))
            }
            "minItems" => size(items(), true),
            "maxItems" => size(items(), false),
            "minLength" => size(characters(), true),
            "maxLength" => size(characters(), false),
            "minimum" => number(|value, limit| value >= limit),
            "maximum" => number(|value, limit| value <= limit),
            "exclusiveMinimum" => number(|value, limit| value > limit),
            "exclusiveMaximum" => number(|value, limit| value < limit),
            "nullable" => Some(true),
            _ => NOTES.contains(&key).then_some(true),
        }
    }
}

fn is_kind(value: &Value, kind: &Value) -> Option<bool> {
    Some(match kind.as_str()? {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => return None,
    })
}

/// Whether all are true; one that is false decides.
fn all(mut each: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let known = each.try_fold(true, |known, one| match one {
        Some(false) => Err(()),
        one => Ok(known && one.is_some()),
    });
    known.map_or(Some(false), |known| known.then_some(true))
}

/// Whether one is true; one that is true decides.
fn any(each: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    all(each.map(|one| one.map(|one| !one))).map(|none| !none)
}
