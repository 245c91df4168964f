//! Messages, their authors and roles.

use std::fmt;

use serde::de::{self, SeqAccess, Visitor, value::SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::content::{Content, TextContent};
use crate::error::{Error, ErrorKind};

/// Who a message comes from (guide, section "Roles").
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person, or another source of input for the model.
    User,
    /// The model.
    Assistant,
    /// Identity, dates, reasoning effort, valid channels and built-in tools.
    System,
    /// Instructions and function tools: what other formats call the system prompt.
    Developer,
    /// The output of a tool; the header has the tool's name instead of a role.
    Tool,
}

impl Role {
    /// All roles, in the order of the enumeration.
    pub const ALL: [Self; 5] =
        [Self::User, Self::Assistant, Self::System, Self::Developer, Self::Tool];

    /// The role's word in a message header.
    ///
    /// ```
    /// # use openai_harmony::chat::Role;
    /// assert_eq!(Role::Developer.as_str(), "developer");
    /// ```
    pub fn as_str(&self) -> &'static str {
        self.into()
    }
}

impl TryFrom<&str> for Role {
    type Error = &'static str;

    /// Reads a role's word, with 0.0.8's error; [`str::parse`] has one that names the word.
    fn try_from(word: &str) -> Result<Self, &'static str> {
        Self::ALL.into_iter().find(|role| role.as_str() == word).ok_or("Unknown role")
    }
}

impl std::str::FromStr for Role {
    type Err = Error;

    /// Reads a role's word; anything else is [`ErrorKind::UnknownRole`].
    fn from_str(word: &str) -> Result<Self, Error> {
        Self::try_from(word).map_err(|_| ErrorKind::UnknownRole { role: word.to_owned() }.into())
    }
}

/// The role of a message and, where there is one, the author's name.
///
/// A header has a tool's name instead of its role, so a tool message cannot be rendered without a
/// name. Any other name follows its role after a colon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// Who the message comes from.
    pub role: Role,
    /// The author's name; for a tool, the name of what was called: `functions.get_current_weather`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Author {
    /// An author with a name.
    pub fn new(role: Role, name: impl Into<String>) -> Self {
        Self { role, name: Some(name.into()) }
    }
}

impl From<Role> for Author {
    fn from(role: Role) -> Self {
        Self { role, name: None }
    }
}

/// One message of a conversation (guide, section "Message format").
///
/// In JSON the author's fields are fields of the message, missing fields are left out, and a
/// content that is a single text is a plain string.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Role and name.
    #[serde(flatten)]
    pub author: Author,
    /// To whom the message is sent: the tool for a call, `assistant` for a tool's result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    /// The parts of the content, rendered one after the other with nothing between.
    #[serde(serialize_with = "write_contents", deserialize_with = "read_contents")]
    pub content: Vec<Content>,
    /// `analysis`, `commentary` or `final` (guide, section "Channels").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// What the content is, `<|constrain|>json` for a tool call's arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
}

impl Message {
    /// A message with one content part.
    pub fn from_author_and_content<C: Into<Content>>(author: Author, content: C) -> Self {
        Self { author, ..Self::from_role_and_contents(Role::User, [content.into()]) }
    }

    /// A message of an author without a name.
    ///
    /// ```
    /// # use openai_harmony::chat::{Message, Role};
    /// let question = Message::from_role_and_content(Role::User, "What is 2 + 2?");
    /// assert_eq!(question.author.role, Role::User);
    /// ```
    pub fn from_role_and_content<C: Into<Content>>(role: Role, content: C) -> Self {
        Self::from_author_and_content(role.into(), content)
    }

    /// A message with any number of content parts.
    pub fn from_role_and_contents(role: Role, contents: impl IntoIterator<Item = Content>) -> Self {
        let (author, content) = (role.into(), contents.into_iter().collect());
        Self { author, recipient: None, content, channel: None, content_type: None }
    }

    /// The message with one more content part at its end.
    #[must_use]
    pub fn adding_content<C: Into<Content>>(mut self, content: C) -> Self {
        self.content.push(content.into());
        self
    }

    /// The message on a channel.
    #[must_use]
    pub fn with_channel<S: Into<String>>(mut self, channel: S) -> Self {
        self.channel = Some(channel.into());
        self
    }

    /// The message sent to a recipient.
    #[must_use]
    pub fn with_recipient<S: Into<String>>(mut self, recipient: S) -> Self {
        self.recipient = Some(recipient.into());
        self
    }

    /// The message with a content type.
    #[must_use]
    pub fn with_content_type<S: Into<String>>(mut self, content_type: S) -> Self {
        self.content_type = Some(content_type.into());
        self
    }
}

fn write_contents<S: Serializer>(contents: &[Content], serializer: S) -> Result<S::Ok, S::Error> {
    match contents {
        [Content::Text(single)] => single.text.serialize(serializer),
        several => several.serialize(serializer),
    }
}

fn read_contents<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Content>, D::Error> {
    deserializer.deserialize_any(ContentsVisitor)
}

/// Not an untagged enum: its errors do not name what is wrong.
struct ContentsVisitor;

impl<'de> Visitor<'de> for ContentsVisitor {
    type Value = Vec<Content>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of parts")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<Content>, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Vec<Content>, E> {
        Ok(vec![Content::Text(TextContent { text })])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<Vec<Content>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(parts))
    }
}
