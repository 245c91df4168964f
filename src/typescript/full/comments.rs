//! The comments of a type: the lines above it, and its default.

use serde_json::Value;

use super::super::comment::write_comment;
use super::super::escape::escaped;
use super::super::literal::write_json;
use super::super::schema::{Limit, Notes, Schema, Shape};
use super::super::sink::TextSink;

/// Writes the comments of `schema` above the line on which it begins, each line
/// indented by `indent` spaces; its default only if `with_default`.
pub(in crate::typescript) fn write_comments(
    out: &mut impl TextSink,
    mut schema: &Schema<'_>,
    indent: usize,
    mut with_default: bool,
) {
    loop {
        write_notes(out, &schema.notes, indent);
        if with_default && schema.notes.default.is_some() {
            out.push_indent(indent);
            out.push_str("// ");
            write_default(out, schema);
            out.push_str("\n");
        }
        match &schema.shape {
            Shape::Array(items) if has_comments(items) => schema = items,
            _ => return,
        }
        write_comment(out, "Items:", indent);
        with_default = true;
    }
}

/// Whether [`write_comments`] would write anything.
pub(super) fn has_comments(mut schema: &Schema<'_>) -> bool {
    loop {
        match &schema.shape {
            _ if !schema.notes.are_silent() => return true,
            Shape::Array(items) => schema = items,
            _ => return false,
        }
    }
}

fn write_notes(out: &mut impl TextSink, notes: &Notes<'_>, indent: usize) {
    if let Some(title) = notes.title {
        write_comment(out, title, indent);
        if !notes.descriptions.is_empty() {
            out.push_indent(indent);
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
        out.push_indent(indent);
        out.push_str("// - ");
        write_json(out, example);
        out.push_str("\n");
    }
    write_limits(out, &notes.limits, indent);
    for remark in &notes.remarks {
        write_comment(out, remark, indent);
    }
}

fn write_limits(out: &mut impl TextSink, limits: &[Limit<'_>], indent: usize) {
    for (index, limit) in limits.iter().enumerate() {
        if index == 0 {
            out.push_indent(indent);
        }
        out.push_str(if index == 0 { "// " } else { ", " });
        match limit {
            Limit::Flag(keyword) => out.push_str(keyword),
            Limit::Keyword(keyword, value) => {
                out.push_all(&[keyword, ": "]);
                write_limit_value(out, value);
            }
        }
    }
    if !limits.is_empty() {
        out.push_str("\n");
    }
}

/// A word such as `date-time` is written without quotes, a pattern with them.
fn write_limit_value(out: &mut impl TextSink, value: &Value) {
    match value.as_str() {
        Some(word) if word.chars().all(|c| c.is_ascii_alphanumeric() || "-/+.".contains(c)) => {
            out.push_str(word);
        }
        _ => write_json(out, value),
    }
}

/// Writes `default: celsius` if the type lists the values, else the default as JSON.
pub(super) fn write_default(out: &mut impl TextSink, schema: &Schema<'_>) {
    let Some(default) = schema.notes.default else { return };
    out.push_str("default: ");
    match default.as_str() {
        Some(text) if lists_values(schema) && escaped(text, |char| char == '\t') == text => {
            out.push_str(text);
        }
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
