//! Answers that repeat their prompt, and where a prompt ends.

use super::speakers::Speaker;
use crate::error::{Error, Result};
use crate::interop::BodyField;
use crate::json::{Array, At, Value};

/// How many messages before the actual answer repeat its prompt, as in some preference data sets. They must ask what
/// the prompt asks.
pub(super) fn repeated(answer: &BodyField<'_, '_>, prompt: &BodyField<'_, '_>) -> Result<usize> {
    let is_user = |item: &At<'_>| speaker_of(*item) == Some(Speaker::User);
    let Some(messages) = answer.at().as_array() else { return Ok(0) };
    let asked = match prompt.value() {
        Value::String(text) => text.to_owned(),
        Value::Array(prompts) => {
            prompts.iter().filter(is_user).last().map_or_else(String::new, text_of)
        }
        _ => String::new(),
    };
    if asked.trim().is_empty() || !begins_before_question(answer.at()) {
        return Ok(0);
    }
    let mut users = messages.iter().filter(is_user);
    if !users.any(|item| text_of(item).trim() == asked.trim()) {
        return Err(another_prompt(answer));
    }
    let is_own = |item: At<'_>| speaker_of(item).is_some_and(Speaker::is_own);
    let last = messages.iter().enumerate().filter(|(_, item)| !is_own(*item)).last();
    Ok(last.map_or(0, |(index, _)| index + 1))
}

/// How many messages at the end of a prompt are those with which its answer begins; it is an error if there are none.
pub(super) fn shared(answer: &BodyField<'_, '_>, prompt: &BodyField<'_, '_>) -> Result<usize> {
    let said = |list: &BodyField<'_, '_>| -> Vec<_> {
        let items = list.at().as_array().into_iter().flat_map(Array::iter);
        items.map(|item| (speaker_of(item), text_of(item).trim().to_owned())).collect()
    };
    let (asked, repeated) = (said(prompt), said(answer));
    let mut counts = (1..=asked.len().min(repeated.len())).rev();
    counts.find(|&n| asked.ends_with(&repeated[..n])).ok_or_else(|| another_prompt(answer))
}

fn another_prompt(answer: &BodyField<'_, '_>) -> Error {
    answer.invalid("repeats a different prompt; start with the prompt itself or with the answer")
}

/// Whether a list of messages includes the prompt: its first message is not the model's.
pub(super) fn begins_before_question(list: At<'_>) -> bool {
    let first = list.as_array().and_then(|list| speaker_of(list.iter().next()?));
    matches!(first, Some(Speaker::User | Speaker::System | Speaker::Developer))
}

/// Whether the last of these messages is the model's. A pair in ms-swift's format, which names no author, ends with its
/// answer.
pub(super) fn ends_with_answer(messages: At<'_>) -> bool {
    let last = messages.as_array().and_then(|items| items.iter().last());
    last.is_some_and(|message| speaker_of(message).is_none_or(Speaker::is_own))
}

/// The index of the last message of the user.
pub(super) fn last_user(list: &BodyField<'_, '_>) -> Option<usize> {
    let messages = list.at().as_array()?.iter().enumerate();
    let users = messages.filter(|(_, item)| speaker_of(*item) == Some(Speaker::User));
    users.last().map(|(index, _)| index)
}

/// The author of a message, whichever member names it.
pub(super) fn speaker_of(message: At<'_>) -> Option<Speaker> {
    let name = |key| message.get(key).and_then(At::as_str);
    Speaker::of(name("role").or_else(|| name("from"))?)
}

/// The text of a message's content, or of its parts.
pub(super) fn text_of(message: At<'_>) -> String {
    let content = message.get("content").or_else(|| message.get("value"));
    let parts = content.and_then(At::as_array).into_iter().flat_map(Array::iter);
    let texts = parts.filter_map(|part| part.get("text").or_else(|| part.get("value")));
    let texts = texts.chain(content).filter_map(At::as_str);
    texts.collect::<Vec<_>>().join("\n\n")
}
