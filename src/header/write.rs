//! Writing a header.

use super::CONSTRAIN;
use super::groups::channel_value;
use super::read::{is_run_of_names, names_a_tool};
use super::repair::{begins_value, is_glued_channel, is_glued_role, is_nobody, names_no_tool};
use crate::chat::{CHANNELS, HeaderFields, Role};
use crate::error::{ErrorKind, Result};
use crate::names;
use crate::options::choices;
use crate::tokenizer::{TokenId, special};

/// Where the header of a call has its recipient (guide, section "Receiving tool calls").
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeaderStyle {
    /// `<|start|>assistant to=functions.f<|channel|>commentary json<|message|>`, for every
    /// message.
    #[default]
    RecipientInRole,
    /// `<|start|>assistant<|channel|>commentary to=functions.f json<|message|>`, as the model
    /// itself writes its calls. Only messages of the assistant with a channel differ; tool
    /// results keep the documented form.
    RecipientInChannel,
}

choices! {
    HeaderStyle, "a HeaderStyle":
        "recipient_in_role" RecipientInRole,
        "recipient_in_channel" RecipientInChannel;
}

/// A piece of a written header. Each piece is encoded on its own, as a special token or as ordinary text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Special(TokenId),
    /// The name of a role.
    Role(Role),
    Channel(&'a str),
    /// A prefix and a text in one piece.
    Text(&'static str, &'a str),
}

/// The recipient that means everybody and is never written.
const EVERYBODY: &str = "all";

/// The pieces of a message's header, from `<|start|>` to `<|message|>`.
///
/// # Errors
///
/// [`ErrorKind::ToolWithoutName`].
pub(crate) fn pieces(
    header: HeaderFields<'_>,
    style: HeaderStyle,
) -> Result<impl Iterator<Item = Piece<'_>>> {
    let start = [Some(Piece::Special(special::START))];
    Ok(start.into_iter().chain(author(header)?).flatten().chain(fields(header, style)))
}

/// The pieces after a header's author, up to and including `<|message|>`.
pub(crate) fn fields(
    header: HeaderFields<'_>,
    style: HeaderStyle,
) -> impl Iterator<Item = Piece<'_>> {
    let recipient = written_recipient(header.recipient)
        .map(|recipient| Piece::Text(names::WRITTEN_TO, recipient));
    let in_channel = style == HeaderStyle::RecipientInChannel
        && header.role == Role::Assistant
        && header.channel.is_some();
    let [space, marker, content_type] = content_type(header.content_type);
    let pieces = [
        recipient.filter(|_| !in_channel),
        header.channel.map(|_| Piece::Special(special::CHANNEL)),
        header.channel.map(Piece::Channel),
        recipient.filter(|_| in_channel),
        space,
        marker,
        content_type,
        Some(Piece::Special(special::MESSAGE)),
    ];
    pieces.into_iter().flatten()
}

/// The recipient that a header is written with, if any.
pub(crate) fn written_recipient(recipient: Option<&str>) -> Option<&str> {
    recipient.filter(|&name| name != EVERYBODY)
}

/// A tool's name replaces its role; any other name follows its role.
fn author(header: HeaderFields<'_>) -> Result<[Option<Piece<'_>>; 2]> {
    Ok(match (header.role, header.name) {
        (Role::Tool, Some(name)) => [Some(Piece::Text("", name)), None],
        (Role::Tool, None) => return Err(ErrorKind::ToolWithoutName.into()),
        (role, name) => [Some(Piece::Role(role)), name.map(|name| Piece::Text(":", name))],
    })
}

/// A content type may begin with the text of a marker. Nowhere else does text become a special token.
fn content_type(content_type: Option<&str>) -> [Option<Piece<'_>>; 3] {
    let Some(text) = content_type else { return [None; 3] };
    match text.strip_prefix(CONSTRAIN) {
        None => [Some(Piece::Text(" ", text)), None, None],
        Some(constrained) => [
            Some(Piece::Text(" ", "")),
            Some(Piece::Special(special::CONSTRAIN)),
            Some(Piece::Text("", constrained)),
        ],
    }
}

/// Refuses fields that could be read as another header.
///
/// # Errors
///
/// [`ErrorKind::UnsafeHeaderField`] with the field and its value, [`ErrorKind::ToolWithoutName`].
pub(crate) fn check(header: HeaderFields<'_>) -> Result<()> {
    let HeaderFields { role, name, recipient, channel, content_type } = header;
    let recipient = written_recipient(recipient);
    if let Some(name) = name {
        check_word("name", name)?;
    }
    if role == Role::Tool {
        let name = name.ok_or(ErrorKind::ToolWithoutName)?;
        check_tool_name(name, recipient.or(channel).or(content_type).is_none())?;
        let is_result = recipient == Some(Role::Assistant.as_str());
        if is_glued_role(name) || (!is_result && names_no_tool(name)) {
            return unsafe_field("name", name, "it would not be read as a tool's");
        }
    }
    if let Some(recipient) = recipient {
        check_word("recipient", recipient)?;
        if is_nobody(recipient) {
            let reason = "no message is addressed to a role, a channel or markup";
            return unsafe_field("recipient", recipient, reason);
        }
    }
    if let Some(channel) = channel {
        check_word("channel", channel)?;
        let known = CHANNELS.into_iter().find(|known| known.eq_ignore_ascii_case(channel));
        if known.is_some_and(|known| known != channel) {
            return unsafe_field("channel", channel, "the model's channels are lower case");
        }
        if channel_value(channel) != channel || is_glued_channel(channel) {
            return unsafe_field(
                "channel",
                channel,
                "it would be read as a channel with other text",
            );
        }
    }
    if let Some(content_type) = content_type {
        check_content_type(content_type, recipient)?;
    }
    Ok(())
}

/// Without a marker, a single word after the author would be read as the recipient.
fn check_content_type(content_type: &str, recipient: Option<&str>) -> Result<()> {
    let constrained = content_type.strip_prefix(CONSTRAIN);
    if constrained.is_none() && recipient.is_none() {
        return unsafe_field(
            "content_type",
            content_type,
            "without a recipient it would be read as the recipient",
        );
    }
    // The guide's own example has one space after the marker.
    let word = constrained.map_or(content_type, |rest| rest.strip_prefix(' ').unwrap_or(rest));
    check_word("content_type", word)
}

/// A tool's name replaces the role, so it must not be read as a role, with or without a name. `tool`
/// itself is a valid name.
fn check_tool_name(name: &str, is_whole_header: bool) -> Result<()> {
    let role = name.split(':').next().unwrap_or(name);
    match Role::try_from(role) {
        Ok(Role::Tool) if role == name => return Ok(()),
        Ok(Role::Tool) | Err(_) if !is_run_of_names(name) => {}
        _ => return unsafe_field("name", name, "it would be read as a role or a channel"),
    }
    if is_whole_header && !names_a_tool(name) {
        return unsafe_field("name", name, "by itself it would be read as an unknown role");
    }
    Ok(())
}

fn check_word(field: &'static str, word: &str) -> Result<()> {
    let flaw =
        names::flaw(word).or_else(|| begins_value(word).then_some("must not begin a JSON value"));
    flaw.map_or(Ok(()), |reason| unsafe_field(field, word, reason))
}

fn unsafe_field(field: &'static str, value: &str, reason: &'static str) -> Result<()> {
    Err(ErrorKind::UnsafeHeaderField { field, value: value.to_owned(), reason: reason.into() }
        .into())
}
