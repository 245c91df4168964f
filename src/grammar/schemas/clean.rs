//! A schema as clients write it -> a clean one.

use serde_json::{Map, Number, Value};

use super::{Report, TYPES, disjoint, ecma, is_of_kind, names, target};
use crate::path::Path;

/// The keywords that say something.
const KEYWORDS: &str = "$defs $ref additionalItems additionalProperties allOf anyOf const definitions enum \
    exclusiveMaximum exclusiveMinimum format items maxItems maxLength maxProperties maximum minItems minLength \
    minProperties minimum multipleOf oneOf pattern patternProperties prefixItems properties propertyNames required type";

/// Those that no form of a grammar can enforce.
const UNHELD: &str = "$dynamicRef $recursiveRef contains dependencies dependentRequired dependentSchemas if not \
    unevaluatedItems unevaluatedProperties uniqueItems";

/// Keywords under which schemas apply to the same value, of which `unevaluatedProperties` would have to know.
const APPLIED: [&str; 5] = ["$ref", "allOf", "anyOf", "oneOf", "if"];

/// Those formats that llguidance enforces; to other writers no format says anything.
const FORMATS: [&str; 10] =
    ["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"];

/// The most patterns of names: each is compared with all names.
const MOST_PATTERNS: usize = 50;

pub(super) struct Cleaner<'c> {
    /// Where references lead.
    pub(super) root: &'c Value,
    pub(super) report: &'c mut Report,
    /// How many patterns of names were read.
    pub(super) patterns: usize,
}

/// A keyword and its value as the clean schema has them, if they say anything; or why they are not enforced.
type Cleaned = Result<Option<(&'static str, Value)>, String>;

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
            let mut keywords = KEYWORDS.split(' ').chain(UNHELD.split(' '));
            let Some(keyword) = keywords.find(|keyword| keyword == key) else { continue };
            match self.keyword(members, keyword, value, path) {
                Ok(Some((keyword, value))) => _ = clean.insert(keyword.to_owned(), value),
                Ok(None) => {}
                Err(reason) => self.report.loosen(path, keyword, reason),
            }
        }
        names::hold(&mut clean, members, path, self.report);
        Value::Object(clean)
    }

    fn keyword(
        &mut self,
        members: &Map<String, Value>,
        keyword: &'static str,
        value: &Value,
        path: &Path,
    ) -> Cleaned {
        let inner = path.clone().then(keyword);
        let held = |value: Value| Ok(Some((keyword, value)));
        let checked = |is_right: bool, reason: &str| {
            if is_right { Ok(Some((keyword, value.clone()))) } else { Err(reason.to_owned()) }
        };
        match keyword {
            "properties" | "$defs" | "definitions" => {
                let all = value.as_object().ok_or("not an object of schemas")?;
                let clean = all.iter().map(|(name, one)| {
                    (name.clone(), self.schema(one, &inner.clone().then(name.clone())))
                });
                held(clean.collect())
            }
            "patternProperties" => held(self.patterns(value, path, &inner)?),
            "items" if value.is_array() => self.tuple(value, &inner),
            "prefixItems" => self.tuple(value, &inner),
            "items" | "additionalProperties" | "propertyNames" => held(self.schema(value, &inner)),
            "additionalItems" => Ok(members
                .get("items")
                .filter(|items| items.is_array())
                .map(|_| ("items", self.schema(value, &inner)))),
            "anyOf" | "allOf" => held(self.list(value, &inner)?.into()),
            "oneOf" => {
                // `anyOf`, where no value fits two; two of them are enforced by `allOf`.
                let made = self.list(value, &inner)?;
                if let Some(reason) = disjoint::overlap(self.root, &made, self.report) {
                    self.report.loosen(path, "oneOf", reason);
                }
                held(made.into())
            }
            "type" => kinds(value).map(|kinds| Some((keyword, kinds))),
            "enum" => checked(value.is_array(), "not a list of values"),
            "const" => held(value.clone()),
            "pattern" => {
                ecma::whole(value.as_str().ok_or("not a text")?)?;
                held(value.clone())
            }
            "format" => Ok(value
                .as_str()
                .filter(|name| FORMATS.contains(name))
                .map(|name| (keyword, name.into()))),
            "required" => {
                let is_names = value.as_array().is_some_and(|all| all.iter().all(Value::is_string));
                checked(is_names, "not a list of names")
            }
            "$ref" => match value.as_str().and_then(|reference| target(self.root, reference)) {
                Some(Value::Object(_) | Value::Bool(_)) => held(value.clone()),
                Some(_) => Err(format!("{value} leads to something that is not a schema")),
                None => Err(format!("{value} leads to nothing in the schema")),
            },
            "minimum" => bound(members, keyword, "exclusiveMinimum", value),
            "maximum" => bound(members, keyword, "exclusiveMaximum", value),
            // The oldest drafts say with it how the other bound is meant.
            "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => Ok(None),
            "exclusiveMinimum" | "exclusiveMaximum" => bound(members, keyword, keyword, value),
            "multipleOf" => {
                let is_right = value.as_f64().is_some_and(|number| number > 0.0);
                checked(is_right, "not a number above zero")
            }
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
            | "maxProperties" => {
                let count = whole(value).ok_or("not a number of characters, items or members")?;
                held(count.into())
            }
            _ => self.unheld(members, keyword, value, path),
        }
    }

    /// An assertion that is not enforced, unless its value says nothing.
    fn unheld(
        &mut self,
        members: &Map<String, Value>,
        keyword: &'static str,
        value: &Value,
        path: &Path,
    ) -> Cleaned {
        let says_nothing = match keyword {
            "dependencies" | "dependentRequired" | "dependentSchemas" => {
                value.as_object().is_some_and(Map::is_empty)
            }
            "not" | "uniqueItems" => *value == Value::Bool(false),
            "unevaluatedItems" | "unevaluatedProperties" => *value == Value::Bool(true),
            _ => false,
        };
        if says_nothing {
            return Ok(None);
        }
        let is_alone = APPLIED.iter().all(|key| !members.contains_key(*key));
        if keyword != "unevaluatedProperties" || !is_alone {
            return Err("no grammar can enforce this keyword".to_owned());
        }
        // Nothing else evaluates members, so these are the additional ones.
        let is_new = !members.contains_key("additionalProperties");
        let path = path.clone().then(keyword);
        Ok(is_new.then(|| ("additionalProperties", self.schema(value, &path))))
    }

    fn patterns(&mut self, value: &Value, path: &Path, inner: &Path) -> Result<Value, String> {
        let mut clean = Map::new();
        for (pattern, schema) in value.as_object().ok_or("not an object of schemas")? {
            self.patterns += 1;
            let is_read = if self.patterns > MOST_PATTERNS {
                Err(format!("more than {MOST_PATTERNS} patterns of names"))
            } else {
                ecma::whole(pattern)
                    .map(|_| self.schema(schema, &inner.clone().then(pattern.clone())))
            };
            match is_read {
                Ok(schema) => _ = clean.insert(pattern.clone(), schema),
                Err(reason) => self.report.loosen(path, "patternProperties", reason),
            }
        }
        Ok(clean.into())
    }

    fn list(&mut self, value: &Value, inner: &Path) -> Result<Vec<Value>, String> {
        let all = value.as_array().filter(|all| !all.is_empty()).ok_or("not a list of schemas")?;
        let all = all.iter().enumerate();
        Ok(all.map(|(index, one)| self.schema(one, &inner.clone().then(index))).collect())
    }

    /// Items by their places, which older drafts write as `items`.
    fn tuple(&mut self, value: &Value, inner: &Path) -> Cleaned {
        if value.as_array().is_some_and(Vec::is_empty) {
            return Ok(None);
        }
        Ok(Some(("prefixItems", self.list(value, inner)?.into())))
    }
}

