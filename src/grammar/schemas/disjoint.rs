//! `oneOf` is `anyOf` where no value fits two of its schemas.

use serde_json::Value;

use super::target;

/// The most schemas of a `oneOf`: each is compared with all others.
const MOST_COMPARED: usize = 300;

/// The most pairs of listed values that are compared.
const MOST_VALUES: usize = 1 << 20;

/// Why a value may fit two of these schemas, if it may.
pub(super) fn overlap(root: &Value, all: &[Value]) -> Option<String> {
    if all.len() > MOST_COMPARED {
        return Some(format!("more than {MOST_COMPARED} schemas are not compared; use anyOf"));
    }
    let are_apart = |at: usize, one: &Value| {
        all[..at].iter().position(|other| !are_disjoint(root, one, other, false))
    };
    let found = all.iter().enumerate().find_map(|(at, one)| Some((at, are_apart(at, one)?)));
    found.map(|(at, other)| format!("its schemas {other} and {at} overlap; use anyOf"))
}

/// Members of objects are compared by their types and values only: their own members may lead back here.
fn are_disjoint(root: &Value, one: &Value, other: &Value, are_members: bool) -> bool {
    let (one, other) = (resolved(root, one), resolved(root, other));
    if *one == Value::Bool(false) || *other == Value::Bool(false) {
        return true;
    }
    if let (Some(some), Some(others)) = (values(one), values(other)) {
        return share_none(some, others);
    }
    match (kinds(one), kinds(other)) {
        (Some(some), Some(others)) => {
            let shared: Vec<_> = some.iter().filter(|kind| others.contains(kind)).collect();
            let are_objects = shared == [&"object"] && !are_members;
            shared.is_empty() || are_objects && have_apart_members(root, one, other)
        }
        _ => false,
    }
}

/// Whether there is a member that both need, with values of its own in each.
fn have_apart_members(root: &Value, one: &Value, other: &Value) -> bool {
    let needed = |name: &&str| required(other).any(|of| of == *name);
    required(one).filter(needed).any(|name| {
        let [one, other] = [one, other].map(|schema| schema.get("properties")?.get(name));
        one.zip(other).is_some_and(|(one, other)| are_disjoint(root, one, other, true))
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

fn share_none(some: &[Value], others: &[Value]) -> bool {
    some.len().saturating_mul(others.len()) <= MOST_VALUES
        && !some.iter().any(|value| others.contains(value))
}

/// The names of the members that have to be there.
fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
