//! The text that a row would train the model to write -> its meaning, or an error.

use std::borrow::Cow;

use super::markers;
use crate::HarmonyEncoding;
use crate::chat::{ANALYSIS, CHANNELS, COMMENTARY, Content, FINAL, Message, Role};
use crate::parse::ParserOptions;

/// Whether a text has a role and a channel in one word, as after the loss of its special tokens:
/// `analysisI must add.assistantfinal4`.
fn is_stripped(text: &str) -> bool {
    let role = Role::Assistant.as_str();
    // Finding whether a text has a word is several times faster than finding where.
    if !text.contains(role) {
        return false;
    }
    let mut roles = text.match_indices(role).map(|(place, _)| &text[place + role.len()..]);
    roles.any(|rest| CHANNELS.iter().any(|channel| rest.starts_with(channel)))
}

/// What a message becomes.
pub(super) enum Read {
    /// It stays a message.
    AsItIs,
    /// It is empty.
    Nothing,
    /// The messages that its text spells.
    Spelled(Vec<Message>),
}

/// Reads a message of the assistant; the error names what its text has that no answer has.
pub(super) fn read(message: &Message, encoding: HarmonyEncoding) -> Result<Read, String> {
    if message.author.role != Role::Assistant || message.recipient.is_some() {
        return Ok(Read::AsItIs);
    }
    let text = text_of(message);
    if text.trim().is_empty() {
        return Ok(Read::Nothing);
    }
    let spelled = if markers::is_harmony(&text) {
        let options = ParserOptions::strict();
        let parsed =
            encoding.parse_messages_from_text(text.trim(), Some(Role::Assistant), &options);
        parsed.map_err(|error| {
            format!("spells messages of harmony that cannot be read: {}", error.kind())
        })?
    } else if is_stripped(&text) {
        encoding.read_stripped_text(&text)
    } else {
        check(&text)?;
        return Ok(Read::AsItIs);
    };
    spelled.iter().try_for_each(|spelled| check_spelled(spelled, message))?;
    Ok(Read::Spelled(spelled))
}

/// The text of an assistant's message, without parts of other formats.
pub(super) fn check(text: &str) -> Result<(), String> {
    let is_capital = |rest: &str| rest.starts_with(|c: char| c.is_uppercase());
    if text.strip_prefix(ANALYSIS).is_some_and(is_capital) {
        return Err("begins with a thought without its marks, and has no answer".to_owned());
    }
    if markers::is_calls(text) {
        let reason = "is a list of calls in the text; write them as `tool_calls`, or render with markers=\"text\" if \
                      it is intended";
        return Err(reason.to_owned());
    }
    match markers::first(text) {
        Some(mark) => Err(format!(
            "has {mark}, a mark of a chat format; remove it, or render with markers=\"text\" if it is intended"
        )),
        None => Ok(()),
    }
}

/// Refuses messages that a text cannot spell: those of others, and an answer in a message with calls, where a preamble
/// belongs.
fn check_spelled(spelled: &Message, within: &Message) -> Result<(), String> {
    let channel = spelled.channel.as_deref();
    let is_own = spelled.author.role == Role::Assistant;
    if !is_own || !channel.is_some_and(|channel| CHANNELS.contains(&channel)) {
        return Err(
            "spells messages of harmony that are not all the assistant's, each on a channel"
                .to_owned(),
        );
    }
    let may_have = match within.channel.as_deref() {
        Some(FINAL) => true,
        Some(COMMENTARY) => channel != Some(FINAL),
        _ => false,
    };
    if !may_have {
        return Err("spells messages of harmony within a message of another kind".to_owned());
    }
    if spelled.recipient.is_some() { Ok(()) } else { check(&text_of(spelled)) }
}

fn text_of(message: &Message) -> Cow<'_, str> {
    match &message.content[..] {
        [Content::Text(text)] => Cow::Borrowed(&text.text),
        parts => parts
            .iter()
            .filter_map(|part| match part {
                Content::Text(text) => Some(text.text.as_str()),
                Content::SystemContent(_) | Content::DeveloperContent(_) => None,
            })
            .collect(),
    }
}
