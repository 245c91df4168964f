//! A schema as clients write it -> a clean one.

use serde_json::{Map, Number, Value, json};

use super::{Report, disjoint, ecma, names, target};
use crate::path::Path;

/// Assertions that no form of a grammar can enforce, each with a value that says nothing.
const UNHELD: [(&str, Nothing); 11] = [
    ("$dynamicRef", Nothing::Never),
    ("$recursiveRef", Nothing::Never),
    ("contains", Nothing::Never),
    ("dependencies", Nothing::Empty),
    ("dependentRequired", Nothing::Empty),
    ("dependentSchemas", Nothing::Empty),
    ("if", Nothing::Never),
    ("not", Nothing::Is(false)),
    ("unevaluatedItems", Nothing::Is(true)),
    ("unevaluatedProperties", Nothing::Is(true)),
    ("uniqueItems", Nothing::Is(false)),
];

/// The value with which a keyword says nothing.
#[derive(Clone, Copy)]
enum Nothing {
    Never,
    Empty,
    Is(bool),
}

const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// Keywords under which schemas apply to the same value, of which `unevaluatedProperties` would have to know.
const APPLIED: [&str; 5] = ["$ref", "allOf", "anyOf", "oneOf", "if"];

/// Those formats that llguidance enforces; to other writers no format says anything.
const FORMATS: [&str; 10] =
    ["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"];

pub(super) struct Cleaner<'c> {
    /// Where references lead.
    pub(super) root: &'c Value,
    pub(super) report: &'c mut Report,
}

