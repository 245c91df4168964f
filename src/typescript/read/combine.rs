//! Several demands on one value -> one type.

use std::collections::HashMap;
use std::mem;

use super::super::schema::{Notes, ObjectType, Property, Schema, Shape};

/// The type that meets a schema's `own` demand and all `others`, with all their notes.
///
/// Objects become one object. A demand that only names a type that another one describes in detail, as in `{"type":
/// "object", "$ref": ...}`, is dropped.
pub(super) fn combine<'a>(own: Option<Schema<'a>>, others: Vec<Schema<'a>>) -> Schema<'a> {
    let others_say_more = others.iter().any(|other| !other.is_any());
    let own = own.filter(|own| !(own.shape.is_plain() && others_say_more));
    all_of(own.into_iter().chain(others), MERGED_LEVELS)
}

/// How many levels of objects within objects are merged. Deeper ones are joined by `&`, which means the same and needs
/// no recursion.
const MERGED_LEVELS: usize = 16;

fn all_of<'a>(demands: impl IntoIterator<Item = Schema<'a>>, levels: usize) -> Schema<'a> {
    let mut notes = Notes::default();
    let mut objects = Vec::new();
    let mut shapes = Vec::new();
    for mut demand in demands {
        notes.add(mem::take(&mut demand.notes));
        match demand.shape {
            Shape::Named("any") => {}
            Shape::Object(object) if levels > 0 => objects.push(object),
            shape if shapes.last() == Some(&shape) => {}
            shape => shapes.push(shape),
        }
    }
    if !objects.is_empty() {
        shapes.insert(0, Shape::Object(merge(objects, levels - 1)));
    }
    if shapes.iter().any(|shape| !shape.is_plain()) {
        shapes.retain(|shape| !shape.is_plain());
    }
    let shape = match shapes.len() {
        0 => Shape::Named("any"),
        1 => shapes.remove(0),
        _ => Shape::Intersection(shapes.into_iter().map(Schema::from).collect()),
    };
    Schema { shape, notes }
}

/// One object with the fields of all, in the order in which they first appear.
fn merge(mut objects: Vec<ObjectType<'_>>, levels: usize) -> ObjectType<'_> {
    // `{"type": "object"}` next to an object with fields adds nothing to it.
    let has_fields = objects.iter().any(|object| !object.fields.is_empty());
    objects.retain(|object| !(has_fields && object.is_any()));
    let mut rests = Vec::new();
    let mut fields: Vec<Demanded<'_>> = Vec::new();
    let mut places = HashMap::new();
    for object in objects {
        rests.extend(object.rest.map(|rest| *rest));
        for Property { name, required, schema } in object.fields {
            let place = *places.entry(name).or_insert(fields.len());
            if place == fields.len() {
                fields.push(Demanded { name, required, schemas: vec![schema] });
            } else {
                fields[place].required |= required;
                fields[place].schemas.push(schema);
            }
        }
    }
    let rest = (!rests.is_empty()).then(|| Box::new(only_or_all_of(rests, levels)));
    let fields = fields.into_iter().map(|Demanded { name, required, schemas }| Property {
        name,
        required,
        schema: only_or_all_of(schemas, levels),
    });
    ObjectType { fields: fields.collect(), rest }
}

/// A field that several objects have. Its schemas are combined at once, not one by one: the type
/// would become as deep as there are objects.
struct Demanded<'a> {
    name: &'a str,
    required: bool,
    schemas: Vec<Schema<'a>>,
}

fn only_or_all_of(mut schemas: Vec<Schema<'_>>, levels: usize) -> Schema<'_> {
    if schemas.len() == 1 { schemas.remove(0) } else { all_of(schemas, levels) }
}
