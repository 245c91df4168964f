//! JSON values that know their paths, so that an error can name them.
//!
//! A path is a chain of places on the stack. It becomes a [`Path`] only when something is wrong, so it costs reading
//! nothing.

use super::{Json, Unused, UnusedReason};
use crate::brief::Brief;
use crate::error::{Error, ErrorKind, Reason, Result};
use crate::json::{self, At, TOO_DEEP, Value};
use crate::path::Path;

/// The place of a value: `messages[3].content[0].image_url`.
#[derive(Debug, Clone, Copy)]
enum FieldPlace<'p> {
    /// The root: a whole body, or the value of an option.
    Root(&'p Path),
    Member(&'p BodyField<'p, 'p>, &'p str),
    Item(&'p BodyField<'p, 'p>, usize),
}

/// A value and its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyField<'v, 'p> {
    at: At<'v>,
    place: FieldPlace<'p>,
}

impl<'v, 'p> BodyField<'v, 'p> {
    /// A value at a path.
    ///
    /// # Errors
    ///
    /// The value is nested more deeply than JSON text may be.
    pub(crate) fn root(path: &'p Path, json: &'v Json) -> Result<Self> {
        let root = Self { at: json.at(), place: FieldPlace::Root(path) };
        if json.is_too_deep() {
            return Err(root.invalid(TOO_DEEP));
        }
        Ok(root)
    }

