//! `type: array`: lists of one type, and tuples.

use serde_json::{Map, Value};

use super::super::schema::{Schema, Shape, Tuple};
use super::walk::Subschemas;

const KEYWORDS: [&str; 2] = ["items", "prefixItems"];

/// Whether a schema without `type` describes an array.
pub(super) fn has_keywords(map: &Map<String, Value>) -> bool {
    KEYWORDS.iter().any(|keyword| map.contains_key(*keyword))
}

/// The type of a schema of `type: array`.
pub(super) fn read<'a>(
    map: &'a Map<String, Value>,
    parts: &mut Subschemas<'_, 'a, '_>,
) -> Schema<'a> {
    let items = map.get("items");
    // A list of schemas is a tuple: in `prefixItems` since the draft of 2020, before in
    // `items`, where `additionalItems` had today's meaning of `items`.
    let (prefix, rest) = match (map.get("prefixItems"), items) {
        (Some(Value::Array(prefix)), _) => (prefix, items),
        (_, Some(Value::Array(prefix))) => (prefix, map.get("additionalItems")),
        _ => return plain_array(items, parts),
    };
    if prefix.is_empty() {
        return plain_array(rest, parts);
    }
    tuple(map, prefix, rest, parts)
}

fn plain_array<'a>(items: Option<&'a Value>, parts: &mut Subschemas<'_, 'a, '_>) -> Schema<'a> {
    match items {
        Some(items) => Shape::Array(Box::new(parts.schema(items, None))).into(),
        None => Shape::Named("Array<any>").into(),
    }
}

/// A tuple. Where the schema does not mention further elements, there are none: that is what people
/// who write tuples mean, though JSON Schema would allow anything.
fn tuple<'a>(
    map: &'a Map<String, Value>,
    prefix: &'a [Value],
    rest: Option<&'a Value>,
    parts: &mut Subschemas<'_, 'a, '_>,
) -> Schema<'a> {
    let elements: Vec<_> = prefix.iter().map(|schema| parts.schema(schema, None)).collect();
    let rest = rest.filter(|rest| **rest != Value::Bool(false));
    let rest = rest.map(|rest| Box::new(parts.schema(rest, None)));
    let required = map.get("minItems").and_then(Value::as_u64);
    let required = required.and_then(|count| usize::try_from(count).ok());
    let required = required.unwrap_or(elements.len()).min(elements.len());
    Shape::Tuple(Tuple { elements, required, rest }).into()
}
