//! The order in which schemas within schemas are read: the parts before the whole.
//!
//! Without recursion, so that the stack of the calling thread sets no limit. A schema is read; if it asked for parts
//! that are not there yet, these are read, and then it is read again. One without parts, as nearly all are, is
//! complete at the first time.

use std::ptr;
use std::vec::IntoIter;

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

/// Reads the schema `root`, which is also what `$ref` is resolved in. `budget` is how many bytes
/// references may still copy.
///
/// Any JSON value is a schema here: what is not one, or leads nowhere, is `any` with the reason as
/// a remark.
pub(in crate::typescript) fn read<'a>(
    root: &'a Value,
    budget: &mut usize,
) -> Result<Schema<'a>, Refused> {
    let root_part = Subschema { value: root, inherited: None, is_target: true };
    let mut walk = Walk { root, budget, open: vec![OpenSchema::new(root_part)] };
    while let Some(open) = walk.open.pop() {
        let Some((part, done)) = walk.attempt(open)? else { continue };
        let Some(around) = walk.open.last_mut() else { return Ok(done) };
        around.read.push((part, Some(done)));
        walk.open_next();
    }
    Ok(Schema::any())
}

struct Walk<'a, 'b> {
    root: &'a Value,
    budget: &'b mut usize,
    /// The schemas that are being read, outermost first.
    open: Vec<OpenSchema<'a>>,
}

/// A schema that is being read.
struct OpenSchema<'a> {
    part: Subschema<'a>,
    /// The parts that are still to be read.
    missing: IntoIter<Subschema<'a>>,
    /// The parts that have been read, until they are used.
    read: Vec<(Subschema<'a>, Option<Schema<'a>>)>,
}

impl<'a> OpenSchema<'a> {
    fn new(part: Subschema<'a>) -> Self {
        Self { part, missing: Vec::new().into_iter(), read: Vec::new() }
    }
}

#[derive(Clone, Copy)]
struct Subschema<'a> {
    value: &'a Value,
    inherited: Option<&'a Value>,
    /// Whether a reference has led here, or the schema is the root.
    is_target: bool,
}

impl Subschema<'_> {
    /// Whether it is the same place in the root.
    fn is(&self, other: &Subschema<'_>) -> bool {
        let inherited = [self.inherited, other.inherited].map(|value| value.map(ptr::from_ref));
        ptr::eq(self.value, other.value)
            && inherited[0] == inherited[1]
            && self.is_target == other.is_target
    }
}

impl<'a> Walk<'a, '_> {
    /// Reads a schema of which no part is to be read first, as far as is known; `None` if there are some after all.
    fn attempt(
        &mut self,
        open: OpenSchema<'a>,
    ) -> Result<Option<(Subschema<'a>, Schema<'a>)>, Refused> {
        if self.open.len() == MAX_DEPTH {
            return Err(Refused::TooDeep);
        }
        let OpenSchema { part, read, .. } = open;
        let mut parts = Subschemas {
            walk: self,
            whole: part,
            read,
            next: 0,
            missing: Vec::new(),
            is_too_large: false,
        };
        let done = schema(part.value, part.inherited, &mut parts);
        let Subschemas { missing, is_too_large, .. } = parts;
        if is_too_large {
            return Err(Refused::TooLarge);
        }
        if missing.is_empty() {
            return Ok(Some((part, done)));
        }
        let read = Vec::with_capacity(missing.len());
        self.open.push(OpenSchema { part, missing: missing.into_iter(), read });
        self.open_next();
        Ok(None)
    }

    /// Opens the next part of the innermost schema. Without one that schema itself is next.
    fn open_next(&mut self) {
        let part = self.open.last_mut().and_then(|open| open.missing.next());
        self.open.extend(part.map(OpenSchema::new));
    }

    /// Whether a reference to `target`, or its being the root, has led to where `part` is.
    fn is_followed(&self, target: &Value, part: Subschema<'_>) -> bool {
        let around = self.open.iter().map(|open| open.part);
        around.chain([part]).any(|part| part.is_target && ptr::eq(part.value, target))
    }
}

/// Where a schema finds the schemas within it.
pub(super) struct Subschemas<'w, 'a, 'b> {
    walk: &'w mut Walk<'a, 'b>,
    /// The schema itself.
    whole: Subschema<'a>,
    read: Vec<(Subschema<'a>, Option<Schema<'a>>)>,
    /// Where the next one is looked for first: they are mostly asked for in the order in which they were missing.
    next: usize,
    missing: Vec<Subschema<'a>>,
    is_too_large: bool,
}

impl<'a> Subschemas<'_, 'a, '_> {
    /// The schema that `value` is, or any, if it is still missing.
    pub(super) fn schema(&mut self, value: &'a Value, inherited: Option<&'a Value>) -> Schema<'a> {
        self.find(Subschema { value, inherited, is_target: false })
    }

    /// The schema that `reference` leads to, or any, if it is still missing.
    pub(super) fn reference(&mut self, reference: &'a Value) -> Schema<'a> {
        let target = resolve(self.walk.root, reference).and_then(|target| {
            let is_recursive = self.walk.is_followed(target, self.whole);
            if is_recursive { Err("is recursive") } else { Ok(target) }
        });
        match target {
            Ok(value) => self.find(Subschema { value, inherited: None, is_target: true }),
            Err(why) => Schema::any_because(format!("any: $ref {} {why}", brief(reference))),
        }
    }

    fn find(&mut self, part: Subschema<'a>) -> Schema<'a> {
        for index in (self.next..self.read.len()).chain(0..self.next) {
            let (read, schema) = &mut self.read[index];
            if read.is(&part)
                && let Some(schema) = schema.take()
            {
                self.next = index + 1;
                return schema;
            }
        }
        if part.is_target {
            self.is_too_large |= !spend(self.walk.budget, part.value);
        }
        self.missing.push(part);
        Schema::any()
    }
}
