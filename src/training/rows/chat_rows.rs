//! Chat messages in the shapes that data sets on hubs have -> a conversation, by the reader of chat completions.

use super::invalid;
use super::normalize::{RowSpeaker, write_call, write_calls, write_members};
use crate::chat::{ANALYSIS, Message, Role};
use crate::error::{Reason, Result};
use crate::interop::chat_completions::{Messages, read_settings, read_tool};
use crate::interop::{
    BodyField, BodyObject, Dialect, Json, ReadOptions, Request, Turn, UnusedReason,
};
use crate::json::{self, Array, At, NotNumbers, Tape, Value};
use crate::path::Path;
use crate::training::RenderRows;

/// What a row may call its messages.
const MESSAGES: [&str; 3] = ["messages", "conversations", "conversation"];

/// What else of a row the model reads. Other columns are the data set's own: ids, sources, scores.
const SETTINGS: [&str; 4] = ["reasoning_effort", "reasoning", "response_format", "functions"];

/// The values of `from`.
const SPEAKERS: &str = "human, user, gpt, assistant, system, tool, observation, function_call";

/// What TRL passes to a chat template.
const TEMPLATE: &str = "chat_template_kwargs";

/// Whether the model reads a column of this name.
pub(super) fn is_read(name: &str) -> bool {
    const OTHERS: [&str; 6] =
        ["system", "prompt", "completion", "tools", "model_identity", TEMPLATE];
    [&MESSAGES[..], &SETTINGS, &OTHERS].iter().any(|names| names.contains(&name))
}

/// The same of a row of preferences.
pub(super) fn is_read_of_preferences(name: &str) -> bool {
    ["chosen", "rejected", "label"].contains(&name) || is_read(name)
}

/// Whether an object has the messages of a row.
pub(super) fn has_messages(fields: json::Object<'_>) -> bool {
    MESSAGES.iter().chain(&["prompt"]).any(|key| fields.get(key).is_some())
}

/// The conversation of a row.
pub(super) struct ChatRow {
    pub(super) messages: Vec<Message>,
    /// Whether it is a prompt with messages of the assistant and its completion, which alone is trained.
    pub(super) is_completion: bool,
    /// Per message: whether the row leaves it out of the loss.
    pub(super) untrained: Vec<bool>,
    /// The columns and fields that do not reach the model.
    pub(super) unused: Vec<String>,
}

/// Reads a row as the conversation that it is.
pub(super) fn read(row: &BodyField<'_, '_>, options: &RenderRows) -> Result<ChatRow> {
    read_side(row, options, None)
}

/// Reads a row of preferences: its conversations, and whether each is preferred.
pub(super) fn read_preference(
    row: &BodyField<'_, '_>,
    options: &RenderRows,
) -> Result<Vec<(ChatRow, bool)>> {
    let columns = row.object()?;
    let side = |key| read_side(row, options, Some(key));
    if columns.get("chosen").is_some() || columns.get("rejected").is_some() {
        for key in ["chosen", "rejected"] {
            columns.required(key)?;
        }
        return Ok(vec![(side("chosen")?, true), (side("rejected")?, false)]);
    }
    if columns.get("completion").is_none() {
        let reason =
            "missing; preferences are `chosen` and `rejected`, or `completion` and `label`";
        return Err(invalid(Path::of("chosen"), Reason::is(reason)));
    }
    let is_preferred = columns.required("label")?.bool()?;
    Ok(vec![(side("completion")?, is_preferred)])
}

