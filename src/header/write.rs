//! Writing a header.

use super::parts::channel_value;
use super::read::{is_content_type, is_run_of_names, names_a_tool};
use super::{CONSTRAIN, TO};
use crate::chat::{HeaderFields, Role};
use crate::error::{ErrorKind, Result};
use crate::tokenizer::special;

/// Where a call's recipient stands in its header (guide, section "Receiving tool calls").
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

/// What a header is written into.
pub(crate) trait HeaderSink {
    /// One special token.
    fn special(&mut self, token: u32);
    /// The word of a role.
    fn role(&mut self, role: Role);
    /// The word of a channel.
    fn channel(&mut self, channel: &str);
    /// A piece of text, encoded on its own, as ordinary text.
    fn text(&mut self, piece: &str);
}

/// The recipient that stands for everybody and is never written.
const EVERYBODY: &str = "all";

/// Writes a message's header from `<|start|>` to `<|message|>`.
///
/// # Errors
///
/// [`ErrorKind::ToolWithoutName`].
pub(crate) fn write(
    header: HeaderFields<'_>,
    style: HeaderStyle,
    sink: &mut impl HeaderSink,
) -> Result<()> {
    sink.special(special::START);
    write_author(header, sink)?;
    let recipient = header.recipient.filter(|&name| name != EVERYBODY);
    let in_channel = style == HeaderStyle::RecipientInChannel
        && header.role == Role::Assistant
        && header.channel.is_some();
    if !in_channel {
        write_recipient(recipient, sink);
    }
    if let Some(channel) = header.channel {
        sink.special(special::CHANNEL);
        sink.channel(channel);
    }
    if in_channel {
        write_recipient(recipient, sink);
    }
    if let Some(content_type) = header.content_type {
        write_content_type(content_type, sink);
    }
    sink.special(special::MESSAGE);
    Ok(())
}

/// A tool's name stands in the place of its role; any other name follows its role.
fn write_author(header: HeaderFields<'_>, sink: &mut impl HeaderSink) -> Result<()> {
    match (header.role, header.name) {
        (Role::Tool, Some(name)) => sink.text(name),
        (Role::Tool, None) => return Err(ErrorKind::ToolWithoutName.into()),
        (role, None) => sink.role(role),
        (role, Some(name)) => {
            sink.role(role);
            sink.text(&[":", name].concat());
        }
    }
    Ok(())
}

fn write_recipient(recipient: Option<&str>, sink: &mut impl HeaderSink) {
    if let Some(recipient) = recipient {
        sink.text(&[" ", TO, recipient].concat());
    }
}

/// The marker that the content type may begin with is the one place where the format takes a
/// special token from text.
fn write_content_type(content_type: &str, sink: &mut impl HeaderSink) {
    match content_type.strip_prefix(CONSTRAIN) {
        None => sink.text(&[" ", content_type].concat()),
        Some(constrained) => {
            sink.text(" ");
            sink.special(special::CONSTRAIN);
            sink.text(constrained);
        }
    }
}

/// Refuses fields that a reader could take for another header.
///
/// # Errors
///
/// [`ErrorKind::UnsafeHeaderField`] with the field and its value.
pub(crate) fn check(header: HeaderFields<'_>) -> Result<()> {
    let HeaderFields { role, name, recipient, channel, content_type } = header;
    let recipient = recipient.filter(|&name| name != EVERYBODY);
    if let Some(name) = name {
        check_word("name", name)?;
    }
    if role == Role::Tool {
        check_tool_name(name.unwrap_or_default(), recipient, channel)?;
    }
    if let Some(recipient) = recipient {
        check_word("recipient", recipient)?;
    }
    if let Some(channel) = channel {
        check_word("channel", channel)?;
        if channel_value(channel) != channel {
            return unsafe_field("channel", channel, "it reads as the channel before its <");
        }
    }
    if let Some(content_type) = content_type {
        check_content_type(content_type, recipient)?;
    }
    Ok(())
}

/// A single word beyond the author reads as the recipient, unless its marker tells otherwise, or
/// it is known as a content type.
fn check_content_type(content_type: &str, recipient: Option<&str>) -> Result<()> {
    let constrained = content_type.strip_prefix(CONSTRAIN);
    if constrained.is_none() && recipient.is_none() && !is_content_type(content_type) {
        return unsafe_field("content_type", content_type, "without a recipient it reads as one");
    }
    // The guide's own example has one blank behind the marker.
    let word = constrained.map_or(content_type, |rest| rest.strip_prefix(' ').unwrap_or(rest));
    check_word("content_type", word)
}

/// A tool's name stands where a role does, so it must not be one, nor look like a named one.
fn check_tool_name(name: &str, recipient: Option<&str>, channel: Option<&str>) -> Result<()> {
    let role = name.split(':').next().unwrap_or(name);
    if Role::try_from(role).is_ok() {
        return unsafe_field("name", name, "a tool's name must not read as a role");
    }
    let is_alone = recipient.is_none() && (channel.is_none() || is_run_of_names(name));
    if is_alone && !names_a_tool(name) {
        return unsafe_field("name", name, "by itself it reads as an unknown role");
    }
    Ok(())
}

fn check_word(field: &'static str, word: &str) -> Result<()> {
    let reason = if word.is_empty() {
        "must not be empty"
    } else if word.chars().any(|c| c.is_whitespace() || c.is_control() || is_invisible(c)) {
        "must not contain blanks or control characters"
    } else if word.starts_with(TO) {
        "must not begin with to="
    } else if word.contains("<|") || word.contains("|>") {
        "must not spell a marker"
    } else {
        return Ok(());
    };
    unsafe_field(field, word, reason)
}

/// Characters that a reader does not see: zero-width and bidirectional controls.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

fn unsafe_field(field: &'static str, value: &str, reason: &'static str) -> Result<()> {
    Err(ErrorKind::UnsafeHeaderField { field, value: value.to_owned(), reason }.into())
}
