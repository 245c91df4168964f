//! Chat messages in the shapes that data sets on hubs have -> the body of a chat completion.

use super::invalid;
use super::normalize::{Speaker, write_call, write_calls, write_members};
use crate::chat::{ANALYSIS, Message, Role};
use crate::error::{Reason, Result};
use crate::interop::{BodyField, BodyObject, Dialect, Json, ReadOptions, Turn, UnusedReason};
use crate::json::{self, At, NotNumbers, Tape, Value};
use crate::path::Path;
use crate::training::RenderRows;

/// What a row may call its messages.
const MESSAGES: [&str; 3] = ["messages", "conversations", "conversation"];

/// What else of a row the model reads. Other columns are the data set's own: ids, sources, scores.
const SETTINGS: [&str; 4] = ["reasoning_effort", "reasoning", "response_format", "functions"];

/// What may stand in `from`.
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

/// Whether an object has what a row is read from.
pub(super) fn says_messages(fields: json::Object<'_>) -> bool {
    MESSAGES.iter().chain(&["prompt"]).any(|key| fields.get(key).is_some())
}

/// What a row says.
pub(super) struct ChatRow {
    pub(super) messages: Vec<Message>,
    /// Whether it is a prompt in which the assistant speaks, and its completion, which alone is trained.
    pub(super) is_completion: bool,
    /// Of each message, whether the row leaves it out of the loss.
    pub(super) untrained: Vec<bool>,
    /// The columns and fields that say nothing to the model.
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
    let mut body = ChatBody::default();
    let opened = body.tape.open();
    body.tape.string("messages");
    let list = body.tape.open();
    match &columns {
        Some(columns) => body.add_conversation(columns, side)?,
        None => body.add_messages("messages", &row.standing_at(&Path::of("messages")))?,
    }
    body.tape.close_array(list);
    let is_completion = body.is_completion()?;
    let given = column(TEMPLATE).filter(|given| !is_blank(given));
    let parsed = given.as_ref().map(|given| Parsed::of(given, "an object")).transpose()?;
    let template = given.as_ref().zip(parsed.as_ref());
    let template = template.map(|(given, parsed)| parsed.field(given)).transpose()?;
    let template = template.as_ref().filter(|template| !template.is_null());
    let template = template.map(BodyField::object).transpose()?;
    let take = |key: &'static str| column(key).or_else(|| template.as_ref()?.get(key));
    body.add_settings(take, options)?;
    body.tape.close_object(opened);
    let mut read = ReadOptions::new().with_date(options.date.clone());
    read.identity = match take("model_identity") {
        None => options.identity.clone(),
        Some(identity) => {
            Some(identity.standing_at(&Path::of("model_identity")).text()?.to_owned())
        }
    };
    let json = Json::new(body.tape, 0);
    let turn = Dialect::ChatCompletions.read_json(&json, &read)?;
    if turn.prefill.is_some() {
        let path = place(&json, body.said.len().saturating_sub(1)).then("prefix");
        return Err(invalid(path, "a row to train on is complete; only a prompt is continued"));
    }
    let is_untrained =
        |number: &usize| body.said.get(*number).is_some_and(|said| said.is_untrained);
    let untrained = turn.sources.iter().map(|source| source.as_ref().is_some_and(is_untrained));
    let untrained = untrained.collect();
    let mut read = ChatRow::of_turn(turn, |number| place(&json, number))?;
    let is_taken = |key: &&str| {
        SETTINGS.iter().chain(&["tools", "model_identity"]).any(|taken| taken == key)
            && columns.as_ref().is_none_or(|columns| columns.get(key).is_none())
    };
    let rest = template.iter().flat_map(|template| template.members().iter());
    let rest = rest.filter(|(key, value)| !value.is_null() && !is_taken(key));
    read.unused.extend(rest.map(|(key, _)| format!("{TEMPLATE}.{key}")));
    Ok(ChatRow { is_completion, untrained, ..read })
}

impl ChatRow {
    /// What a turn says whose messages the row has at these places.
    pub(super) fn of_turn(turn: Turn, place: impl Fn(usize) -> Path) -> Result<Self> {
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
            return Err(invalid(number.map(place).unwrap_or_default(), reason));
        }
        Ok(Self { messages, is_completion: false, untrained: Vec::new(), unused })
    }
}

/// Where the row has the message of an index.
fn place(body: &Json, index: usize) -> Path {
    let messages = body.at().get("messages").and_then(At::as_array);
    let message = messages.and_then(|messages| messages.iter().nth(index));
    let source_path = message.and_then(At::source_path).cloned();
    source_path.unwrap_or_else(|| Path::of("messages").then(index))
}

/// What is counted as unused: a field, and why, if that is more than that nothing reads it.
fn named(path: String, reason: &UnusedReason) -> String {
    if *reason == UnusedReason::NotUsed { path } else { format!("{path}: {reason}") }
}

fn is_thought(message: &Message) -> bool {
    message.channel.as_deref() == Some(ANALYSIS) && message.recipient.is_none()
}

