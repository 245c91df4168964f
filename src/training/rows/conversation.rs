//! The columns of a row -> its messages: a list of them, a question and an answer, or an answer to the messages of a
//! prompt.

use std::ops::RangeBounds;

use super::answers;
use super::columns::{CALLS, Columns, HISTORY, Question};
use super::invalid;
use super::messages::{pair, write_message, write_value_calls};
use super::parsed::Parsed;
use super::read_turn::GivenMessage;
use super::repeated::{
    begins_before_question, ends_with_answer, last_user, repeated, shared, speaker_of, text_of,
};
use super::speakers::Speaker;
use crate::error::{Error, Reason, Result};
use crate::interop::chat_completions::Messages;
use crate::interop::{BodyField, BodyObject};
use crate::json::{At, Tape, Value};
use crate::path::Path;

/// Which answer of a row is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The row's only answer: its messages, or the answer to its question.
    Own,
    /// The one in this column.
    Column(&'static str),
    /// The one in this column, which replaces what follows the last message of the user.
    Replacing(&'static str),
}

/// A message's role in the loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A message of a prompt.
    Prompt,
    /// A message of the answer to a prompt.
    Answer,
    /// A message of a conversation that includes both.
    Whole,
}

/// A message that was read.
pub(super) struct RowMessage {
    /// The index of its list among those of [`RowMessages`].
    list: usize,
    /// Its index there; `None` where the column is its text.
    index: Option<usize>,
    speaker: Speaker,
    part: Part,
    /// Whether the row marks it as trained or untrained.
    flag: Option<bool>,
}

/// Reads the messages of a row: each is first written as a message of chat completions, then read as one.
pub(super) struct RowMessages<'r, 'o> {
    reader: Messages<'r, 'o>,
    /// The messages as they are read.
    tape: Tape,
    read: Vec<RowMessage>,
    lists: Vec<Path>,
    /// The columns with the thought before the answer, and with what the question is about, until they are read.
    thought: Option<(Path, String)>,
    context: Option<(Path, String)>,
}

/// The messages that were read.
pub(super) struct Conversation {
    messages: Vec<RowMessage>,
    lists: Vec<Path>,
    /// The columns of thoughts and contexts that have no place in a message.
    pub(super) unread: Vec<Path>,
    /// Whether it completes a prompt in which the assistant spoke: then the beginning may be dropped, but not the end.
    pub(super) is_completion: bool,
}

impl Conversation {
    /// The path of a message in the row.
    pub(super) fn path(&self, number: usize) -> Option<Path> {
        let message = self.messages.get(number)?;
        let path = self.lists.get(message.list)?.clone();
        Some(match message.index {
            Some(index) => path.then(index),
            None => path,
        })
    }

    pub(super) fn last_path(&self) -> Path {
        self.messages.len().checked_sub(1).and_then(|last| self.path(last)).unwrap_or_default()
    }

    /// Whether the messages complete a prompt in which the assistant spoke. The prompt must end where the model continues.
    fn completes(&self) -> Result<bool> {
        let of = |part| self.messages.iter().filter(move |message| message.part == part);
        let (Some(last), Some(_)) = (of(Part::Prompt).next_back(), of(Part::Answer).next()) else {
            return Ok(false);
        };
        if last.speaker.is_own() {
            let reason = "ends with a message of the assistant; end it where the model continues, after a message \
                          of the user or the result of a tool";
            return Err(invalid(self.lists.get(last.list).cloned().unwrap_or_default(), reason));
        }
        let has = |part, speaker| of(part).any(|message| message.speaker == speaker);
        let has_own = of(Part::Prompt).any(|message| message.speaker.is_own());
        Ok(has_own && !has(Part::Answer, Speaker::User))
    }

    /// Whether the row leaves a message out of the loss.
    fn is_untrained(&self, number: usize) -> bool {
        self.messages.get(number).is_some_and(|message| {
            message.speaker.is_own()
                && (message.part == Part::Prompt || message.flag == Some(false))
        })
    }

    /// Whose messages they are, and which of them the row leaves out of the loss.
    pub(super) fn given(&self) -> Vec<GivenMessage> {
        let given = |number| GivenMessage {
            is_own: self
                .messages
                .get(number)
                .is_some_and(|message: &RowMessage| message.speaker.is_own()),
            is_untrained: self.is_untrained(number),
        };
        (0..self.messages.len()).map(given).collect()
    }

