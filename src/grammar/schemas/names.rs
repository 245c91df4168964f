//! `propertyNames`, `minProperties` and `maxProperties`, as far as other keywords say the same.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::{Report, ecma, is_of_kind};
use crate::grammar::pattern::{Matcher, Pattern};
use crate::path::Path;
use crate::text_grammar::Expr;

/// Puts other keywords for these, or reports them.
pub(super) fn hold(
    clean: &mut Map<String, Value>,
    members: &Map<String, Value>,
    path: &Path,
    report: &mut Report,
) {
    if let Some(names) = clean.remove("propertyNames") {
        hold_names(clean, &names, path, report);
    }
    let named = clean.get("properties").and_then(Value::as_object).map_or(0, Map::len);
    let needed = clean.get("required").and_then(Value::as_array).map_or(0, Vec::len);
    let is_closed = clean.get("additionalProperties") == Some(&Value::Bool(false));
    let has_patterns = clean.contains_key("patternProperties");
    let says_nothing = |key: &str, count: usize| match key {
        "minProperties" => count <= needed,
        _ => is_closed && !has_patterns && count >= named,
    };
    for keyword in ["minProperties", "maxProperties"] {
        let count = clean
            .get(keyword)
            .and_then(Value::as_u64)
            .map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        let Some(count) = count else { continue };
        // Members are counted like items where no schema for the same value names one.
        let is_counted = !members.contains_key("allOf") && !names_members(clean);
        if says_nothing(keyword, count) {
            clean.remove(keyword);
        } else if !is_counted {
            clean.remove(keyword);
            report.loosen(
                path,
                keyword,
                "grammars count members only where none has a name of its own",
            );
        }
    }
}

/// Whether a schema, or one that applies to the same value, names a member.
fn names_members(schema: &Map<String, Value>) -> bool {
    let is_named = |key| match schema.get(key) {
        Some(Value::Object(members)) => !members.is_empty(),
        Some(Value::Array(names)) => !names.is_empty(),
        _ => false,
    };
    let mut beside = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
    is_named("properties")
        || is_named("required")
        || schema.contains_key("$ref")
        || beside.any(|all| all.iter().filter_map(Value::as_object).any(names_members))
}

fn hold_names(clean: &mut Map<String, Value>, names: &Value, path: &Path, report: &mut Report) {
    let Value::Object(says) = names else {
        if *names == Value::Bool(false) {
            report.loosen(path, "propertyNames", "admits no name");
        }
        return;
    };
    let is_text = says.get("type").is_none_or(|kind| is_of_kind(kind, "string"));
    let others = says.keys().filter(|key| *key != "type" && *key != "format").count();
    if is_text && others == 0 {
        return;
    }
    let values = says.get("enum").and_then(Value::as_array);
    let pattern = pattern_of(says);
    let has_patterns = clean.contains_key("patternProperties");
    let is_held = match (values, &pattern) {
        _ if !is_text || has_patterns => false,
        (Some(values), None) if others == 1 => {
            among(clean, values);
            true
        }
        (None, Some(pattern)) => fitting(clean, pattern),
        _ => false,
    };
    if !is_held {
        report.loosen(
            path,
            "propertyNames",
            "grammars hold names that are listed or fit one pattern",
        );
    }
}

/// The one pattern that names have to fit.
fn pattern_of(says: &Map<String, Value>) -> Option<String> {
    let count = |key| says.get(key).and_then(Value::as_u64);
    let is_only =
        |keys: &[&str]| says.keys().all(|key| keys.contains(&key.as_str()) || key == "type");
    if let Some(pattern) = says.get("pattern").and_then(Value::as_str) {
        return is_only(&["pattern"]).then(|| pattern.to_owned());
    }
    let most = count("maxLength").map_or(String::new(), |most| most.to_string());
    let counted = format!("^[\\s\\S]{{{},{most}}}$", count("minLength").unwrap_or(0));
    is_only(&["minLength", "maxLength"]).then_some(counted)
}

/// Names that are listed are members of their own, of which none has to be there.
fn among(clean: &mut Map<String, Value>, values: &[Value]) {
    let rest = clean.get("additionalProperties").cloned().unwrap_or(Value::Bool(true));
    let named = clean.remove("properties").unwrap_or_else(|| json!({}));
    let listed = values.iter().filter_map(Value::as_str);
    let properties: Map<String, Value> = listed
        .map(|name| (name.to_owned(), named.get(name).unwrap_or(&rest).clone()))
        .filter(|(_, schema)| *schema != Value::Bool(false))
        .collect();
    clean.insert("properties".to_owned(), Value::Object(properties));
    clean.insert("additionalProperties".to_owned(), Value::Bool(false));
}

/// Other members have names that fit a pattern; false if it cannot be read.
fn fitting(clean: &mut Map<String, Value>, pattern: &str) -> bool {
    if ecma::whole(pattern).is_err() {
        return false;
    }
    if let Some(Value::Object(named)) = clean.get_mut("properties") {
        let mut patterns = Patterns::default();
        named.retain(|name, _| patterns.fits(pattern, name));
    }
    let rest = clean.get("additionalProperties").cloned().unwrap_or(Value::Bool(true));
    if rest != Value::Bool(false) {
        clean.insert("patternProperties".to_owned(), json!({pattern: rest}));
        clean.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    true
}

/// The patterns whose names may fit an earlier one, too, as far as their first characters show.
pub(in crate::grammar) fn overlapping(patterns: &Map<String, Value>) -> Vec<String> {
    let (mut overlapping, mut beginnings) = (Vec::new(), Vec::<String>::new());
    for pattern in patterns.keys() {
        let expr = ecma::whole(pattern).ok().and_then(|hir| Expr::of_hir(&hir).ok());
        let begins = expr.as_ref().map(beginning).unwrap_or_default();
        let is_near = |other: &String| other.starts_with(&begins) || begins.starts_with(other);
        if beginnings.iter().any(is_near) {
            overlapping.push(pattern.clone());
        } else {
            beginnings.push(begins);
        }
    }
    overlapping
}

fn beginning(expr: &Expr) -> String {
    match expr {
        Expr::Literal(text) => text.clone(),
        Expr::Concat(parts) => parts.first().map(beginning).unwrap_or_default(),
        _ => String::new(),
    }
}

/// Patterns that were read, by their text; `None` is one that cannot be.
#[derive(Debug, Default)]
pub(in crate::grammar) struct Patterns(HashMap<String, Option<Matcher>>);

impl Patterns {
    /// Whether a pattern is found in a text.
    pub(in crate::grammar) fn fits(&mut self, pattern: &str, text: &str) -> bool {
        if !self.0.contains_key(pattern) {
            let hir = ecma::whole(pattern).ok();
            let read = hir.and_then(|hir| Pattern::new(hir, &Path::default()).ok());
            self.0.insert(pattern.to_owned(), read.as_ref().map(Matcher::new));
        }
        let matcher = self.0.get_mut(pattern).and_then(Option::as_mut);
        matcher.is_some_and(|matcher| matcher.fits(text))
    }
}
