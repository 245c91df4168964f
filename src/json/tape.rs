//! JSON values one after the other, in the order of their text.
//!
//! A tree of [`Value`]s allocates memory for each string and a hash table for each object. A tape
//! has two allocations for any number of values: one for all strings, one for everything else.

use std::iter;

use serde::{Serialize, Serializer};
use serde_json::{Number, Value};

/// JSON values, each found by its index.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    nodes: Vec<Node>,
    /// All strings and keys, one after the other.
    text: String,
}

#[derive(Debug)]
enum Node {
    Null,
    Bool(bool),
    Number(Number),
    /// A string or a key: where its bytes are in the text.
    String {
        start: usize,
        end: usize,
    },
    /// A list, whose items follow; `end` is the index after the last.
    Array {
        end: usize,
    },
    /// An object, whose keys follow, each with its value after it.
    Object {
        end: usize,
    },
}

/// A list or an object that is being written.
pub(crate) struct Opened(usize);

impl Tape {
    /// The index of the value that is written next.
    pub(crate) fn end(&self) -> usize {
        self.nodes.len()
    }

    /// About how many bytes the values take as JSON text.
    #[cfg(feature = "python")]
    pub(crate) fn size(&self) -> usize {
        /// Quotes, commas and the like.
        const AROUND: usize = 4;
        self.text.len() + self.nodes.len() * AROUND
    }

    /// The value of an index.
    pub(crate) fn at(&self, index: usize) -> Taped<'_> {
        Taped { tape: self, index }
    }

    pub(crate) fn null(&mut self) {
        self.nodes.push(Node::Null);
    }

    pub(crate) fn bool(&mut self, value: bool) {
        self.nodes.push(Node::Bool(value));
    }

    pub(crate) fn number(&mut self, value: Number) {
        self.nodes.push(Node::Number(value));
    }

    /// Writes a text or a key.
    pub(crate) fn string(&mut self, text: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        self.nodes.push(Node::String { start, end: self.text.len() });
    }

    /// Begins a list or an object.
    pub(crate) fn open(&mut self) -> Opened {
        let opened = Opened(self.end());
        self.null();
        opened
    }

    /// Ends a list: its items are what has been written since it was opened.
    pub(crate) fn close_array(&mut self, opened: Opened) {
        self.close(opened, Node::Array { end: self.end() });
    }

    /// Ends an object: what has been written since it was opened is keys, no two the same, each with
    /// its value.
    pub(crate) fn close_object(&mut self, opened: Opened) {
        self.close(opened, Node::Object { end: self.end() });
    }

    fn close(&mut self, Opened(index): Opened, as_what: Node) {
        if let Some(node) = self.nodes.get_mut(index) {
            *node = as_what;
        }
    }

    /// Writes a value, by recursion.
    pub(crate) fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.null(),
            Value::Bool(value) => self.bool(*value),
            Value::Number(value) => self.number(value.clone()),
            Value::String(text) => self.string(text),
            Value::Array(items) => {
                let opened = self.open();
                for item in items {
                    self.value(item);
                }
                self.close_array(opened);
            }
            Value::Object(map) => {
                let opened = self.open();
                for (key, value) in map {
                    self.string(key);
                    self.value(value);
                }
                self.close_object(opened);
            }
        }
    }
}

/// A value on a tape.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taped<'a> {
    tape: &'a Tape,
    index: usize,
}

impl<'a> Taped<'a> {
    /// The node here; `null` after the end.
    fn node(self) -> &'a Node {
        self.tape.nodes.get(self.index).unwrap_or(&Node::Null)
    }

    pub(crate) fn as_str(self) -> Option<&'a str> {
        match *self.node() {
            Node::String { start, end } => self.tape.text.get(start..end),
            _ => None,
        }
    }

    pub(crate) fn as_bool(self) -> Option<bool> {
        match *self.node() {
            Node::Bool(value) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn as_array(self) -> Option<Array<'a>> {
        match *self.node() {
            Node::Array { end } => Some(Array(self.within(end))),
            _ => None,
        }
    }

    pub(crate) fn as_object(self) -> Option<Object<'a>> {
        match *self.node() {
            Node::Object { end } => Some(Object(self.within(end))),
            _ => None,
        }
    }

    /// What is within a list or an object that begins here.
    fn within(self, end: usize) -> Values<'a> {
        Values { next: Taped { index: self.index + 1, ..self }, end }
    }

    /// The same as a tree.
    pub(crate) fn to_value(self) -> Value {
        match self.node() {
            Node::Null => Value::Null,
            Node::Bool(value) => Value::Bool(*value),
            Node::Number(value) => Value::Number(value.clone()),
            Node::String { .. } => self.as_str().into(),
            Node::Array { end } => Array(self.within(*end)).iter().map(Self::to_value).collect(),
            Node::Object { end } => {
                let entries = Object(self.within(*end)).iter();
                entries.map(|(key, value)| (key, value.to_value())).collect()
            }
        }
    }
}

/// A list on a tape.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Array<'a>(Values<'a>);

/// An object on a tape. Its entries come in the order in which they were written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Object<'a>(Values<'a>);

/// The values from one up to an index, without those within them.
#[derive(Debug, Clone, Copy)]
struct Values<'a> {
    next: Taped<'a>,
    end: usize,
}

impl<'a> Values<'a> {
    /// The next value; the rest stays.
    fn take(&mut self) -> Option<Taped<'a>> {
        let next = self.next;
        if next.index >= self.end {
            return None;
        }
        self.next.index = match *next.node() {
            Node::Array { end } | Node::Object { end } => end,
            _ => next.index + 1,
        };
        Some(next)
    }
}

impl<'a> Array<'a> {
    pub(crate) fn iter(self) -> impl Iterator<Item = Taped<'a>> {
        let Self(mut values) = self;
        iter::from_fn(move || values.take())
    }

    pub(crate) fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }
}

impl Default for Array<'_> {
    /// An empty list.
    fn default() -> Self {
        static EMPTY: Tape = Tape { nodes: Vec::new(), text: String::new() };
        Self(EMPTY.at(0).within(0))
    }
}

impl<'a> Object<'a> {
    pub(crate) fn iter(self) -> impl Iterator<Item = (&'a str, Taped<'a>)> {
        let Self(mut values) = self;
        iter::from_fn(move || Some((values.take()?.as_str()?, values.take()?)))
    }
}

impl Serialize for Taped<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.node() {
            Node::Null => serializer.serialize_unit(),
            Node::Bool(value) => serializer.serialize_bool(*value),
            Node::Number(value) => value.serialize(serializer),
            Node::String { .. } => self.as_str().serialize(serializer),
            Node::Array { end } => serializer.collect_seq(Array(self.within(*end)).iter()),
            Node::Object { end } => serializer.collect_map(Object(self.within(*end)).iter()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tape_holds_what_was_written() {
        let values = [
            json!(null),
            json!([]),
            json!({}),
            json!([[], {}, "", true, -1, 0.5, u64::MAX]),
            json!({"z": {"é": ["a", {"b": null}]}, "a": "好", "": [[[]]]}),
        ];
        let mut tape = Tape::default();
        let places = values.each_ref().map(|value| {
            let index = tape.end();
            tape.value(value);
            index
        });
        for (value, index) in values.iter().zip(places) {
            let place = tape.at(index);
            assert_eq!(place.to_value(), *value);
            assert_eq!(serde_json::to_string(&place).ok(), Some(value.to_string()));
        }
    }

    #[test]
    fn nothing_is_null() {
        assert_eq!(Tape::default().at(3).to_value(), json!(null));
    }
}