/// Reads a row; of preferences the answer in this column.
fn read_side(
    row: &BodyField<'_, '_>,
    options: &RenderRows,
    side: Option<&'static str>,
) -> Result<ChatRow> {
    let columns = match row.value() {
        Value::Object(_) => Some(row.object()?),
        Value::Array(_) => None,
        _ => return Err(row.expected("an object or a list of messages")),
    };
    let column = |key: &'static str| columns.as_ref()?.get(key);
    let mut read = ReadOptions::new().with_date(options.date.clone()).with_strict(true);
    read.effort = options.reasoning_effort;
    let template = column(TEMPLATE).filter(|given| !is_blank(given));
    let template = template.map(|given| Parsed::of(given, "an object")).transpose()?;
    let template = template.as_ref().map(Parsed::field).transpose()?;
    let template = template.filter(|template| !template.is_null());
    let template = template.as_ref().map(BodyField::object).transpose()?;
    let take = |key: &'static str| column(key).or_else(|| template.as_ref()?.get(key));
    let setting = |key| take(key).filter(|field| !is_blank(field) && is_setting(key, field));
    let identity = take("model_identity");
    let identity = identity.map(|identity| identity.text().map(str::to_owned)).transpose()?;
    read.identity = identity.or_else(|| options.identity.clone());
    let mut request = Request::new(Dialect::ChatCompletions, &read);
    let mut messages = RowMessages::new(Messages::new(&mut request));
    match &columns {
        Some(columns) => messages.add_conversation(columns, side)?,
        None => messages.add_list("messages", &row.standing_at(&Path::of("messages")))?,
    }
    let is_completion = messages.is_completion()?;
    let messages = messages.end()?;
    if let Some(tools) = setting("tools") {
        read_tools(&tools, &mut request)?;
    }
    read_settings(setting, &mut request)?;
    let turn = request.into_turn()?;
    if turn.prefill.is_some() {
        let path = messages.last().map(RowMessage::path).unwrap_or_default().then("prefix");
        return Err(invalid(path, "a row to train on is complete; only a prompt is continued"));
    }
    let of_source = |source: &Option<usize>| messages.get((*source)?);
    let is_untrained = |source| of_source(source).is_some_and(|message| message.is_untrained);
    let untrained = turn.sources.iter().map(is_untrained).collect();
    let mut read = ChatRow::of_turn(turn, |number| messages.get(number).map(RowMessage::path))?;
    let is_taken = |key: &&str| {
        SETTINGS.iter().chain(&["tools", "model_identity"]).any(|taken| taken == key)
            && columns.as_ref().is_none_or(|columns| columns.get(key).is_none())
    };
    let rest = template.iter().flat_map(|template| template.members().iter());
    let rest = rest.filter(|(key, value)| !value.is_null() && !is_taken(key));
    read.unused.extend(rest.map(|(key, _)| format!("{TEMPLATE}.{key}")));
    Ok(ChatRow { is_completion, untrained, ..read })
}

/// Reads a row's tools. Some data sets keep them, or each of them, as JSON text; tables have the fields of all
/// schemas in each, null where a schema has none.
fn read_tools(given: &BodyField<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    for given in Parsed::of(*given, "a list")?.field()?.items()? {
        let parsed = Parsed::of(given, "a tool")?;
        let tool = parsed.field()?;
        let mut tape = Tape::default();
        tape.copy_without_nulls(tool.at());
        read_tool(&tool.replaced(tape.at(0)), request)?;
    }
    Ok(())
}

impl ChatRow {
    /// The conversation of a turn; `place` finds the message of a number in the row.
    pub(super) fn of_turn(turn: Turn, place: impl Fn(usize) -> Option<Path>) -> Result<Self> {
        let unused = turn.unused.iter();
        let mut unused: Vec<String> =
            unused.map(|unused| named(unused.path.without_indices(), &unused.reason)).collect();
        let undeclared = turn.tools.iter().filter(|tool| !tool.offered);
        unused.extend(undeclared.map(|_| "calls of tools that are not declared".to_owned()));
        let mut messages = turn.conversation.messages;
        // What follows trains nothing; and after a user's message thoughts would be dropped, and the answer
        // would not end as the model ends it.
        let is_own = |message: &Message| message.author.role == Role::Assistant;
        if let Some(last) = messages.iter().rposition(is_own) {
            let behind = messages.drain(last + 1..);
            unused.extend(behind.map(|_| "messages behind the assistant's last".to_owned()));
        }
        if messages.last().is_some_and(is_thought) {
            let number = turn.sources.get(messages.len().saturating_sub(1)).copied().flatten();
            let reason = "ends in a thought; an example ends with an answer or a call";
            return Err(invalid(number.and_then(place).unwrap_or_default(), reason));
        }
        Ok(Self { messages, is_completion: false, untrained: Vec::new(), unused })
    }
}

