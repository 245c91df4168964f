//! The columns of a row, by the names that data sets give them.

use super::{invalid, markers};
use crate::brief::Brief;
use crate::error::{Reason, Result};
use crate::interop::{BodyField, BodyObject, nearest};
use crate::json::{self, Value, is_not_a_number};
use crate::path::Path;
use crate::training::{RowFormat, RowOptions};

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
pub(super) const THOUGHTS: [&str; 7] = [
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
pub(super) const CONTEXTS: [&str; 3] = ["context", "passage", "documents"];

/// Earlier questions and answers, in pairs.
pub(super) const HISTORY: &str = "history";

/// The other columns that matter to the model. Columns not listed belong to the data set: ids, sources, scores.
pub(super) const SETTINGS: [&str; 4] =
    ["reasoning_effort", "reasoning", "response_format", "functions"];
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
    lists.iter().any(|names| names.contains(&name))
        || is_of_preferences(name)
        || PAIRED_THOUGHTS.iter().any(|(_, key)| *key == name)
}

/// The same for columns that only preference rows have.
pub(super) fn is_of_preferences(name: &str) -> bool {
    LABELS.contains(&name)
        || PAIRS.iter().any(|(chosen, rejected)| [*chosen, *rejected].contains(&name))
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
    let known = [&MESSAGES[..], &QUESTIONS, &ANSWERS, &SYSTEM, &[TOOLS]].concat();
    let field = Brief(field);
    Err(match nearest(field.0, &known) {
        Some(meant) => format!("rows have no {field:?}; did you mean {meant}?"),
        None => format!("rows have no {field:?} (known: {}, …)", known.join(", ")),
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

/// Whether a column contains images, sounds or films; only whether there are any matters.
pub fn is_media(name: &str) -> bool {
    MEDIA.contains(&name)
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
    pub(super) row: Option<BodyObject<'v, 'p>>,
    /// Which column is read as which.
    pub(super) map: &'p [(String, String)],
}

impl<'v, 'p> Columns<'v, 'p> {
    pub(super) fn of(row: &BodyField<'v, 'p>, options: &'p RowOptions) -> Result<Self> {
        let row = match row.value() {
            Value::Object(_) => Some(row.object()?),
            Value::Array(_) => None,
            _ => return Err(row.expected("an object or a list of messages")),
        };
        Ok(Self { row, map: &options.map })
    }

    /// A column, unless it is missing, null or NaN, which pandas uses for null.
    pub(super) fn get<'s>(&'s self, key: &'s str) -> Option<BodyField<'v, 's>> {
        let is_number = |field: &BodyField<'_, '_>| match field.value() {
            Value::Number(digits) => !is_not_a_number(digits),
            _ => true,
        };
        self.row.as_ref()?.get(self.name(key)).filter(is_number)
    }

    /// Whether there may be a column of one of these names, found in one pass over the row's columns.
    pub(super) fn may_have(&self, is_it: impl Fn(&str) -> bool) -> bool {
        let mut columns = self.row.iter().flat_map(|row| row.members().iter());
        !self.map.is_empty() || columns.any(|(name, _)| is_it(name))
    }

    /// The columns that a row lacks although `map` renames them.
    pub(super) fn unmapped(&self) -> impl Iterator<Item = &'p (String, String)> {
        let row = self.row;
        self.map
            .iter()
            .filter(move |(_, column)| row.is_some_and(|row| row.get_or_null(column).is_none()))
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

    /// The messages. A prompt that the caller has named takes precedence.
    pub(super) fn messages(&self) -> Option<BodyField<'v, '_>> {
        let is_mapped = |key: &str| self.map.iter().any(|(field, _)| field == key);
        let mut keys =
            MESSAGES.into_iter().filter(|key| is_mapped(key) || !is_mapped(QUESTIONS[0]));
        keys.find_map(|key| self.get(key))
    }

    /// The question of a row without messages; an error if several columns could be it.
    pub(super) fn question(&self) -> Result<Option<Question<'v, '_>>> {
        let is_text = |field: &BodyField<'_, '_>| field.at().as_object().is_none();
        let found = |key| Some((key, self.get(key).filter(is_text)?));
        let input = found(INPUT).map(|(_, field)| field);
        let found = self.only_one("question", QUESTIONS[0], &QUESTIONS[1..5])?;
        let question = found.map(|(key, text)| {
            let input = input.filter(|_| key == QUESTIONS[1]);
            Question { key, text, input }
        });
        let alone = input.map(|text| Question { key: INPUT, text, input: None });
        Ok(question.or(alone))
    }

    /// The answer to it.
    pub(super) fn answer(&self) -> Result<Option<(&'static str, BodyField<'v, '_>)>> {
        self.only_one("answer", ANSWERS[0], &ANSWERS[1..])
    }

    /// The thought before the answer; `side`: the column of a preference row that has this answer.
    pub(super) fn thought(&self, side: Option<&str>) -> Result<Option<BodyField<'v, '_>>> {
        let found = match side {
            None => self.only_one("thought", THOUGHTS[0], &THOUGHTS[1..])?.map(|(_, field)| field),
            Some(side) => PAIRED_THOUGHTS
                .into_iter()
                .find_map(|(answer, key)| self.get(key).filter(|_| answer == side)),
        };
        Ok(found.filter(|thought| !is_effort(thought)))
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
        let found = |key: &'static str| Some((key, self.get(key)?));
        if let Some(first) = found(first) {
            return Ok(Some(first));
        }
        let mut columns = others.iter().filter_map(|key| found(key));
        let Some(only) = columns.next() else { return Ok(None) };
        let Some((another, _)) = columns.next() else { return Ok(Some(only)) };
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

    /// Refuses a question that is rendered already: its marks would be a user's text.
    pub(super) fn refuse_rendered(&self) -> Result<()> {
        for question in QUESTIONS.into_iter().filter_map(|key| self.get(key)) {
            if let Some(mark) = question.at().as_str().and_then(markers::of_prompt) {
                return Err(question.invalid(format!(
                    "begins with {mark}: a prompt that is rendered already; pass its messages, or render with \
                     markers=\"text\" if it is intended"
                )));
            }
        }
        Ok(())
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
