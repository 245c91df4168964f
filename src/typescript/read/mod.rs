//! A JSON Schema value -> a typed [`Schema`].
//!
//! A schema is a list of demands, all of which a value must meet: its own `type`, `enum` or `const`, the schemas of
//! `$ref` and `allOf`, one of `anyOf`, one of `oneOf`. Each is read separately, and `combine` makes one type of them.
//! Anything that TypeScript cannot express becomes a note.

mod array;
mod combine;
mod notes;
mod object;
mod reference;
mod walk;

use std::collections::HashSet;

use serde_json::{Map, Value};

use self::combine::combine;
use self::notes::{brief, read_notes};
pub(crate) use self::reference::resolve;
use self::walk::{Read, Walk};
pub(super) use self::walk::{Refused, read};
use super::schema::{INTEGER, Limit, Notes, Schema, Shape};

/// Reads any value as a schema, those within it through `walk`. A variant without keywords of its own
/// type, as in `{"type": "string", "anyOf": [{"pattern": "^a"}, {"pattern": "^b"}]}`, has the
/// `inherited` one.
fn schema<'a>(value: &'a Value, inherited: Option<&'a Value>, walk: &mut Walk<'a, '_>) -> Read<'a> {
    Ok(match value {
        Value::Object(map) => keywords(map, inherited, walk)?,
        Value::Bool(true) => Schema::any(),
        Value::Bool(false) => Shape::Named("never").into(),
        other => Schema::any_because(format!("any: {} is not a schema", brief(other))),
    })
}

fn keywords<'a>(
    map: &'a Map<String, Value>,
    inherited: Option<&'a Value>,
    walk: &mut Walk<'a, '_>,
) -> Read<'a> {
    let inherited = map.get("type").or(inherited);
    let mut demands = Vec::new();
    if let Some(reference) = map.get("$ref") {
        demands.push(walk.reference(reference)?);
    }
    if let Some(members) = map.get("allOf") {
        demands.extend(list("allOf", members, None, walk)?);
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(variants) = map.get(keyword) {
            demands.push(one_of(list(keyword, variants, inherited, walk)?));
        }
    }
    let own = own_type(map, inherited.filter(|_| demands.is_empty()), walk)?;
    let mut schema = combine(own, demands);
    let mut notes = read_notes(map);
    notes.absorb(std::mem::take(&mut schema.notes));
    if matches!(&schema.shape, Shape::Tuple(tuple) if tuple.rest.is_none()) {
        let counts_items =
            |limit: &Limit<'_>| matches!(limit, Limit::Keyword("minItems" | "maxItems", _));
        notes.limits.retain(|limit| !counts_items(limit));
    }
    if map.get("nullable") == Some(&Value::Bool(true)) {
        schema = or_null(schema);
    }
    Ok(Schema { shape: schema.shape, notes })
}

/// The schemas that `keyword` lists.
fn list<'a>(
    keyword: &str,
    schemas: &'a Value,
    inherited: Option<&'a Value>,
    walk: &mut Walk<'a, '_>,
) -> Result<Vec<Schema<'a>>, Refused> {
    let Some(schemas) = schemas.as_array() else {
        let remark = format!("{keyword} is not a list: {}", brief(schemas));
        return Ok(vec![Schema::any_because(remark)]);
    };
    schemas.iter().map(|schema| walk.schema(schema, inherited)).collect()
}

/// The type that a schema has by itself, without the schemas that it combines.
fn own_type<'a>(
    map: &'a Map<String, Value>,
    inherited: Option<&'a Value>,
    walk: &mut Walk<'a, '_>,
) -> Result<Option<Schema<'a>>, Refused> {
    if map.get("not").is_some_and(allows_everything) {
        return Ok(Some(Shape::Named("never").into()));
    }
    if let Some(value) = map.get("const") {
        return Ok(Some(Shape::Literal(value).into()));
    }
    if let Some(values) = map.get("enum").and_then(Value::as_array) {
        let values = values.iter().map(|value| Shape::Literal(value).into());
        return Ok(Some(Schema::union(values)));
    }
    let schema = match map.get("type") {
        Some(name) => types(name, map, walk),
        None if object::has_keywords(map) => object::read(map, walk),
        None if array::has_keywords(map) => array::read(map, walk),
        None => return inherited.map(|name| types(name, map, walk)).transpose(),
    };
    schema.map(Some)
}

/// The type that `type` names, or the union of those that it lists.
fn types<'a>(names: &'a Value, map: &'a Map<String, Value>, walk: &mut Walk<'a, '_>) -> Read<'a> {
    let Some(names) = names.as_array() else { return type_named(names, map, walk) };
    let mut notes = Notes::default();
    let mut variants = Vec::new();
    let mut seen = HashSet::new();
    for name in names {
        // Each type once: `["object", "object"]` would read the properties twice, and theirs four times.
        if name.as_str().is_some_and(|name| !seen.insert(name)) {
            continue;
        }
        let mut variant = type_named(name, map, walk)?;
        notes.absorb(std::mem::take(&mut variant.notes));
        variants.push(variant);
    }
    if variants.is_empty() {
        return Ok(Schema::any_because("any: type is an empty list".to_owned()));
    }
    Ok(Schema { shape: Schema::union(variants).shape, notes })
}

fn type_named<'a>(
    name: &'a Value,
    map: &'a Map<String, Value>,
    walk: &mut Walk<'a, '_>,
) -> Read<'a> {
    let named = match name.as_str() {
        Some("object") => return object::read(map, walk),
        Some("array") => return array::read(map, walk),
        Some("string") => "string",
        Some("number" | INTEGER) => "number",
        Some("boolean") => "boolean",
        Some("null") => "null",
        Some("any") => "any",
        _ => {
            return Ok(Schema::any_because(format!("any: type {} is unknown", brief(name))));
        }
    };
    Ok(Shape::Named(named).into())
}

/// A union of `variants`. If only one of them is not `null`, its notes apply to the whole.
fn one_of(mut variants: Vec<Schema<'_>>) -> Schema<'_> {
    let mut notes = Notes::default();
    let mut others = variants.iter_mut().filter(|variant| !variant.is_null());
    if let (Some(only), None) = (others.next(), others.next()) {
        notes = std::mem::take(&mut only.notes);
    }
    Schema { shape: Schema::union(variants).shape, notes }
}

fn or_null(schema: Schema<'_>) -> Schema<'_> {
    if schema.is_any() || schema.allows_null() {
        return schema;
    }
    Schema::union([schema, Shape::Named("null").into()])
}

/// Whether a schema is `true` or `{}`.
fn allows_everything(schema: &Value) -> bool {
    *schema == Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty)
}
