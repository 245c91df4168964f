//! Rows in the JSON form of [`chat`](crate::chat).
//!
//! This does not use serde, which would skip unknown fields and whose errors do not name the place in the row.

use serde_json::Value as Tree;

use super::{answers, invalid};
use crate::chat::{Content, HeaderFields, Role, SystemContent};
use crate::error::{Error, ErrorKind, Reason, Result};
use crate::interop::{BodyField, BodyObject};
use crate::json::Value;
use crate::path::Path;
use crate::render::{AsMessage, ContentPart};
use crate::training::examples::ExampleMaker;
use crate::training::{Batch, Markers, RowOptions};

/// The fields of a message.
const FIELDS: [&str; 6] = ["role", "name", "content", "channel", "recipient", "content_type"];

/// The fields of a content part by its type.
const PARTS: [(&str, &[&str]); 3] = [
    ("text", &["type", "text"]),
    (
        "system_content",
        &[
            "type",
            "model_identity",
            "reasoning_effort",
            "tools",
            "conversation_start_date",
            "knowledge_cutoff",
            "channel_config",
        ],
    ),
    ("developer_content", &["type", "instructions", "tools", "response_formats"]),
];

/// The columns of a chat row besides its messages. Other columns belong to the data set.
const OF_CHAT: [&str; 2] = ["tools", "functions"];

/// Whether a column of this name is read.
pub(super) fn is_read(name: &str) -> bool {
    name == "messages" || OF_CHAT.contains(&name)
}

/// A message that borrows its texts from the row.
pub(super) struct HarmonyRowMessage<'v> {
    header: HeaderFields<'v>,
    /// Content that is only a text.
    text: Option<&'v str>,
    parts: Vec<Content>,
}

impl HarmonyRowMessage<'_> {
    /// Refuses marks of chat formats in the assistant's text.
    fn check(&self) -> std::result::Result<(), String> {
        let is_said = self.header.role == Role::Assistant && self.header.recipient.is_none();
        self.parts().filter(|_| is_said).try_for_each(|part| match part {
            ContentPart::Text(text) => answers::check(text),
            ContentPart::System(_) | ContentPart::Developer(_) => Ok(()),
        })
    }
}

impl AsMessage for HarmonyRowMessage<'_> {
    fn header(&self) -> HeaderFields<'_> {
        self.header
    }

    fn parts(&self) -> impl Iterator<Item = ContentPart<'_>> {
        let text = self.text.map(ContentPart::Text);
        text.into_iter().chain(self.parts.iter().map(ContentPart::from))
    }
}

/// The messages of `{"messages": [...]}`, or of a list.
pub(super) fn messages<'v>(
    row: &BodyField<'v, '_>,
    options: &RowOptions,
) -> Result<Vec<HarmonyRowMessage<'v>>> {
    let path = Path::of("messages");
    let columns;
    let list = match row.value() {
        Value::Array(_) => row.standing_at(&path),
        Value::Object(_) => {
            columns = row.object()?;
            let reason = match columns.members().iter().next() {
                Some(_) => "missing; if the row is chat data, use the format 'chat'",
                None => "missing",
            };
            columns
                .get_or_null("messages")
                .ok_or_else(|| invalid(path.clone(), Reason::is(reason)))?
        }
        _ => return Err(row.expected("an object or a list of messages")),
    };
    let items = list.items()?;
    let is_given = |key: &&str| row.at().get(key).is_some_and(|column| !column.is_null());
    if let Some(key) = OF_CHAT.into_iter().find(is_given) {
        let reason = "declared in a developer message here; \
                      if the row is chat data, use the format 'chat'";
        return Err(invalid(Path::of(key), reason));
    }
    let messages = items.map(|field| message(&field.object()?, options));
    let messages: Vec<_> = messages.collect::<Result<_>>()?;
    if messages.is_empty() {
        return Err(invalid(path.clone(), Reason::is("empty")));
    }
    refuse_chat(&messages)?;
    if options.markers == Markers::Checked {
        for (index, message) in messages.iter().enumerate() {
            let path = || path.clone().then(index).then("content");
            message.check().map_err(|reason| invalid(path(), reason))?;
        }
    }
    Ok(messages)
}

