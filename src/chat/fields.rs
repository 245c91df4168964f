//! The fields of a header, borrowed from a message of any kind.

use super::{Message, Role};

/// The fields of a message's header, as in [`Message`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeaderFields<'a> {
    pub(crate) role: Role,
    pub(crate) name: Option<&'a str>,
    pub(crate) recipient: Option<&'a str>,
    pub(crate) channel: Option<&'a str>,
    pub(crate) content_type: Option<&'a str>,
}

impl Message {
    /// Its header's fields.
    pub(crate) fn header_fields(&self) -> HeaderFields<'_> {
        HeaderFields {
            role: self.author.role,
            name: self.author.name.as_deref(),
            recipient: self.recipient.as_deref(),
            channel: self.channel.as_deref(),
            content_type: self.content_type.as_deref(),
        }
    }
}
