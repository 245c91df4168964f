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

/// The message that an object is, if it is of the usual kind.
#[inline]
pub(super) fn message(object: &Bound<'_, PyAny>, types: &Types) -> Option<HeldMessage> {
    // SAFETY, of each: as long as the fields are used no Python code runs. Addresses and types are
    // compared, and strings get a reference. What is no string may have code run for its error,
    // but then no field is used any more.
    let [author, content, channel, recipient, content_type] =
        unsafe { types.message.fields(object) }?;
    let [role, name] = unsafe { types.author.fields(&author) }?;
    let content = content.cast_exact::<PyList>().ok()?;
    if content.len() != 1 {
        return None;
    }
    let part = content.get_item(0).ok()?;
    let [text] = unsafe { types.text.fields(&part) }?;
    Some(HeldMessage {
        author: HeldAuthor { role: types.role_of(&role)?, name: optional_text(&name).ok()? },
        recipient: optional_text(&recipient).ok()?,
        content: Parts::One(HeldPart::Text(read::text(&text).ok()?)),
        channel: optional_text(&channel).ok()?,
        content_type: optional_text(&content_type).ok()?,
    })
}
