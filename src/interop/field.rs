//! JSON values that know where they stand, so that an error can say it.
//!
//! A path is a chain of places on the stack, written out only when something is wrong: reading costs
//! nothing for it.

use std::fmt;

use serde_json::{Map, Number, Value};

use super::brief::brief;
use super::{Unused, UnusedReason};
use crate::error::{Error, ErrorKind, Result};

/// Where a value stands: `messages[3].content[0].image_url`.
#[derive(Debug, Clone, Copy)]
enum Place<'p> {
    /// The body itself, or what an option gives, by the option's name.
    Root(&'p str),
    Member(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, usize),
}

impl Place<'_> {
    /// Writes the place as a JSON pointer into the body; `false` if it is not in the body.
    fn write_pointer(&self, pointer: &mut String) -> bool {
        match *self {
            Self::Root(name) => return name.is_empty(),
            Self::Member(parent, key) => {
                if !parent.write_pointer(pointer) {
                    return false;
                }
                pointer.extend(["/", &key.replace('~', "~0").replace('/', "~1")]);
            }
            Self::Item(parent, index) => {
                if !parent.write_pointer(pointer) {
                    return false;
                }
                pointer.extend(["/", &index.to_string()]);
            }
        }
        true
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Root(name) => f.write_str(name),
            Self::Member(Place::Root(""), key) => f.write_str(key),
            Self::Member(parent, key) => write!(f, "{parent}.{key}"),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// A value and its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'v, 'p> {
    value: &'v Value,
    place: Place<'p>,
}

impl<'v, 'p> Field<'v, 'p> {
    /// A value that an option gives under this name; the body has the empty name.
    ///
    /// # Errors
    ///
    /// Nested more deeply than JSON text can be: what clones and writes values does so by recursion.
    pub(super) fn root(name: &'p str, value: &'v Value) -> Result<Self> {
        let root = Self { value, place: Place::Root(name) };
        if is_nested_in(value, MAX_DEPTH) {
            return Ok(root);
        }
        Err(root.invalid(format!("nested more than {MAX_DEPTH} levels deep")))
    }

    pub(super) fn value(&self) -> &'v Value {
        self.value
    }

    pub(super) fn path(&self) -> String {
        self.place.to_string()
    }

    /// The JSON pointer to the value, if it is in the body.
    pub(super) fn pointer(&self) -> Option<String> {
        let mut pointer = String::new();
        self.place.write_pointer(&mut pointer).then_some(pointer)
    }

    pub(super) fn is_null(&self) -> bool {
        self.value.is_null()
    }

    /// An error at this place.
    pub(super) fn invalid(&self, reason: impl Into<String>) -> Error {
        ErrorKind::InvalidRequest { path: self.path(), reason: reason.into() }.into()
    }

    /// The error for a value of another type.
    pub(super) fn expected(&self, what: &str) -> Error {
        self.invalid(format!("expected {what}, got {}", kind(self.value)))
    }

    /// The error for a word that may not stand here. `known` are those that may, if they are few.
    pub(super) fn unknown(&self, what: &str, word: &str, known: &[&str]) -> Error {
        let word = brief(word);
        self.invalid(match known {
            [] => format!("unknown {what} {word:?}"),
            _ => format!("unknown {what} {word:?} (known: {})", known.join(", ")),
        })
    }

    /// The error for content that harmony cannot carry.
    pub(super) fn unsupported(&self, content: impl Into<String>) -> Error {
        ErrorKind::UnsupportedContent { path: self.path(), content: content.into() }.into()
    }

    pub(super) fn unused(&self, reason: UnusedReason) -> Unused {
        Unused { path: self.path(), reason }
    }

    /// A field that this library has no use for.
    pub(super) fn not_read(&self) -> Unused {
        self.unused(UnusedReason::NotUsed)
    }

    pub(super) fn text(&self) -> Result<&'v str> {
        self.value.as_str().ok_or_else(|| self.expected("a string"))
    }

    /// The text, where something other than a string could stand too.
    pub(super) fn text_or(&self, expected: &str) -> Result<&'v str> {
        self.value.as_str().ok_or_else(|| self.expected(expected))
    }

    /// The name of a member.
    pub(super) fn key(&self) -> Option<&'p str> {
        match self.place {
            Place::Member(_, key) => Some(key),
            _ => None,
        }
    }

    pub(super) fn bool(&self) -> Result<bool> {
        self.value.as_bool().ok_or_else(|| self.expected("true or false"))
    }

    pub(super) fn number(&self) -> Result<f64> {
        self.value.as_f64().ok_or_else(|| self.expected("a number"))
    }

    pub(super) fn integer(&self) -> Result<i64> {
        let whole = |number: &Number| number.as_i64().or_else(|| whole(number.as_f64()?));
        let Some(number) = self.value.as_number() else {
            return Err(self.expected("a whole number"));
        };
        whole(number).ok_or_else(|| {
            let is_whole = number.as_f64().is_some_and(|number| number.fract() == 0.0);
            let range = if is_whole { " from -2^63 to 2^63 - 1" } else { "" };
            self.invalid(format!("expected a whole number{range}, got {number}"))
        })
    }

    pub(super) fn object(&self) -> Result<Object<'v, 'p>> {
        let map = self.value.as_object().ok_or_else(|| self.expected("an object"))?;
        Ok(Object { map, field: *self })
    }

    /// The items of a list.
    pub(super) fn items<'s>(
        &'s self,
    ) -> Result<impl Iterator<Item = Field<'v, 's>> + use<'v, 's, 'p>> {
        self.items_or("a list")
    }

    /// The items of a list, where something other than a list could stand too.
    pub(super) fn items_or<'s>(
        &'s self,
        expected: &str,
    ) -> Result<impl Iterator<Item = Field<'v, 's>> + use<'v, 's, 'p>> {
        let list = self.value.as_array().ok_or_else(|| self.expected(expected))?;
        let place = &self.place;
        let field = move |(index, value)| Field { value, place: Place::Item(place, index) };
        Ok(list.iter().enumerate().map(field))
    }
}