/// Whether a value is a text that says nothing, as some tables have it where others have null.
fn is_blank(field: &BodyField<'_, '_>) -> bool {
    field.at().as_str().is_some_and(|text| text.trim().is_empty())
}

/// The fields of a message that say whether it is in the loss.
const OF_LOSS: [&str; 2] = ["weight", "train"];

/// Whether a message is left out of the loss, as files for fine-tuning say it: `weight` is 0, or `train` is false.
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

/// The body of a chat completion under way.
#[derive(Default)]
struct ChatBody {
    tape: Tape,
    said: Vec<RowMessage>,
}

/// A message of the body.
struct RowMessage {
    /// The column that it comes from.
    key: &'static str,
    speaker: Speaker,
    /// The row leaves it out of the loss.
    is_untrained: bool,
}

impl ChatBody {
    /// Whether the messages are a prompt in which the assistant speaks, and its completion.
    fn is_completion(&self) -> Result<bool> {
        let is_prompt = |said: &&RowMessage| matches!(said.key, "system" | "prompt");
        let prompt = self.said.iter().take_while(is_prompt).count();
        let (prompt, completion) = self.said.split_at(prompt);
        let says = |side: &[RowMessage], speaker| side.iter().any(|said| said.speaker == speaker);
        if completion.is_empty() || !says(prompt, Speaker::Assistant) {
            return Ok(false);
        }
        let asks = prompt.last().is_some_and(|said| said.speaker == Speaker::User);
        if asks && !says(completion, Speaker::User) {
            return Ok(true);
        }
        let reason = "a prompt with assistant messages must end with a user message, and the completion \
                      has none; whole conversations are `messages`";
        Err(invalid(Path::of("prompt"), reason))
    }

    /// Writes the messages of a row, by any of their names, or as a prompt and its completion.
    fn add_conversation(
        &mut self,
        row: &BodyObject<'_, '_>,
        side: Option<&'static str>,
    ) -> Result<()> {
        if let Some(system) = row.get("system") {
            self.add_text("system", "system", system.text()?);
        }
        let list = MESSAGES.into_iter().find_map(|key| Some((key, row.get(key)?)));
        if let (Some((key, list)), None) = (list, side) {
            return self.add_messages(key, &list);
        }
        let key = side.unwrap_or("completion");
        let (prompt, completion) = match (row.get("prompt"), row.get(key)) {
            (Some(prompt), Some(completion)) => (prompt, completion),
            // The whole conversation, of which the last answer is preferred, or is not.
            (None, Some(whole)) if side.is_some() => return self.add_messages(key, &whole),
            (None, _) => return Err(invalid(Path::of("messages"), Reason::is("missing"))),
            (Some(_), None) => {
                let reason = Reason::is("missing; a prompt alone trains nothing");
                return Err(invalid(Path::of(key), reason));
            }
        };
        for (key, role, said) in [("prompt", "user", prompt), (key, "assistant", completion)] {
            match said.value() {
                Value::String(text) => self.add_text(key, role, text),
                _ => self.add_messages(key, &said)?,
            }
        }
        Ok(())
    }

    /// Writes a message that is all that stands under a key.
    fn add_text(&mut self, key: &'static str, role: &str, text: &str) {
        self.said.push(RowMessage { key, speaker: Speaker::of(role), is_untrained: false });
        self.tape.set_source_path(self.tape.end(), Path::of(key));
        let opened = self.tape.open();
        self.tape.string("role");
        self.tape.string(role);
        self.tape.string("content");
        self.tape.set_source_path(self.tape.end(), Path::of(key));
        self.tape.string(text);
        self.tape.close_object(opened);
    }

    fn add_messages(&mut self, key: &'static str, given: &BodyField<'_, '_>) -> Result<()> {
        let parsed = Parsed::of(given, "a list")?;
        let list = parsed.field(given)?;
        let mut is_empty = true;
        for (index, message) in list.items()?.enumerate() {
            is_empty = false;
            if key != "messages" || index != self.said.len() {
                self.tape.set_source_path(self.tape.end(), message.path());
            }
            let message = message.object()?;
            let is_untrained = is_untrained(&message)?;
            let speaker = self.add_message(&message)?;
            self.said.push(RowMessage { key, speaker, is_untrained });
        }
        if is_empty { Err(list.invalid(Reason::is("empty"))) } else { Ok(()) }
    }

    /// Writes a message as chat completions have it. Others write `from` and `value`.
    fn add_message(&mut self, message: &BodyObject<'_, '_>) -> Result<Speaker> {
        let opened = self.tape.open();
        let speaker = match message.get_or_null("role") {
            Some(role) => {
                let speaker = Speaker::of(role.at().as_str().unwrap_or_default());
                write_members(&mut self.tape, message, "content", speaker, &OF_LOSS)?;
                speaker
            }
            None => self.add_from_value(message)?,
        };
        self.tape.close_object(opened);
        Ok(speaker)
    }

