//! `oneOf` is `anyOf` where no value fits two of its schemas.

use serde_json::Value;

use super::target;

/// The most schemas of a `oneOf`: each is compared with all others.
const MOST_COMPARED: usize = 300;

/// The most pairs that are compared for one schema: of schemas, of listed values and of required names.
const MOST_PAIRS: usize = 1 << 22;

/// Compares schemas of `oneOf`.
pub(super) struct Disjoint<'d> {
    /// Where references lead.
    root: &'d Value,
    /// Of [`MOST_PAIRS`].
    compared: usize,
}

impl<'d> Disjoint<'d> {
    pub(super) fn new(root: &'d Value) -> Self {
        Self { root, compared: 0 }
    }

    /// Why a value may fit two of these schemas, if it may.
    pub(super) fn overlap(&mut self, all: &[Value]) -> Option<String> {
        if all.len() > MOST_COMPARED {
            return Some(format!("more than {MOST_COMPARED} schemas are not compared; use anyOf"));
        }
        for (at, one) in all.iter().enumerate() {
            let other = all[..at].iter().position(|other| !self.are_disjoint(one, other, false));
            if self.compared > MOST_PAIRS {
                return Some("has too many values to compare; use anyOf".to_owned());
            }
            if let Some(other) = other {
                return Some(format!("its schemas {other} and {at} overlap; use anyOf"));
            }
        }
        None
    }

    /// Counts pairs; whether there is room to compare them.
    fn has_room(&mut self, one: usize, other: usize) -> bool {
        self.compared = self.compared.saturating_add(one.saturating_mul(other));
        self.compared <= MOST_PAIRS
    }

    /// Members of objects are compared by their types and values only: their own members may lead back here.
    fn are_disjoint(&mut self, one: &Value, other: &Value, are_members: bool) -> bool {
        if !self.has_room(1, 1) {
            return false;
        }
        let (one, other) = (resolved(self.root, one), resolved(self.root, other));
        if *one == Value::Bool(false) || *other == Value::Bool(false) {
            return true;
        }
        if let (Some(some), Some(others)) = (values(one), values(other)) {
            let has_room = self.has_room(some.len(), others.len());
            return has_room && !some.iter().any(|value| others.contains(value));
        }
        match (kinds(one), kinds(other)) {
            (Some(some), Some(others)) => {
                let shared: Vec<_> = some.iter().filter(|kind| others.contains(kind)).collect();
                let are_objects = shared == [&"object"] && !are_members;
                shared.is_empty() || are_objects && self.have_apart_members(one, other)
            }
            _ => false,
        }
    }

    /// Whether there is a member that both need, with values of its own in each.
    fn have_apart_members(&mut self, one: &Value, other: &Value) -> bool {
        self.has_room(required(one).count(), required(other).count())
            && required(one).filter(|name| required(other).any(|of| of == *name)).any(|name| {
                let [one, other] = [one, other].map(|schema| schema.get("properties")?.get(name));
                one.zip(other).is_some_and(|(one, other)| self.are_disjoint(one, other, true))
            })
    }
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
