//! JSON values one after the other, in the order of their text.
//!
//! A tree of `serde_json::Value`s allocates memory for each string and a hash table for each object. A tape
//! has two allocations for any number of values: one for all texts, one for everything else.

mod value;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde_json::Value as Tree;

pub(crate) use self::value::{Array, Object};
pub use self::value::{At, Value};
use super::MAX_DEPTH;
use crate::path::Path;

/// JSON values, each found by its index.
#[derive(Debug, Clone, Default)]
pub struct Tape {
    nodes: Vec<Node>,
    /// All strings, keys and numbers, and the JSON texts that they come from.
    text: String,
    /// Values whose path in the caller's JSON differs from their place here, by index.
    source_paths: Vec<(usize, Path)>,
    is_too_deep: bool,
    has_not_numbers: bool,
    has_half_pairs: bool,
}

#[derive(Debug, Clone, Copy)]
enum Node {
    Null,
    Bool(bool),
    /// A number: where its digits are in the text.
    Number {
        start: usize,
        end: usize,
    },
    /// A string or a key: where its bytes are in the text.
    String {
        start: usize,
        end: usize,
    },
    /// A list, and the number of nodes of its items.
    Array {
        nodes: usize,
    },
    /// An object, whose keys follow, each with its value after it.
    Object {
        nodes: usize,
    },
}

/// A list or an object that is being written.
pub struct Opened(usize);

impl Tape {
    /// The index of the value that is written next.
    pub fn end(&self) -> usize {
        self.nodes.len()
    }

    /// The approximate size of the values as JSON text.
    pub fn size(&self) -> usize {
        /// Quotes, commas and the like.
        const AROUND: usize = 4;
        self.text.len() + self.nodes.len() * AROUND
    }

