//! Messages to render, over strings borrowed from Python: no text is copied before it is encoded.

mod content;
mod owned;
mod tools;

pub(super) use self::content::{BorrowedDeveloper, BorrowedSystem};
pub(super) use self::tools::{BorrowedNamespace, BorrowedTool, BorrowedTools};
use super::text::BorrowedText;
use openai_harmony::chat::Role;
use openai_harmony::machinery::{AsMessage, ContentPart, HeaderFields};

/// A message: the fields of the model `Message`.
///
/// It holds references to Python objects, so drop it with the interpreter attached.
pub(super) struct BorrowedMessage {
    pub(super) author: BorrowedAuthor,
    pub(super) recipient: Option<BorrowedText>,
    pub(super) content: Vec<BorrowedPart>,
    pub(super) channel: Option<BorrowedText>,
    pub(super) content_type: Option<BorrowedText>,
}

/// The author of a message.
pub(super) struct BorrowedAuthor {
    pub(super) role: Role,
    pub(super) name: Option<BorrowedText>,
}

/// A part of a message's content.
pub(super) enum BorrowedPart {
    Text(BorrowedText),
    System(Box<BorrowedSystem>),
    Developer(Box<BorrowedDeveloper>),
}

impl BorrowedMessage {
    /// About as many bytes as the content has.
    pub(super) fn size(&self) -> usize {
        self.content.iter().map(BorrowedPart::size).sum()
    }
}

impl BorrowedPart {
    fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.as_str().len(),
            Self::System(content) => content.size(),
            Self::Developer(content) => content.size(),
        }
    }
}

impl AsMessage for BorrowedMessage {
    fn header(&self) -> HeaderFields<'_> {
        HeaderFields {
            role: self.author.role,
            name: self.author.name.as_ref().map(BorrowedText::as_str),
            recipient: self.recipient.as_ref().map(BorrowedText::as_str),
            channel: self.channel.as_ref().map(BorrowedText::as_str),
            content_type: self.content_type.as_ref().map(BorrowedText::as_str),
        }
    }

    fn parts(&self) -> impl Iterator<Item = ContentPart<'_>> {
        self.content.iter().map(|part| match part {
            BorrowedPart::Text(text) => ContentPart::Text(text.as_str()),
            BorrowedPart::System(content) => ContentPart::System((&**content).into()),
            BorrowedPart::Developer(content) => ContentPart::Developer((&**content).into()),
        })
    }
}