    /// Flags that ask to train messages which the model does not write.
    pub(super) fn others_to_train(&self) -> usize {
        let is_asked =
            |message: &&RowMessage| !message.speaker.is_own() && message.flag == Some(true);
        self.messages.iter().filter(is_asked).count()
    }
}

impl<'r, 'o> RowMessages<'r, 'o> {
    pub(super) fn new(reader: Messages<'r, 'o>) -> Self {
        Self {
            reader,
            tape: Tape::default(),
            read: Vec::new(),
            lists: Vec::new(),
            thought: None,
            context: None,
        }
    }

    /// Ends the messages. `is_preference`: only the last answer of a whole conversation is trained.
    pub(super) fn end(self, is_preference: bool) -> Result<Conversation> {
        self.reader.end(None)?;
        let Self { read: mut messages, lists, thought, context, .. } = self;
        if is_preference && messages.iter().all(|message| message.part != Part::Answer) {
            let prompt = messages.iter().rposition(|message| !message.speaker.is_own());
            let prompt = prompt.map_or(0, |last| last + 1);
            for (number, message) in messages.iter_mut().enumerate() {
                message.part = if number < prompt { Part::Prompt } else { Part::Answer };
            }
        }
        let unread = [thought, context].into_iter().flatten().map(|(path, _)| path).collect();
        let mut conversation = Conversation { messages, lists, unread, is_completion: false };
        conversation.is_completion = conversation.completes()?;
        Ok(conversation)
    }

    /// Reads a row that is a list of messages.
    pub(super) fn add_messages(&mut self, row: &BodyField<'_, '_>) -> Result<()> {
        self.add_list(&row.standing_at(&Path::of("messages")), .., Part::Whole)
    }

    /// Reads the messages of a row. `nested`: messages within a column.
    pub(super) fn add_conversation(
        &mut self,
        row: &Columns<'_, '_>,
        nested: Option<BodyField<'_, '_>>,
        answer: Answer,
    ) -> Result<()> {
        if let Some(system) = row.system() {
            self.add_text(Speaker::System, Part::Whole, &system, system.text()?, None)?;
        }
        let messages = row.messages().or(nested);
        let side = match answer {
            Answer::Own => None,
            Answer::Column(key) | Answer::Replacing(key) => Some(key),
        };
        // Some data sets have the answer to the messages in a column.
        let answered = match (side, &messages) {
            (None, Some(list)) if row.has_answer() => {
                let ends = ends_with_answer(Parsed::of_list(*list).field()?.at());
                if ends { None } else { row.answer()? }
            }
            _ => None,
        };
        let is_own = side.is_none() && (messages.is_none() || answered.is_some());
        let text = |field: BodyField<'_, '_>| -> Result<(Path, String)> {
            Ok((field.path(), field.text()?.trim().to_owned()))
        };
        let is_text = |(_, text): &(Path, String)| !text.is_empty();
        if is_own || side.is_some() {
            self.thought = row.thought(side)?.map(text).transpose()?.filter(is_text);
        }
        if messages.is_none() {
            self.context = row.context()?.map(text).transpose()?.filter(is_text);
        }
        match (answer, messages) {
            (Answer::Own, Some(list)) => {
                row.mark(&list);
                let Some((_, answer)) = answered else {
                    return self.add_list(&list, .., Part::Whole);
                };
                self.add_list(&list, .., Part::Prompt)?;
                self.add_answer(&answer)
            }
            (Answer::Own, None) => self.add_answered(row),
            (Answer::Replacing(key), Some(list)) => {
                row.mark(&list);
                let end = last_user(&list).map_or(0, |last| last + 1);
                self.add_list(&list, 0..end, Part::Prompt)?;
                self.add_answer(&row.required(key)?)
            }
            (Answer::Column(key) | Answer::Replacing(key), messages) => {
                self.add_column(row, messages, &row.required(key)?)
            }
        }
    }

    /// Reads a question and its answer.
    fn add_answered(&mut self, row: &Columns<'_, '_>) -> Result<()> {
        let Some(question) = row.question()? else {
            return Err(row.missing("messages", ""));
        };
        let Some((key, answer)) = row.answer()? else {
            return Err(row.missing("completion", "; a prompt by itself trains nothing"));
        };
        if key == CALLS && question.key != "prompt" {
            self.add_question(row, &question)?;
            return self.add_calls(&answer);
        }
        if question.key == "prompt" {
            // A completion may contain further questions.
            let repeated = repeated(&answer, &question.text).unwrap_or(0);
            return self.add_to_prompt(row, &question, &answer, repeated);
        }
        self.add_question(row, &question)?;
        self.add_answer(&answer)
    }

