//! `$ref`: local JSON pointers, followed where they lead.
//!
//! The text of a tool is one declaration, so what is referred to is copied in. Three things
//! would make that endless or useless and give `any` with the reason: a reference to what is
//! being copied, one out of the schema, and copies of copies that grow exponentially.

use std::borrow::Cow;

use serde_json::Value;

use super::super::schema::Schema;
use super::{Reader, Result, brief};

/// How many values and bytes of text all references of a schema may copy. Whole catalogues of
/// definitions stay far below it, and a prompt that reached it would not fit any context.
pub(super) const BUDGET: usize = 1 << 18;

impl<'a> Reader<'a> {
    /// What `reference` leads to.
    pub(super) fn reference(&mut self, reference: &'a Value) -> Result<Schema<'a>> {
        let because =
            |why| Ok(Schema::any_because(format!("any: $ref {} {why}", brief(reference))));
        let target = match resolve(self.root, reference) {
            Ok(target) => target,
            Err(why) => return because(why),
        };
        if self.followed.iter().any(|followed| std::ptr::eq(*followed, target)) {
            return because("is recursive");
        }
        if !spend(&mut self.budget, target) {
            return because("would make the schema too large");
        }
        self.followed.push(target);
        let schema = self.schema(target, None)?;
        self.followed.pop();
        Ok(schema)
    }
}

/// The value in `root` that `reference` points to, or why there is none.
fn resolve<'a>(root: &'a Value, reference: &Value) -> std::result::Result<&'a Value, &'static str> {
    let Some(reference) = reference.as_str() else { return Err("is no text") };
    let Some(fragment) = reference.strip_prefix('#') else {
        return Err("leads out of the schema");
    };
    let pointer = percent_decoded(fragment);
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Err("is no JSON pointer");
    }
    root.pointer(&pointer).ok_or("leads nowhere")
}

/// The text with `%20` and the like decoded; as it is if that gives no text.
fn percent_decoded(text: &str) -> Cow<'_, str> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        // `from_str_radix` would take a sign too.
        let digits = part.get(..2).filter(|digits| !digits.starts_with('+'));
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let Some(code) = code else { return Cow::Borrowed(text) };
        bytes.push(code);
        bytes.extend(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Takes what copying `value` costs out of the budget, or all of it if that is not enough.
fn spend(budget: &mut usize, value: &Value) -> bool {
    let own = match value {
        Value::String(text) => text.len(),
        Value::Object(map) => map.keys().map(String::len).sum(),
        _ => 0,
    };
    *budget = budget.saturating_sub(own + 1);
    *budget > 0
        && match value {
            Value::Array(items) => items.iter().all(|item| spend(budget, item)),
            Value::Object(map) => map.values().all(|value| spend(budget, value)),
            _ => true,
        }
}
