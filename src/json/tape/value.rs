//! Values on a tape.

use std::iter;
use std::str::FromStr;
use std::sync::LazyLock;

use serde::{Serialize, Serializer};
use serde_json::Value as Tree;

use super::{Node, Tape};
use crate::json::number;
use crate::path::Path;

/// A place on a tape.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    pub(super) tape: &'a Tape,
    pub(super) index: usize,
}

/// A JSON value.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "their names say it")]
pub enum Value<'a> {
    Null,
    Bool(bool),
    /// A number by its text.
    Number(&'a str),
    String(&'a str),
    Array(Array<'a>),
    Object(Object<'a>),
}

impl<'a> At<'a> {
    /// The value here; `null` after the end.
    pub fn value(self) -> Value<'a> {
        match *self.node() {
            Node::Null => Value::Null,
            Node::Bool(value) => Value::Bool(value),
            Node::Number { start, end } => Value::Number(self.tape.text(start, end)),
            Node::String { start, end } => Value::String(self.tape.text(start, end)),
            Node::Array { .. } => Value::Array(Array(self.within())),
            Node::Object { .. } => Value::Object(Object(self.within())),
        }
    }

    pub(super) fn node(self) -> &'a Node {
        self.tape.nodes.get(self.index).unwrap_or(&Node::Null)
    }

    /// A place on the same tape that holds nothing.
    pub(crate) fn nothing(self) -> Self {
        At { index: usize::MAX, ..self }
    }

    /// Whether there is nothing here, not even `null`.
    pub(crate) fn is_nothing(self) -> bool {
        self.index >= self.tape.nodes.len()
    }

    /// The value's path in the caller's input, if that differs from its place on the tape.
    pub(crate) fn source_path(self) -> Option<&'a Path> {
        self.tape.source_path(self.index)
    }

    /// The index after the value.
    pub(super) fn after(self) -> usize {
        match *self.node() {
            Node::Array { nodes } | Node::Object { nodes } => self.index + 1 + nodes,
            _ => self.index + 1,
        }
    }

    /// The values inside a list or an object that begins here.
    fn within(self) -> Values<'a> {
        Values { next: At { index: self.index + 1, ..self }, end: self.after() }
    }

    pub(crate) fn is_null(self) -> bool {
        matches!(self.node(), Node::Null)
    }

    /// The text, if it is a string.
    pub fn as_str(self) -> Option<&'a str> {
        match *self.node() {
            Node::String { start, end } => Some(self.tape.text(start, end)),
            _ => None,
        }
    }

    /// The bytes of a text, without regard to characters.
    fn bytes(self) -> Option<&'a [u8]> {
        match *self.node() {
            Node::String { start, end } => self.tape.text.as_bytes().get(start..end),
            _ => None,
        }
    }

    /// The value, if it is a number of this type.
    pub(crate) fn number<T: FromStr>(self) -> Option<T> {
        match self.value() {
            Value::Number(digits) => digits.parse().ok(),
            _ => None,
        }
    }

    /// The value, if it is true or false.
    pub fn as_bool(self) -> Option<bool> {
        match *self.node() {
            Node::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The list, if it is one.
    pub fn as_array(self) -> Option<Array<'a>> {
        match self.value() {
            Value::Array(array) => Some(array),
            _ => None,
        }
    }

    pub(crate) fn as_object(self) -> Option<Object<'a>> {
        match self.value() {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The member of an object.
    pub fn get(self, key: &str) -> Option<Self> {
        self.as_object()?.get(key)
    }

    /// The value as JSON in one line.
    pub fn to_json(self) -> String {
        // Neither the values nor memory can fail.
        serde_json::to_string(&self).unwrap_or_default()
    }

    /// The same as a tree; its numbers have 64 bits.
    pub fn to_tree(self) -> Tree {
        match self.value() {
            Value::Null => Tree::Null,
            Value::Bool(value) => Tree::Bool(value),
            Value::Number(digits) => number::read(digits).map_or(Tree::Null, Tree::Number),
            Value::String(text) => text.into(),
            Value::Array(array) => array.iter().map(Self::to_tree).collect(),
            Value::Object(object) => {
                object.iter().map(|(key, value)| (key, value.to_tree())).collect()
            }
        }
    }
}

impl Value<'_> {
    /// What it is, for an error.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

/// A list on a tape.
#[derive(Debug, Clone, Copy)]
pub struct Array<'a>(Values<'a>);

/// An object on a tape: its entries in written order, with unique keys.
#[derive(Debug, Clone, Copy)]
pub struct Object<'a>(Values<'a>);

/// The values from one up to an index, without those within them.
#[derive(Debug, Clone, Copy)]
struct Values<'a> {
    next: At<'a>,
    end: usize,
}

impl<'a> Values<'a> {
    /// The next value; the rest stays.
    fn take(&mut self) -> Option<At<'a>> {
        let next = self.next;
        if next.index >= self.end {
            return None;
        }
        self.next.index = next.after();
        Some(next)
    }
}

impl<'a> Array<'a> {
    pub fn iter(self) -> impl Iterator<Item = At<'a>> + use<'a> {
        let Self(mut values) = self;
        iter::from_fn(move || values.take())
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0.next.index >= self.0.end
    }
}

impl Default for Array<'_> {
    /// An empty list.
    fn default() -> Self {
        static EMPTY: LazyLock<Tape> = LazyLock::new(Tape::default);
        Self(EMPTY.at(0).within())
    }
}

impl<'a> Object<'a> {
    pub fn iter(self) -> impl Iterator<Item = (&'a str, At<'a>)> + use<'a> {
        let Self(mut values) = self;
        iter::from_fn(move || Some((values.take()?.as_str()?, values.take()?)))
    }

    /// The value of a key, by linear search: objects of requests have few members.
    pub fn get(self, key: &str) -> Option<At<'a>> {
        let Self(mut values) = self;
        while let (Some(other), Some(value)) = (values.take(), values.take()) {
            if other.bytes() == Some(key.as_bytes()) {
                return Some(value);
            }
        }
        None
    }
}

impl Serialize for At<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value() {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(value),
            Value::Number(digits) => number::serialize(digits, serializer),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(array) => serializer.collect_seq(array.iter()),
            Value::Object(object) => serializer.collect_map(object.iter()),
        }
    }
}
