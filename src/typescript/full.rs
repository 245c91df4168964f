//! A typed [`Schema`] -> TypeScript.
//!
//! Laid out as 0.0.8 does where that is valid, since it is what the model has seen: one property
//! per line, four more spaces for each object within, a closing brace in line with its
//! properties. A comment stands above the line it speaks of, or at its end if both are short;
//! what has no line of its own, as the items of a list, is spoken of above the whole.

use serde_json::Value;

use super::comment::{write_comment, write_one_line};
use super::literal::{
    PROPERTY_INDENT, VARIANT_INDENT, write_indent, write_json, write_property_name,
};
use super::schema::{Field, Limit, Notes, Object, Schema, Shape, Tuple};

/// Writes the parameter of a function, `_: {...}`; nothing if it takes no arguments.
pub(super) fn write_parameter(out: &mut String, schema: &Schema<'_>) {
    if matches!(&schema.shape, Shape::Object(Object { fields, rest: None }) if fields.is_empty()) {
        return;
    }
    out.push_str("_:");
    if let Some(variants) = block_union(schema) {
        write_variants(out, variants, 0);
    } else {
        out.push(' ');
        write_type(out, schema, 0);
    }
}

/// Writes all that is to be said of `schema` above the line on which it begins, each line
/// indented by `indent` spaces; its default only if `with_default`.
pub(super) fn write_comments(
    out: &mut String,
    schema: &Schema<'_>,
    indent: usize,
    with_default: bool,
) {
    write_notes(out, &schema.notes, indent);
    if with_default && schema.notes.default.is_some() {
        write_indent(out, indent);
        out.push_str("// ");
        write_default(out, schema);
        out.push('\n');
    }
    if let Shape::Array(items) = &schema.shape
        && has_comments(items)
    {
        write_comment(out, "Items:", indent);
        write_comments(out, items, indent, true);
    }
}

/// Whether [`write_comments`] would write anything.
fn has_comments(schema: &Schema<'_>) -> bool {
    !schema.notes.are_silent()
        || matches!(&schema.shape, Shape::Array(items) if has_comments(items))
}

fn write_notes(out: &mut String, notes: &Notes<'_>, indent: usize) {
    if let Some(title) = notes.title {
        write_comment(out, title, indent);
        if !notes.descriptions.is_empty() {
            write_indent(out, indent);
            out.push_str("//\n");
        }
    }
    for description in &notes.descriptions {
        write_comment(out, description, indent);
    }
    if !notes.examples.is_empty() {
        write_comment(out, "Examples:", indent);
    }
    for example in &notes.examples {
        write_indent(out, indent);
        out.push_str("// - ");
        write_json(out, example);
        out.push('\n');
    }
    write_limits(out, &notes.limits, indent);
    for remark in &notes.remarks {
        write_comment(out, remark, indent);
    }
}

