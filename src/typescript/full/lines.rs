//! Which types need lines of their own.

use super::super::schema::{ObjectType, Schema, Shape, Tuple};
use super::comments::has_comments;

/// The variants of a union that needs a line for each.
pub(super) fn block_union<'s, 'a>(schema: &'s Schema<'a>) -> Option<&'s [Schema<'a>]> {
    match &schema.shape {
        Shape::Union(variants) if needs_lines(schema) => Some(variants),
        _ => None,
    }
}

/// Whether a type cannot be written on one line: it has fields, or a part of it has comments.
pub(super) fn needs_lines(schema: &Schema<'_>) -> bool {
    match &schema.shape {
        Shape::Named(_) | Shape::Literal(_) => false,
        Shape::Array(items) => needs_lines(items),
        Shape::Tuple(tuple) => is_by_line(tuple),
        Shape::Object(object) => record(object).is_none(),
        Shape::Union(variants) => variants.iter().any(needs_own_line),
        Shape::Intersection(members) => members.iter().any(needs_lines),
    }
}

fn needs_own_line(schema: &Schema<'_>) -> bool {
    has_comments(schema) || needs_lines(schema)
}

/// Whether each element is written on a line of its own.
pub(super) fn is_by_line(tuple: &Tuple<'_>) -> bool {
    tuple.elements.iter().chain(tuple.rest.as_deref()).any(needs_own_line)
}

/// The type of the values, if the object is written as `Record<string, type>`.
pub(super) fn record<'s, 'a>(object: &'s ObjectType<'a>) -> Option<&'s Schema<'a>> {
    object.rest.as_deref().filter(|values| object.fields.is_empty() && !needs_own_line(values))
}