/// An object and its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Object<'v, 'p> {
    map: &'v Map<String, Value>,
    field: Field<'v, 'p>,
}

impl<'v, 'p> Object<'v, 'p> {
    /// The object as a field.
    pub(super) fn field(&self) -> Field<'v, 'p> {
        self.field
    }

    pub(super) fn map(&self) -> &'v Map<String, Value> {
        self.map
    }

    /// A member, unless it is missing or null.
    pub(super) fn get<'s>(&'s self, key: &'s str) -> Option<Field<'v, 's>> {
        self.get_or_null(key).filter(|field| !field.is_null())
    }

    /// A member, unless it is missing.
    pub(super) fn get_or_null<'s>(&'s self, key: &'s str) -> Option<Field<'v, 's>> {
        let value = self.map.get(key)?;
        Some(Field { value, place: Place::Member(&self.field.place, key) })
    }

    /// A member that has to be there.
    pub(super) fn required<'s>(&'s self, key: &'s str) -> Result<Field<'v, 's>> {
        self.get_or_null(key).ok_or_else(|| {
            let place = Place::Member(&self.field.place, key);
            Field { value: &Value::Null, place }.invalid("is missing")
        })
    }

    /// The text of a member, unless it is missing or null.
    pub(super) fn text(&self, key: &str) -> Result<Option<&'v str>> {
        self.get(key).map(|field| field.text()).transpose()
    }

    /// The flag of a member, unless it is missing or null.
    pub(super) fn bool(&self, key: &str) -> Result<Option<bool>> {
        self.get(key).map(|field| field.bool()).transpose()
    }

    /// The number of a member, unless it is missing or null.
    pub(super) fn number(&self, key: &str) -> Result<Option<f64>> {
        self.get(key).map(|field| field.number()).transpose()
    }

    /// The members that are not among `known` and say something.
    pub(super) fn others<'s>(
        &'s self,
        known: &'s [&str],
    ) -> impl Iterator<Item = Field<'v, 's>> + use<'v, 's, 'p> {
        let place = &self.field.place;
        let others = self
            .map
            .iter()
            .filter(|(key, value)| !value.is_null() && !known.contains(&key.as_str()));
        others.map(move |(key, value)| Field { value, place: Place::Member(place, key) })
    }
}

/// The limit of `parse_body`, too.
const MAX_DEPTH: usize = 127;

/// Whether lists and objects lie within each other at most so deep.
fn is_nested_in(value: &Value, depth: usize) -> bool {
    let deeper = |value| depth > 0 && is_nested_in(value, depth - 1);
    match value {
        Value::Array(items) => depth > 0 && items.iter().all(deeper),
        Value::Object(members) => depth > 0 && members.values().all(deeper),
        _ => true,
    }
}

/// A whole number that is written as a float: `512.0`.
fn whole(number: f64) -> Option<i64> {
    /// Up to here floats hold every whole number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "whole and small enough")]
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

/// What a value is, for an error.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
