//! The columns of a row, by the names that data sets give them, in capitals or small letters.

use std::cell::RefCell;

use super::{invalid, markers};
use crate::brief::Brief;
use crate::error::{Reason, Result};
use crate::interop::{BodyField, BodyObject, nearest};
use crate::json::{self, At, Value, is_not_a_number};
use crate::path::Path;
use crate::training::{Markers, RowFormat, RowOptions};

/// The messages of a conversation, or of its prompt.
const MESSAGES: [&str; 3] = ["messages", "conversations", "conversation"];

/// A question that is a text: TRL's, Alpaca's, and those of question and answer. [`INPUT`] goes with an instruction.
const QUESTIONS: [&str; 6] = ["prompt", "instruction", "question", "query", "problem", INPUT];

/// The input of an instruction; or a question by itself; or, in preference rows of `OpenAI`'s API, an object with the
/// messages and the tools.
const INPUT: &str = "input";

/// The answer to a question.
const ANSWERS: [&str; 8] =
    ["completion", "output", "response", "answer", CALLS, "solution", "generation", "target"];

/// The answer that is a list of calls, in xLAM's rows.
pub(super) const CALLS: &str = "answers";

/// The system prompt.
const SYSTEM: [&str; 2] = ["system", "system_prompt"];

/// The thought before an answer that is a text.
const THOUGHTS: [&str; 7] = [
    "thinking",
    "reasoning",
    "reasoning_content",
    "cot",
    "chain_of_thought",
    "Complex_CoT",
    "deepseek_thinking_trajectory",
];

/// The thoughts before two answers, of which the first is preferred.
const PAIRED_THOUGHTS: [(&str, &str); 2] =
    [("chosen", "chosen_reasoning"), ("rejected", "rejected_reasoning")];

/// The text that a question is about. It follows the question, as the input of an instruction does.
const CONTEXTS: [&str; 3] = ["context", "passage", "documents"];

/// Earlier questions and answers, in pairs.
pub(super) const HISTORY: &str = "history";

/// The other columns that matter to the model. Columns not listed belong to the data set: ids, sources, scores.
const SETTINGS: [&str; 4] = ["reasoning_effort", "reasoning", "response_format", "functions"];
pub(super) const TOOLS: &str = "tools";
pub(super) const IDENTITY: &str = "model_identity";

/// TRL's arguments of a chat template.
pub(super) const TEMPLATE: &str = "chat_template_kwargs";

/// Columns with content that harmony messages cannot have.
const MEDIA: [&str; 6] = ["images", "image", "videos", "video", "audios", "audio"];

/// Two answers, the first of which is preferred, by the names of TRL, LLaMA-Factory, Argilla and `OpenAI`'s
/// fine-tuning.
pub(super) const PAIRS: [(&str, &str); 4] = [
    ("chosen", "rejected"),
    ("chosen_messages", "rejected_messages"),
    ("chosen_response", "rejected_response"),
    ("preferred_output", "non_preferred_output"),
];

/// Whether an answer is good: TRL's and ms-swift's name, and LLaMA-Factory's.
pub(super) const LABELS: [&str; 2] = ["label", "kto_tag"];

/// Whether a column of this name is read in chat rows and preference rows.
pub(super) fn is_read(name: &str) -> bool {
    let named = [HISTORY, TOOLS, IDENTITY, TEMPLATE];
    let (thoughts, about) = (&THOUGHTS[..], &CONTEXTS[..]);
    let lists =
        [&MESSAGES[..], &QUESTIONS, &ANSWERS, &SYSTEM, &SETTINGS, &named, &MEDIA, thoughts, about];
    let mut known = lists.into_iter().flatten().chain(PAIRED_THOUGHTS.iter().map(|(_, key)| key));
    known.any(|known| known.eq_ignore_ascii_case(name)) || is_of_preferences(name)
}

/// The same for columns that only preference rows have.
pub(super) fn is_of_preferences(name: &str) -> bool {
    let pairs = PAIRS.iter().flat_map(|(chosen, rejected)| [chosen, rejected]);
    LABELS.iter().chain(pairs).any(|known| known.eq_ignore_ascii_case(name))
}

