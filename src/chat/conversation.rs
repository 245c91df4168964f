//! The conversation: messages in order.

use serde::{Deserialize, Serialize};

use super::message::Message;

/// Messages in their order.
///
/// ```
/// # use openai_harmony::chat::{Conversation, Message, Role};
/// let text = r#"{"messages":[{"role":"user","content":"What is 2 + 2?"}]}"#;
/// let conversation: Conversation = serde_json::from_str(text).unwrap();
/// assert_eq!(
///     conversation,
///     Conversation::from_messages([Message::from_role_and_content(Role::User, "What is 2 + 2?")]),
/// );
/// assert_eq!(serde_json::to_string(&conversation).unwrap(), text);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// The messages, oldest first.
    pub messages: Vec<Message>,
}

impl Conversation {
    /// A conversation of these messages.
    pub fn from_messages<I: IntoIterator<Item = Message>>(messages: I) -> Self {
        Self { messages: messages.into_iter().collect() }
    }

    /// The messages, oldest first.
    pub fn iter(&self) -> std::slice::Iter<'_, Message> {
        self.messages.iter()
    }
}

impl<'a> IntoIterator for &'a Conversation {
    type Item = &'a Message;
    type IntoIter = std::slice::Iter<'a, Message>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Conversation {
    type Item = Message;
    type IntoIter = std::vec::IntoIter<Message>;

    fn into_iter(self) -> Self::IntoIter {
        self.messages.into_iter()
    }
}

impl FromIterator<Message> for Conversation {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> Self {
        Self::from_messages(messages)
    }
}
