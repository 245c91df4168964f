//! A JSON Schema value -> a typed [`Schema`].
//!
//! A schema is a list of demands which all hold: its own `type`, `enum` or `const`, what `$ref`
//! and `allOf` name, one of `anyOf`, one of `oneOf`. Each is read for itself, and `combine` makes
//! one type of them. What TypeScript cannot say becomes a note.

mod array;
mod combine;
mod notes;
mod object;
mod reference;

use std::collections::HashSet;

use serde_json::{Map, Value};

use self::combine::combine;
use self::notes::{brief, read_notes};
use super::depth::MAX_DEPTH;
use super::schema::{INTEGER, Notes, Schema, Shape};

/// A schema whose references lead more than [`MAX_DEPTH`] levels down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooDeep;

type Result<T> = std::result::Result<T, TooDeep>;

/// Reads the schema `root`, which is also what `$ref` is resolved in.
///
/// Any JSON value is a schema here: what is none, or leads nowhere, is `any` with the reason as
/// a remark. Expects at most [`MAX_DEPTH`] levels of nesting in the value itself.
pub(super) fn read(root: &Value) -> Result<Schema<'_>> {
    Reader { root, followed: vec![root], budget: reference::BUDGET, depth: 0 }.schema(root, None)
}

struct Reader<'a> {
    root: &'a Value,
    /// The targets of the references that are being followed, outermost first.
    followed: Vec<&'a Value>,
    /// How much may still be copied by following references.
    budget: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    /// Reads any value as a schema. A variant that says nothing of its own type, as in
    /// `{"type": "string", "anyOf": [{"pattern": "^a"}, {"pattern": "^b"}]}`, has the
    /// `inherited` one.
    fn schema(&mut self, value: &'a Value, inherited: Option<&'a Value>) -> Result<Schema<'a>> {
        if self.depth == MAX_DEPTH {
            return Err(TooDeep);
        }
        self.depth += 1;
        let schema = match value {
            Value::Object(keywords) => self.keywords(keywords, inherited)?,
            Value::Bool(true) => Schema::any(),
            Value::Bool(false) => Shape::Named("never").into(),
            other => Schema::any_because(format!("any: {} is no schema", brief(other))),
        };
        self.depth -= 1;
        Ok(schema)
    }

    fn keywords(
        &mut self,
        map: &'a Map<String, Value>,
        inherited: Option<&'a Value>,
    ) -> Result<Schema<'a>> {
        let inherited = map.get("type").or(inherited);
        let mut demands = Vec::new();
        if let Some(reference) = map.get("$ref") {
            demands.push(self.reference(reference)?);
        }
        if let Some(members) = map.get("allOf") {
            demands.extend(self.list("allOf", members, None)?);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(variants) = map.get(keyword) {
                demands.push(one_of(self.list(keyword, variants, inherited)?));
            }
        }
        let own = self.own_type(map, inherited.filter(|_| demands.is_empty()))?;
        let mut schema = combine(own, demands);
        let mut notes = read_notes(map);
        notes.absorb(std::mem::take(&mut schema.notes));
        if matches!(&schema.shape, Shape::Tuple(tuple) if tuple.rest.is_none()) {
            notes.limits.retain(|limit| !limit.counts_items());
        }
        if map.get("nullable") == Some(&Value::Bool(true)) {
            schema = or_null(schema);
        }
        Ok(Schema { shape: schema.shape, notes })
    }

    /// The schemas that `keyword` lists.
    fn list(
        &mut self,
        keyword: &str,
        schemas: &'a Value,
        inherited: Option<&'a Value>,
    ) -> Result<Vec<Schema<'a>>> {
        let Some(schemas) = schemas.as_array() else {
            let remark = format!("{keyword} is no list: {}", brief(schemas));
            return Ok(vec![Schema::any_because(remark)]);
        };
        schemas.iter().map(|schema| self.schema(schema, inherited)).collect()
    }

    /// What a schema says of its type without naming other schemas.
    fn own_type(
        &mut self,
        map: &'a Map<String, Value>,
        inherited: Option<&'a Value>,
    ) -> Result<Option<Schema<'a>>> {
        if map.get("not").is_some_and(allows_everything) {
            return Ok(Some(Shape::Named("never").into()));
        }
        if let Some(value) = map.get("const") {
            return Ok(Some(Shape::Literal(value).into()));
        }
        if let Some(values) = map.get("enum").and_then(Value::as_array) {
            return Ok(Some(Schema::union(
                values.iter().map(|value| Shape::Literal(value).into()),
            )));
        }
        let schema = match map.get("type") {
            Some(name) => self.types(name, map)?,
            None if object::has_keywords(map) => self.object(map)?,
            None if array::has_keywords(map) => self.array(map)?,
            None => return inherited.map(|name| self.types(name, map)).transpose(),
        };
        Ok(Some(schema))
    }

    /// The type that `type` names, or the union of those that it lists.
    fn types(&mut self, names: &'a Value, map: &'a Map<String, Value>) -> Result<Schema<'a>> {
        let Some(names) = names.as_array() else { return self.type_named(names, map) };
        let mut notes = Notes::default();
        let mut variants = Vec::new();
        let mut seen = HashSet::new();
        for name in names {
            // Once each: `["object", "object"]` would read the properties twice, and theirs four
            // times.
            if name.as_str().is_some_and(|name| !seen.insert(name)) {
                continue;
            }
            let mut variant = self.type_named(name, map)?;
            notes.absorb(std::mem::take(&mut variant.notes));
            variants.push(variant);
        }
        if variants.is_empty() {
            return Ok(Schema::any_because("any: type is an empty list".to_owned()));
        }
        Ok(Schema { shape: Schema::union(variants).shape, notes })
    }

    fn type_named(&mut self, name: &'a Value, map: &'a Map<String, Value>) -> Result<Schema<'a>> {
        let named = match name.as_str() {
            Some("object") => return self.object(map),
            Some("array") => return self.array(map),
            Some("string") => "string",
            Some("number" | INTEGER) => "number",
            Some("boolean") => "boolean",
            Some("null") => "null",
            Some("any") => "any",
            _ => return Ok(Schema::any_because(format!("any: type {} is unknown", brief(name)))),
        };
        Ok(Shape::Named(named).into())
    }
}

/// One of `variants`. What is said of the only one besides `null` is said of the whole.
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