/// What is counted as unused: a field, and why, if that is more than that nothing reads it.
fn named(path: String, reason: &UnusedReason) -> String {
    if *reason == UnusedReason::NotUsed { path } else { format!("{path}: {reason}") }
}

fn is_thought(message: &Message) -> bool {
    message.channel.as_deref() == Some(ANALYSIS) && message.recipient.is_none()
}

/// Whether a value is an empty text, which some tables have where others have null.
fn is_blank(field: &BodyField<'_, '_>) -> bool {
    field.at().as_str().is_some_and(|text| text.trim().is_empty())
}

/// The fields of a message that decide whether it is in the loss.
const OF_LOSS: [&str; 2] = ["weight", "train"];

/// Whether a message is left out of the loss: `weight` is 0, or `train` is false, as in files for fine-tuning.
fn is_untrained(message: &BodyObject<'_, '_>) -> Result<bool> {
    if let Some(train) = message.get("train")
        && !train.bool()?
    {
        return Ok(true);
    }
    let Some(weight) = message.get("weight") else { return Ok(false) };
    match weight.number().ok() {
        Some(0.0) => Ok(true),
        Some(1.0) => Ok(false),
        _ => Err(weight.invalid("expected 0 or 1: a message is in the loss, or it is not")),
    }
}

/// Whether a column is the setting that it is named as. Data sets call what a model thought `reasoning`, too.
fn is_setting(key: &str, field: &BodyField<'_, '_>) -> bool {
    key != "reasoning" || field.at().get("effort").is_some()
}

/// Reads the messages of a row: each is written as chat completions have it, and then read as one of theirs.
struct RowMessages<'r, 'o> {
    reader: Messages<'r, 'o>,
    /// The messages as they are read.
    tape: Tape,
    read: Vec<RowMessage>,
}

/// A message that was read.
struct RowMessage {
    /// The column that it comes from.
    key: &'static str,
    /// Its index in a list; `None` where the column is its text.
    index: Option<usize>,
    speaker: RowSpeaker,
    /// The row leaves it out of the loss.
    is_untrained: bool,
}

impl RowMessage {
    /// Where the row has the message.
    fn path(&self) -> Path {
        let path = Path::of(self.key);
        match self.index {
            Some(index) => path.then(index),
            None => path,
        }
    }
}

impl<'r, 'o> RowMessages<'r, 'o> {
    fn new(reader: Messages<'r, 'o>) -> Self {
        Self { reader, tape: Tape::default(), read: Vec::new() }
    }

    fn end(self) -> Result<Vec<RowMessage>> {
        self.reader.end(None)?;
        Ok(self.read)
    }

    /// Whether the messages are a prompt with messages of the assistant, and its completion.
    fn is_completion(&self) -> Result<bool> {
        let is_prompt = |message: &&RowMessage| matches!(message.key, "system" | "prompt");
        let prompt = self.read.iter().take_while(is_prompt).count();
        let (prompt, completion) = self.read.split_at(prompt);
        let has =
            |side: &[RowMessage], speaker| side.iter().any(|message| message.speaker == speaker);
        if completion.is_empty() || !has(prompt, RowSpeaker::Assistant) {
            return Ok(false);
        }
        let asks = prompt.last().is_some_and(|message| message.speaker == RowSpeaker::User);
        if asks && !has(completion, RowSpeaker::User) {
            return Ok(true);
        }
        let reason = "a prompt with assistant messages must end with a user message, and the completion \
                      has none; whole conversations are `messages`";
        Err(invalid(Path::of("prompt"), reason))
    }

