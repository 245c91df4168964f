//! The turn that a row's reader gives -> the messages that are trained, and notes about them.

use super::answers::{self, Read};
use super::{invalid, tool_types};
use crate::HarmonyEncoding;
use crate::brief::Brief;
use crate::chat::{ANALYSIS, Content, Message, Role};
use crate::error::Result;
use crate::interop::{Turn, UnusedReason};
use crate::path::Path;
use crate::training::{Markers, RowOptions};

/// A message of a row, or an item.
pub(super) struct GivenMessage {
    /// Whether it is the assistant's.
    pub(super) is_own: bool,
    /// Whether the row leaves it out of the loss.
    pub(super) is_untrained: bool,
}

/// The conversation of a row.
pub(super) struct ChatRow {
    pub(super) messages: Vec<Message>,
    /// Whether it completes a prompt in which the assistant spoke. If that is too long, its beginning is dropped.
    pub(super) is_completion: bool,
    /// Per message: whether the row leaves it out of the loss.
    pub(super) untrained: Vec<bool>,
    /// Fields that do not reach the model, or not as written.
    pub(super) unused: Vec<String>,
}

impl ChatRow {
    /// The conversation of a turn. `given`: the row's messages; `place` gives the path of one by its number.
    pub(super) fn of_turn(
        turn: Turn,
        options: &RowOptions,
        encoding: HarmonyEncoding,
        given: &[GivenMessage],
        place: impl Fn(usize) -> Option<Path>,
    ) -> Result<Self> {
        let unused = turn.unused.iter();
        let mut unused: Vec<String> =
            unused.map(|unused| named(unused.path.without_indices(), &unused.reason)).collect();
        let undeclared = turn.tools.iter().filter(|tool| !tool.offered);
        unused.extend(undeclared.map(|_| "calls of tools that are not declared".to_owned()));
        let renamed = turn.tools.iter().filter(|tool| !tool.recipient.ends_with(&tool.name));
        unused.extend(renamed.map(|_| "tools whose names no header can carry, renamed".to_owned()));
        let mut row =
            Self { messages: Vec::new(), is_completion: false, untrained: Vec::new(), unused };
        let mut sources: Vec<Option<usize>> = Vec::new();
        for (mut message, source) in turn.conversation.messages.into_iter().zip(turn.sources) {
            let at = || source.and_then(&place).unwrap_or_default();
            row.replace_types(&mut message)?;
            let read = answers::read(&message, encoding).map_err(|reason| invalid(at(), reason));
            let messages = match (options.markers, read) {
                (_, Ok(Read::Nothing)) => continue,
                (Markers::Text, _) | (_, Ok(Read::AsItIs)) => vec![message],
                (_, Ok(Read::Spelled(spelled))) => {
                    row.unused.push(
                        "messages[]: spells messages of harmony, and is read as these".to_owned(),
                    );
                    without_repetition(
                        row.messages.last().filter(|_| sources.last() == Some(&source)),
                        spelled,
                    )
                    .map_err(|reason| invalid(at(), reason))?
                }
                (_, Err(error)) => return Err(error),
            };
            let source_message = source.and_then(|source| given.get(source));
            let untrained = source_message.is_some_and(|message| message.is_untrained);
            row.untrained.extend(vec![untrained; messages.len()]);
            sources.extend(vec![source; messages.len()]);
            row.messages.extend(messages);
        }
        let mut is_empty: Vec<bool> = given.iter().map(|message| message.is_own).collect();
        sources.iter().flatten().for_each(|source| {
            if let Some(is_empty) = is_empty.get_mut(*source) {
                *is_empty = false;
            }
        });
        let empty = is_empty.into_iter().filter(|is_empty| *is_empty);
        row.unused.extend(empty.map(|_| "messages of the assistant without content".to_owned()));
        row.end_with_answer();
        if row.messages.last().is_some_and(is_thought) {
            let source = sources.get(row.messages.len() - 1).copied().flatten();
            let reason = "ends in a thought; an example ends with an answer or a call";
            return Err(invalid(source.and_then(&place).unwrap_or_default(), reason));
        }
        Ok(row)
    }

    /// Drops everything after the assistant's last message. It trains nothing, and with a user's message after it, the
    /// answer would lose its thoughts and the stop token that the model writes.
    fn end_with_answer(&mut self) {
        let is_own = |message: &Message| message.author.role == Role::Assistant;
        if let Some(last) = self.messages.iter().rposition(is_own) {
            let later = self.messages.drain(last + 1..);
            self.unused.extend(later.map(|_| "messages after the assistant's last".to_owned()));
            self.untrained.truncate(last + 1);
        }
    }

    /// Rewrites the types in a message's tools as JSON Schema types.
    fn replace_types(&mut self, message: &mut Message) -> Result<()> {
        let developer = message.content.iter_mut().filter_map(|part| match part {
            Content::DeveloperContent(developer) => developer.tools.as_mut(),
            Content::Text(_) | Content::SystemContent(_) => None,
        });
        let tools = developer.flat_map(|tools| tools.values_mut()).flat_map(|one| &mut one.tools);
        for tool in tools {
            let Some(schema) = &mut tool.parameters else { continue };
            let is_replaced = tool_types::replace(schema).map_err(|name| {
                let (tool, name) = (Brief(&tool.name), Brief(&name));
                invalid(
                    Path::of("tools"),
                    format!("{tool:?} has a parameter of the unknown type {name:?}"),
                )
            })?;
            if is_replaced {
                self.unused
                    .push("tools[]: types of other languages, read as JSON Schema's".to_owned());
            }
        }
        Ok(())
    }
}

/// The messages that a text spells, without a thought that the previous message has already.
fn without_repetition(
    before: Option<&Message>,
    mut spelled: Vec<Message>,
) -> std::result::Result<Vec<Message>, &'static str> {
    if let (Some(before), Some(first)) = (before, spelled.first())
        && is_thought(before)
        && is_thought(first)
    {
        if before.content != first.content {
            return Err("spells a thought other than the message's own");
        }
        spelled.remove(0);
    }
    Ok(spelled)
}

/// The name under which an unused field is counted, with the reason if it is a special one.
fn named(path: String, reason: &UnusedReason) -> String {
    if *reason == UnusedReason::NotUsed { path } else { format!("{path}: {reason}") }
}

fn is_thought(message: &Message) -> bool {
    message.channel.as_deref() == Some(ANALYSIS) && message.recipient.is_none()
}
