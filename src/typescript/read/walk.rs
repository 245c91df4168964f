//! The order in which schemas within schemas are read: the parts before the whole.
//!
//! Without recursion, so that the stack of the calling thread sets no limit. A schema is read twice:
//! first to list its parts, then, when they have been read, to be put together of them. One without
//! parts, as nearly all are, is complete at the first time.

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
    let mut walk = Walk { root, budget, open: Vec::new() };
    let mut part = Part { value: root, inherited: None, is_target: true };
    loop {
        let mut next = walk.open(part)?;
        // A schema that is complete is a part of the one around it, which may be complete then.
        part = loop {
            let done = match next {
                Next::Done(schema) => schema,
                Next::Part(part) => break part,
            };
            match walk.open.last_mut() {
                None => return Ok(done),
                Some(around) => around.read.push(done),
            }
            next = walk.go_on();
        };
    }
}

/// Where a schema finds the schemas within it. It asks for the same in the same order each time.
pub(super) trait Parts<'a> {
    /// The schema that `value` is.
    fn schema(&mut self, value: &'a Value, inherited: Option<&'a Value>) -> Schema<'a>;

    /// The schema that `reference` leads to.
    fn reference(&mut self, reference: &'a Value) -> Schema<'a>;
}

struct Walk<'a, 'b> {
    root: &'a Value,
    budget: &'b mut usize,
    /// The schemas of which parts are still to be read, outermost first.
    open: Vec<Open<'a>>,
}

/// A schema of which parts are still to be read.
struct Open<'a> {
    part: Part<'a>,
    /// Where its `$ref` leads, or what is to be said of it.
    target: Option<Result<&'a Value, String>>,
    parts: IntoIter<Part<'a>>,
    read: Vec<Schema<'a>>,
}

#[derive(Clone, Copy)]
struct Part<'a> {
    value: &'a Value,
    inherited: Option<&'a Value>,
    /// Whether a reference has led here, or the schema is the root.
    is_target: bool,
}

/// What is next to be done.
enum Next<'a> {
    Part(Part<'a>),
    Done(Schema<'a>),
}

impl<'a> Walk<'a, '_> {
    /// Begins to read a schema.
    fn open(&mut self, part: Part<'a>) -> Result<Next<'a>, Refused> {
        if self.open.len() == MAX_DEPTH {
            return Err(Refused::TooDeep);
        }
        let mut listing = Listing {
            walk: self,
            whole: part,
            target: None,
            parts: Vec::new(),
            is_too_large: false,
        };
        let complete = schema(part.value, part.inherited, &mut listing);
        let Listing { target, parts, is_too_large, .. } = listing;
        if is_too_large {
            return Err(Refused::TooLarge);
        }
        if parts.is_empty() {
            return Ok(Next::Done(complete));
        }
        let read = Vec::with_capacity(parts.len());
        self.open.push(Open { part, target, parts: parts.into_iter(), read });
        Ok(self.go_on())
    }

    /// Reads on where the innermost schema has been left.
    fn go_on(&mut self) -> Next<'a> {
        if let Some(part) = self.open.last_mut().and_then(|open| open.parts.next()) {
            return Next::Part(part);
        }
        let Some(Open { part, target, read, .. }) = self.open.pop() else {
            return Next::Done(Schema::any());
        };
        let mut supply = Supply { target, read: read.into_iter() };
        Next::Done(schema(part.value, part.inherited, &mut supply))
    }

    /// Whether a reference to `target`, or its being the root, has led to where `part` is.
    fn is_followed(&self, target: &Value, part: Part<'_>) -> bool {
        let around = self.open.iter().map(|open| open.part);
        around.chain([part]).any(|part| part.is_target && std::ptr::eq(part.value, target))
    }
}

/// Lists the parts of a schema.
struct Listing<'w, 'a, 'b> {
    walk: &'w mut Walk<'a, 'b>,
    /// The schema itself.
    whole: Part<'a>,
    target: Option<Result<&'a Value, String>>,
    parts: Vec<Part<'a>>,
    is_too_large: bool,
}

impl<'a> Parts<'a> for Listing<'_, 'a, '_> {
    fn schema(&mut self, value: &'a Value, inherited: Option<&'a Value>) -> Schema<'a> {
        self.parts.push(Part { value, inherited, is_target: false });
        Schema::any()
    }

    fn reference(&mut self, reference: &'a Value) -> Schema<'a> {
        let target = resolve(self.walk.root, reference).and_then(|target| {
            let is_recursive = self.walk.is_followed(target, self.whole);
            if is_recursive { Err("is recursive") } else { Ok(target) }
        });
        let target = target.map_err(|why| format!("any: $ref {} {why}", brief(reference)));
        let schema = match &target {
            Ok(target) => {
                self.is_too_large |= !spend(self.walk.budget, target);
                self.parts.push(Part { value: target, inherited: None, is_target: true });
                Schema::any()
            }
            Err(remark) => Schema::any_because(remark.clone()),
        };
        self.target = Some(target);
        schema
    }
}

/// Hands out the parts of a schema that have been read.
struct Supply<'a> {
    target: Option<Result<&'a Value, String>>,
    read: IntoIter<Schema<'a>>,
}

impl<'a> Parts<'a> for Supply<'a> {
    fn schema(&mut self, _: &'a Value, _: Option<&'a Value>) -> Schema<'a> {
        self.read.next().unwrap_or_else(Schema::any)
    }

    fn reference(&mut self, reference: &'a Value) -> Schema<'a> {
        match self.target.take() {
            Some(Err(remark)) => Schema::any_because(remark),
            _ => self.schema(reference, None),
        }
    }
}
