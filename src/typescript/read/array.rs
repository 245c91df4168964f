//! `type: array`: lists of one type, and tuples.

use serde_json::{Map, Value};

use super::super::schema::{Shape, Tuple};
use super::walk::{Read, Walk};

const KEYWORDS: [&str; 2] = ["items", "prefixItems"];

/// Whether a schema without `type` describes an array.
pub(super) fn has_keywords(map: &Map<String, Value>) -> bool {
    KEYWORDS.iter().any(|keyword| map.contains_key(*keyword))
}

/// The type of a schema of `type: array`.
pub(super) fn read<'a>(map: &'a Map<String, Value>, walk: &mut Walk<'a, '_>) -> Read<'a> {
    let items = map.get("items");
    // A list of schemas is a tuple: in `prefixItems` since the 2020 draft, before that in `items`, with
    // `additionalItems` for what is now `items`.
    let (prefix, rest) = match (map.get("prefixItems"), items) {
        (Some(Value::Array(prefix)), _) => (prefix, items),
        (_, Some(Value::Array(prefix))) => (prefix, map.get("additionalItems")),
        _ => return plain_array(items, walk),
    };
    if prefix.is_empty() {
        return plain_array(rest, walk);
    }
    tuple(map, prefix, rest, walk)
}

fn plain_array<'a>(items: Option<&'a Value>, walk: &mut Walk<'a, '_>) -> Read<'a> {
    Ok(match items {
        Some(items) => Shape::Array(Box::new(walk.schema(items, None)?)).into(),
        None => Shape::Named("Array<any>").into(),
    })
}

/// A tuple. Where the schema does not mention further elements, the tuple has no others: that is what authors
/// of tuples mean, though JSON Schema would allow anything.
fn tuple<'a>(
    map: &'a Map<String, Value>,
    prefix: &'a [Value],
    rest: Option<&'a Value>,
    walk: &mut Walk<'a, '_>,
) -> Read<'a> {
    let elements = prefix.iter().map(|schema| walk.schema(schema, None));
    let elements = elements.collect::<Result<Vec<_>, _>>()?;
    let rest = rest.filter(|rest| **rest != Value::Bool(false));
    let rest = rest.map(|rest| walk.schema(rest, None).map(Box::new)).transpose()?;
    let required = map.get("minItems").and_then(Value::as_u64);
    let required = required.and_then(|count| usize::try_from(count).ok());
    let required = required.unwrap_or(elements.len()).min(elements.len());
    Ok(Shape::Tuple(Tuple { elements, required, rest }).into())
}