/// Refuses to read a column as a field that no row has: a misspelt name would be ignored.
///
/// # Errors
///
/// Why.
pub fn check_map(options: &RowOptions) -> std::result::Result<(), String> {
    if !options.map.is_empty() && !matches!(options.format, RowFormat::Chat | RowFormat::Preference)
    {
        return Err("only rows of chats and of preferences have columns to map".to_owned());
    }
    let Some((field, _)) = options.map.iter().find(|(field, _)| !is_read(field)) else {
        return Ok(());
    };
    let kinds = [&MESSAGES[..], &QUESTIONS, &ANSWERS, &THOUGHTS, &CONTEXTS, &SYSTEM, &[TOOLS]];
    let field = Brief(field);
    let known = kinds.into_iter().filter_map(|kind| kind.first().copied());
    let known = known.collect::<Vec<_>>().join(", ");
    Err(match nearest(field.0, &kinds.concat()) {
        Some(meant) => format!("rows have no {field:?}; did you mean {meant}?"),
        None => format!("rows have no {field:?} (known: {known}, …)"),
    })
}

/// Whether an object has the messages of a row.
pub(super) fn has_messages(fields: json::Object<'_>) -> bool {
    MESSAGES.iter().chain(&QUESTIONS[..1]).any(|key| fields.get(key).is_some())
}

/// Whether a value is the setting `reasoning`; data sets also call a model's thoughts so.
pub(super) fn is_effort(field: &BodyField<'_, '_>) -> bool {
    field.at().get("effort").is_some()
}

/// Whether a value turns thinking on or off, as in Nemotron's rows.
fn is_switch(field: &BodyField<'_, '_>) -> bool {
    field.at().as_str().is_some_and(|text| matches!(text, "on" | "off"))
}