    /// Reads the answer in a column, to the prompt or the messages in other columns; or a whole conversation, if that
    /// is in the column.
    fn add_column(
        &mut self,
        row: &Columns<'_, '_>,
        messages: Option<BodyField<'_, '_>>,
        answer: &BodyField<'_, '_>,
    ) -> Result<()> {
        if let Some(question) = row.question()? {
            let repeated = repeated(answer, &question.text)?;
            return self.add_to_prompt(row, &question, answer, repeated);
        }
        let answered = Parsed::of_list(*answer);
        let answered = answered.field()?;
        match messages.filter(|_| !begins_before_question(answered.at())) {
            Some(list) => {
                row.mark(&list);
                self.add_list(&list, .., Part::Prompt)?;
                self.add_answer(answer)
            }
            None if answered.at().as_str().is_some() => {
                Err(row.missing("prompt", "; the answers are texts"))
            }
            None => self.add_list(answer, .., Part::Whole),
        }
    }

    /// Reads a prompt and its answer, which may begin with the prompt's messages.
    fn add_to_prompt(
        &mut self,
        row: &Columns<'_, '_>,
        question: &Question<'_, '_>,
        answer: &BodyField<'_, '_>,
        repeated: usize,
    ) -> Result<()> {
        let first = answer.at().as_array().and_then(|list| speaker_of(list.iter().next()?));
        let is_text = question.text.at().as_str().is_some();
        // Only the repetition has the messages before the question.
        let skipped = if repeated > 0 && (is_text || first != Some(Speaker::User)) {
            self.add_list(answer, 0..repeated, Part::Prompt)?;
            repeated
        } else {
            self.add_question(row, question)?;
            // Further questions may follow the repeated one, and are part of the answer.
            if repeated > 0 { shared(answer, &question.text)?.min(repeated) } else { 0 }
        };
        match answer.value() {
            Value::Array(_) => self.add_list(answer, skipped.., Part::Answer),
            _ => self.add_answer(answer),
        }
    }

    /// Reads the messages before an answer: earlier questions and answers, then the question, a text or a list of
    /// messages.
    fn add_question(&mut self, row: &Columns<'_, '_>, question: &Question<'_, '_>) -> Result<()> {
        if let Some(history) = row.get(HISTORY) {
            self.add_history(&history)?;
        }
        let Some(text) = question.text.at().as_str() else {
            return self.add_list(&question.text, .., Part::Prompt);
        };
        let input = question.input.as_ref().map(BodyField::text).transpose()?;
        let about = input.filter(|text| !text.trim().is_empty());
        let context = self.context.take();
        let context = context.as_ref().map(|(_, text)| text.as_str());
        let text =
            [Some(text), about, context].into_iter().flatten().collect::<Vec<_>>().join("\n");
        self.add_text(Speaker::User, Part::Prompt, &question.text, &text, None)
    }

    /// Reads earlier questions and answers; trainers train these answers, too.
    fn add_history(&mut self, history: &BodyField<'_, '_>) -> Result<()> {
        let parsed = Parsed::of(*history, "a list of pairs")?;
        let list = parsed.field()?;
        for pair in list.items()? {
            let said = pair.items_or("a pair of texts")?.collect::<Vec<_>>();
            let [asked, answered] = &said[..] else {
                return Err(pair.invalid("expected a pair: a question and its answer"));
            };
            self.add_text(Speaker::User, Part::Whole, asked, asked.text()?, None)?;
            self.add_text(Speaker::Assistant, Part::Whole, answered, answered.text()?, None)?;
        }
        Ok(())
    }

    /// Reads an answer: a text, a message, or a list of messages.
    fn add_answer(&mut self, answer: &BodyField<'_, '_>) -> Result<()> {
        let parsed = Parsed::of_list(*answer);
        let answer = parsed.field()?;
        match answer.value() {
            Value::String(text) => {
                let thought = self.thought.take();
                self.add_text(Speaker::Assistant, Part::Answer, &answer, text, thought)
            }
            Value::Object(_) => {
                let list = self.list(answer.path());
                self.add_message(&answer.object()?, list, None, Part::Answer)
            }
            Value::Array(_) => self.add_list(&answer, .., Part::Answer),
            _ => Err(answer.expected("a text, a message or a list of messages")),
        }
    }