/// Refuses rows that are recognisably chats: none of the assistant's messages is on a channel.
fn refuse_chat(messages: &[HarmonyRowMessage<'_>]) -> Result<()> {
    let reason =
        "missing, as in all messages of the assistant; for chat messages use the format 'chat'";
    match channels(messages) {
        (Some(index), false) => Err(without_channel(index, reason)),
        _ => Ok(()),
    }
}

/// The assistant's first message without a channel, and whether another has one.
fn channels<M: AsMessage>(messages: &[M]) -> (Option<usize>, bool) {
    let own =
        || messages.iter().enumerate().filter(|(_, message)| message.is_from(Role::Assistant));
    let has_channel = |message: &M| message.header().channel.is_some();
    let first = own().find(|(_, message)| !has_channel(message)).map(|(index, _)| index);
    (first, own().any(|(_, message)| has_channel(message)))
}

fn without_channel(message: usize, reason: &str) -> Error {
    invalid(Path::of("messages").then(message).then("channel"), Reason::is(reason))
}

fn message<'v>(
    message: &BodyObject<'v, '_>,
    options: &RowOptions,
) -> Result<HarmonyRowMessage<'v>> {
    // Other fields would not be trained.
    let [role, name, content, channel, recipient, content_type] =
        message.only(&FIELDS).map_err(|unknown| {
            let known = FIELDS.join(", ");
            unknown.invalid(format!(
                "unknown field (known: {known}); for chat messages use the format 'chat'"
            ))
        })?;
    let word = role.given()?.text()?;
    let unknown = |_| role.unknown("role", word, &Role::ALL.map(|role| role.as_str()));
    let role = word.parse().map_err(unknown)?;
    let content = content.given()?;
    let header = HeaderFields {
        role,
        name: name.text_unless_null()?,
        recipient: recipient.text_unless_null()?,
        channel: channel.text_unless_null()?,
        content_type: content_type.text_unless_null()?,
    };
    let text = content.at().as_str();
    let parts = match text {
        Some(_) => Vec::new(),
        None => content
            .items_or("a string or a list of parts")?
            .map(|field| part(&field, options.system_defaults))
            .collect::<Result<_>>()?,
    };
    Ok(HarmonyRowMessage { header, text, parts })
}

fn part(field: &BodyField<'_, '_>, system_defaults: bool) -> Result<Content> {
    let fields = field.object()?;
    let kind = fields.required("type")?;
    let word = kind.text()?;
    let Some((_, known)) = PARTS.iter().find(|(kind, _)| *kind == word) else {
        return Err(kind.unknown("type of a part", word, &PARTS.map(|(kind, _)| kind)));
    };
    if let Some(unknown) = fields.others(known).next() {
        return Err(unknown.invalid(format!("unknown field (known: {})", known.join(", "))));
    }
    let mut tree = field.at().to_tree();
    if word == "system_content" && system_defaults {
        add_defaults(&mut tree);
    }
    serde_json::from_value(tree).map_err(|error| field.invalid(error.to_string()))
}

/// Gives fields that are missing, rather than null, the defaults of [`SystemContent::new`].
fn add_defaults(part: &mut Tree) {
    let defaults = serde_json::to_value(SystemContent::new());
    if let (Tree::Object(fields), Ok(Tree::Object(defaults))) = (part, defaults) {
        for (key, value) in defaults {
            fields.entry(key).or_insert(value);
        }
    }
}

impl ExampleMaker<'_> {
    /// Puts the examples of a conversation into the batch.
    ///
    /// # Errors
    ///
    /// A message that cannot be rendered; an example that is too long or fully masked.
    pub fn add_harmony<M: AsMessage>(
        &self,
        batch: &mut Batch,
        row: usize,
        messages: &[M],
    ) -> Result<()> {
        if let (Some(index), true) = channels(messages) {
            // It would teach the model to leave channels out.
            let reason = "missing; the model puts each of its messages on a channel";
            return Err(without_channel(index, reason));
        }
        self.add(batch, row, messages, &[]).map_err(|error| match error.kind() {
            ErrorKind::NothingToTrain | ErrorKind::TooManyTokens { .. } => error,
            kind => {
                let path = error.message_index().map(|index| Path::of("messages").then(index));
                invalid(path.unwrap_or_default(), kind.to_string())
            }
        })
    }
}