    /// The same value under another path.
    #[cfg(feature = "training")]
    pub(crate) fn standing_at<'q>(&self, path: &'q Path) -> BodyField<'v, 'q> {
        BodyField { at: self.at, place: FieldPlace::Root(path) }
    }

    /// Another value at this one's place.
    #[cfg(feature = "training")]
    pub(crate) fn replaced<'n>(&self, at: At<'n>) -> BodyField<'n, 'p> {
        BodyField { at, place: self.place }
    }

    pub(crate) fn value(&self) -> Value<'v> {
        self.at.value()
    }

    /// The value at its place on the tape.
    pub(crate) fn at(&self) -> At<'v> {
        self.at
    }

    pub(crate) fn path(&self) -> Path {
        if let Some(source_path) = self.at.source_path() {
            return source_path.clone();
        }
        match self.place {
            FieldPlace::Root(path) => path.clone(),
            FieldPlace::Member(parent, key) => parent.path().then(key.to_owned()),
            FieldPlace::Item(parent, index) => parent.path().then(index),
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        self.at.is_null()
    }

    /// An error at this place.
    pub(crate) fn invalid(&self, reason: impl Into<Reason>) -> Error {
        ErrorKind::InvalidRequest { path: self.path(), reason: reason.into() }.into()
    }

    /// The error for a value of another type.
    pub(crate) fn expected(&self, what: &str) -> Error {
        self.invalid(format!("expected {what}, got {}", self.value().kind()))
    }

    /// The error for a word that is not allowed here. `known` lists the allowed words, if they are few.
    pub(crate) fn unknown(&self, what: &str, word: &str, known: &[&str]) -> Error {
        let word = Brief(word);
        self.invalid(match known {
            [] => format!("unknown {what} {word:?}"),
            _ => format!("unknown {what} {word:?} (known: {})", known.join(", ")),
        })
    }

    /// The error for content that harmony cannot carry.
    pub(crate) fn unsupported(&self, content: impl Into<String>) -> Error {
        ErrorKind::UnsupportedContent { path: self.path(), content: content.into() }.into()
    }

    pub(crate) fn unused(&self, reason: UnusedReason) -> Unused {
        Unused { path: self.path(), reason }
    }

    /// The value, which may be null; an error if it is missing.
    pub(crate) fn given(self) -> Result<Self> {
        if self.at.is_nothing() { Err(self.invalid(Reason::is("missing"))) } else { Ok(self) }
    }

    pub(crate) fn text(&self) -> Result<&'v str> {
        self.at.as_str().ok_or_else(|| self.expected("a string"))
    }

    /// The text, unless it is missing or null.
    pub(crate) fn text_unless_null(&self) -> Result<Option<&'v str>> {
        if self.is_null() { Ok(None) } else { self.text().map(Some) }
    }

    /// The text, where a value may also be something other than a string.
    pub(crate) fn text_or(&self, expected: &str) -> Result<&'v str> {
        self.at.as_str().ok_or_else(|| self.expected(expected))
    }

    /// The name of a member.
    pub(crate) fn key(&self) -> Option<&'p str> {
        match self.place {
            FieldPlace::Member(_, key) => Some(key),
            _ => None,
        }
    }

    pub(crate) fn bool(&self) -> Result<bool> {
        self.at.as_bool().ok_or_else(|| self.expected("true or false"))
    }

    fn digits(&self, expected: &str) -> Result<&'v str> {
        match self.value() {
            Value::Number(digits) => Ok(digits),
            _ => Err(self.expected(expected)),
        }
    }

    pub(crate) fn number(&self) -> Result<f64> {
        let digits = self.digits("a number")?;
        digits.parse().map_err(|_| self.expected("a number"))
    }

    pub(crate) fn integer(&self) -> Result<i64> {
        let digits = self.digits("a whole number")?;
        let float = || digits.parse::<f64>().ok();
        digits.parse().ok().or_else(|| whole(float()?)).ok_or_else(|| {
            let is_whole = float().is_some_and(|number| number.fract() == 0.0);
            let range = if is_whole { " from -2^63 to 2^63 - 1" } else { "" };
            self.invalid(format!("expected a whole number{range}, got {}", Brief(digits)))
        })
    }

    pub(crate) fn object(&self) -> Result<BodyObject<'v, 'p>> {
        let members = self.at.as_object().ok_or_else(|| self.expected("an object"))?;
        Ok(BodyObject { members, field: *self })
    }

    /// The items of a list.
    pub(crate) fn items<'s>(
        &'s self,
    ) -> Result<impl Iterator<Item = BodyField<'v, 's>> + use<'v, 's, 'p>> {
        self.items_or("a list")
    }

    /// The items of a list, where a value may also be something other than a list.
    pub(crate) fn items_or<'s>(
        &'s self,
        expected: &str,
    ) -> Result<impl Iterator<Item = BodyField<'v, 's>> + use<'v, 's, 'p>> {
        let list = self.at.as_array().ok_or_else(|| self.expected(expected))?;
        let field = move |(index, at)| BodyField { at, place: FieldPlace::Item(self, index) };
        Ok(list.iter().enumerate().map(field))
    }
}

/// An object and its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyObject<'v, 'p> {
    members: json::Object<'v>,
    field: BodyField<'v, 'p>,
}

impl<'v, 'p> BodyObject<'v, 'p> {
    /// The object as a field.
    pub(crate) fn field(&self) -> BodyField<'v, 'p> {
        self.field
    }

