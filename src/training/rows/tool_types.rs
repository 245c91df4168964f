//! Parameter types of Python, Java and JavaScript, as data sets have them -> those of JSON Schema.

use serde_json::{Map, Value as Tree, json};

use crate::json::{At, Object};

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "object", "array", "null"];

/// Their names in other languages, in lower case.
const NAMES: [(&str, &[&str]); 7] = [
    ("string", &["str", "char", "text"]),
    ("integer", &["int", "long", "short", "byte", "bigint"]),
    ("number", &["float", "double", "decimal"]),
    ("boolean", &["bool"]),
    ("object", &["dict", "dictionary", "map", "mapping", "hashmap"]),
    ("array", &["list", "arraylist", "tuple", "set", "sequence", "vector"]),
    ("null", &["none", "nonetype"]),
];

/// The name that means any type.
const ANY: &str = "any";

/// The ending of an optional parameter's type.
const OPTIONAL: &str = ", optional";

/// Keywords with a schema, with a list of them, and with an object of them.
const INNER: [&str; 3] = ["items", "additionalProperties", "not"];
const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
const OBJECTS: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];

/// The schema for a table of parameters, as in xLAM's rows: each has a type, and a default if it is optional. `None` if
/// the value is already a schema.
pub(super) fn as_schema(table: At<'_>) -> Option<Tree> {
    let members = || table.as_object().into_iter().flat_map(Object::iter);
    let mut given = members().filter(|(_, value)| !value.is_null()).peekable();
    given.peek()?;
    // A schema's keywords have no such values, except those that contain a schema, which come with other keywords.
    let is_parameter = |(_, value): (&str, At<'_>)| {
        let has = |key| value.get(key).is_some_and(|inner| inner.as_str().is_some());
        has("type") || has("description")
    };
    if !given.all(is_parameter) {
        return None;
    }
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (key, value) in members().filter(|(_, value)| !value.is_null()) {
        let is_optional = |kind: At<'_>| kind.as_str().is_some_and(|kind| kind.ends_with(OPTIONAL));
        let mut parameter = value.to_tree();
        if let Some(parameter) = parameter.as_object_mut() {
            parameter.retain(|_, value| !value.is_null());
        }
        if parameter.get("default").is_none() && !value.get("type").is_some_and(is_optional) {
            required.push(Tree::from(key));
        }
        properties.insert(key.to_owned(), parameter);
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    Some(schema)
}

/// Replaces the types of other languages in a schema. Returns whether there were any; the error is a type that no
/// language has.
pub(super) fn replace(schema: &mut Tree) -> Result<bool, String> {
    let Some(keywords) = schema.as_object_mut() else { return Ok(false) };
    let mut is_replaced = replace_type(keywords)?;
    for key in INNER {
        if let Some(inner) = keywords.get_mut(key) {
            is_replaced |= replace(inner)?;
        }
    }
    let lists = LISTS.iter().chain(&INNER[..1]);
    for key in lists {
        for inner in keywords.get_mut(*key).and_then(Tree::as_array_mut).into_iter().flatten() {
            is_replaced |= replace(inner)?;
        }
    }
    for key in OBJECTS {
        let inner = keywords.get_mut(key).and_then(Tree::as_object_mut);
        for inner in inner.into_iter().flat_map(|inner| inner.values_mut()) {
            is_replaced |= replace(inner)?;
        }
    }
    Ok(is_replaced)
}

/// Replaces the type among the keywords of a schema.
fn replace_type(keywords: &mut Map<String, Tree>) -> Result<bool, String> {
    match keywords.get("type") {
        Some(Tree::String(name)) if !TYPES.contains(&name.as_str()) => {
            let meant = meaning(name, MOST_NESTED).ok_or_else(|| name.clone())?;
            match meant.get("type") {
                Some(kind) => keywords["type"] = kind.clone(),
                None => drop(keywords.shift_remove("type")),
            }
            for (key, value) in meant.into_iter().filter(|(key, _)| key != "type") {
                keywords.entry(key).or_insert(value);
            }
            Ok(true)
        }
        Some(Tree::Array(names)) => {
            let is_known = |name: &Tree| name.as_str().is_some_and(|name| TYPES.contains(&name));
            if names.iter().all(is_known) {
                return Ok(false);
            }
            let name = |name: &Tree| {
                let meant = name.as_str().and_then(simple);
                meant.map(Tree::from).ok_or_else(|| name.to_string())
            };
            keywords["type"] = names.iter().map(name).collect::<Result<_, _>>()?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// How deeply types may be nested: `List[List[int]]` is 2.
const MOST_NESTED: usize = 8;

/// The keywords for a type of another language; `None` if it is not a type.
fn meaning(name: &str, depth: usize) -> Option<Map<String, Tree>> {
    let name = name.trim();
    let name = name.strip_suffix(OPTIONAL).unwrap_or(name).trim();
    let keywords = |kind: &str| Some(Map::from_iter([("type".to_owned(), kind.into())]));
    if name.eq_ignore_ascii_case(ANY) {
        return Some(Map::new());
    }
    if let Some(kind) = simple(name) {
        return keywords(kind);
    }
    let depth = depth.checked_sub(1)?;
    let (head, arguments) = name.strip_suffix(']')?.split_once('[')?;
    let arguments = split(arguments);
    let inner = || arguments.iter().map(|name| meaning(name, depth)).collect::<Option<Vec<_>>>();
    match head.rsplit('.').next()?.to_ascii_lowercase().as_str() {
        "optional" => inner()?.into_iter().next(),
        "union" => Some(union(inner()?)),
        "dict" | "mapping" => inner().and_then(|_| keywords("object")),
        head if simple(head) == Some("array") => {
            let mut inner = inner()?;
            inner.dedup();
            let mut list = keywords("array")?;
            if let [items] = &inner[..] {
                list.insert("items".to_owned(), items.clone().into());
            }
            Some(list)
        }
        _ => None,
    }
}

/// The keywords for a union of several types.
fn union(kinds: Vec<Map<String, Tree>>) -> Map<String, Tree> {
    let names: Option<Vec<Tree>> =
        kinds.iter().map(|kind| kind.get("type").filter(|_| kind.len() == 1).cloned()).collect();
    match names {
        Some(names) => Map::from_iter([("type".to_owned(), names.into())]),
        None => Map::from_iter([("anyOf".to_owned(), kinds.into())]),
    }
}

/// The type of JSON Schema that a word means.
fn simple(name: &str) -> Option<&'static str> {
    let small = name.to_ascii_lowercase();
    let is_name = |(kind, names): &&(&'static str, &[&str])| {
        *kind == small || names.contains(&small.as_str())
    };
    NAMES.iter().find(is_name).map(|(kind, _)| *kind)
}

/// The parts between commas that are not within brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