    /// Reads the messages of a row, by any of their names, or as a prompt and its completion.
    fn add_conversation(
        &mut self,
        row: &BodyObject<'_, '_>,
        side: Option<&'static str>,
    ) -> Result<()> {
        if let Some(system) = row.get("system") {
            self.add_text("system", "system", &system, system.text()?)?;
        }
        let list = MESSAGES.into_iter().find_map(|key| Some((key, row.get(key)?)));
        if let (Some((key, list)), None) = (list, side) {
            return self.add_list(key, &list);
        }
        let key = side.unwrap_or("completion");
        let (prompt, completion) = match (row.get("prompt"), row.get(key)) {
            (Some(prompt), Some(completion)) => (prompt, completion),
            // The whole conversation, of which the last answer is preferred, or is not.
            (None, Some(whole)) if side.is_some() => return self.add_list(key, &whole),
            (None, _) => return Err(invalid(Path::of("messages"), Reason::is("missing"))),
            (Some(_), None) => {
                let reason = Reason::is("missing; a prompt alone trains nothing");
                return Err(invalid(Path::of(key), reason));
            }
        };
        let repeated = match repeated(&completion, &prompt) {
            // Elsewhere a completion may go on with other questions.
            Err(_) if side.is_none() => 0,
            repeated => repeated?,
        };
        let first = completion.at().as_array().and_then(|list| role_of(list.iter().next()?));
        // Only the repetition has what is before the question.
        if repeated > 0 && (prompt.at().as_str().is_some() || first != Some("user")) {
            return self.add_list(key, &completion);
        }
        match prompt.value() {
            Value::String(text) => self.add_text("prompt", "user", &prompt, text)?,
            _ => self.add_list("prompt", &prompt)?,
        }
        match completion.value() {
            Value::String(text) => self.add_text(key, "assistant", &completion, text),
            _ => self.add_list_behind(key, &completion, repeated),
        }
    }

    /// Reads a message that is a column of its own.
    fn add_text(
        &mut self,
        key: &'static str,
        role: &str,
        given: &BodyField<'_, '_>,
        text: &str,
    ) -> Result<()> {
        let index = self.tape.end();
        let opened = self.tape.open();
        for member in ["role", role, "content", text] {
            self.tape.string(member);
        }
        self.tape.close_object(opened);
        let speaker = RowSpeaker::of(role);
        self.read.push(RowMessage { key, index: None, speaker, is_untrained: false });
        self.reader.read(&given.replaced(self.tape.at(index)))
    }

    fn add_list(&mut self, key: &'static str, given: &BodyField<'_, '_>) -> Result<()> {
        self.add_list_behind(key, given, 0)
    }

    /// Reads the messages of a list but for the first so many.
    fn add_list_behind(
        &mut self,
        key: &'static str,
        given: &BodyField<'_, '_>,
        first: usize,
    ) -> Result<()> {
        let parsed = Parsed::of(*given, "a list")?;
        let list = parsed.field()?;
        let mut is_empty = true;
        for (number, field) in list.items()?.enumerate().skip(first) {
            is_empty = false;
            let message = field.object()?;
            let is_untrained = is_untrained(&message)?;
            let index = self.tape.end();
            let speaker = write_message(&mut self.tape, &message)?;
            self.read.push(RowMessage { key, index: Some(number), speaker, is_untrained });
            self.reader.read(&field.replaced(self.tape.at(index)))?;
        }
        if is_empty { Err(list.invalid(Reason::is("empty"))) } else { Ok(()) }
    }
}

/// How many messages of an answer repeat its prompt, as some data sets of preferences have it: those before the answer
/// itself. They must ask what the prompt asks.
fn repeated(answer: &BodyField<'_, '_>, prompt: &BodyField<'_, '_>) -> Result<usize> {
    let is_user = |item: &At<'_>| role_of(*item) == Some("user");
    let Some(messages) = answer.at().as_array() else { return Ok(0) };
    let first = messages.iter().next().and_then(role_of);
    let asked = match prompt.value() {
        Value::String(text) => text.to_owned(),
        Value::Array(prompts) => {
            prompts.iter().filter(is_user).last().map_or_else(String::new, text_of)
        }
        _ => String::new(),
    };
    if asked.is_empty() || !matches!(first, Some("user" | "system" | "developer")) {
        return Ok(0);
    }
    let users = || messages.iter().enumerate().filter(|(_, item)| is_user(item));
    let last =
        users().last().filter(|_| users().any(|(_, item)| text_of(item).trim() == asked.trim()));
    let reason =
        "begins with another question than the prompt; expected it, or the assistant's messages";
    last.map(|(index, _)| index + 1).ok_or_else(|| answer.invalid(reason))
}

