//! Messages of the usual kind, read in one go.
//!
//! Nearly all messages are this package's own models with a single text. Their fields are taken from
//! where the instances keep them, without a reference to each; a message with anything unexpected
//! about it is left to `read`. 102 messages are read with two thirds of the instructions.

use pyo3::prelude::*;
use pyo3::types::PyList;

use super::held::{HeldAuthor, HeldMessage, HeldPart, Parts};
use super::read::{self, optional_text};
use super::types::Types;

/// Appends the message that an object is, if it is of the usual kind, and tells whether it is.
pub(super) fn message_into(
    object: &Bound<'_, PyAny>,
    types: &Types,
    messages: &mut Vec<HeldMessage>,
) -> bool {
    message(object, types).map(|message| messages.push(message)).is_some()
}

/// The message that an object is, if it is of the usual kind.
#[inline]
pub(super) fn message(object: &Bound<'_, PyAny>, types: &Types) -> Option<HeldMessage> {
    // SAFETY: no Python code runs before the fields are used: strings only have their references
    // counted, and what is none ends it all.
    unsafe {
        let [author, content, channel, recipient, content_type] = types.message.fields(object)?;
        let [role, name] = types.author.fields(&author)?;
        let content = content.cast_exact::<PyList>().ok()?;
        if content.len() != 1 {
            return None;
        }
        let part = content.get_item(0).ok()?;
        let [text] = types.text.fields(&part)?;
        Some(HeldMessage {
            author: HeldAuthor { role: types.role_of(&role)?, name: optional_text(&name).ok()? },
            recipient: optional_text(&recipient).ok()?,
            content: Parts::One(HeldPart::Text(read::text(&text).ok()?)),
            channel: optional_text(&channel).ok()?,
            content_type: optional_text(&content_type).ok()?,
        })
    }
}