    /// The keys and the values.
    pub(crate) fn members(&self) -> json::Object<'v> {
        self.members
    }

    /// A member, unless it is missing or null.
    pub(crate) fn get<'s>(&'s self, key: &'s str) -> Option<BodyField<'v, 's>> {
        self.get_or_null(key).filter(|field| !field.is_null())
    }

    /// A member, unless it is missing.
    pub(crate) fn get_or_null<'s>(&'s self, key: &'s str) -> Option<BodyField<'v, 's>> {
        Some(self.member(key, self.members.get(key)?))
    }

    fn member<'s>(&'s self, key: &'s str, at: At<'v>) -> BodyField<'v, 's> {
        BodyField { at, place: FieldPlace::Member(&self.field, key) }
    }

    /// A required member.
    pub(crate) fn required<'s>(&'s self, key: &'s str) -> Result<BodyField<'v, 's>> {
        self.get_or_missing(key).given()
    }

    /// A member; a missing one reads as null, and as missing by [`BodyField::given`].
    fn get_or_missing<'s>(&'s self, key: &'s str) -> BodyField<'v, 's> {
        self.get_or_null(key).unwrap_or(self.missing(key))
    }

    fn missing<'s>(&'s self, key: &'s str) -> BodyField<'v, 's> {
        self.member(key, self.field.at.nothing())
    }

    /// The members with these names, in one pass through the object; missing ones as in [`get_or_missing`]. The error
    /// is the first member with another name that is not null.
    ///
    /// [`get_or_missing`]: Self::get_or_missing
    #[cfg(feature = "training")]
    pub(crate) fn only<'s, const N: usize>(
        &'s self,
        names: &'s [&'s str; N],
    ) -> std::result::Result<[BodyField<'v, 's>; N], BodyField<'v, 's>> {
        let mut members = names.map(|name| self.missing(name));
        for (key, at) in self.members.iter() {
            match names.iter().position(|name| *name == key) {
                Some(index) => members[index].at = at,
                None if at.is_null() => {}
                None => return Err(self.member(key, at)),
            }
        }
        Ok(members)
    }

    /// The text of a member, unless it is missing or null.
    pub(crate) fn text(&self, key: &str) -> Result<Option<&'v str>> {
        self.get_or_missing(key).text_unless_null()
    }

    /// The word of a member, one of a few, unless it is missing or null.
    pub(crate) fn one_of(&self, key: &str, known: &[&str]) -> Result<Option<&'v str>> {
        let Some(field) = self.get(key) else { return Ok(None) };
        let word = field.text()?;
        let unknown = || field.unknown(key, word, known);
        known.contains(&word).then_some(Some(word)).ok_or_else(unknown)
    }

    /// The flag of a member, unless it is missing or null.
    pub(crate) fn bool(&self, key: &str) -> Result<Option<bool>> {
        self.get(key).map(|field| field.bool()).transpose()
    }

    /// The number of a member, unless it is missing or null.
    pub(crate) fn number(&self, key: &str) -> Result<Option<f64>> {
        self.get(key).map(|field| field.number()).transpose()
    }

    /// The object of a member, unless it is missing or null.
    pub(crate) fn object<'s>(&'s self, key: &'s str) -> Result<Option<BodyObject<'v, 's>>> {
        self.get(key).map(|field| field.object()).transpose()
    }

    /// The object of a member; or this object, for clients that do not nest it.
    pub(crate) fn object_or_self<'s>(&'s self, key: &'s str) -> Result<BodyObject<'v, 's>> {
        Ok(self.object(key)?.unwrap_or(*self))
    }

    /// The same for a tool, which must be nested unless it has a name.
    pub(crate) fn nested<'s>(&'s self, key: &'s str) -> Result<BodyObject<'v, 's>> {
        if self.get("name").is_some() {
            return self.object_or_self(key);
        }
        self.required(key)?.object()
    }

    /// Gives `read` each item of a member, which is a list unless it is missing or null.
    pub(crate) fn each(
        &self,
        key: &str,
        mut read: impl FnMut(&BodyField<'v, '_>) -> Result<()>,
    ) -> Result<()> {
        let Some(list) = self.get(key) else { return Ok(()) };
        list.items()?.try_for_each(|item| read(&item))
    }

    /// The members that are neither among `known` nor null.
    pub(crate) fn others<'s>(
        &'s self,
        known: &'s [&str],
    ) -> impl Iterator<Item = BodyField<'v, 's>> + use<'v, 's, 'p> {
        let others = self.members.iter().filter(|(key, at)| !at.is_null() && !known.contains(key));
        others.map(|(key, at)| self.member(key, at))
    }
}

/// A whole number that is written as a float: `512.0`.
fn whole(number: f64) -> Option<i64> {
    /// Up to here floats hold every whole number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "whole and small enough")]
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}
