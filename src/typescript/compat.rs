//! A schema as `openai-harmony` 0.0.8 writes it.
//!
//! The model reads these bytes, so 0.0.8's oddities are kept: a schema without `oneOf` and `type` is `any`, an object's
//! description is written a second time before its brace, and line ends and quotes inside texts are not escaped.
//! Verified by golden cases that 0.0.8 itself has written (`tests/golden/typescript/compat`).

use super::literal::{PROPERTY_INDENT, VARIANT_INDENT, write_json_as_is};
use super::sink::TextSink as _;
use crate::json::{Array, At, Object};

/// The keywords that 0.0.8 reads, found in one pass: a tape cannot be searched by key.
#[derive(Default)]
struct Keywords<'a> {
    /// Whether it is there, perhaps not as a list.
    has_one_of: bool,
    one_of: Option<Array<'a>>,
    type_: Option<At<'a>>,
    properties: Option<Object<'a>>,
    required: Option<Array<'a>>,
    items: Option<At<'a>>,
    enum_: Option<Array<'a>>,
    nullable: bool,
    title: Option<&'a str>,
    description: Option<&'a str>,
    examples: Option<Array<'a>>,
    default: Option<At<'a>>,
}

impl<'a> Keywords<'a> {
    /// The keywords of `schema`; none if it is not an object.
    fn of(schema: At<'a>) -> Self {
        let mut keywords = Self::default();
        for (keyword, value) in schema.as_object().into_iter().flat_map(Object::iter) {
            match keyword {
                "oneOf" => (keywords.has_one_of, keywords.one_of) = (true, value.as_array()),
                "type" => keywords.type_ = Some(value),
                "properties" => keywords.properties = value.as_object(),
                "required" => keywords.required = value.as_array(),
                "items" => keywords.items = Some(value),
                "enum" => keywords.enum_ = value.as_array(),
                "nullable" => keywords.nullable = value.as_bool() == Some(true),
                "title" => keywords.title = value.as_str(),
                "description" => keywords.description = value.as_str(),
                "examples" => keywords.examples = value.as_array(),
                "default" => keywords.default = Some(value),
                _ => {}
            }
        }
        keywords
    }
}

/// Writes the type that `schema` describes, its further lines indented by `indent` spaces.
pub(super) fn write_type(out: &mut String, schema: At<'_>, indent: usize) {
    write_type_of(out, &Keywords::of(schema), indent);
}

fn write_type_of(out: &mut String, keywords: &Keywords<'_>, indent: usize) {
    if let Some(variants) = keywords.one_of {
        write_variants(out, variants, indent, None);
        return;
    }
    let type_ = keywords.type_;
    if let Some(name) = type_.and_then(At::as_str) {
        write_named_type(out, name, keywords, indent);
    } else if let Some(names) = type_.and_then(At::as_array) {
        write_type_list(out, names);
    } else {
        out.push_str("any");
    }
}

fn write_named_type(out: &mut String, name: &str, keywords: &Keywords<'_>, indent: usize) {
    match name {
        "object" => write_object(out, keywords, indent),
        "array" => write_array(out, keywords.items, indent),
        "string" => write_string(out, keywords.enum_.unwrap_or_default()),
        "number" | "integer" => out.push_str("number"),
        "boolean" => out.push_str("boolean"),
        _ => out.push_str("any"),
    }
}

fn write_type_list(out: &mut String, names: Array<'_>) {
    let names = names.iter().filter_map(At::as_str);
    let names = names.map(|name| if name == "integer" { "number" } else { name });
    if !write_joined(out, names, "") {
        out.push_str("any");
    }
}

fn write_string(out: &mut String, values: Array<'_>) {
    if !write_joined(out, values.iter().filter_map(At::as_str), "\"") {
        out.push_str("string");
    }
}

/// Writes the words in quotes, separated by bars; `false` if there were none.
fn write_joined<'a>(
    out: &mut String,
    words: impl Iterator<Item = &'a str>,
    quote: &'static str,
) -> bool {
    let mut any = false;
    for word in words {
        out.extend([if any { " | " } else { "" }, quote, word, quote]);
        any = true;
    }
    any
}

fn write_array(out: &mut String, items: Option<At<'_>>, indent: usize) {
    match items {
        Some(items) => {
            write_type(out, items, indent);
            out.push_str("[]");
        }
        None => out.push_str("Array<any>"),
    }
}

fn write_object(out: &mut String, keywords: &Keywords<'_>, indent: usize) {
    if let Some(description) = keywords.description {
        write_line(out, indent, &["// ", description]);
    }
    out.push_str("{\n");
    let required = keywords.required.unwrap_or_default();
    let mut required: Vec<_> = required.iter().filter_map(At::as_str).collect();
    required.sort_unstable();
    for (name, schema) in keywords.properties.into_iter().flat_map(Object::iter) {
        write_property(out, name, schema, required.binary_search(&name).is_ok(), indent);
    }
    out.push_indent(indent);
    out.push('}');
}