/// Whether a column contains images, sounds or films; only whether there are any matters.
pub fn is_media(name: &str) -> bool {
    MEDIA.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether a row has something in a column; pandas uses NaN for null.
pub(super) fn is_given(value: At<'_>) -> bool {
    match value.value() {
        Value::Null => false,
        Value::Number(digits) => !is_not_a_number(digits),
        _ => true,
    }
}

/// A question, and its name in the row.
pub(super) struct Question<'v, 's> {
    pub(super) key: &'static str,
    pub(super) text: BodyField<'v, 's>,
    /// The input of an instruction.
    pub(super) input: Option<BodyField<'v, 's>>,
}

/// The columns of a row; a list of messages has none.
pub(super) struct Columns<'v, 'p> {
    row: Option<BodyObject<'v, 'p>>,
    /// Which column is read as which.
    map: &'p [(String, String)],
    /// Whether marks of chat formats are read as text.
    marks_are_text: bool,
    /// Whether a column's name has capital letters.
    has_capitals: bool,
    /// The numbers of the columns that were read.
    read: RefCell<Vec<usize>>,
}

impl<'v, 'p> Columns<'v, 'p> {
    pub(super) fn of(row: &BodyField<'v, 'p>, options: &'p RowOptions) -> Result<Self> {
        let row = match row.value() {
            Value::Object(_) => Some(row.object()?),
            Value::Array(_) => None,
            _ => return Err(row.expected("an object or a list of messages")),
        };
        let mut names = row.iter().flat_map(|row| row.members().iter()).map(|(name, _)| name);
        let has_capitals = names.any(|name| name.bytes().any(|byte| byte.is_ascii_uppercase()));
        let marks_are_text = options.markers == Markers::Text;
        let map = &options.map;
        Ok(Self { row, map, marks_are_text, has_capitals, read: RefCell::default() })
    }

    /// A column, unless it is missing, null or NaN.
    pub(super) fn peek<'s>(&'s self, key: &'s str) -> Option<BodyField<'v, 's>> {
        let row = self.row.as_ref()?;
        let name = self.name(key);
        let found = row.get(name).filter(|field| is_given(field.at()));
        if found.is_some() || !self.has_capitals || name != key {
            return found;
        }
        let is_it =
            |(name, value): &(&str, At<'_>)| name.eq_ignore_ascii_case(key) && is_given(*value);
        row.get(row.members().iter().find(is_it)?.0)
    }

    /// The same, and the column counts as read.
    pub(super) fn get<'s>(&'s self, key: &'s str) -> Option<BodyField<'v, 's>> {
        let found = self.peek(key)?;
        self.mark(&found);
        Some(found)
    }

    /// Counts a column as read.
    pub(super) fn mark(&self, column: &BodyField<'_, '_>) {
        self.read.borrow_mut().extend(self.number(column.key()));
    }

    /// Counts a column as not read after all.
    pub(super) fn unmark(&self, column: &Path) {
        let number = self.number(column.first_name());
        self.read.borrow_mut().retain(|read| Some(*read) != number);
    }

    fn number(&self, name: Option<&str>) -> Option<usize> {
        self.row.as_ref()?.members().iter().position(|(other, _)| Some(other) == name)
    }

    /// Whether there may be a column of one of these names, found in one pass over the row's columns.
    pub(super) fn may_have(&self, is_it: impl Fn(&str) -> bool) -> bool {
        let mut columns = self.row.iter().flat_map(|row| row.members().iter());
        !self.map.is_empty() || columns.any(|(name, _)| is_it(name))
    }

    /// The columns that nothing has read; an error if `map` names one of them.
    pub(super) fn unread(&self) -> Result<Vec<&'v str>> {
        let read = self.read.borrow();
        let mut unread = Vec::new();
        let columns = self.row.iter().flat_map(|row| row.members().iter()).enumerate();
        for (number, (name, value)) in columns {
            if !is_given(value) || read.contains(&number) {
                continue;
            }
            if let Some((field, _)) = self.map.iter().find(|(_, column)| column == name) {
                let reason = format!("`map` reads it as {field:?}, which has no place in this row");
                return Err(invalid(Path::of(name.to_owned()), reason));
            }
            unread.push(name);
        }
        Ok(unread)
    }

    /// The columns that a row lacks although `map` renames them.
    pub(super) fn unmapped(&self) -> impl Iterator<Item = &'p (String, String)> {
        let row = self.row;
        self.map
            .iter()
            .filter(move |(_, column)| row.is_none_or(|row| row.get_or_null(column).is_none()))
    }

    /// The row's name for a column.
    pub(super) fn name<'s>(&'s self, key: &'s str) -> &'s str {
        self.map.iter().find(|(field, _)| field == key).map_or(key, |(_, column)| column)
    }

    pub(super) fn required<'s>(&'s self, key: &'s str) -> Result<BodyField<'v, 's>> {
        self.get(key)
            .ok_or_else(|| invalid(Path::of(self.name(key).to_owned()), Reason::is("missing")))
    }

    /// The system prompt.
    pub(super) fn system(&self) -> Option<BodyField<'v, '_>> {
        SYSTEM.into_iter().find_map(|key| self.get(key))
    }

    /// The messages, which do not count as read. A prompt that the caller has named takes precedence.
    pub(super) fn messages(&self) -> Option<BodyField<'v, '_>> {
        let is_mapped = |key: &str| self.map.iter().any(|(field, _)| field == key);
        let mut keys =
            MESSAGES.into_iter().filter(|key| is_mapped(key) || !is_mapped(QUESTIONS[0]));
        keys.find_map(|key| self.peek(key))
    }

    /// The question of a row without messages; an error if several columns could be it, or if it is rendered already.
    pub(super) fn question(&self) -> Result<Option<Question<'v, '_>>> {
        let input = self.peek(INPUT).filter(|field| field.at().as_object().is_none());
        // Some data sets have the question in other columns, and their rendering as the prompt.
        let is_rendered =
            self.peek(QUESTIONS[0]).is_some_and(|prompt| self.mark_of(&prompt).is_some());
        let skipped =
            usize::from(is_rendered && QUESTIONS[1..5].iter().any(|key| self.peek(key).is_some()));
        let found = self.only_one("question", QUESTIONS[skipped], &QUESTIONS[skipped + 1..5])?;
        let question = found.map(|(key, text)| {
            let input = input.filter(|_| key == QUESTIONS[1]);
            Question { key, text, input }
        });
        let alone = input.map(|text| Question { key: INPUT, text, input: None });
        let question = question.or(alone);
        if let Some(question) = &question {
            for column in [Some(&question.text), question.input.as_ref()].into_iter().flatten() {
                if let Some(mark) = self.mark_of(column) {
                    return Err(column.invalid(format!(
                        "{mark}, so it is rendered already; pass its messages, or render with \
                         markers=\"text\" if it is intended"
                    )));
                }
                self.mark(column);
            }
        }
        Ok(question)
    }

    /// Whether there may be an answer.
    pub(super) fn has_answer(&self) -> bool {
        ANSWERS.into_iter().any(|key| self.peek(key).is_some())
    }

    /// The answer to it.
    pub(super) fn answer(&self) -> Result<Option<(&'static str, BodyField<'v, '_>)>> {
        self.only_one("answer", ANSWERS[0], &ANSWERS[1..])
    }

    /// The thought before the answer; `side`: the column of a preference row that has this answer.
    pub(super) fn thought(&self, side: Option<&str>) -> Result<Option<BodyField<'v, '_>>> {
        let found = match side {
            None => self.only_one("thought", THOUGHTS[0], &THOUGHTS[1..])?.map(|(_, field)| field),
            Some(side) => {
                let mut keys = PAIRED_THOUGHTS.into_iter().filter(|(answer, _)| *answer == side);
                keys.find_map(|(_, key)| self.get(key))
            }
        };
        let is_other = |field: &BodyField<'_, '_>| is_effort(field) || is_switch(field);
        if let Some(other) = found.filter(is_other) {
            self.unmark(&other.path());
            return Ok(None);
        }
        Ok(found)
    }

    /// The text that the question is about.
    pub(super) fn context(&self) -> Result<Option<BodyField<'v, '_>>> {
        let found = self.only_one("context", CONTEXTS[0], &CONTEXTS[1..])?;
        Ok(found.map(|(_, field)| field))
    }

    /// The column `first`, or the only one of the others.
    fn only_one(
        &self,
        what: &str,
        first: &'static str,
        others: &'static [&'static str],
    ) -> Result<Option<(&'static str, BodyField<'v, '_>)>> {
        let found = |key: &'static str| Some((key, self.peek(key)?));
        let mut columns = others.iter().filter_map(|key| found(key));
        let named = found(first);
        let Some(only) = named.or_else(|| columns.next()) else { return Ok(None) };
        let another = if named.is_none() { columns.next() } else { None };
        let Some((another, _)) = another else {
            self.mark(&only.1);
            return Ok(Some(only));
        };
        let reason = format!(
            "which is the {what}, this or {another}? Use `map`: {{{first:?}: {another:?}}}"
        );
        Err(only.1.invalid(reason))
    }

    /// Refuses content that harmony cannot carry.
    pub(super) fn refuse_media(&self) -> Result<()> {
        if !self.may_have(is_media) {
            return Ok(());
        }
        let is_something = |field: &BodyField<'_, '_>| match field.value() {
            Value::Array(items) => !items.is_empty(),
            Value::String(text) => !text.is_empty(),
            Value::Bool(is_there) => is_there,
            _ => true,
        };
        match MEDIA.into_iter().find_map(|key| self.get(key).filter(is_something)) {
            Some(media) => Err(media
                .invalid("harmony carries text only; leave out rows with images, sounds or films")),
            None => Ok(()),
        }
    }

    /// With which mark a question begins or ends that is rendered already: it would be a user's text.
    fn mark_of(&self, question: &BodyField<'_, '_>) -> Option<String> {
        let text = question.at().as_str().filter(|_| !self.marks_are_text)?;
        markers::of_prompt(text)
    }

    /// The error for a row without this column: it names the existing ones.
    pub(super) fn missing(&self, key: &str, why: &str) -> crate::Error {
        let names = self.row.iter().flat_map(|row| row.members().iter()).map(|(name, _)| name);
        let names: Vec<&str> = names.filter(|name| *name != self.name(key)).collect();
        let shown = names.iter().take(SHOWN_COLUMNS).copied().collect::<Vec<_>>().join(", ");
        let more = if names.len() > SHOWN_COLUMNS { ", …" } else { "" };
        let there = match (names.as_slice(), self.unmapped().next()) {
            (_, Some((field, column))) => {
                format!("; the row has no {column:?}, which `map` reads as {field:?}")
            }
            ([], None) => String::new(),
            _ => format!("; the row has {shown}{more}: name the columns with `map`"),
        };
        invalid(Path::of(self.name(key).to_owned()), Reason::is(format!("missing{why}{there}")))
    }
}

/// How many columns an error names.
const SHOWN_COLUMNS: usize = 8;
