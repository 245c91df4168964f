//! `type: object`: properties, required names, and all other keys.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::super::schema::{ObjectType, Property, Schema, Shape};
use super::brief;
use super::walk::{Read, Refused, Walk};

const KEYWORDS: [&str; 4] = ["properties", "required", "patternProperties", "additionalProperties"];

/// Whether a schema without `type` describes an object.
pub(super) fn has_keywords(map: &Map<String, Value>) -> bool {
    KEYWORDS.iter().any(|keyword| map.contains_key(*keyword))
}

/// The type of a schema of `type: object`.
pub(super) fn read<'a>(map: &'a Map<String, Value>, walk: &mut Walk<'a, '_>) -> Read<'a> {
    let mut fields = Vec::new();
    let names = map.get("required").and_then(Value::as_array);
    let mut required: HashSet<_> = names.into_iter().flatten().filter_map(Value::as_str).collect();
    let mut remarks = Vec::new();
    match map.get("properties") {
        Some(Value::Object(properties)) => {
            for (name, schema) in properties {
                let required = required.remove(name.as_str());
                fields.push(Property { name, required, schema: walk.schema(schema, None)? });
            }
        }
        Some(other) => remarks.push(format!("properties is not an object: {}", brief(other))),
        None => {}
    }
    // A required property that is described nowhere can be anything.
    let undescribed = names.into_iter().flatten().filter_map(Value::as_str);
    let undescribed = undescribed.filter(|name| required.remove(name));
    fields.extend(undescribed.map(|name| Property { name, required: true, schema: Schema::any() }));
    let rest = other_keys(map, fields.is_empty(), walk)?.map(Box::new);
    let mut schema = Schema::from(Shape::Object(ObjectType { fields, rest }));
    schema.notes.remarks = remarks;
    Ok(schema)
}

/// The type of the values of keys that are not among the properties, if the schema mentions them.
fn other_keys<'a>(
    map: &'a Map<String, Value>,
    is_empty: bool,
    walk: &mut Walk<'a, '_>,
) -> Result<Option<Schema<'a>>, Refused> {
    let mut variants = Vec::new();
    for (pattern, schema) in
        map.get("patternProperties").and_then(Value::as_object).into_iter().flatten()
    {
        let mut schema = walk.schema(schema, None)?;
        let pattern = brief(&Value::from(pattern.as_str()));
        schema.notes.remarks.insert(0, format!("keys match {pattern}"));
        variants.push(schema);
    }
    let additional = map.get("additionalProperties").or_else(|| map.get("unevaluatedProperties"));
    match additional {
        Some(Value::Bool(false)) => {}
        Some(schema) => variants.push(walk.schema(schema, None)?),
        // Nothing is known about `{"type": "object"}`, while `"properties": {}` means "none".
        None if is_empty && variants.is_empty() && !map.contains_key("properties") => {
            variants.push(Schema::any());
        }
        None => {}
    }
    Ok((!variants.is_empty()).then(|| Schema::union(variants)))
}
