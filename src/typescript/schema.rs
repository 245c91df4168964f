//! A schema in TypeScript's terms: a type, and notes that only comments can express.

use std::collections::HashSet;

use serde_json::Value;

/// A type with the comments that belong above it.
#[derive(Debug, PartialEq)]
pub(super) struct Schema<'a> {
    pub(super) shape: Shape<'a>,
    pub(super) notes: Notes<'a>,
}

/// A type that TypeScript can express.
#[derive(Debug, PartialEq)]
pub(super) enum Shape<'a> {
    /// A type with a name: `any`, `never`, `string`, `number`, `boolean`, `null`, `Array<any>`.
    Named(&'static str),
    /// A type of one value.
    Literal(&'a Value),
    Array(Box<Schema<'a>>),
    Tuple(Tuple<'a>),
    Object(ObjectType<'a>),
    /// At least two types, one of which applies.
    Union(Vec<Schema<'a>>),
    /// At least two types, all of which apply.
    Intersection(Vec<Schema<'a>>),
}

/// A list with a type for each element.
#[derive(Debug, PartialEq)]
pub(super) struct Tuple<'a> {
    pub(super) elements: Vec<Schema<'a>>,
    /// How many of the elements must be there.
    pub(super) required: usize,
    /// The type of further elements, if there may be any.
    pub(super) rest: Option<Box<Schema<'a>>>,
}

/// Named fields, and a type for all other keys.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ObjectType<'a> {
    pub(super) fields: Vec<Property<'a>>,
    pub(super) rest: Option<Box<Schema<'a>>>,
}

/// One property.
#[derive(Debug, PartialEq)]
pub(super) struct Property<'a> {
    pub(super) name: &'a str,
    pub(super) required: bool,
    pub(super) schema: Schema<'a>,
}

/// The content of a type's comments.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Notes<'a> {
    pub(super) title: Option<&'a str>,
    pub(super) descriptions: Vec<&'a str>,
    pub(super) examples: Vec<&'a Value>,
    /// Short facts, written on one line: `minimum: 1, maximum: 5`.
    pub(super) limits: Vec<Limit<'a>>,
    /// Facts that take a line each, such as why a type is `any`.
    pub(super) remarks: Vec<String>,
    pub(super) default: Option<&'a Value>,
}

/// The fact that a number is whole.
pub(super) const INTEGER: &str = "integer";

/// A short fact.
#[derive(Debug, PartialEq)]
pub(super) enum Limit<'a> {
    /// `integer`, `deprecated`
    Flag(&'a str),
    /// `minimum: 1`
    Keyword(&'a str, &'a Value),
}

impl Schema<'_> {
    pub(super) fn any() -> Self {
        Shape::Named("any").into()
    }

    /// A schema that allows anything, and why.
    pub(super) fn any_because(remark: String) -> Self {
        let mut schema = Self::any();
        schema.notes.remarks.push(remark);
        schema
    }

    pub(super) fn is_any(&self) -> bool {
        matches!(self.shape, Shape::Named("any"))
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.shape, Shape::Named("null") | Shape::Literal(Value::Null))
    }

    /// Whether the type is a union with `null`.
    pub(super) fn allows_null(&self) -> bool {
        match &self.shape {
            Shape::Union(variants) => variants.iter().any(Self::is_null),
            _ => self.is_null(),
        }
    }

    /// The union of `variants`. Unions within it that have no comments become part of
    /// it; the union of no types is `never`.
    pub(super) fn union(variants: impl IntoIterator<Item = Self>) -> Self {
        let mut flat: Vec<Self> = Vec::new();
        for variant in variants {
            match variant {
                Self { shape: Shape::Union(inner), notes } if notes.are_silent() => {
                    flat.extend(inner);
                }
                other => flat.push(other),
            }
        }
        // `string | null | string` names `string` once, unless the second has comments.
        let mut names = HashSet::new();
        flat.retain(|variant| match variant.shape {
            Shape::Named(name) if variant.notes.are_silent() => names.insert(name),
            _ => true,
        });
        match flat.len() {
            0 => Shape::Named("never").into(),
            1 => flat.remove(0),
            _ => Shape::Union(flat).into(),
        }
    }
}

impl<'a> From<Shape<'a>> for Schema<'a> {
    fn from(shape: Shape<'a>) -> Self {
        Self { shape, notes: Notes::default() }
    }
}

impl ObjectType<'_> {
    /// Whether it is known only to be an object.
    pub(super) fn is_any(&self) -> bool {
        self.fields.is_empty() && self.rest.as_ref().is_some_and(|rest| rest.is_any())
    }
}

impl Shape<'_> {
    /// Whether the shape is no more than the names of types.
    pub(super) fn is_plain(&self) -> bool {
        match self {
            Self::Named(name) => *name != "never",
            Self::Object(ObjectType { fields, rest }) => {
                fields.is_empty() && rest.as_ref().is_none_or(|rest| rest.is_any())
            }
            Self::Union(variants) => variants.iter().all(|variant| variant.shape.is_plain()),
            _ => false,
        }
    }
}

impl Notes<'_> {
    /// Whether nothing is worth a comment line. That a number is an `integer` is written only if there is a comment
    /// line anyway: otherwise every list of integers would need several lines.
    pub(super) fn are_silent(&self) -> bool {
        self.title.is_none()
            && self.descriptions.is_empty()
            && self.examples.is_empty()
            && self.limits.iter().all(|limit| matches!(limit, Limit::Flag(INTEGER)))
            && self.remarks.is_empty()
            && self.default.is_none()
    }

    /// Adds the facts of `other`, and its texts where there are none.
    pub(super) fn absorb(&mut self, mut other: Self) {
        if !self.descriptions.is_empty() {
            other.descriptions.clear();
        }
        self.add(other);
    }

    /// Adds the notes of `other`, its descriptions after the existing ones.
    pub(super) fn add(&mut self, other: Self) {
        self.title = self.title.or(other.title);
        self.descriptions.extend(other.descriptions);
        if self.examples.is_empty() {
            self.examples = other.examples;
        }
        self.limits.extend(other.limits);
        self.remarks.extend(other.remarks);
        self.default = self.default.or(other.default);
    }
}
