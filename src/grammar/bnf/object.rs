//! Objects: the members that a schema names, in its order, and then others.

use serde_json::{Map, Value};

use super::keys;
use super::literals::json_literal;
use super::rules::Values;
use crate::error::Result;
use crate::grammar::invalid;
use crate::path::Path;

/// Adds the rules of an object's members, one or two for each, and gives what stands for the object.
pub(super) fn write(
    values: &mut impl Values,
    members: &Map<String, Value>,
    path: &Path,
) -> Result<String> {
    let none = Map::new();
    let named = members.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let schema = Value::Object(members.clone());
    let needed: Vec<&str> = required(&schema).collect();
    let additional = members.get("additionalProperties");
    if named.is_empty() && needed.is_empty() && additional.is_none_or(|value| *value == true) {
        return Ok(values.rules().json("object").to_owned());
    }
    values.rules().json("blanks");
    let others = match additional {
        Some(Value::Bool(false)) => None,
        Some(schema) => Some(values.value(schema, &path.clone().then("additionalProperties"))?),
        // Keys that are none of some names cost an engine seconds, and who names members means them.
        None if !named.is_empty() => None,
        None => Some(values.rules().json("value").to_owned()),
    };
    // What stands for each member, and whether it has to be there.
    let mut pairs: Vec<(String, bool)> = Vec::new();
    for (name, schema) in named {
        let is_needed = needed.contains(&name.as_str());
        if *schema == Value::Bool(false) && !is_needed {
            continue;
        }
        let inner = path.clone().then("properties").then(name.clone());
        pairs.push((pair(name, &values.value(schema, &inner)?), is_needed));
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
        let key = keys::write(values.rules(), &all);
        format!("\"\\\"\" {key} blanks \":\" blanks {value} blanks")
    });
    let body = chain(values, &pairs, other);
    Ok(format!("\"{{\" blanks {body} \"}}\""))
}

fn pair(name: &str, value: &str) -> String {
    format!("{} blanks \":\" blanks {value} blanks", json_literal(&Value::from(name)))
}

/// From the last member to the first: what may follow where one has been written, and where none has.
fn chain(values: &mut impl Values, pairs: &[(String, bool)], other: Option<String>) -> String {
    let (mut first, mut behind) = match other {
        Some(other) => {
            let name = values.rules().name();
            values.rules().add(&name, &other);
            let more = format!("(\",\" blanks {name})*");
            (format!("({name} {more})?"), more)
        }
        None => ("\"\"".to_owned(), "\"\"".to_owned()),
    };
    for (index, (pair, is_needed)) in pairs.iter().enumerate().rev() {
        let rest = rule(values, &behind);
        let is_first_possible = pairs[..index].iter().all(|(_, is_needed)| !is_needed);
        if is_first_possible {
            let skipped = if *is_needed { String::new() } else { format!(" | {first}") };
            let written = format!("{pair} {rest}{skipped}");
            first = if index == 0 { format!("({written})") } else { rule(values, &written) };
        }
        let skipped = if *is_needed { String::new() } else { format!(" | {rest}") };
        behind = format!("\",\" blanks {pair} {rest}{skipped}");
    }
    first
}

fn rule(values: &mut impl Values, is: &str) -> String {
    let name = values.rules().name();
    values.rules().add(&name, is);
    name
}

/// The names of the members that have to be there.
pub(super) fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
