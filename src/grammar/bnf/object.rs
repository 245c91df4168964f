//! Objects: the members that a schema names, in its order, and then others.

use serde_json::{Map, Value};

use super::keys;
use super::literals::json_literal;
use super::schema::{SchemaWriter, required};
use crate::error::Result;
use crate::grammar::invalid;
use crate::path::Path;

impl SchemaWriter<'_> {
    /// Adds the rules of an object's members, one or two for each, and gives what stands for the object.
    pub(super) fn object(&mut self, members: &Map<String, Value>, path: &Path) -> Result<String> {
        let none = Map::new();
        let named = members.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let schema = Value::Object(members.clone());
        let needed: Vec<&str> = required(&schema).collect();
        let additional = members.get("additionalProperties");
        if named.is_empty() && needed.is_empty() && additional.is_none_or(|value| *value == true) {
            return Ok(self.rules.json("object").to_owned());
        }
        self.rules.json("blanks");
        let others = match additional {
            Some(Value::Bool(false)) => None,
            Some(schema) => Some(self.value(schema, &path.clone().then("additionalProperties"))?),
            // Keys that are none of some names cost an engine seconds, and who names members means them.
            None if !named.is_empty() => None,
            None => Some(self.rules.json("value").to_owned()),
        };
        // What stands for each member, and whether it has to be there.
        let mut pairs: Vec<(String, bool)> = Vec::new();
        for (name, schema) in named {
            let is_needed = needed.contains(&name.as_str());
            if *schema == Value::Bool(false) && !is_needed {
                continue;
            }
            let inner = path.clone().then("properties").then(name.clone());
            pairs.push((pair(name, &self.value(schema, &inner)?), is_needed));
        }
        for name in needed.iter().filter(|name| !named.contains_key(**name)) {
            let Some(value) = &others else {
                let reason = format!("{name:?} is required, and not among the properties");
                return Err(invalid(path.clone().then("required"), reason));
            };
            pairs.push((pair(name, value), true));
        }
        let other = others.map(|value| {
            let needed = needed.iter().map(|name| (*name).to_owned());
            let all: Vec<String> = named.keys().cloned().chain(needed).collect();
            let key = keys::write(self.rules, &all);
            format!("\"\\\"\" {key} blanks \":\" blanks {value} blanks")
        });
        let body = self.chain(&pairs, other);
        Ok(format!("\"{{\" blanks {body} \"}}\""))
    }

    /// From the last member to the first: what may follow where one has been written, and where none has.
    fn chain(&mut self, pairs: &[(String, bool)], other: Option<String>) -> String {
        let (mut first, mut behind) = match other {
            Some(other) => {
                let name = self.rules.name();
                self.rules.add(&name, &other);
                let more = format!("(\",\" blanks {name})*");
                (format!("({name} {more})?"), more)
            }
            None => ("\"\"".to_owned(), "\"\"".to_owned()),
        };
        for (index, (pair, is_needed)) in pairs.iter().enumerate().rev() {
            let rest = self.rules.made(&behind);
            let is_first_possible = pairs[..index].iter().all(|(_, is_needed)| !is_needed);
            if is_first_possible {
                let skipped = if *is_needed { String::new() } else { format!(" | {first}") };
                let written = format!("{pair} {rest}{skipped}");
                first = if index == 0 { format!("({written})") } else { self.rules.made(&written) };
            }
            let skipped = if *is_needed { String::new() } else { format!(" | {rest}") };
            behind = format!("\",\" blanks {pair} {rest}{skipped}");
        }
        first
    }
}

fn pair(name: &str, value: &str) -> String {
    format!("{} blanks \":\" blanks {value} blanks", json_literal(&Value::from(name)))
}