/// The role of a message, whatever member names it.
fn role_of(message: At<'_>) -> Option<&str> {
    let role = message.get("role").or_else(|| message.get("from"))?.as_str()?;
    Some(role_of_speaker(role).unwrap_or(role))
}

/// The text of a message's content, or of its parts.
fn text_of(message: At<'_>) -> String {
    let content = message.get("content").or_else(|| message.get("value"));
    let parts = content.and_then(At::as_array).into_iter().flat_map(Array::iter);
    let texts = parts.filter_map(|part| part.get("text")).chain(content).filter_map(At::as_str);
    texts.collect::<Vec<_>>().join("\n\n")
}

/// The role that a name in `from` means.
fn role_of_speaker(from: &str) -> Option<&'static str> {
    Some(match from {
        "human" | "user" => "user",
        "gpt" | "assistant" | "function_call" => "assistant",
        "system" => "system",
        "tool" | "observation" => "tool",
        _ => return None,
    })
}

/// Writes a message as chat completions have it. Others have `from` and `value`.
fn write_message(tape: &mut Tape, message: &BodyObject<'_, '_>) -> Result<RowSpeaker> {
    let opened = tape.open();
    let speaker = match message.get_or_null("role") {
        Some(role) => {
            let speaker = RowSpeaker::of(role.at().as_str().unwrap_or_default());
            write_members(tape, message, "content", speaker, &OF_LOSS)?;
            speaker
        }
        None => write_from_value(tape, message)?,
    };
    tape.close_object(opened);
    Ok(speaker)
}

fn write_from_value(tape: &mut Tape, message: &BodyObject<'_, '_>) -> Result<RowSpeaker> {
    let Some(from) = message.get_or_null("from") else {
        return message.required("role").map(|_| RowSpeaker::Other);
    };
    let from_text = from.text()?;
    let value = message.required("value")?;
    let unknown = || from.unknown("speaker", from_text, &[SPEAKERS]);
    let role = role_of_speaker(from_text).ok_or_else(unknown)?;
    tape.string("role");
    tape.string(role);
    let speaker = RowSpeaker::of(role);
    if from_text == "function_call" {
        let but = [&OF_LOSS[..], &["from", "value", "tool_calls"]].concat();
        write_members(tape, message, "content", speaker, &but)?;
        write_value_calls(tape, &value)?;
    } else {
        let but = [&OF_LOSS[..], &["from", "content"]].concat();
        write_members(tape, message, "value", speaker, &but)?;
    }
    Ok(speaker)
}

/// Writes the calls of a message with `from` and `value`: one, or a list of them.
fn write_value_calls(tape: &mut Tape, value: &BodyField<'_, '_>) -> Result<()> {
    let parsed = Parsed::of(*value, "a call or a list of calls")?;
    let calls = parsed.field()?;
    tape.string("tool_calls");
    match calls.value() {
        Value::Array(items) if items.is_empty() => Err(calls.invalid(Reason::is("empty"))),
        Value::Array(_) => {
            tape.set_source_path(tape.end(), calls.path());
            write_calls(tape, &calls)
        }
        _ => {
            let list = tape.open();
            tape.set_source_path(tape.end(), calls.path());
            write_call(tape, &calls)?;
            tape.close_array(list);
            Ok(())
        }
    }
}

/// A value, or what its text has as JSON: some data sets keep values of many shapes as text.
struct Parsed<'v, 'p> {
    given: BodyField<'v, 'p>,
    json: Option<(Path, Json)>,
}

impl<'v, 'p> Parsed<'v, 'p> {
    fn of(given: BodyField<'v, 'p>, what: &str) -> Result<Self> {
        let Value::String(text) = given.value() else { return Ok(Self { given, json: None }) };
        let mut tape = Tape::default();
        tape.parse(text, NotNumbers::Refused).map_err(|error| {
            let reason =
                format!("expected {what}, or the JSON text of one; it is not JSON: {error}");
            given.invalid(reason)
        })?;
        Ok(Self { given, json: Some((given.path(), Json::new(tape))) })
    }

    fn field(&self) -> Result<BodyField<'_, '_>> {
        match &self.json {
            None => Ok(self.given),
            Some((path, json)) => BodyField::root(path, json),
        }
    }
}