fn write_limits(out: &mut String, limits: &[Limit<'_>], indent: usize) {
    for (index, limit) in limits.iter().enumerate() {
        if index == 0 {
            write_indent(out, indent);
        }
        out.push_str(if index == 0 { "// " } else { ", " });
        match limit {
            Limit::Flag(keyword) => out.push_str(keyword),
            Limit::Keyword(keyword, value) => {
                out.extend([keyword, ": "]);
                write_limit_value(out, value);
            }
        }
    }
    if !limits.is_empty() {
        out.push('\n');
    }
}

/// A word such as `date-time` stands without quotes, a pattern with them.
fn write_limit_value(out: &mut String, value: &Value) {
    match value.as_str() {
        Some(word) if word.chars().all(|c| c.is_ascii_alphanumeric() || "-/+.".contains(c)) => {
            out.push_str(word);
        }
        _ => write_json(out, value),
    }
}

/// Writes `default: celsius` if the type lists the values, else the default as JSON.
fn write_default(out: &mut String, schema: &Schema<'_>) {
    let Some(default) = schema.notes.default else { return };
    out.push_str("default: ");
    match default.as_str() {
        Some(text) if lists_values(schema) && is_one_line(text) => out.push_str(text),
        _ => write_json(out, default),
    }
}

fn lists_values(schema: &Schema<'_>) -> bool {
    match &schema.shape {
        Shape::Literal(_) => true,
        Shape::Union(variants) => variants.iter().all(lists_values),
        shape => matches!(shape, Shape::Named("null")),
    }
}

fn is_one_line(text: &str) -> bool {
    let mut escaped = String::new();
    write_one_line(&mut escaped, text);
    escaped == text
}

/// Writes a type whose further lines are indented by `indent` spaces.
fn write_type(out: &mut String, schema: &Schema<'_>, indent: usize) {
    match &schema.shape {
        Shape::Named(name) => out.push_str(name),
        Shape::Literal(value) => write_json(out, value),
        Shape::Array(items) => {
            write_operand(out, items, indent);
            out.push_str("[]");
        }
        Shape::Tuple(tuple) => write_tuple(out, tuple, indent),
        Shape::Object(object) => write_object(out, object, indent),
        Shape::Union(variants) if block_union(schema).is_some() => {
            out.push('(');
            write_variants(out, variants, indent);
            write_indent(out, indent);
            out.push(')');
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

/// Writes a type in parentheses if `[]` or `&` behind it would not mean all of it.
fn write_operand(out: &mut String, schema: &Schema<'_>, indent: usize) {
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

/// The variants of a union that needs a line for each.
fn block_union<'s, 'a>(schema: &'s Schema<'a>) -> Option<&'s [Schema<'a>]> {
    match &schema.shape {
        Shape::Union(variants) if needs_lines(schema) => Some(variants),
        _ => None,
    }
}

/// Whether a type cannot be written on one line.
fn needs_lines(schema: &Schema<'_>) -> bool {
    match &schema.shape {
        Shape::Named(_) | Shape::Literal(_) => false,
        Shape::Array(items) => needs_lines(items),
        Shape::Tuple(tuple) => is_by_line(tuple),
        Shape::Object(object) => record(object).is_none(),
        Shape::Union(variants) => variants.iter().any(needs_own_line),
        Shape::Intersection(members) => members.iter().any(needs_lines),
    }
}

/// Whether a type cannot share its line with others.
fn needs_own_line(schema: &Schema<'_>) -> bool {
    has_comments(schema) || needs_lines(schema)
}

/// Whether each element is written on a line of its own.
fn is_by_line(tuple: &Tuple<'_>) -> bool {
    tuple.elements.iter().chain(tuple.rest.as_deref()).any(needs_own_line)
}

/// Writes each variant on a line of its own, and the line end behind the last.
fn write_variants(out: &mut String, variants: &[Schema<'_>], indent: usize) {
    out.push('\n');
    for variant in variants {
        let mut comments = String::new();
        write_comments(&mut comments, variant, indent + 1, true);
        let fits_behind = comments.lines().count() == 1 && !needs_lines(variant);
        if !fits_behind {
            out.push_str(&comments);
        }
        write_indent(out, indent);
        out.push_str(" | ");
        write_type(out, variant, indent + VARIANT_INDENT);
        if fits_behind {
            out.extend([" ", comments.trim()]);
        }
        out.push('\n');
    }
}

/// The type of the values, if the object is written as `Record<string, type>`.
fn record<'s, 'a>(object: &'s Object<'a>) -> Option<&'s Schema<'a>> {
    let rest = object.rest.as_deref().filter(|_| object.fields.is_empty())?;
    (!has_comments(rest) && !needs_lines(rest)).then_some(rest)
}

fn write_object(out: &mut String, object: &Object<'_>, indent: usize) {
    if let Some(values) = record(object) {
        out.push_str("Record<string, ");
        write_type(out, values, indent);
        out.push('>');
        return;
    }
    out.push_str("{\n");
    for field in &object.fields {
        write_field(out, field, indent);
    }
    if let Some(rest) = &object.rest {
        write_member(out, "[key: string]:", rest, indent);
    }
    write_indent(out, indent);
    out.push('}');
}

fn write_field(out: &mut String, field: &Field<'_>, indent: usize) {
    let mut key = String::with_capacity(field.name.len() + 2);
    write_property_name(&mut key, field.name);
    key.push_str(if field.required { ":" } else { "?:" });
    write_member(out, &key, &field.schema, indent);
}

fn write_member(out: &mut String, key: &str, schema: &Schema<'_>, indent: usize) {
    let variants = block_union(schema);
    write_comments(out, schema, indent, variants.is_some());
    write_indent(out, indent);
    out.push_str(key);
    if let Some(variants) = variants {
        write_variants(out, variants, indent);
        write_indent(out, indent);
        out.push_str(",\n");
        return;
    }
    out.push(' ');
    write_type(out, schema, indent + PROPERTY_INDENT);
    out.push(',');
    if schema.notes.default.is_some() {
        out.push_str(" // ");
        write_default(out, schema);
    }
    out.push('\n');
}

fn write_tuple(out: &mut String, tuple: &Tuple<'_>, indent: usize) {
    let by_line = is_by_line(tuple);
    let Tuple { elements, required, rest } = tuple;
    out.push_str(if by_line { "[\n" } else { "[" });
    let elements = elements.iter().enumerate().map(|(index, element)| {
        let suffix = if index < *required { "" } else { "?" };
        ("", element, suffix)
    });
    let rest = rest.as_deref().map(|rest| ("...", rest, "[]"));
    for (index, (prefix, element, suffix)) in elements.chain(rest).enumerate() {
        if by_line {
            write_comments(out, element, indent, true);
            write_indent(out, indent);
        } else if index > 0 {
            out.push_str(", ");
        }
        out.push_str(prefix);
        if suffix.is_empty() {
            write_type(out, element, indent + PROPERTY_INDENT);
        } else {
            write_operand(out, element, indent + PROPERTY_INDENT);
        }
        out.push_str(suffix);
        out.push_str(if by_line { ",\n" } else { "" });
    }
    if by_line {
        write_indent(out, indent);
    }
    out.push(']');
}
