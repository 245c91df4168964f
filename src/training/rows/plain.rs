//! Rows whose messages have a text each and nothing else, as nearly all have: read from JSON text in one pass,
//! with texts that are borrowed from it.
//!
//! By way of a `Value` a row takes 1.4 times as long, rendering included, for the memory of each key, text and
//! object. A row that has anything else, right or wrong, is left to `harmony`, which reads it from the beginning
//! and has all the errors. A row that is read here gives what it would give there.

use std::borrow::Cow;
use std::{fmt, iter};

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::harmony::{FIELDS, OF_CHAT, refuse_chat};
use crate::chat::{HeaderFields, Role};
use crate::render::{AsMessage, Part};

/// A message with a single text.
pub(super) struct PlainMessage<'r> {
    role: Role,
    name: Option<Text<'r>>,
    content: Text<'r>,
    channel: Option<Text<'r>>,
    recipient: Option<Text<'r>>,
    content_type: Option<Text<'r>>,
}

/// The messages of `{"messages": [...]}`; `None` where `harmony` has to read the row.
pub(super) fn messages(row: &str) -> Option<Vec<PlainMessage<'_>>> {
    let PlainRow(messages) = serde_json::from_str(row).ok()?;
    (!messages.is_empty() && refuse_chat(&messages).is_ok()).then_some(messages)
}

impl AsMessage for PlainMessage<'_> {
    fn header(&self) -> HeaderFields<'_> {
        HeaderFields {
            role: self.role,
            name: self.name.as_ref().map(Text::as_str),
            recipient: self.recipient.as_ref().map(Text::as_str),
            channel: self.channel.as_ref().map(Text::as_str),
            content_type: self.content_type.as_ref().map(Text::as_str),
        }
    }

    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        iter::once(Part::Text(self.content.as_str()))
    }
}

/// A text, copied only where it has escapes. (serde would always copy an `Option<Cow>`.)
#[derive(Deserialize)]
struct Text<'r>(#[serde(borrow)] Cow<'r, str>);

impl Text<'_> {
    fn as_str(&self) -> &str {
        &self.0
    }
}

struct PlainRow<'r>(Vec<PlainMessage<'r>>);

// Not derived: that would read lists, too, as the fields in their order.
impl<'de> Deserialize<'de> for PlainRow<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RowVisitor)
    }
}

impl<'de> Deserialize<'de> for PlainMessage<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MessageVisitor)
    }
}

struct RowVisitor;

impl<'de> Visitor<'de> for RowVisitor {
    type Value = PlainRow<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut row: A) -> Result<Self::Value, A::Error> {
        let mut messages = None;
        while let Some(Text(key)) = row.next_key()? {
            match &*key {
                "messages" if messages.is_some() => return Err(not_plain()),
                "messages" => messages = Some(row.next_value()?),
                // Null alone.
                key if OF_CHAT.contains(&key) => row.next_value::<()>()?,
                // Not `IgnoredAny`, which passes over numbers and depths that `Value` refuses.
                _ => drop(row.next_value::<Value>()?),
            }
        }
        messages.map(PlainRow).ok_or_else(not_plain)
    }
}

struct MessageVisitor;

impl<'de> Visitor<'de> for MessageVisitor {
    type Value = PlainMessage<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut message: A) -> Result<Self::Value, A::Error> {
        let mut texts: [Option<Text<'de>>; FIELDS.len()] = Default::default();
        while let Some(Text(key)) = message.next_key()? {
            let field = FIELDS.iter().position(|field| **field == *key);
            match field.map(|field| &mut texts[field]) {
                Some(text @ None) => *text = message.next_value()?,
                // Given twice, or unknown.
                Some(Some(_)) | None => return Err(not_plain()),
            }
        }
        let [Some(Text(role)), name, Some(content), channel, recipient, content_type] = texts
        else {
            return Err(not_plain());
        };
        let role = role.parse().map_err(|_| not_plain())?;
        Ok(PlainMessage { role, name, content, channel, recipient, content_type })
    }
}

/// Leaves the row to `harmony`; nobody reads the words.
fn not_plain<E: Error>() -> E {
    E::custom("not plain")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_plain_is_read_here_and_the_rest_is_left() {
        const SAID: &str = r#"{"role": "user", "content": "Hi"}"#;
        let rows = [
            (true, r#"{"messages": [SAID]}"#),
            (true, r#"{"id": {"a": [1]}, "messages": [SAID, SAID], "tools": null}"#),
            (true, r#"{"messages": [{"role": "user", "content": "\n", "name": null}]}"#),
            (false, r#"{"messages": []}"#),
            (false, r#"{"messages": [SAID], "messages": [SAID]}"#),
            (false, r#"{"messages": [SAID], "tools": []}"#),
            (false, r#"{"messages": [{"role": "user", "content": []}]}"#),
            (false, r#"{"messages": [{"role": "user", "content": "Hi", "weight": null}]}"#),
            (false, r#"{"messages": [{"role": "assistant", "content": "Hi"}]}"#),
            (false, "[SAID]"),
        ];
        for (is_plain, row) in rows {
            assert_eq!(messages(&row.replace("SAID", SAID)).is_some(), is_plain, "{row}");
        }
    }

    #[test]
    fn a_text_without_escapes_is_not_copied() {
        let row = r#"{"messages": [{"role": "user", "content": "Hi", "name": "\u0041"}]}"#;
        let read = messages(row).unwrap_or_default();
        let is_borrowed = |text: &Text<'_>| matches!(text.0, Cow::Borrowed(_));
        assert!(is_borrowed(&read[0].content));
        assert!(!read[0].name.as_ref().is_some_and(is_borrowed));
    }
}
