//! What rendering reads of a message, whoever holds it.
//!
//! The renderer takes [`Message`]s and whatever else can show itself as one: the Python binding
//! shows Python's own strings, so that no text is copied before it is encoded.

use super::{Content, DeveloperContent, Message, Role, SystemContent};

/// A message to render.
pub(crate) trait AsMessage {
    /// What its header says.
    fn header(&self) -> HeaderFields<'_>;

    /// The parts of its content.
    fn parts(&self) -> impl Iterator<Item = Part<'_>>;

    /// Whether it comes from this role.
    fn is_from(&self, role: Role) -> bool {
        self.header().role == role
    }

    /// Whether it is on this channel.
    fn is_on(&self, channel: &str) -> bool {
        self.header().channel == Some(channel)
    }
}

/// The fields of a message's header, as in [`Message`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeaderFields<'a> {
    pub(crate) role: Role,
    pub(crate) name: Option<&'a str>,
    pub(crate) recipient: Option<&'a str>,
    pub(crate) channel: Option<&'a str>,
    pub(crate) content_type: Option<&'a str>,
}

/// One part of a message's content.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'a> {
    Text(&'a str),
    System(&'a SystemContent),
    Developer(&'a DeveloperContent),
}

impl AsMessage for Message {
    fn header(&self) -> HeaderFields<'_> {
        HeaderFields {
            role: self.author.role,
            name: self.author.name.as_deref(),
            recipient: self.recipient.as_deref(),
            channel: self.channel.as_deref(),
            content_type: self.content_type.as_deref(),
        }
    }

    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        self.content.iter().map(|content| match content {
            Content::Text(content) => Part::Text(&content.text),
            Content::SystemContent(content) => Part::System(content),
            Content::DeveloperContent(content) => Part::Developer(content),
        })
    }
}
