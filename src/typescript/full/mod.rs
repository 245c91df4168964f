//! A typed [`Schema`] -> TypeScript.
//!
//! Laid out as 0.0.8 does where that is valid, since it is what the model has seen: one property
//! per line, four more spaces for each object within, a closing brace in line with its
//! properties. A comment stands above the line that it describes, or at its end if both are short;
//! the comments of what has no line of its own, as the items of a list, stand above the whole.

//!
//! A type is written without recursion, so that the stack of the calling thread sets no limit: what
//! is still to be written waits in a list of [`Step`]s.

mod comments;
mod lines;

pub(super) use self::comments::write_comments;
use self::comments::write_default;
use self::lines::{Lines, block_union, is_by_line, needs_lines, record};
use super::literal::{PROPERTY_INDENT, VARIANT_INDENT, write_json, write_property_name};
use super::schema::{ObjectType, Property, Schema, Shape, Tuple};
use super::sink::{Limited, TextSink};

/// Writes the parameter of a function, `_: {...}`; nothing if it takes no arguments.
pub(super) fn write_parameter(out: &mut Limited<'_>, schema: &Schema<'_>) {
    if matches!(&schema.shape, Shape::Object(ObjectType { fields, rest: None }) if fields.is_empty())
    {
        return;
    }
    out.push_str("_:");
    let mut writer = Writer { out, steps: Vec::new() };
    if let Some(variants) = block_union(schema) {
        writer.variants(variants, 0);
    } else {
        writer.then([Step::Text(" "), Step::Type(schema, 0)]);
    }
    writer.run();
}

/// What is still to be written.
#[derive(Clone, Copy)]
enum Step<'s, 'a> {
    Text(&'static str),
    Indent(usize),
    /// A type whose further lines are indented by that many spaces.
    Type(&'s Schema<'a>, usize),
    /// The same, in parentheses if `[]` or `&` after it would not mean all of it.
    Operand(&'s Schema<'a>, usize),
    Property(&'s Property<'a>, usize),
    /// The type of the keys that no field names.
    OtherKeys(&'s Schema<'a>, usize),
    /// A variant of a union, on a line of its own.
    Variant(&'s Schema<'a>, usize),
    Element(Element<'s, 'a>),
    /// The comments of a type after it; they are one line.
    CommentsBehind(&'s Schema<'a>),
    /// The default of a field after it, if there is one.
    DefaultBehind(&'s Schema<'a>),
}

/// An element of a tuple.
#[derive(Clone, Copy)]
struct Element<'s, 'a> {
    schema: &'s Schema<'a>,
    /// What stands before it: `...`, or a comma and a blank.
    prefix: &'static str,
    /// What stands after it: `?` or `[]`.
    suffix: &'static str,
    /// Whether it has a line of its own.
    by_line: bool,
    indent: usize,
}

struct Writer<'o, 't, 's, 'a> {
    out: &'o mut Limited<'t>,
    /// The next step is the last.
    steps: Vec<Step<'s, 'a>>,
}

impl<'s, 'a> Writer<'_, '_, 's, 'a> {
    fn run(&mut self) {
        while let Some(step) = self.steps.pop() {
            if self.out.is_over() {
                return;
            }
            self.step(step);
        }
    }

    /// Has these steps done next, in their order.
    fn then(
        &mut self,
        steps: impl IntoIterator<Item = Step<'s, 'a>, IntoIter: DoubleEndedIterator>,
    ) {
        self.steps.extend(steps.into_iter().rev());
    }

    fn step(&mut self, step: Step<'s, 'a>) {
        match step {
            Step::Text(text) => self.out.push_str(text),
            Step::Indent(indent) => self.out.push_indent(indent),
            Step::Type(schema, indent) => self.type_(schema, indent),
            Step::Operand(schema, indent) => self.operand(schema, indent),
            Step::Property(field, indent) => self.field(field, indent),
            Step::OtherKeys(schema, indent) => {
                self.member(schema, indent, |out| out.push_str("[key: string]:"));
            }
            Step::Variant(schema, indent) => self.variant(schema, indent),
            Step::Element(element) => self.element(element),
            Step::CommentsBehind(schema) => {
                let mut comments = String::new();
                write_comments(&mut comments, schema, 0, true);
                self.out.push_all(&[" ", comments.trim()]);
            }
            Step::DefaultBehind(schema) if schema.notes.default.is_some() => {
                self.out.push_str(" // ");
                write_default(self.out, schema);
            }
            Step::DefaultBehind(_) => {}
        }
    }

