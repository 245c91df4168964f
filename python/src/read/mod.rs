//! Python's models to what the renderer takes.
//!
//! Any object with the models' attributes works: models, their subclasses and similar classes; an
//! object's own `to_json` or `to_dict` takes precedence. An error names the path of the culprit,
//! `messages[3].content[0].text`.

mod content;
mod own_json;
mod tools;
pub(super) mod values;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use self::content::contents;
pub(super) use self::content::reasoning_effort;
use self::own_json::{FORMS, Form, via_own_json};
use self::values::{each, optional_text};
use super::attributes::{Attributes, fields};
use super::borrowed::{BorrowedAuthor, BorrowedMessage};
use super::errors::{InvalidArgument, Read};
use super::text::utf8;
use super::types::{Models, Types};
use openai_harmony::chat::{Author, Role};

/// The messages of a conversation.
pub(super) fn conversation(object: &Bound<'_, PyAny>) -> Read<Vec<BorrowedMessage>> {
    let models = Models::get(object.py())?;
    if let Some(own) = via_own_json(object, models.conversation.bind(object.py()), &FORMS)? {
        return conversation(&own);
    }
    let attributes = Attributes::new(object, &models.conversation, "a Conversation");
    attributes.field(intern!(object.py(), "messages"), |messages| {
        // A conversation's own form is made from its messages' `to_dict`.
        each(messages, |object| message(object, models, &FORMS[1..]))
    })
}

/// A message by itself.
pub(super) fn single_message(object: &Bound<'_, PyAny>) -> Read<BorrowedMessage> {
    message(object, Models::get(object.py())?, &FORMS)
}

fn message(object: &Bound<'_, PyAny>, models: &Models, forms: &[Form]) -> Read<BorrowedMessage> {
    if let Some(own) = via_own_json(object, models.message.class.bind(object.py()), forms)? {
        return message(&own, models, forms);
    }
    Ok(fields!(
        Attributes::new(object, &models.message.class, "a Message"),
        BorrowedMessage {
            author: |object| author(object, models),
            recipient: optional_text,
            content: |object| contents(object, models),
            channel: optional_text,
            content_type: optional_text,
        }
    ))
}

fn author(object: &Bound<'_, PyAny>, models: &Models) -> Read<BorrowedAuthor> {
    Ok(fields!(
        Attributes::new(object, &models.author.class, "an Author"),
        BorrowedAuthor { role: role, name: optional_text }
    ))
}

/// An author by itself.
pub(super) fn single_author(object: &Bound<'_, PyAny>) -> Read<Author> {
    let author = author(object, Models::get(object.py())?)?;
    Ok(Author { role: author.role, name: author.name.map(|name| name.as_str().to_owned()) })
}

/// A role: a member of `Role`, or its word.
pub(super) fn role(object: &Bound<'_, PyAny>) -> Read<Role> {
    if let Some(role) = Types::get(object.py())?.role_of(object) {
        return Ok(role);
    }
    let Ok(word) = object.cast::<PyString>() else {
        return Err(InvalidArgument::type_of(object, "a Role"));
    };
    utf8(word)?.parse::<Role>().map_err(|error| {
        let roles = Role::ALL.map(|role| role.as_str()).join(", ");
        InvalidArgument::value(format_args!("{error} (known: {roles})"))
    })
}