fn kinds(value: &Value) -> Result<Value, String> {
    let kinds = match value {
        Value::Array(kinds) => kinds.as_slice(),
        one => std::slice::from_ref(one),
    };
    let is_known = |kind: &Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    if kinds.is_empty() || !kinds.iter().all(is_known) {
        return Err("not one of JSON's types".to_owned());
    }
    // Each once.
    let known = TYPES.into_iter().filter(|name| kinds.iter().any(|kind| kind == name));
    Ok(if value.is_array() { known.collect() } else { value.clone() })
}

/// A bound of numbers, under the keyword that excludes it if `exclusive` is true.
fn bound(
    members: &Map<String, Value>,
    keyword: &'static str,
    exclusive: &'static str,
    value: &Value,
) -> Cleaned {
    let number = value.as_number().ok_or("not a number")?;
    let may_be_integer = members.get("type").is_none_or(|kind| is_of_kind(kind, "integer"));
    let is_beyond = |double: f64| !(-BEYOND / 2.0 < double && double < BEYOND);
    if number.is_f64() && may_be_integer && value.as_f64().is_none_or(is_beyond) {
        return Err("beyond 64 bits, so its last digits are lost".to_owned());
    }
    let is_exclusive = members.get(exclusive) == Some(&Value::Bool(true));
    Ok(Some((if is_exclusive { exclusive } else { keyword }, value.clone())))
}

/// 2^64: from it on, and below -2^63, an integer is read as the nearest double.
const BEYOND: f64 = 18_446_744_073_709_551_616.0;

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