    fn type_(&mut self, schema: &'s Schema<'a>, indent: usize) {
        match &schema.shape {
            Shape::Named(name) => self.out.push_str(name),
            Shape::Literal(value) => write_json(self.out, *value),
            Shape::Array(items) => self.then([Step::Operand(items, indent), Step::Text("[]")]),
            Shape::Tuple(tuple) => self.tuple(tuple, indent),
            Shape::Object(object) => self.object(object, indent),
            Shape::Union(variants) if block_union(schema).is_some() => {
                self.out.push_str("(");
                self.then([Step::Indent(indent), Step::Text(")")]);
                self.variants(variants, indent);
            }
            Shape::Union(variants) => {
                let bar = |index| Step::Text(if index == 0 { "" } else { " | " });
                let variants = variants.iter().enumerate();
                self.then(variants.flat_map(|(at, part)| [bar(at), Step::Type(part, indent)]));
            }
            Shape::Intersection(members) => {
                let and = |index| Step::Text(if index == 0 { "" } else { " & " });
                let members = members.iter().enumerate();
                self.then(members.flat_map(|(at, part)| [and(at), Step::Operand(part, indent)]));
            }
        }
    }

    fn operand(&mut self, schema: &'s Schema<'a>, indent: usize) {
        let is_open = match &schema.shape {
            Shape::Union(_) => block_union(schema).is_none(),
            Shape::Intersection(_) => true,
            Shape::Literal(value) => value.is_number(),
            _ => false,
        };
        if is_open {
            self.then([Step::Text("("), Step::Type(schema, indent), Step::Text(")")]);
        } else {
            self.type_(schema, indent);
        }
    }

    /// Each variant on a line of its own, and the line end after the last.
    fn variants(&mut self, variants: &'s [Schema<'a>], indent: usize) {
        self.then(variants.iter().map(|variant| Step::Variant(variant, indent)));
        self.then([Step::Text("\n")]);
    }

    fn variant(&mut self, schema: &'s Schema<'a>, indent: usize) {
        let mut comments = Lines(0);
        write_comments(&mut comments, schema, 0, true);
        let fits_behind = comments.0 == 1 && !needs_lines(schema);
        if !fits_behind {
            write_comments(self.out, schema, indent + 1, true);
        }
        self.out.push_indent(indent);
        self.out.push_str(" | ");
        let behind = fits_behind.then_some(Step::CommentsBehind(schema));
        self.then(
            [Step::Type(schema, indent + VARIANT_INDENT)]
                .into_iter()
                .chain(behind)
                .chain([Step::Text("\n")]),
        );
    }

    fn object(&mut self, object: &'s ObjectType<'a>, indent: usize) {
        if let Some(values) = record(object) {
            self.out.push_str("Record<string, ");
            self.then([Step::Type(values, indent), Step::Text(">")]);
            return;
        }
        self.out.push_str("{\n");
        self.then([Step::Indent(indent), Step::Text("}")]);
        self.then(object.rest.as_deref().map(|rest| Step::OtherKeys(rest, indent)));
        self.then(object.fields.iter().map(|field| Step::Property(field, indent)));
    }

    fn field(&mut self, field: &'s Property<'a>, indent: usize) {
        self.member(&field.schema, indent, |out| {
            write_property_name(out, field.name);
            out.push_str(if field.required { ":" } else { "?:" });
        });
    }

    /// A member of an object: comments, key, type and default.
    fn member(
        &mut self,
        schema: &'s Schema<'a>,
        indent: usize,
        write_key: impl FnOnce(&mut Limited<'_>),
    ) {
        let variants = block_union(schema);
        write_comments(self.out, schema, indent, variants.is_some());
        self.out.push_indent(indent);
        write_key(self.out);
        if let Some(variants) = variants {
            self.then([Step::Indent(indent), Step::Text(",\n")]);
            self.variants(variants, indent);
            return;
        }
        self.out.push_str(" ");
        self.then([
            Step::Type(schema, indent + PROPERTY_INDENT),
            Step::Text(","),
            Step::DefaultBehind(schema),
            Step::Text("\n"),
        ]);
    }

    fn tuple(&mut self, tuple: &'s Tuple<'a>, indent: usize) {
        let by_line = is_by_line(tuple);
        self.out.push_str(if by_line { "[\n" } else { "[" });
        self.then([Step::Indent(if by_line { indent } else { 0 }), Step::Text("]")]);
        let elements = tuple.elements.iter().enumerate().map(|(index, schema)| {
            let suffix = if index < tuple.required { "" } else { "?" };
            Element { schema, prefix: "", suffix, by_line, indent }
        });
        let rest = tuple.rest.as_deref().map(|schema| Element {
            schema,
            prefix: "...",
            suffix: "[]",
            by_line,
            indent,
        });
        let comma = |index| Step::Text(if by_line || index == 0 { "" } else { ", " });
        let elements: Vec<_> = elements.chain(rest).map(Step::Element).collect();
        let elements = elements.into_iter().enumerate();
        self.then(elements.flat_map(|(index, element)| [comma(index), element]));
    }

    fn element(&mut self, element: Element<'s, 'a>) {
        let Element { schema, prefix, suffix, by_line, indent } = element;
        if by_line {
            write_comments(self.out, schema, indent, true);
            self.out.push_indent(indent);
        }
        self.out.push_str(prefix);
        let inner = indent + PROPERTY_INDENT;
        let type_ = if suffix.is_empty() {
            Step::Type(schema, inner)
        } else {
            Step::Operand(schema, inner)
        };
        self.then([type_, Step::Text(suffix), Step::Text(if by_line { ",\n" } else { "" })]);
    }
}