    fn add_from_value(&mut self, message: &BodyObject<'_, '_>) -> Result<Speaker> {
        let Some(from) = message.get_or_null("from") else {
            return message.required("role").map(|_| Speaker::Other);
        };
        let from_text = from.text()?;
        let value = message.required("value")?;
        let role = match from_text {
            "human" | "user" => "user",
            "gpt" | "assistant" | "function_call" => "assistant",
            "system" => "system",
            "tool" | "observation" => "tool",
            other => return Err(from.unknown("speaker", other, &[SPEAKERS])),
        };
        self.tape.string("role");
        self.tape.string(role);
        let speaker = Speaker::of(role);
        if from_text == "function_call" {
            let but = [&OF_LOSS[..], &["from", "value", "tool_calls"]].concat();
            write_members(&mut self.tape, message, "content", speaker, &but)?;
            self.add_calls(&value)?;
        } else {
            let but = [&OF_LOSS[..], &["from", "content"]].concat();
            write_members(&mut self.tape, message, "value", speaker, &but)?;
        }
        Ok(speaker)
    }

    /// Writes the calls of a message with `from` and `value`: one, or a list of them.
    fn add_calls(&mut self, value: &BodyField<'_, '_>) -> Result<()> {
        let parsed = Parsed::of(value, "a call or a list of calls")?;
        let calls = parsed.field(value)?;
        self.tape.string("tool_calls");
        match calls.value() {
            Value::Array(items) if items.is_empty() => Err(calls.invalid(Reason::is("empty"))),
            Value::Array(_) => {
                self.tape.set_source_path(self.tape.end(), calls.path());
                write_calls(&mut self.tape, &calls)
            }
            _ => {
                let list = self.tape.open();
                self.tape.set_source_path(self.tape.end(), calls.path());
                write_call(&mut self.tape, &calls)?;
                self.tape.close_array(list);
                Ok(())
            }
        }
    }

    /// Writes what else a row or its template says.
    fn add_settings<'f>(
        &mut self,
        take: impl Fn(&'static str) -> Option<BodyField<'f, 'f>>,
        options: &RenderRows,
    ) -> Result<()> {
        let take = |key| take(key).filter(|field| !is_blank(field) && is_setting(key, field));
        for (key, field) in SETTINGS.into_iter().filter_map(|key| Some((key, take(key)?))) {
            self.tape.string(key);
            self.tape.copy(field.at());
        }
        let nested = || take("reasoning")?.at().get("effort").filter(|effort| !effort.is_null());
        let says_effort = take("reasoning_effort").is_some() || nested().is_some();
        if let Some(effort) = options.reasoning_effort.filter(|_| !says_effort) {
            self.tape.string("reasoning_effort");
            self.tape.string(effort.as_str());
        }
        let Some(given) = take("tools") else { return Ok(()) };
        let path = Path::of("tools");
        let given = given.standing_at(&path);
        let parsed = Parsed::of(&given, "a list")?;
        self.tape.string("tools");
        let list = self.tape.open();
        parsed.field(&given)?.items()?.try_for_each(|tool| self.add_tool(&tool))?;
        self.tape.close_array(list);
        Ok(())
    }

    /// Writes a tool as chat completions declare it. Some data sets leave out what says that it is a function,
    /// or keep each as JSON text.
    fn add_tool(&mut self, given: &BodyField<'_, '_>) -> Result<()> {
        let parsed = Parsed::of(given, "a tool")?;
        let tool = parsed.field(given)?;
        let says = |key| tool.at().get(key).is_some_and(|value| !value.is_null());
        if !says("name") || says("type") {
            self.tape.copy_without_nulls(tool.at());
            return Ok(());
        }
        let opened = self.tape.open();
        self.tape.string("type");
        self.tape.string("function");
        self.tape.string("function");
        self.tape.set_source_path(self.tape.end(), tool.path());
        self.tape.copy_without_nulls(tool.at());
        self.tape.close_object(opened);
        Ok(())
    }
}

/// What the JSON text says that stands for a value, as some data sets keep what has many shapes.
struct Parsed {
    path: Path,
    /// `None` where the value stands for itself.
    json: Option<Json>,
}

impl Parsed {
    fn of(given: &BodyField<'_, '_>, what: &str) -> Result<Self> {
        let Value::String(text) = given.value() else {
            return Ok(Self { path: Path::default(), json: None });
        };
        let mut tape = Tape::default();
        let index = tape.parse(text, NotNumbers::Refused).map_err(|error| {
            let reason =
                format!("expected {what}, or the JSON text of one; it is not JSON: {error}");
            given.invalid(reason)
        })?;
        Ok(Self { path: given.path(), json: Some(Json::new(tape, index)) })
    }

    fn field<'s>(&'s self, given: &BodyField<'s, 's>) -> Result<BodyField<'s, 's>> {
        match &self.json {
            None => Ok(*given),
            Some(json) => BodyField::root(&self.path, json),
        }
    }
}
