//! A JSON schema -> rules: what a grammar can hold of it; the rest is an error with keyword and path.
//!
//! Members stand in the order in which the schema has them, and then others where it has `additionalProperties`; a
//! schema that names some and does not have it admits these alone. `format` is no assertion in JSON Schema, and none here.

use serde_json::{Map, Value};

use super::integers;
use super::literals::literals;
use super::rules::{BnfRules, count};
use crate::error::{Reason, Result};
use crate::grammar::invalid;
use crate::grammar::schemas::{of_object, without_words};
use crate::path::Path;

/// Assertions that no rule can hold.
const UNSUPPORTED: [&str; 21] = [
    "$dynamicRef",
    "$recursiveRef",
    "additionalItems",
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "maxContains",
    "maxProperties",
    "minContains",
    "minProperties",
    "multipleOf",
    "not",
    "pattern",
    "patternProperties",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Assertions that rules can hold, some only alone.
const SUPPORTED: [&str; 21] = [
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "oneOf",
    "prefixItems",
    "properties",
    "required",
    "type",
    "uniqueItems",
];

const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// Adds the rules of a schema, and gives what stands for its values.
///
/// # Errors
///
/// What no rule can hold: the keyword and its path.
pub(super) fn write(
    rules: &mut BnfRules,
    schema: &Value,
    path: &Path,
    is_object: bool,
) -> Result<String> {
    let root = if is_object { of_object(schema) } else { without_words(schema) };
    rules.roots += 1;
    SchemaWriter { rules, root: &root }.value(&root, path)
}

/// Writes the rules of one schema.
pub(super) struct SchemaWriter<'w> {
    pub(super) rules: &'w mut BnfRules,
    /// Where references lead.
    root: &'w Value,
}

