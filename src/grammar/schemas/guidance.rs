//! What llguidance does not hold of a clean schema.

use serde_json::{Map, Value};

use super::{Report, names, target};
use crate::path::Path;

/// A clean schema without it.
pub(in crate::grammar) fn limited(schema: &Value, path: &Path, report: &mut Report) -> Value {
    Limits { root: schema, report }.schema(schema, path)
}

struct Limits<'l> {
    root: &'l Value,
    report: &'l mut Report,
}

impl Limits<'_> {
    fn schema(&mut self, schema: &Value, path: &Path) -> Value {
        let Value::Object(members) = schema else { return schema.clone() };
        let mut limited = Map::new();
        for (key, value) in members {
            let inner = path.clone().then(key.clone());
            let value = match (key.as_str(), value) {
                ("$ref", Value::String(to)) if target(self.root, to).is_none() => {
                    self.report.loosen(path, "$ref", "leads to what no grammar can enforce");
                    continue;
                }
                ("patternProperties", Value::Object(named)) => {
                    let named = self.apart(named, path);
                    self.named(&named, &inner)
                }
                ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                    self.named(named, &inner)
                }
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(all)) => {
                    let all = all.iter().enumerate();
                    all.map(|(index, one)| self.schema(one, &inner.clone().then(index))).collect()
                }
                ("items" | "additionalProperties", _) => self.schema(value, &inner),
                _ => value.clone(),
            };
            limited.insert(key.clone(), value);
        }
        Value::Object(limited)
    }

    fn named(&mut self, named: &Map<String, Value>, path: &Path) -> Value {
        let schema = |(name, one): (&String, &Value)| {
            (name.clone(), self.schema(one, &path.clone().then(name.clone())))
        };
        named.iter().map(schema).collect()
    }

    /// Patterns of names of which none fits two.
    fn apart(&mut self, named: &Map<String, Value>, path: &Path) -> Map<String, Value> {
        let overlapping = names::overlapping(named);
        if !overlapping.is_empty() {
            let reason = "llguidance cannot tell its names from those of another pattern";
            self.report.loosen(path, "patternProperties", reason);
        }
        let mut named = named.clone();
        named.retain(|pattern, _| !overlapping.contains(pattern));
        named
    }
}
