//! `type: array`: lists of one type, and tuples.

use serde_json::{Map, Value};

use super::super::schema::{Schema, Shape, Tuple};
use super::{Reader, Result};

const KEYWORDS: [&str; 2] = ["items", "prefixItems"];

/// Whether a schema without `type` speaks of an array.
pub(super) fn has_keywords(map: &Map<String, Value>) -> bool {
    KEYWORDS.iter().any(|keyword| map.contains_key(*keyword))
}

impl<'a> Reader<'a> {
    pub(super) fn array(&mut self, map: &'a Map<String, Value>) -> Result<Schema<'a>> {
        let items = map.get("items");
        // A list of schemas is a tuple: in `prefixItems` since the draft of 2020, before in
        // `items`, where `additionalItems` had today's meaning of `items`.
        let (prefix, rest) = match (map.get("prefixItems"), items) {
            (Some(Value::Array(prefix)), _) => (prefix, items),
            (_, Some(Value::Array(prefix))) => (prefix, map.get("additionalItems")),
            _ => return self.plain_array(items),
        };
        if prefix.is_empty() {
            return self.plain_array(rest);
        }
        self.tuple(map, prefix, rest)
    }

    fn plain_array(&mut self, items: Option<&'a Value>) -> Result<Schema<'a>> {
        let Some(items) = items else { return Ok(Shape::Named("Array<any>").into()) };
        Ok(Shape::Array(Box::new(self.schema(items, None)?)).into())
    }

    /// A tuple. Where nothing is said of further elements, there are none: that is what those who
    /// write tuples mean, though JSON Schema would allow anything.
    fn tuple(
        &mut self,
        map: &'a Map<String, Value>,
        prefix: &'a [Value],
        rest: Option<&'a Value>,
    ) -> Result<Schema<'a>> {
        let elements =
            prefix.iter().map(|schema| self.schema(schema, None)).collect::<Result<Vec<_>>>()?;
        let rest = rest.filter(|rest| **rest != Value::Bool(false));
        let rest = rest.map(|rest| self.schema(rest, None)).transpose()?.map(Box::new);
        let required = map.get("minItems").and_then(Value::as_u64);
        let required = required.and_then(|count| usize::try_from(count).ok());
        let required = required.unwrap_or(elements.len()).min(elements.len());
        Ok(Shape::Tuple(Tuple { elements, required, rest }).into())
    }
}
