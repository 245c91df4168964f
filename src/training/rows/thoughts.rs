//! The thought of a row's message, wherever data sets put it: in fields of its own, or at the beginning of the content.

use crate::error::{Error, Result};
use crate::interop::BodyObject;
use crate::json::At;

/// The fields of a message for a thought.
const FIELDS: [&str; 3] = ["thinking", "reasoning_content", "reasoning"];

/// The marks around a thought at the beginning of a content, and around the answer after it, in the formats of several
/// models and data sets.
const MARKS: [Marks; 6] = [
    Marks { thought: ("<think>", "</think>"), answer: Some(("<answer>", "</answer>")) },
    Marks {
        thought: ("<|begin_of_thought|>", "<|end_of_thought|>"),
        answer: Some(("<|begin_of_solution|>", "<|end_of_solution|>")),
    },
    Marks { thought: ("[THINK]", "[/THINK]"), answer: None },
    Marks { thought: ("<thinking>", "</thinking>"), answer: None },
    Marks { thought: ("<reasoning>", "</reasoning>"), answer: None },
    Marks { thought: ("<seed:think>", "</seed:think>"), answer: None },
];

struct Marks {
    thought: (&'static str, &'static str),
    answer: Option<(&'static str, &'static str)>,
}

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
        if !text.contains('<') && !text.contains('[') {
            return Ok(found);
        }
        let marked = MARKS.iter().map(|marks| marks.split(text)).find(|split| *split != Ok(None));
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

impl Marks {
    /// The thought that begins a content, and the answer that follows it. An error names the missing one of its two
    /// marks: whatever they enclose would be trained as an answer.
    fn split<'v>(
        &self,
        content: &'v str,
    ) -> std::result::Result<Option<(&'v str, &'v str)>, String> {
        let (begin, end) = self.thought;
        let (before, after) = match content.split_once(end) {
            Some((before, after)) => (before, Some(after)),
            None => (content, None),
        };
        match (before.trim_start().strip_prefix(begin), after) {
            (Some(inside), Some(after)) => Ok(Some((inside.trim(), self.answer_in(after)))),
            (Some(_), None) => {
                Err(format!("begins with {begin} and has no {end}: a thought without an end"))
            }
            (None, Some(_)) if !before.contains(begin) => Err(format!(
                "has {end} without a {begin} before it: is what comes first a thought?"
            )),
            (None, _) => Ok(None),
        }
    }

    /// The answer after a thought, without its marks.
    fn answer_in<'v>(&self, text: &'v str) -> &'v str {
        let enclosed = self.answer.and_then(|(begin, end)| {
            text.trim().strip_prefix(begin)?.strip_suffix(end).map(str::trim)
        });
        enclosed.unwrap_or_else(|| text.trim_start())
    }
}
