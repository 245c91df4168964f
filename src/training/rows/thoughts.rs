//! The thought of a row's message, wherever data sets put it: in fields of its own, or at the beginning of the content.

use crate::error::{Error, Result};
use crate::interop::BodyObject;
use crate::json::At;

/// The fields of a message for a thought.
const FIELDS: [&str; 3] = ["thinking", "reasoning_content", "reasoning"];

/// The marks around a thought at the beginning of a content, in the formats of several models and data sets.
const THOUGHTS: [(&str, &str); 9] = [
    ("<think>", "</think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("[THINK]", "[/THINK]"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("<Thought>", "</Thought>"),
    ("<scratchpad>", "</scratchpad>"),
    ("◁think▷", "◁/think▷"),
];

/// The marks around the answer after it.
const ANSWERS: [(&str, &str); 4] = [
    ("<answer>", "</answer>"),
    ("<|begin_of_solution|>", "<|end_of_solution|>"),
    ("<output>", "</output>"),
    ("<Output>", "</Output>"),
];

/// The one thought of a message.
#[derive(Default)]
pub(super) struct Thought<'v> {
    /// The fields that repeat it.
    repeated: Vec<&'static str>,
    /// The content's text after the thought that it begins with.
    pub(super) rest: Option<&'v str>,
    /// The thought that only the content has.
    pub(super) alone: Option<&'v str>,
}

impl<'v> Thought<'v> {
    /// Finds the thought. Two different thoughts are an error, and so is a content with only one of the two marks.
    pub(super) fn of(message: &BodyObject<'v, '_>, content: Option<&str>) -> Result<Self> {
        let mut found = Self::default();
        let thought = |key: &'static str| {
            let field = message.get(key)?;
            let text = field.at().as_str()?.trim();
            (!text.is_empty()).then_some((key, text))
        };
        let mut fields = FIELDS.into_iter().filter_map(thought);
        let first = fields.next();
        for (key, text) in fields {
            if first.is_some_and(|(_, first)| first != text) {
                return Err(another(message, key, first));
            }
            found.repeated.push(key);
        }
        let Some(content) = content else { return Ok(found) };
        let Some(field) = message.get(content) else { return Ok(found) };
        let Some(text) = opening(field.at()) else { return Ok(found) };
        // Most texts have no mark, and searching for one byte is far faster than for a word.
        if !text.contains('<') && !text.contains('[') && !text.contains('◁') {
            return Ok(found);
        }
        let marked =
            THOUGHTS.into_iter().map(|marks| split(text, marks)).find(|split| *split != Ok(None));
        let Some((inside, rest)) =
            marked.transpose().map_err(|reason| field.invalid(reason))?.flatten()
        else {
            return Ok(found);
        };
        found.rest = Some(rest);
        match first {
            None => found.alone = Some(inside),
            Some((_, text)) if !inside.is_empty() && inside != text => {
                return Err(another(message, content, first));
            }
            Some(_) => {}
        }
        Ok(found)
    }

    pub(super) fn is_repeated(&self, key: &str) -> bool {
        // If there are only empty thoughts, one of them is written again.
        self.repeated.contains(&key) || (self.alone.is_some() && key == "thinking")
    }
}

fn another(message: &BodyObject<'_, '_>, key: &str, first: Option<(&str, &str)>) -> Error {
    let place = first.and_then(|(key, _)| message.get(key)).map(|field| field.path());
    let place = place.unwrap_or_default();
    let reason = format!("differs from the thought in {place}; a message has only one");
    match message.required(key) {
        Ok(field) => field.invalid(reason),
        Err(error) => error,
    }
}

/// The text with which a content begins: the whole of it, or that of its first part.
fn opening(content: At<'_>) -> Option<&str> {
    match content.as_array() {
        Some(parts) => {
            let first = parts.iter().next()?;
            first.get("text").or_else(|| first.get("value"))?.as_str()
        }
        None => content.as_str(),
    }
}

/// The thought that begins a content, and the answer that follows it. An error names the missing one of its two
/// marks: whatever they enclose would be trained as an answer.
fn split<'v>(
    content: &'v str,
    (begin, end): (&str, &str),
) -> std::result::Result<Option<(&'v str, &'v str)>, String> {
    let (before, after) = match content.split_once(end) {
        Some((before, after)) => (before, Some(after)),
        None => (content, None),
    };
    match (before.trim_start().strip_prefix(begin), after) {
        (Some(inside), Some(after)) => Ok(Some((inside.trim(), answer_in(after)))),
        (Some(_), None) => {
            Err(format!("begins with {begin} and has no {end}: a thought without an end"))
        }
        (None, Some(_)) if !before.contains(begin) => {
            Err(format!("has {end} without a {begin} before it: is what comes first a thought?"))
        }
        (None, _) => Ok(None),
    }
}

/// The answer after a thought, without its marks.
fn answer_in(text: &str) -> &str {
    let enclosed = ANSWERS
        .into_iter()
        .find_map(|(begin, end)| text.trim().strip_prefix(begin)?.strip_suffix(end).map(str::trim));
    enclosed.unwrap_or_else(|| text.trim_start())
}
