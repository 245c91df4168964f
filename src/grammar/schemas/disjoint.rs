//! `oneOf` is `anyOf` where no value fits two of its schemas.

use serde_json::Value;

use super::target;

/// The most schemas of a `oneOf`: each is compared with all others.
const MOST_COMPARED: usize = 300;

/// Why a value may fit two of these schemas, if it may.
pub(super) fn overlap(root: &Value, all: &[Value]) -> Option<String> {
    if all.len() > MOST_COMPARED {
        return Some(format!("more than {MOST_COMPARED} schemas are not compared; use anyOf"));
    }
    let are_apart =
        |at: usize, one: &Value| all[..at].iter().position(|other| !are_disjoint(root, one, other));
    let found = all.iter().enumerate().find_map(|(at, one)| Some((at, are_apart(at, one)?)));
    found.map(|(at, other)| format!("its schemas {other} and {at} overlap; use anyOf"))
}

fn are_disjoint(root: &Value, one: &Value, other: &Value) -> bool {
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
            shared.is_empty() || shared == [&"object"] && have_apart_members(root, one, other)
        }
        _ => false,
    }
}

/// Whether there is a member that both need, with values of its own in each.
fn have_apart_members(root: &Value, one: &Value, other: &Value) -> bool {
    let property = |schema: &'_ Value, name: &str| {
        schema.get("properties")?.get(name).map(|found| resolved(root, found).clone())
    };
    required(one).filter(|name| required(other).any(|of| of == *name)).any(|name| {
        property(one, name).zip(property(other, name)).is_some_and(|(one, other)| {
            let both = values(&one).zip(values(&other));
            match both {
                Some((some, others)) => share_none(some, others),
                None => kinds(&one)
                    .zip(kinds(&other))
                    .is_some_and(|(some, others)| !some.iter().any(|kind| others.contains(kind))),
            }
        })
    })
}

/// The types of a schema, `number` for `integer`, too; `None` if it has any.
fn kinds(schema: &Value) -> Option<Vec<&str>> {
    let name = |kind: &'_ Value| match kind.as_str() {
        Some("integer" | "number") => Some("number"),
        Some("object") => Some("object"),
        Some("array") => Some("array"),
        Some("string") => Some("string"),
        Some("boolean") => Some("boolean"),
        Some("null") => Some("null"),
        _ => None,
    };
    if let Some(values) = values(schema) {
        return Some(values.iter().map(kind_of).collect());
    }
    match schema.get("type")? {
        Value::Array(all) => all.iter().map(name).collect(),
        one => Some(vec![name(one)?]),
    }
}

fn kind_of(value: &Value) -> &'static str {
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
    !some.iter().any(|value| others.contains(value))
}

/// The names of the members that have to be there.
fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
