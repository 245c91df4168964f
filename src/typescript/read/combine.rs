//! Several demands on one value -> one type.

use std::collections::HashMap;
use std::mem;

use super::super::schema::{Field, Notes, Object, Schema, Shape};

/// The type that meets a schema's `own` demand and all `others`, with everything said of them.
///
/// Objects become one object. A demand that only names what another tells in detail, as in
/// `{"type": "object", "$ref": ...}`, is left out.
pub(super) fn combine<'a>(own: Option<Schema<'a>>, others: Vec<Schema<'a>>) -> Schema<'a> {
    let is_told_by_others = others.iter().any(|other| !other.is_any());
    let own = own.filter(|own| !(own.shape.is_plain() && is_told_by_others));
    let mut notes = Notes::default();
    let mut objects = Vec::new();
    let mut shapes = Vec::new();
    for mut demand in own.into_iter().chain(others) {
        notes.add(mem::take(&mut demand.notes));
        match demand.shape {
            Shape::Named("any") => {}
            Shape::Object(object) => objects.push(object),
            shape if shapes.last() == Some(&shape) => {}
            shape => shapes.push(shape),
        }
    }
    if !objects.is_empty() {
        shapes.insert(0, Shape::Object(merge(objects)));
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
fn merge(mut objects: Vec<Object<'_>>) -> Object<'_> {
    if objects.len() > 1 {
        // `{"type": "object"}` beside an object with fields adds nothing to it.
        let is_told = objects.iter().any(|object| !object.fields.is_empty());
        objects.retain(|object| !(is_told && object.is_any()));
    }
    let mut rests = Vec::new();
    let mut fields: Vec<Demanded<'_>> = Vec::new();
    let mut places = HashMap::new();
    for object in objects {
        rests.extend(object.rest.map(|rest| *rest));
        for Field { name, required, schema } in object.fields {
            let place = *places.entry(name).or_insert(fields.len());
            if place == fields.len() {
                fields.push(Demanded { name, required, schemas: vec![schema] });
            } else {
                fields[place].required |= required;
                fields[place].schemas.push(schema);
            }
        }
    }
    let rest = (!rests.is_empty()).then(|| Box::new(combine_all(rests)));
    Object { fields: fields.into_iter().map(Demanded::into_field).collect(), rest }
}

/// A field of which several objects speak. They are combined at once, not one by one: the type
/// would become as deep as there are objects.
struct Demanded<'a> {
    name: &'a str,
    required: bool,
    schemas: Vec<Schema<'a>>,
}

impl<'a> Demanded<'a> {
    fn into_field(self) -> Field<'a> {
        let Self { name, required, schemas } = self;
        Field { name, required, schema: combine_all(schemas) }
    }
}

fn combine_all(mut schemas: Vec<Schema<'_>>) -> Schema<'_> {
    if schemas.len() == 1 { schemas.remove(0) } else { combine(None, schemas) }
}
