//! Rows in the JSON form of [`chat`](crate::chat).
//!
//! Read by hand and not by serde: it would pass over fields that it does not know, and its errors
//! do not name the place in the row.

use std::slice;

use super::invalid;
use crate::chat::{Content, HeaderFields, Role, SystemContent};
use crate::error::{ErrorKind, Reason, Result};
use crate::interop::{BodyField, BodyObject};
use crate::json::Value;
use crate::path::Path;
use crate::render::{AsMessage, ContentPart};
use crate::training::Batch;
use crate::training::examples::ExampleMaker;

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

/// What a chat row may have beside its messages. The other columns are the data set's own.
const OF_CHAT: [&str; 2] = ["tools", "functions"];

/// Whether a column of this name is looked at.
pub(super) fn is_read(name: &str) -> bool {
    name == "messages" || OF_CHAT.contains(&name)
}

/// A message whose texts are the row's own.
pub(super) struct RowMessage<'r> {
    header: HeaderFields<'r>,
    content: RowContent<'r>,
}

enum RowContent<'r> {
    /// As nearly all have it.
    Text(&'r str),
    Parts(Vec<Content>),
}

impl AsMessage for RowMessage<'_> {
    fn header(&self) -> HeaderFields<'_> {
        self.header
    }

    fn parts(&self) -> impl Iterator<Item = ContentPart<'_>> {
        let (text, parts) = match &self.content {
            RowContent::Text(text) => (Some(ContentPart::Text(text)), slice::Iter::default()),
            RowContent::Parts(parts) => (None, parts.iter()),
        };
        text.into_iter().chain(parts.map(ContentPart::from))
    }
}

/// The messages of `{"messages": [...]}`, or of a list. `system_defaults`: see [`RenderRows`].
///
/// [`RenderRows`]: crate::training::RenderRows
pub(super) fn messages<'r>(
    row: &BodyField<'r, '_>,
    system_defaults: bool,
) -> Result<Vec<RowMessage<'r>>> {
    let messages = match row.value() {
        Value::Array(_) => {
            let path = Path::of("messages");
            read_list(row.standing_at(&path).items()?, system_defaults)
        }
        Value::Object(_) => {
            let row = row.object()?;
            let list = row.required("messages")?;
            let items = list.items()?;
            if let Some(field) = OF_CHAT.into_iter().find_map(|key| row.get(key)) {
                return Err(field.invalid(
                    "a developer message declares tools here; \
                     beside the messages they stand in the format 'chat'",
                ));
            }
            read_list(items, system_defaults)
        }
        _ => Err(row.expected("an object or a list of messages")),
    }?;
    if messages.is_empty() {
        return Err(invalid(Path::of("messages"), Reason::is("empty")));
    }
    refuse_chat(&messages)?;
    Ok(messages)
}

fn read_list<'r, 'p>(
    items: impl Iterator<Item = BodyField<'r, 'p>>,
    system_defaults: bool,
) -> Result<Vec<RowMessage<'r>>>
where
    'r: 'p,
{
    items.map(|field| message(&field.object()?, system_defaults)).collect()
}

/// Refuses what can only be a chat by its shape. The model puts all its messages on channels; messages of
/// the assistant's of which none is on one would teach it to leave them out.
fn refuse_chat(messages: &[RowMessage<'_>]) -> Result<()> {
    let mut own =
        messages.iter().enumerate().filter(|(_, message)| message.is_from(Role::Assistant));
    let Some((index, first)) = own.next() else { return Ok(()) };
    let has_channel = |message: &RowMessage<'_>| message.header.channel.is_some();
    if has_channel(first) || own.any(|(_, message)| has_channel(message)) {
        return Ok(());
    }
    let reason =
        "missing, as in all messages of the assistant; chat messages are the format 'chat'";
    Err(invalid(Path::of("messages").then(index).then("channel"), Reason::is(reason)))
}

fn message<'r>(message: &BodyObject<'r, '_>, system_defaults: bool) -> Result<RowMessage<'r>> {
    // Other fields would not be trained.
    if let Some(unknown) = message.others(&FIELDS).next() {
        let known = FIELDS.join(", ");
        let reason = format!("unknown field (known: {known}); chat messages are the format 'chat'");
        return Err(unknown.invalid(reason));
    }
    let role = message.required("role")?;
    let word = role.text()?;
    let unknown = |_| role.unknown("role", word, &Role::ALL.map(|role| role.as_str()));
    let header = HeaderFields {
        role: word.parse().map_err(unknown)?,
        name: message.text("name")?,
        recipient: message.text("recipient")?,
        channel: message.text("channel")?,
        content_type: message.text("content_type")?,
    };
    let content = message.required("content")?;
    let content = match content.value() {
        Value::String(text) => RowContent::Text(text),
        _ => RowContent::Parts(
            content
                .items_or("a string or a list of parts")?
                .map(|field| part(&field, system_defaults))
                .collect::<Result<_>>()?,
        ),
    };
    Ok(RowMessage { header, content })
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
    let mut content = serde_json::from_value(field.at().to_tree())
        .map_err(|error| field.invalid(error.to_string()))?;
    if let Content::SystemContent(system) = &mut content
        && system_defaults
    {
        add_defaults(system, |key| fields.get_or_null(key).is_none());
    }
    Ok(content)
}

/// Gives fields that are missing, rather than null, the defaults that [`SystemContent::new`] has.
fn add_defaults(system: &mut SystemContent, is_missing: impl Fn(&str) -> bool) {
    let defaults = SystemContent::new();
    if is_missing("model_identity") {
        system.model_identity = defaults.model_identity;
    }
    if is_missing("reasoning_effort") {
        system.reasoning_effort = defaults.reasoning_effort;
    }
    if is_missing("knowledge_cutoff") {
        system.knowledge_cutoff = defaults.knowledge_cutoff;
    }
    if is_missing("channel_config") {
        system.channel_config = defaults.channel_config;
    }
}

impl ExampleMaker<'_> {
    /// Puts the examples of a conversation into the batch; an error names the message.
    pub(crate) fn add_harmony<M: AsMessage>(
        &self,
        batch: &mut Batch,
        row: usize,
        messages: &[M],
    ) -> Result<()> {
        self.add(batch, row, messages, &[]).map_err(|error| match error.kind() {
            ErrorKind::NothingToTrain | ErrorKind::TooManyTokens { .. } => error,
            kind => {
                let path = error.message_index().map(|index| Path::of("messages").then(index));
                invalid(path.unwrap_or_default(), kind.to_string())
            }
        })
    }
}