impl SchemaWriter<'_> {
    /// The name of the rule of a schema's values.
    pub(super) fn value(&mut self, schema: &Value, path: &Path) -> Result<String> {
        let members = match schema {
            Value::Object(members) => members,
            Value::Bool(false) => return Err(invalid(path.clone(), "admits no value")),
            _ => return Ok(self.rules.json("value").to_owned()),
        };
        refuse_unsupported(members, path)?;
        if let Some(reference) = members.get("$ref") {
            alone(members, &["$ref"], path)?;
            return self.reference(reference, path);
        }
        let text = schema.to_string();
        let key =
            if text.contains("\"$ref\"") { format!("{}:{text}", self.rules.roots) } else { text };
        if let Some(name) = self.rules.of_schemas.get(&key) {
            return Ok(name.clone());
        }
        let is = self.alternatives(members, path)?;
        let name = self.rules.made(&is);
        self.rules.of_schemas.insert(key, name.clone());
        Ok(name)
    }

    fn reference(&mut self, reference: &Value, path: &Path) -> Result<String> {
        let pointer = reference.as_str().and_then(|text| text.strip_prefix('#'));
        let found = pointer.and_then(|pointer| self.root.pointer(pointer));
        let (Some(pointer), Some(found)) = (pointer, found) else {
            let reason = format!("no grammar can follow {reference} out of the schema");
            return Err(invalid(path.clone().then("$ref"), reason));
        };
        let key = format!("{}#{pointer}", self.rules.roots);
        if let Some(name) = self.rules.of_schemas.get(&key) {
            return Ok(name.clone());
        }
        // Before its rule is written: it may lead to itself.
        let name = self.rules.name();
        self.rules.of_schemas.insert(key, name.clone());
        let found = found.clone();
        if found.get("$ref").is_some() {
            // A circle of references alone would be a rule without an end.
            let reason = "leads to another reference";
            return Err(invalid(path.clone().then("$ref"), reason));
        }
        let is = self.value(&found, &path.clone().then("$ref"))?;
        self.rules.add(&name, is);
        Ok(name)
    }

    fn alternatives(&mut self, members: &Map<String, Value>, path: &Path) -> Result<String> {
        for key in ["const", "enum"] {
            if let Some(value) = members.get(key) {
                alone(members, &[key, "type"], path)?;
                return literals(value, key, members.get("type"), path);
            }
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            if let Some(value) = members.get(key) {
                alone(members, &[key], path)?;
                return self.options(value, key, path);
            }
        }
        let types: Vec<&str> = match members.get("type") {
            None if members.keys().all(|key| !SUPPORTED.contains(&key.as_str())) => {
                return Ok(self.rules.json("value").to_owned());
            }
            None => TYPES.iter().copied().filter(|kind| *kind != "integer").collect(),
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(some)) => some.iter().filter_map(Value::as_str).collect(),
            Some(_) => Vec::new(),
        };
        if types.is_empty() || types.iter().any(|kind| !TYPES.contains(kind)) {
            return Err(invalid(path.clone().then("type"), Reason::is("none of JSON's types")));
        }
        let is_number = types.contains(&"number");
        let types = types.iter().filter(|kind| !is_number || **kind != "integer");
        let written: Result<Vec<String>> =
            types.map(|kind| self.of_type(kind, members, path)).collect();
        Ok(written?.join(" | "))
    }

    fn of_type(&mut self, kind: &str, members: &Map<String, Value>, path: &Path) -> Result<String> {
        match kind {
            "object" => self.object(members, path),
            "array" => self.array(members, path),
            "string" => self.string(members, path),
            "integer" => match integers::bounds(members, path)? {
                (None, None) => Ok(self.rules.json("integer").to_owned()),
                (least, most) => Ok(integers::between(least, most)),
            },
            "number" => {
                for key in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] {
                    if members.contains_key(key) {
                        let reason = "no grammar holds the bounds of numbers, only of integers";
                        return Err(invalid(path.clone().then(key), reason));
                    }
                }
                Ok(self.rules.json("number").to_owned())
            }
            "boolean" => Ok(r#""true" | "false""#.to_owned()),
            _ => Ok(r#""null""#.to_owned()),
        }
    }

    fn string(&mut self, members: &Map<String, Value>, path: &Path) -> Result<String> {
        let least = count(members, "minLength", path)?.unwrap_or(0);
        let most = count(members, "maxLength", path)?;
        if least == 0 && most.is_none() {
            return Ok(self.rules.json("string").to_owned());
        }
        self.rules.bounded(least, "minLength", path)?;
        self.rules.bounded(most.unwrap_or(0), "maxLength", path)?;
        let char = self.rules.json("char");
        Ok(match most {
            Some(most) if most < least => {
                return Err(invalid(
                    path.clone().then("maxLength"),
                    Reason::is("less than minLength"),
                ));
            }
            Some(most) => format!("\"\\\"\" {char}{{{least},{most}}} \"\\\"\""),
            None => {
                self.rules.json("string");
                format!("\"\\\"\" {char}{{{least},{least}}} chars")
            }
        })
    }

    fn options(&mut self, value: &Value, key: &'static str, path: &Path) -> Result<String> {
        let path = path.clone().then(key);
        let all = value.as_array().map(Vec::as_slice).unwrap_or_default();
        if all.is_empty() {
            return Err(invalid(path, Reason::is("not a list of schemas")));
        }
        if key == "allOf" && all.len() > 1 {
            return Err(invalid(path, "no grammar holds several schemas at once"));
        }
        if key == "oneOf" {
            if all.len() > MOST_COMPARED {
                let reason = format!("more than {MOST_COMPARED} are not compared; is it anyOf?");
                return Err(invalid(path, reason));
            }
            self.refuse_overlap(all, &path)?;
        }
        let written = all.iter().enumerate();
        let written = written.map(|(index, one)| self.value(one, &path.clone().then(index)));
        Ok(written.collect::<Result<Vec<_>>>()?.join(" | "))
    }

    /// `oneOf` is any of them only where no value fits two.
    fn refuse_overlap(&self, all: &[Value], path: &Path) -> Result<()> {
        for (index, one) in all.iter().enumerate() {
            if all[..index].iter().any(|other| !self.are_disjoint(one, other)) {
                let reason = "a value may fit this and an earlier one, which no grammar can refuse; \
                              is it anyOf?";
                return Err(invalid(path.clone().then(index), reason));
            }
        }
        Ok(())
    }

    fn are_disjoint<'s>(&'s self, one: &'s Value, other: &'s Value) -> bool {
        let (one, other) = (self.resolved(one), self.resolved(other));
        if let (Some(some), Some(others)) = (values(one), values(other)) {
            return share_none(some, others);
        }
        match [one, other].map(|schema| schema.get("type").and_then(Value::as_str)) {
            [Some("object"), Some("object")] => {
                // A member that both need, with values of its own in each.
                let mut both = required(one).filter(|name| required(other).any(|of| of == *name));
                both.any(|name| {
                    let of = |schema: &'s Value| values(schema.get("properties")?.get(name)?);
                    of(one).zip(of(other)).is_some_and(|(some, others)| share_none(some, others))
                })
            }
            [Some("number" | "integer"), Some("number" | "integer")] => false,
            [Some(kind), Some(other)] => kind != other,
            _ => false,
        }
    }

    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let pointer = schema.get("$ref").and_then(Value::as_str);
        let pointer = pointer.and_then(|text| text.strip_prefix('#'));
        pointer.and_then(|pointer| self.root.pointer(pointer)).unwrap_or(schema)
    }
}

/// The most schemas of a `oneOf`: each is compared with all others.
const MOST_COMPARED: usize = 300;

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
pub(super) fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn refuse_unsupported(members: &Map<String, Value>, path: &Path) -> Result<()> {
    let is_unique = |key: &str, value: &Value| key == "uniqueItems" && *value == Value::Bool(true);
    let found = members
        .iter()
        .find(|(key, value)| UNSUPPORTED.contains(&key.as_str()) || is_unique(key, value));
    match found {
        Some((key, _)) => Err(invalid(
            path.clone().then(key.clone()),
            "no grammar of this form holds this keyword",
        )),
        None => Ok(()),
    }
}

/// Refuses other assertions beside these.
fn alone(members: &Map<String, Value>, with: &[&str], path: &Path) -> Result<()> {
    let beside = members.keys().find(|key| {
        SUPPORTED.contains(&key.as_str()) && !with.contains(&key.as_str()) && *key != "uniqueItems"
    });
    match beside {
        Some(key) => {
            let reason = format!("no grammar holds this keyword beside {}", with[0]);
            Err(invalid(path.clone().then(key.clone()), reason))
        }
        None => Ok(()),
    }
}