    /// The value of an index.
    pub fn at(&self, index: usize) -> At<'_> {
        At { tape: self, index }
    }

    fn text(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Writes `null`.
    pub fn null(&mut self) {
        self.nodes.push(Node::Null);
    }

    /// Writes a boolean.
    pub fn bool(&mut self, value: bool) {
        self.nodes.push(Node::Bool(value));
    }

    /// Writes a number by its JSON text.
    pub fn number(&mut self, digits: &str) {
        let start = self.push_text(digits);
        self.number_within(start..self.text.len());
    }

    /// Writes `NaN` or an infinity as a number of this spelling.
    pub(super) fn not_number(&mut self, spelling: &str) {
        self.has_not_numbers = true;
        self.number(spelling);
    }

    /// Whether any was written.
    #[cfg(feature = "training")]
    pub(crate) fn has_not_numbers(&self) -> bool {
        self.has_not_numbers
    }

    /// Records that half of a surrogate pair became U+FFFD.
    pub(super) fn replaced_half_pair(&mut self) {
        self.has_half_pairs = true;
    }

    /// Whether any was.
    pub(crate) fn has_half_pairs(&self) -> bool {
        self.has_half_pairs
    }

    /// Writes a double; `None` for those that JSON lacks.
    pub fn double(&mut self, value: f64) -> Option<()> {
        let digits = serde_json::Number::from_f64(value)?.to_string();
        self.number(&digits);
        Some(())
    }

    /// Writes a text or a key.
    pub fn string(&mut self, text: &str) {
        let start = self.push_text(text);
        self.end_text(start);
    }

    /// Adds text that contains strings and numbers, and returns where it begins.
    pub(super) fn push_text(&mut self, text: &str) -> usize {
        let start = self.text.len();
        self.text.push_str(text);
        start
    }

    /// Writes a number that is part of the text.
    pub(super) fn number_within(&mut self, Range { start, end }: Range<usize>) {
        self.nodes.push(Node::Number { start, end });
    }

    /// Writes a string that is part of the text.
    pub(super) fn string_within(&mut self, Range { start, end }: Range<usize>) {
        self.nodes.push(Node::String { start, end });
    }

    pub(super) fn push_char(&mut self, character: char) {
        self.text.push(character);
    }

    /// Ends the string that began there.
    pub(super) fn end_text(&mut self, start: usize) {
        self.string_within(start..self.text.len());
    }

    /// Begins a list or an object.
    pub fn open(&mut self) -> Opened {
        let opened = Opened(self.end());
        self.null();
        opened
    }

    /// Adds a member to the tape's only object, replacing any with this key.
    pub(crate) fn add_member(&mut self, key: &str, value: &Tree) {
        if self.at(0).as_object().is_some() {
            self.string(key);
            self.tree(value, MAX_DEPTH);
            self.close_object(Opened(0));
        }
    }

    /// Ends a list: its items are what has been written since it was opened.
    pub fn close_array(&mut self, Opened(index): Opened) {
        self.nodes[index] = Node::Array { nodes: self.end() - index - 1 };
    }

    /// Ends an object; since it was opened, keys were written, each with its value. Of several values of a key the last
    /// counts, at the position of the first.
    pub fn close_object(&mut self, Opened(index): Opened) {
        self.end_object(index);
        if self.repeats_a_key(index) {
            self.drop_repeated(index);
            self.end_object(index);
        }
    }

    fn end_object(&mut self, index: usize) {
        self.nodes[index] = Node::Object { nodes: self.end() - index - 1 };
    }

    fn repeats_a_key(&self, index: usize) -> bool {
        /// Up to this many keys, comparing each pair is fastest.
        const FEW: usize = 24;
        let Value::Object(object) = self.at(index).value() else { return false };
        let mut keys = object.iter().map(|(key, _)| key);
        let mut first = [""; FEW];
        for (at, key) in keys.by_ref().take(FEW).enumerate() {
            if first[..at].contains(&key) {
                return true;
            }
            first[at] = key;
        }
        let Some(next) = keys.next() else { return false };
        let mut seen = HashSet::from(first);
        !seen.insert(next) || keys.any(|key| !seen.insert(key))
    }

    fn drop_repeated(&mut self, index: usize) {
        let Value::Object(object) = self.at(index).value() else { return };
        // The nodes of each member, keys among them.
        let mut kept: Vec<&[Node]> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (key, value) in object.iter() {
            let member = &self.nodes[value.index - 1..value.after()];
            let place = *places.entry(key).or_insert(kept.len());
            if place == kept.len() {
                kept.push(member);
            } else {
                kept[place] = member;
            }
        }
        let kept = kept.concat();
        self.nodes.truncate(index + 1);
        self.nodes.extend(kept);
    }

    /// Writes a tree. If it is nested more than `depth` levels deep, it [counts as too deep](Self::is_too_deep).
    pub fn tree(&mut self, tree: &Tree, depth: usize) -> usize {
        let index = self.end();
        match tree {
            Tree::Null => self.null(),
            Tree::Bool(value) => self.bool(*value),
            Tree::Number(value) => self.number(&value.to_string()),
            Tree::String(text) => self.string(text),
            Tree::Array(_) | Tree::Object(_) if depth == 0 => {
                self.is_too_deep = true;
                self.null();
            }
            Tree::Array(items) => {
                let opened = self.open();
                for item in items {
                    self.tree(item, depth - 1);
                }
                self.close_array(opened);
            }
            Tree::Object(map) => {
                let Opened(opened) = self.open();
                for (key, value) in map {
                    self.string(key);
                    self.tree(value, depth - 1);
                }
                // No two keys of a map are the same.
                self.end_object(opened);
            }
        }
        index
    }

    /// Records the path of a value in the caller's input, if that differs from its place on the tape. Indices must be
    /// recorded in ascending order.
    #[cfg(feature = "training")]
    pub(crate) fn set_source_path(&mut self, index: usize, place: Path) {
        self.source_paths.push((index, place));
    }

    fn source_path(&self, index: usize) -> Option<&Path> {
        let at = self.source_paths.binary_search_by_key(&index, |(index, _)| *index).ok()?;
        Some(&self.source_paths[at].1)
    }

    /// Writes a value of another tape.
    pub(crate) fn copy(&mut self, from: At<'_>) {
        self.is_too_deep |= from.tape.is_too_deep;
        self.copy_members(from, |_| true);
    }

    /// The same without null members of objects.
    #[cfg(feature = "training")]
    pub(crate) fn copy_without_nulls(&mut self, from: At<'_>) {
        self.copy_members(from, |member| !member.is_null());
    }

    fn copy_members(&mut self, from: At<'_>, takes: fn(At<'_>) -> bool) {
        match from.value() {
            Value::Null => self.null(),
            Value::Bool(value) => self.bool(value),
            Value::Number(digits) => self.number(digits),
            Value::String(text) => self.string(text),
            Value::Array(array) => {
                let opened = self.open();
                array.iter().for_each(|item| self.copy_members(item, takes));
                self.close_array(opened);
            }
            Value::Object(object) => {
                let opened = self.open();
                for (key, member) in object.iter().filter(|(_, member)| takes(*member)) {
                    self.string(key);
                    self.copy_members(member, takes);
                }
                self.close_object(opened);
            }
        }
    }

    /// Whether a tree was nested too deeply to be written.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.is_too_deep
    }
}
