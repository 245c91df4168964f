//! The fields of a header, borrowed from a message of any kind.

use super::{Message, Role};

/// The fields of a message's header, as in [`Message`].
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "their names say it")]
pub struct HeaderFields<'a> {
    pub role: Role,
    pub name: Option<&'a str>,
    pub recipient: Option<&'a str>,
    pub channel: Option<&'a str>,
    pub content_type: Option<&'a str>,
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
