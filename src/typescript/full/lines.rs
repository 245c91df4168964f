//! Which types need lines of their own.

use super::super::schema::{ObjectType, Schema, Shape, Tuple};
use super::super::sink::TextSink;
use super::comments::has_comments;

/// The variants of a union that needs a line for each.
pub(super) fn block_union<'s, 'a>(schema: &'s Schema<'a>) -> Option<&'s [Schema<'a>]> {
    match &schema.shape {
        Shape::Union(variants) if needs_lines(schema) => Some(variants),
        _ => None,
    }
}

/// Whether a type cannot be written on one line.
///
/// Looks for one reason in the type and all within it that would share its line.
pub(super) fn needs_lines(schema: &Schema<'_>) -> bool {
    let mut unread = Vec::new();
    let mut next = Some(schema);
    while let Some(schema) = next {
        match &schema.shape {
            Shape::Named(_) | Shape::Literal(_) => {}
            Shape::Array(items) => unread.push(&**items),
            Shape::Object(object) => match values(object) {
                Some(values) if !has_comments(values) => unread.push(values),
                _ => return true,
            },
            Shape::Tuple(tuple) if parts(tuple).any(has_comments) => return true,
            Shape::Tuple(tuple) => unread.extend(parts(tuple)),
            Shape::Union(variants) if variants.iter().any(has_comments) => return true,
            Shape::Union(parts) | Shape::Intersection(parts) => unread.extend(parts),
        }
        next = unread.pop();
    }
    false
}

/// Whether each element is written on a line of its own.
pub(super) fn is_by_line(tuple: &Tuple<'_>) -> bool {
    parts(tuple).any(|part| has_comments(part) || needs_lines(part))
}

/// The type of the values, if the object is written as `Record<string, type>`.
pub(super) fn record<'s, 'a>(object: &'s ObjectType<'a>) -> Option<&'s Schema<'a>> {
    values(object).filter(|values| !has_comments(values) && !needs_lines(values))
}

/// The type of the values of an object without fields.
fn values<'s, 'a>(object: &'s ObjectType<'a>) -> Option<&'s Schema<'a>> {
    object.rest.as_deref().filter(|_| object.fields.is_empty())
}

fn parts<'s, 'a>(tuple: &'s Tuple<'a>) -> impl Iterator<Item = &'s Schema<'a>> {
    tuple.elements.iter().chain(tuple.rest.as_deref())
}

/// Counts the lines of what is written into it.
pub(super) struct Lines(pub(super) usize);

impl TextSink for Lines {
    fn push_str(&mut self, text: &str) {
        self.0 += text.matches('\n').count();
    }
}
