//! Schemas within schemas: their depth, the references that lead there, and the cost of copying them.

use std::ptr;

use serde_json::Value;

use super::super::depth::MAX_DEPTH;
use super::super::schema::Schema;
use super::reference::{resolve, spend};
use super::{brief, schema};

/// Why a schema cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::typescript) enum Refused {
    /// Its references lead more than [`MAX_DEPTH`] levels down.
    TooDeep,
    /// Its references copy more than is allowed.
    TooLarge,
}

/// A schema that has been read, or why it cannot be.
pub(in crate::typescript) type Read<'a> = Result<Schema<'a>, Refused>;

/// Reads the schema `root`, which is also what `$ref` is resolved in. `budget` is how many bytes
/// references may still copy.
///
/// Any JSON value is a schema here: one that is invalid, or whose reference leads nowhere, is `any` with the reason as
/// a remark.
pub(in crate::typescript) fn read<'a>(root: &'a Value, budget: &mut usize) -> Read<'a> {
    Walk { root, budget, levels: MAX_DEPTH, followed: vec![root] }.schema(root, None)
}

/// Where a schema finds the schemas within it.
pub(super) struct Walk<'a, 'b> {
    root: &'a Value,
    budget: &'b mut usize,
    /// How many levels deeper a schema may be.
    levels: usize,
    /// The root, and the targets of the references through which the walk has come here.
    followed: Vec<&'a Value>,
}

impl<'a> Walk<'a, '_> {
    /// The schema that `value` is.
    pub(super) fn schema(&mut self, value: &'a Value, inherited: Option<&'a Value>) -> Read<'a> {
        self.levels = self.levels.checked_sub(1).ok_or(Refused::TooDeep)?;
        let schema = schema(value, inherited, self);
        self.levels += 1;
        schema
    }

    /// The schema that `reference` leads to.
    pub(super) fn reference(&mut self, reference: &'a Value) -> Read<'a> {
        let text = reference.as_str().ok_or("is not a text");
        let target = text.and_then(|text| resolve(self.root, text)).and_then(|target| {
            let is_recursive = self.followed.iter().any(|value| ptr::eq(*value, target));
            if is_recursive { Err("is recursive") } else { Ok(target) }
        });
        let target = match target {
            Ok(target) => target,
            Err(why) => {
                let remark = format!("any: $ref {} {why}", brief(reference));
                return Ok(Schema::any_because(remark));
            }
        };
        if !spend(self.budget, target) {
            return Err(Refused::TooLarge);
        }
        self.followed.push(target);
        let schema = self.schema(target, None);
        self.followed.pop();
        schema
    }
}
