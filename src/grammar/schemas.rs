//! Schemas as every writer takes them.

use serde_json::{Map, Value};

/// The schema of arguments, which are an object whatever it leaves open, without what only describes.
pub(super) fn of_object(schema: &Value) -> Value {
    let mut schema = match without_words(schema) {
        Value::Object(members) => members,
        Value::Bool(false) => return Value::Bool(false),
        _ => Map::new(),
    };
    if !["type", "$ref", "anyOf", "oneOf", "allOf"].iter().any(|key| schema.contains_key(*key)) {
        schema.insert("type".to_owned(), "object".into());
    }
    Value::Object(schema)
}

/// A schema without what only describes.
pub(super) fn without_words(schema: &Value) -> Value {
    const WORDS: [&str; 8] = [
        "title",
        "description",
        "examples",
        "default",
        "$comment",
        "deprecated",
        "readOnly",
        "writeOnly",
    ];
    /// Keys whose members are schemas by names of the caller's.
    const BY_NAME: [&str; 5] =
        ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
    /// Keys whose values are no schemas.
    const VALUES: [&str; 2] = ["enum", "const"];
    match schema {
        Value::Array(items) => items.iter().map(without_words).collect(),
        Value::Object(members) => {
            let kept = members.iter().filter(|(key, _)| !WORDS.contains(&key.as_str()));
            let kept = kept.map(|(key, value)| {
                let value = match (key.as_str(), value) {
                    (key, Value::Object(named)) if BY_NAME.contains(&key) => named
                        .iter()
                        .map(|(name, schema)| (name.clone(), without_words(schema)))
                        .collect(),
                    (key, value) if VALUES.contains(&key) => value.clone(),
                    (_, value) => without_words(value),
                };
                (key.clone(), value)
            });
            kept.collect()
        }
        other => other.clone(),
    }
}
