//! Messages to render, over strings that stay Python's.
//!
//! No text is copied before it is encoded. With what `source` saves, reading the models of 102
//! messages takes less than half of what copies and plain attribute reads take.

use std::collections::BTreeMap;
use std::slice;

use super::text::HeldText;
use crate::chat::{
    AsMessage, DeveloperContent, HeaderFields, Part, Role, SystemContent, ToolNamespaceConfig,
};

/// A message, as the model of that name has it.
///
/// It holds references to Python's objects, so it is best dropped with the interpreter attached.
pub(super) struct HeldMessage {
    pub(super) author: HeldAuthor,
    pub(super) recipient: Option<HeldText>,
    pub(super) content: Parts,
    pub(super) channel: Option<HeldText>,
    pub(super) content_type: Option<HeldText>,
}

/// The author of a message.
pub(super) struct HeldAuthor {
    pub(super) role: Role,
    pub(super) name: Option<HeldText>,
}

/// The parts of a message's content. Nearly all messages have one.
pub(super) enum Parts {
    One(HeldPart),
    Many(Vec<HeldPart>),
}

/// A part of a message's content.
pub(super) enum HeldPart {
    Text(HeldText),
    System(Box<SystemContent>),
    Developer(Box<DeveloperContent>),
    /// One that was dropped already.
    Dropped,
}

impl Parts {
    fn as_slice(&self) -> &[HeldPart] {
        match self {
            Self::One(part) => slice::from_ref(part),
            Self::Many(parts) => parts,
        }
    }

    fn as_mut_slice(&mut self) -> &mut [HeldPart] {
        match self {
            Self::One(part) => slice::from_mut(part),
            Self::Many(parts) => parts,
        }
    }
}

impl HeldMessage {
    /// About as many bytes as the content has.
    pub(super) fn size(&self) -> usize {
        self.content.as_slice().iter().map(HeldPart::size).sum()
    }

    /// Drops what is not Python's, for which the interpreter need not be attached.
    pub(super) fn drop_copies(&mut self) {
        for part in self.content.as_mut_slice() {
            if !matches!(part, HeldPart::Text(_)) {
                *part = HeldPart::Dropped;
            }
        }
    }
}

impl HeldPart {
    fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.size(),
            Self::System(content) => SYSTEM + tools_size(content.tools.as_ref()),
            Self::Developer(content) => {
                content.instructions.as_ref().map_or(0, String::len)
                    + tools_size(content.tools.as_ref())
                    + content.response_formats.len() * SCHEMA
            }
            Self::Dropped => 0,
        }
    }
}

/// About as many bytes as the text of a system message has without tools.
const SYSTEM: usize = 500;

/// About as many as a schema has.
const SCHEMA: usize = 500;

fn tools_size(tools: Option<&BTreeMap<String, ToolNamespaceConfig>>) -> usize {
    tools.into_iter().flat_map(BTreeMap::values).map(|each| each.tools.len() * SCHEMA).sum()
}

impl AsMessage for HeldMessage {
    fn header(&self) -> HeaderFields<'_> {
        HeaderFields {
            role: self.author.role,
            name: self.author.name.as_ref().map(HeldText::as_str),
            recipient: self.recipient.as_ref().map(HeldText::as_str),
            channel: self.channel.as_ref().map(HeldText::as_str),
            content_type: self.content_type.as_ref().map(HeldText::as_str),
        }
    }

    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        self.content.as_slice().iter().filter_map(|part| match part {
            HeldPart::Text(text) => Some(Part::Text(text.as_str())),
            HeldPart::System(content) => Some(Part::System(content)),
            HeldPart::Developer(content) => Some(Part::Developer(content)),
            HeldPart::Dropped => None,
        })
    }
}