    /// Reads an answer that is a list of calls.
    fn add_calls(&mut self, calls: &BodyField<'_, '_>) -> Result<()> {
        let parsed = Parsed::of(*calls, "calls")?;
        let given = parsed.field()?.at();
        let is_call = |call: At<'_>| ["name", "function"].iter().any(|key| call.get(key).is_some());
        if !given.as_array().map_or_else(|| is_call(given), |calls| calls.iter().all(is_call)) {
            return Err(
                calls.invalid("expected calls: a list of objects with a name and arguments")
            );
        }
        let index = self.tape.end();
        let opened = self.tape.open();
        self.tape.string("role");
        self.tape.string(Speaker::Caller.role());
        write_value_calls(&mut self.tape, calls)?;
        self.tape.close_object(opened);
        let list = self.list(calls.path());
        let (speaker, part) = (Speaker::Caller, Part::Answer);
        self.push(calls, index, RowMessage { list, index: None, speaker, part, flag: None })
    }

    /// Reads a message that is a text by itself, maybe with the chain of thought before it.
    fn add_text(
        &mut self,
        speaker: Speaker,
        part: Part,
        given: &BodyField<'_, '_>,
        text: &str,
        thought: Option<(Path, String)>,
    ) -> Result<()> {
        let mut message = Tape::default();
        let opened = message.open();
        message.string("role");
        message.string(speaker.role());
        if let Some((path, thought)) = thought {
            message.string("thinking");
            message.set_source_path(message.end(), path);
            message.string(&thought);
        }
        message.string("content");
        message.set_source_path(message.end(), given.path());
        message.string(text);
        message.close_object(opened);
        let list = self.list(given.path());
        self.add_message(&given.replaced(message.at(0)).object()?, list, None, part)
    }

    /// Reads these messages of a list; an item may also be a question with its answer.
    fn add_list(
        &mut self,
        given: &BodyField<'_, '_>,
        range: impl RangeBounds<usize>,
        part: Part,
    ) -> Result<()> {
        let parsed = Parsed::of(*given, "a list")?;
        let messages = parsed.field()?;
        let list = self.list(messages.path());
        let mut is_empty = true;
        for (number, field) in messages.items()?.enumerate() {
            if !range.contains(&number) {
                continue;
            }
            is_empty = false;
            let item = field.object()?;
            let added = match pair(&item) {
                None => self.add_message(&item, list, Some(number), part),
                Some(pair) => pair.into_iter().try_for_each(|(speaker, text)| {
                    self.add_text(speaker, part, &text, text.text()?, None)
                }),
            };
            added.map_err(|error| call_in_text(&messages, number).unwrap_or(error))?;
        }
        if is_empty { Err(messages.invalid(Reason::is("empty"))) } else { Ok(()) }
    }

    fn add_message(
        &mut self,
        message: &BodyObject<'_, '_>,
        list: usize,
        number: Option<usize>,
        part: Part,
    ) -> Result<()> {
        let index = self.tape.end();
        let (speaker, flag) = write_message(&mut self.tape, message)?;
        self.push(&message.field(), index, RowMessage { list, index: number, speaker, part, flag })
    }

    /// Reads the message that is on the tape from this index on.
    fn push(&mut self, given: &BodyField<'_, '_>, index: usize, message: RowMessage) -> Result<()> {
        self.read.push(message);
        self.reader.read(&given.replaced(self.tape.at(index)))
    }

    fn list(&mut self, path: Path) -> usize {
        self.lists.push(path);
        self.lists.len() - 1
    }
}

/// The error of a call in the text of the assistant's message before a tool's result, which lacks a call then.
fn call_in_text(messages: &BodyField<'_, '_>, result: usize) -> Option<Error> {
    let mut items = messages.items().ok()?.skip(result.checked_sub(1)?);
    let (said, result) = (items.next()?, items.next()?);
    let is_result = speaker_of(result.at()) == Some(Speaker::Tool);
    let is_said = speaker_of(said.at()) == Some(Speaker::Assistant);
    let reason = answers::check(&text_of(said.at())).err()?;
    (is_result && is_said).then(|| said.invalid(reason))
}
