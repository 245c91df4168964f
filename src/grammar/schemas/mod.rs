//! Schemas as every writer takes them: one spelling of each keyword, without what only describes, and without what no
//! form of a grammar can enforce, which is reported.

mod clean;
pub(super) mod decimal;
mod disjoint;
pub(super) mod ecma;
pub(super) mod guidance;
pub(super) mod lengths;
pub(super) mod names;
mod report;

use serde_json::{Map, Value, json};

use self::clean::Cleaner;
pub(super) use self::disjoint::kind_of;
pub use self::report::Loosened;
pub(super) use self::report::Report;
use crate::path::Path;
use crate::typescript::resolve;

/// The types of JSON. An integer is a number, too.
pub(super) const TYPES: [&str; 7] =
    ["object", "array", "string", "number", "integer", "boolean", "null"];

/// The most bytes of a schema.
const MOST_SIZE: usize = 1 << 18;

/// A clean schema; of arguments, which are an object whatever it leaves open.
pub(super) fn clean(schema: &Value, is_object: bool, path: &Path, report: &mut Report) -> Value {
    if schema.to_string().len() > MOST_SIZE {
        report.loosen(path, "type", format!("too large: more than {MOST_SIZE} bytes"));
        return if is_object { json!({"type": "object"}) } else { Value::Bool(true) };
    }
    let mut made = Cleaner { root: schema, report, patterns: 0 }.schema(schema, path);
    if !is_object {
        return made;
    }
    if let Value::Bool(true) = made {
        made = Value::Object(Map::new());
    }
    let Value::Object(members) = &mut made else { return made };
    match members.get("type") {
        None => _ = members.insert("type".to_owned(), "object".into()),
        Some(kind) if is_of_kind(kind, "object") => {
            members.insert("type".to_owned(), "object".into());
        }
        Some(_) => {
            report.loosen(path, "type", "arguments are an object");
            return json!({"type": "object"});
        }
    }
    made
}

/// Whether a `type` is this kind, or has it among others.
pub(super) fn is_of_kind(kind: &Value, name: &str) -> bool {
    match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| kind == name),
        one => one == name,
    }
}

/// What a reference leads to: `#/$defs/node`.
pub(super) fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    resolve(root, reference).ok()
}