impl Cleaner<'_> {
    pub(super) fn schema(&mut self, schema: &Value, path: &Path) -> Value {
        let members = match schema {
            Value::Object(members) => members,
            Value::Bool(_) => return schema.clone(),
            _ => {
                self.report.loosen(path, "type", "a schema is an object, or true or false");
                return Value::Bool(true);
            }
        };
        let mut clean = Map::new();
        for (key, value) in members {
            self.keyword(&mut clean, members, (key, value), path);
        }
        names::hold(&mut clean, members, path, self.report);
        Value::Object(clean)
    }

    fn keyword(
        &mut self,
        clean: &mut Map<String, Value>,
        members: &Map<String, Value>,
        (key, value): (&str, &Value),
        path: &Path,
    ) {
        if let Some(&(keyword, nothing)) = UNHELD.iter().find(|(keyword, _)| *keyword == key) {
            return self.unheld(clean, members, (keyword, nothing, value), path);
        }
        let made = match key {
            "properties" | "$defs" | "definitions" => self.named(value, path, key),
            "patternProperties" => self.patterns(value, path),
            "items" if value.is_array() => return self.tuple(clean, value, "items", path),
            "prefixItems" => return self.tuple(clean, value, "prefixItems", path),
            "items" | "additionalProperties" | "propertyNames" => {
                Some(self.schema(value, &path.clone().then(key)))
            }
            "additionalItems" if members.get("items").is_some_and(Value::is_array) => {
                let rest = self.schema(value, &path.clone().then(key));
                clean.insert("items".to_owned(), rest);
                return;
            }
            "anyOf" | "allOf" => {
                self.list(value, path, if key == "anyOf" { "anyOf" } else { "allOf" })
            }
            "oneOf" => return self.one_of(clean, value, path),
            "type" => self.kinds(value, path),
            "enum" => self.checked(value, value.is_array(), "enum", "not a list of values", path),
            "const" => Some(value.clone()),
            "pattern" => self.pattern(value, path),
            "format" => value.as_str().filter(|name| FORMATS.contains(name)).map(Value::from),
            "required" => {
                let is_names = value.as_array().is_some_and(|all| all.iter().all(Value::is_string));
                self.checked(value, is_names, "required", "not a list of names", path)
            }
            "$ref" => self.reference(value, path),
            _ => return self.number(clean, members, (key, value), path),
        };
        if let Some(made) = made {
            clean.insert(key.to_owned(), made);
        }
    }

    /// An assertion that is not enforced, unless its value says nothing.
    fn unheld(
        &mut self,
        clean: &mut Map<String, Value>,
        members: &Map<String, Value>,
        (keyword, nothing, value): (&'static str, Nothing, &Value),
        path: &Path,
    ) {
        let is_alone = APPLIED.iter().all(|key| !members.contains_key(*key));
        let says_nothing = match nothing {
            Nothing::Never => false,
            Nothing::Empty => value.as_object().is_some_and(Map::is_empty),
            Nothing::Is(flag) => value.as_bool() == Some(flag),
        };
        if says_nothing {
            return;
        }
        if keyword == "unevaluatedProperties" && is_alone {
            // Nothing else evaluates members, so these are the additional ones.
            if !members.contains_key("additionalProperties") {
                let rest = self.schema(value, &path.clone().then(keyword));
                clean.insert("additionalProperties".to_owned(), rest);
            }
            return;
        }
        self.report.loosen(path, keyword, "no grammar can enforce this keyword");
    }

    fn named(&mut self, value: &Value, path: &Path, key: &str) -> Option<Value> {
        let keyword = match key {
            "properties" => "properties",
            "$defs" => "$defs",
            _ => "definitions",
        };
        let Value::Object(all) = value else {
            self.report.loosen(path, keyword, "not an object of schemas");
            return None;
        };
        let path = path.clone().then(keyword);
        let clean = |(name, schema): (&String, &Value)| {
            (name.clone(), self.schema(schema, &path.clone().then(name.clone())))
        };
        Some(all.iter().map(clean).collect())
    }

    fn patterns(&mut self, value: &Value, path: &Path) -> Option<Value> {
        let Value::Object(all) = value else {
            self.report.loosen(path, "patternProperties", "not an object of schemas");
            return None;
        };
        let mut clean = Map::new();
        for (pattern, schema) in all {
            match ecma::whole(pattern) {
                Ok(_) => {
                    let inner = path.clone().then("patternProperties").then(pattern.clone());
                    clean.insert(pattern.clone(), self.schema(schema, &inner));
                }
                Err(reason) => self.report.loosen(path, "patternProperties", reason),
            }
        }
        Some(Value::Object(clean))
    }

    fn list(&mut self, value: &Value, path: &Path, keyword: &'static str) -> Option<Value> {
        let Some(all) = value.as_array().filter(|all| !all.is_empty()) else {
            self.report.loosen(path, keyword, "not a list of schemas");
            return None;
        };
        let path = path.clone().then(keyword);
        let clean = all.iter().enumerate();
        Some(clean.map(|(index, one)| self.schema(one, &path.clone().then(index))).collect())
    }

    /// Items by their places, which older drafts write as `items`.
    fn tuple(
        &mut self,
        clean: &mut Map<String, Value>,
        value: &Value,
        keyword: &'static str,
        path: &Path,
    ) {
        if value.as_array().is_some_and(Vec::is_empty) {
            return;
        }
        if let Some(made) = self.list(value, path, keyword) {
            clean.insert("prefixItems".to_owned(), made);
        }
    }

    /// `anyOf`, where no value fits two; two of them are enforced by `allOf`.
    fn one_of(&mut self, clean: &mut Map<String, Value>, value: &Value, path: &Path) {
        let Some(made) = self.list(value, path, "oneOf") else { return };
        let all = made.as_array().map(Vec::as_slice).unwrap_or_default();
        if let Some(reason) = disjoint::overlap(self.root, all) {
            self.report.loosen(path, "oneOf", reason);
        }
        clean.insert("oneOf".to_owned(), made);
    }

    fn kinds(&mut self, value: &Value, path: &Path) -> Option<Value> {
        let kinds = match value {
            Value::Array(kinds) => kinds.as_slice(),
            one => std::slice::from_ref(one),
        };
        let is_known = |kind: &&Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
        let known: Vec<Value> = kinds.iter().filter(is_known).cloned().collect();
        if known.len() < kinds.len() || known.is_empty() {
            self.report.loosen(path, "type", "not one of JSON's types");
            return None;
        }
        Some(if value.is_array() { Value::Array(known) } else { value.clone() })
    }

    fn checked(
        &mut self,
        value: &Value,
        is_right: bool,
        keyword: &'static str,
        reason: &str,
        path: &Path,
    ) -> Option<Value> {
        if !is_right {
            self.report.loosen(path, keyword, reason);
        }
        is_right.then(|| value.clone())
    }

    fn pattern(&mut self, value: &Value, path: &Path) -> Option<Value> {
        let read = value.as_str().ok_or_else(|| "not a text".to_owned()).and_then(ecma::whole);
        match read {
            Ok(_) => Some(value.clone()),
            Err(reason) => {
                self.report.loosen(path, "pattern", reason);
                None
            }
        }
    }

    fn reference(&mut self, value: &Value, path: &Path) -> Option<Value> {
        let found = value.as_str().and_then(|reference| target(self.root, reference));
        match found {
            Some(Value::Object(_) | Value::Bool(_)) => Some(value.clone()),
            Some(_) => self.lost(path, format!("{value} leads to something that is not a schema")),
            None => self.lost(path, format!("{value} leads to nothing in the schema")),
        }
    }

    fn lost(&mut self, path: &Path, reason: String) -> Option<Value> {
        self.report.loosen(path, "$ref", reason);
        None
    }

    /// Bounds and counts; what no keyword is says nothing.
    fn number(
        &mut self,
        clean: &mut Map<String, Value>,
        members: &Map<String, Value>,
        (key, value): (&str, &Value),
        path: &Path,
    ) {
        const BOUNDS: [(&str, &str); 4] = [
            ("minimum", "exclusiveMinimum"),
            ("maximum", "exclusiveMaximum"),
            ("exclusiveMinimum", ""),
            ("exclusiveMaximum", ""),
        ];
        const COUNTS: [&str; 6] =
            ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
        if let Some(&(bound, exclusive)) = BOUNDS.iter().find(|(bound, _)| *bound == key) {
            match value {
                // The oldest drafts say with it how the other bound is meant.
                Value::Bool(_) if exclusive.is_empty() => {}
                Value::Number(_) => {
                    let is_exclusive = members.get(exclusive) == Some(&json!(true));
                    let name = if is_exclusive { exclusive } else { bound };
                    clean.insert(name.to_owned(), value.clone());
                }
                _ => self.report.loosen(path, bound, "not a number"),
            }
        } else if let Some(keyword) = COUNTS.iter().find(|count| **count == key) {
            match whole(value) {
                Some(count) => _ = clean.insert(key.to_owned(), count.into()),
                None => self.report.loosen(
                    path,
                    keyword,
                    "not a number of characters, items or members",
                ),
            }
        } else if key == "multipleOf" {
            if value.as_f64().is_some_and(|number| number > 0.0) {
                clean.insert(key.to_owned(), value.clone());
            } else {
                self.report.loosen(path, "multipleOf", "not a number above zero");
            }
        }
    }
}

/// A count, which may be written `3.0`; larger ones than a machine counts are the largest.
fn whole(value: &Value) -> Option<Number> {
    if let Some(count) = value.as_u64() {
        return Some(count.into());
    }
    let number = value.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole; a cast saturates"
    )]
    Some((number as u64).into())
}
