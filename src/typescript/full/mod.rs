//! A typed [`Schema`] -> TypeScript.
//!
//! Laid out as 0.0.8 does where that is valid, since it is what the model has seen: one property
//! per line, four more spaces for each object within, a closing brace in line with its
//! properties. A comment is above the line that it describes, or at its end if both are short; comments of parts
//! without a line of their own, such as the items of a list, are above the whole.

mod comments;
mod lines;

pub(super) use self::comments::write_comments;
use self::comments::write_default;
use self::lines::{block_union, is_by_line, needs_lines, record};
use super::literal::{PROPERTY_INDENT, VARIANT_INDENT, write_json, write_property_name};
use super::schema::{ObjectType, Schema, Shape, Tuple};
use super::sink::{Limited, TextSink};

/// Writes the parameter of a function, `_: {...}`; nothing if it takes no arguments.
pub(super) fn write_parameter(out: &mut Limited<'_>, schema: &Schema<'_>) {
    if matches!(&schema.shape, Shape::Object(ObjectType { fields, rest: None }) if fields.is_empty())
    {
        return;
    }
    out.push_str("_:");
    if let Some(variants) = block_union(schema) {
        write_variants(out, variants, 0);
    } else {
        out.push_str(" ");
        write_type(out, schema, 0);
    }
}

/// Writes a type, its further lines indented by that many spaces.
fn write_type(out: &mut Limited<'_>, schema: &Schema<'_>, indent: usize) {
    match &schema.shape {
        _ if out.is_over() => {}
        Shape::Named(name) => out.push_str(name),
        Shape::Literal(value) => write_json(out, *value),
        Shape::Array(items) => {
            write_operand(out, items, indent);
            out.push_str("[]");
        }
        Shape::Tuple(tuple) => write_tuple(out, tuple, indent),
        Shape::Object(object) => write_object(out, object, indent),
        Shape::Union(variants) if block_union(schema).is_some() => {
            out.push_str("(");
            write_variants(out, variants, indent);
            out.push_indent(indent);
            out.push_str(")");
        }
        Shape::Union(variants) => {
            for (index, variant) in variants.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { " | " });
                write_type(out, variant, indent);
            }
        }
        Shape::Intersection(members) => {
            for (index, member) in members.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { " & " });
                write_operand(out, member, indent);
            }
        }
    }
}

/// The same, in parentheses if a following `[]` or `&` would not apply to the whole type.
fn write_operand(out: &mut Limited<'_>, schema: &Schema<'_>, indent: usize) {
    let is_open = match &schema.shape {
        Shape::Union(_) => block_union(schema).is_none(),
        Shape::Intersection(_) => true,
        Shape::Literal(value) => value.is_number(),
        _ => false,
    };
    out.push_str(if is_open { "(" } else { "" });
    write_type(out, schema, indent);
    out.push_str(if is_open { ")" } else { "" });
}

/// Writes each variant on a line of its own, with a line end after the last.
fn write_variants(out: &mut Limited<'_>, variants: &[Schema<'_>], indent: usize) {
    for variant in variants {
        write_variant(out, variant, indent);
    }
    out.push_str("\n");
}

fn write_variant(out: &mut Limited<'_>, schema: &Schema<'_>, indent: usize) {
    out.push_str("\n");
    let comment = comment_behind(schema);
    if comment.is_none() {
        write_comments(out, schema, indent + 1, true);
    }
    out.push_indent(indent);
    out.push_str(" | ");
    write_type(out, schema, indent + VARIANT_INDENT);
    if let Some(comment) = comment {
        out.push_all(&[" ", comment.trim()]);
    }
}

/// The comments of a variant, if both they and the variant take one line.
fn comment_behind(schema: &Schema<'_>) -> Option<String> {
    let mut comments = String::new();
    write_comments(&mut comments, schema, 0, true);
    (comments.lines().count() == 1 && !needs_lines(schema)).then_some(comments)
}

fn write_object(out: &mut Limited<'_>, object: &ObjectType<'_>, indent: usize) {
    if let Some(values) = record(object) {
        out.push_str("Record<string, ");
        write_type(out, values, indent);
        out.push_str(">");
        return;
    }
    out.push_str("{\n");
    for field in &object.fields {
        write_member(out, &field.schema, indent, |out| {
            write_property_name(out, field.name);
            out.push_str(if field.required { ":" } else { "?:" });
        });
    }
    if let Some(rest) = &object.rest {
        write_member(out, rest, indent, |out| out.push_str("[key: string]:"));
    }
    out.push_indent(indent);
    out.push_str("}");
}

/// Writes a member of an object: comments, key, type and default.
fn write_member(
    out: &mut Limited<'_>,
    schema: &Schema<'_>,
    indent: usize,
    write_key: impl FnOnce(&mut Limited<'_>),
) {
    let variants = block_union(schema);
    write_comments(out, schema, indent, variants.is_some());
    out.push_indent(indent);
    write_key(out);
    if let Some(variants) = variants {
        write_variants(out, variants, indent);
        out.push_indent(indent);
        out.push_str(",\n");
        return;
    }
    out.push_str(" ");
    write_type(out, schema, indent + PROPERTY_INDENT);
    out.push_str(",");
    if schema.notes.default.is_some() {
        out.push_str(" // ");
        write_default(out, schema);
    }
    out.push_str("\n");
}

fn write_tuple(out: &mut Limited<'_>, tuple: &Tuple<'_>, indent: usize) {
    let by_line = is_by_line(tuple);
    out.push_str(if by_line { "[\n" } else { "[" });
    let required = tuple.elements.iter().take(tuple.required).map(|schema| ("", schema, ""));
    let optional = tuple.elements.iter().skip(tuple.required).map(|schema| ("", schema, "?"));
    let rest = tuple.rest.as_deref().map(|schema| ("...", schema, "[]"));
    for (index, (prefix, schema, suffix)) in required.chain(optional).chain(rest).enumerate() {
        if by_line {
            write_comments(out, schema, indent, true);
            out.push_indent(indent);
        } else if index > 0 {
            out.push_str(", ");
        }
        out.push_str(prefix);
        let write = if suffix.is_empty() { write_type } else { write_operand };
        write(out, schema, indent + PROPERTY_INDENT);
        out.push_all(&[suffix, if by_line { ",\n" } else { "" }]);
    }
    out.push_indent(if by_line { indent } else { 0 });
    out.push_str("]");
}