fn write_property(out: &mut String, name: &str, schema: At<'_>, required: bool, indent: usize) {
    let keywords = Keywords::of(schema);
    write_property_comments(out, &keywords, indent);
    out.push_indent(indent);
    out.push_str(name);
    out.push_str(if required { ":" } else { "?:" });
    if let Some(variants) = keywords.one_of {
        write_variants(out, variants, indent, Some(&keywords));
        out.push('\n');
        write_line(out, indent, &[","]);
        return;
    }
    out.push(' ');
    write_nullable_type(out, &keywords, indent + PROPERTY_INDENT);
    out.push(',');
    if keywords.default.is_some() && !keywords.has_one_of {
        out.push_str(" // ");
        write_default(out, &keywords, EnumDefault::Bare);
    }
    out.push('\n');
}

/// The lines above a property. With `oneOf`, the description, unless it is also the first
/// variant's, and the default come last; with a `oneOf` that is not a list, both are lost.
fn write_property_comments(out: &mut String, keywords: &Keywords<'_>, indent: usize) {
    if let Some(title) = keywords.title {
        write_line(out, indent, &["// ", title]);
        write_line(out, indent, &["//"]);
    }
    if let Some(description) = keywords.description.filter(|_| !keywords.has_one_of) {
        write_line(out, indent, &["// ", description]);
    }
    if let Some(examples) = keywords.examples.filter(|examples| !examples.is_empty()) {
        write_line(out, indent, &["// Examples:"]);
        for example in examples.iter().filter_map(At::as_str) {
            write_line(out, indent, &["// - \"", example, "\""]);
        }
    }
    let Some(variants) = keywords.one_of else { return };
    let first = variants.iter().next().and_then(|first| Keywords::of(first).description);
    if let Some(description) = keywords.description.filter(|_| first != keywords.description) {
        write_line(out, indent, &["// ", description]);
    }
    if keywords.default.is_some() {
        out.push_indent(indent);
        out.push_str("// ");
        write_default(out, keywords, EnumDefault::Bare);
        out.push('\n');
    }
}

/// Writes each variant of a `oneOf` on a line of its own, with its comment after it. If it belongs to a property with a
/// description, the first variant's description is lost, and so is any that equals the property's.
fn write_variants(
    out: &mut String,
    variants: Array<'_>,
    indent: usize,
    property: Option<&Keywords<'_>>,
) {
    let above = property.and_then(|keywords| keywords.description);
    let enum_default = if property.is_some() { EnumDefault::Bare } else { EnumDefault::Json };
    for (index, variant) in variants.iter().enumerate() {
        let keywords = Keywords::of(variant);
        out.push('\n');
        out.push_indent(indent);
        out.push_str(" | ");
        write_nullable_type(out, &keywords, indent + VARIANT_INDENT);
        let lost = above.is_some() && (index == 0 || keywords.description == above);
        let description = keywords.description.filter(|_| !lost);
        if description.is_some() || keywords.default.is_some() {
            out.push_str(" //");
        }
        if let Some(description) = description {
            out.extend([" ", description]);
        }
        if keywords.default.is_some() {
            out.push(' ');
            write_default(out, &keywords, enum_default);
        }
    }
}

/// Writes the type, and ` | null` unless its text already contains `null`.
fn write_nullable_type(out: &mut String, keywords: &Keywords<'_>, indent: usize) {
    let start = out.len();
    write_type_of(out, keywords, indent);
    if keywords.nullable && !out[start..].contains("null") {
        out.push_str(" | null");
    }
}

/// How to write a text default of a schema that lists its values. Any other text is written unchanged, in quotes.
#[derive(Clone, Copy)]
enum EnumDefault {
    /// As it is, without quotes, as in the guide's `// default: celsius`: at a property.
    Bare,
    /// As JSON: everywhere else.
    Json,
}

fn write_default(out: &mut String, keywords: &Keywords<'_>, enum_default: EnumDefault) {
    let Some(default) = keywords.default else { return };
    out.push_str("default: ");
    let has_enum = keywords.enum_.is_some_and(|values| !values.is_empty());
    match (default.as_str(), enum_default) {
        (Some(text), _) if !has_enum => out.extend(["\"", text, "\""]),
        (Some(text), EnumDefault::Bare) => out.push_str(text),
        _ => write_json_as_is(out, &default),
    }
}

fn write_line(out: &mut String, indent: usize, parts: &[&str]) {
    out.push_indent(indent);
    out.extend(parts.iter().copied());
    out.push('\n');
}
