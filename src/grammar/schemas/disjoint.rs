//! `oneOf` is `anyOf` where no value fits two of its schemas.

use serde_json::Value;

use super::report::OF_EACH;
use super::{Report, target};

/// The most schemas of a `oneOf`: each is compared with all others.
const MOST_COMPARED: usize = 300;

/// Why a value may fit two of these schemas, if it may.
pub(super) fn overlap(root: &Value, all: &[Value], report: &mut Report) -> Option<String> {
    if all.len() > MOST_COMPARED {
        return Some(format!("more than {MOST_COMPARED} schemas are not compared; use anyOf"));
    }
    for (at, one) in all.iter().enumerate() {
        let is_near = |other: &Value| !are_disjoint(root, one, other, false, report);
        let other = all[..at].iter().position(is_near);
        if !report.has_room(0) {
            return Some("has too many values to compare; use anyOf".to_owned());
        }
        if let Some(other) = other {
            return Some(format!("its schemas {other} and {at} overlap; use anyOf"));
        }
    }
    None
}

/// Members of objects are compared by their types and values only: their own members may lead back here.
fn are_disjoint(
    root: &Value,
    one: &Value,
    other: &Value,
    are_members: bool,
    report: &mut Report,
) -> bool {
    if !report.has_room(OF_EACH) {
        return false;
    }
    let (one, other) = (resolved(root, one), resolved(root, other));
    if *one == Value::Bool(false) || *other == Value::Bool(false) {
        return true;
    }
    if let (Some(some), Some(others)) = (values(one), values(other)) {
        let has_room = report.has_room(some.len().saturating_mul(others.len()));
        return has_room && !some.iter().any(|value| others.contains(value));
    }
    match (kinds(one), kinds(other)) {
        (Some(some), Some(others)) => {
            let shared: Vec<_> = some.iter().filter(|kind| others.contains(kind)).collect();
            let are_objects = shared == [&"object"] && !are_members;
            shared.is_empty() || are_objects && have_apart_members(root, one, other, report)
        }
        _ => false,
    }
}

/// Whether there is a member that both need, with values of its own in each.
fn have_apart_members(root: &Value, one: &Value, other: &Value, report: &mut Report) -> bool {
    let needed = |name: &&str| required(other).any(|of| of == *name);
    report.has_room(required(one).count().saturating_mul(required(other).count()))
        && required(one).filter(needed).any(|name| {
            let [one, other] = [one, other].map(|schema| schema.get("properties")?.get(name));
            one.zip(other).is_some_and(|(one, other)| are_disjoint(root, one, other, true, report))
        })
}

/// The types of a schema, `number` for `integer`, too; `None` if it has any.
fn kinds(schema: &Value) -> Option<Vec<&str>> {
    fn name(kind: &Value) -> Option<&str> {
        kind.as_str().map(|kind| if kind == "integer" { "number" } else { kind })
    }
    if let Some(values) = values(schema) {
        return Some(values.iter().map(kind_of).collect());
    }
    match schema.get("type")? {
        Value::Array(all) => all.iter().map(name).collect(),
        one => Some(vec![name(one)?]),
    }
}

/// The type of a value.
pub(in crate::grammar) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn resolved<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let reference = schema.get("$ref").and_then(Value::as_str);
    reference.and_then(|reference| target(root, reference)).unwrap_or(schema)
}

/// The only values that a schema admits, if it lists them.
fn values(schema: &Value) -> Option<&[Value]> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(std::slice::from_ref(value)),
        (None, Some(Value::Array(values))) => Some(values),
        _ => None,
    }
}

/// The names of the members that have to be there.
fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
