//! Messages, including Ollama's.

use crate::error::Result;
use crate::interop::field::{BodyField, BodyObject};
use crate::interop::history::HistoryCall;
use crate::interop::names::ToolId;
use crate::interop::parts::{read_content, read_part};
use crate::interop::request::{MessagePlace, Request};
use crate::interop::texts::Texts;
use crate::interop::thought_blob::read_thought;
use crate::interop::tools::{custom_arguments, read_arguments};
use crate::interop::{ToolKind, Unsupported, Unused, UnusedReason};
use crate::json::Value;
use crate::names;
use crate::options::words;

/// The fields that a message may have; those that are not read mean nothing to the model.
const OF_MESSAGE: &[&str] = words!(
    "role content name tool_calls tool_call_id function_call refusal audio reasoning_content"
    "reasoning reasoning_details thinking prefix annotations cache_control id"
);

/// The fields that a call may have, and those of the function or the free-form tool within it.
const OF_CALL: &[&str] =
    &["id", "type", "index", "function", "custom", "name", "arguments", "input"];

/// The fields that a piece of a thought may have.
const OF_DETAIL: &[&str] =
    &["type", "id", "index", "format", "text", "signature", "data", "summary"];

/// The additional fields of Ollama's messages.
const OF_OLLAMA: &[&str] = &["images", "tool_name"];

const ROLES: &[&str] = &["system", "developer", "user", "assistant", "tool", "function"];

/// Reads messages one after the other: those of a request's body, or of a row of a data set. Ollama's are read here,
/// too: they have images next to their text, and objects as arguments.
pub(crate) struct Messages<'r, 'o> {
    request: &'r mut Request<'o>,
    is_ollama: bool,
    /// The `prefix` of the last message, which asks to continue it.
    prefix: Option<Unused>,
}

impl<'r, 'o> Messages<'r, 'o> {
    pub(crate) fn new(request: &'r mut Request<'o>) -> Self {
        Self { request, is_ollama: false, prefix: None }
    }

    pub(in crate::interop) fn of_ollama(request: &'r mut Request<'o>) -> Self {
        Self { is_ollama: true, ..Self::new(request) }
    }

    /// Reads the next message of a body.
    pub(in crate::interop) fn read_at(
        &mut self,
        field: &BodyField<'_, '_>,
        place: MessagePlace,
    ) -> Result<()> {
        self.request.unsupported = place.unsupported;
        self.read(field)
    }

    /// Reads the next message.
    pub(crate) fn read(&mut self, field: &BodyField<'_, '_>) -> Result<()> {
        let message = field.object()?;
        let role = message.required("role")?;
        let rules = self.request.unsupported;
        self.request.history.next_message();
        let mut reads_name = false;
        match role.text()? {
            "system" | "developer" => {
                let text = self.text(&message, self.is_ollama, rules)?;
                self.request.history.instructions(text);
            }
            "user" => {
                let text = self.text(&message, self.is_ollama, rules)?;
                let name = message.text("name")?.filter(|name| is_word(name));
                reads_name = name.is_some();
                self.request.history.user(text, name.map(str::to_owned));
            }
            "assistant" => self.assistant(&message, rules)?,
            "tool" | "function" => {
                let rules = self.request.options.unsupported_in(false);
                let text = self.text(&message, true, rules)?;
                let is_own = self.is_ollama && message.get("tool_name").is_some();
                let name = if is_own { "tool_name" } else { "name" };
                let tool = message.text(name)?.map(ToolId::new).zip(message.get(name));
                self.request.history.result(&message, "tool_call_id", tool, text)?;
                reads_name = true;
            }
            other => return Err(role.unknown("role", other, ROLES)),
        }
        if let Some(name) = message.get("name").filter(|_| !reads_name) {
            self.request.list(&name, UnusedReason::NameNotCarried);
        }
        let known = if self.is_ollama { &*[OF_MESSAGE, OF_OLLAMA].concat() } else { OF_MESSAGE };
        self.request.list_others(&message, known);
        if let Some(content) = message.get("content") {
            self.request.list_others_of_parts(&content)?;
        }
        self.prefix = asked(message.get("prefix"))?;
        Ok(())
    }

    /// Ends the messages. `continue_last`: the body's flag to continue the last one.
    pub(crate) fn end(self, continue_last: Option<BodyField<'_, '_>>) -> Result<()> {
        for unused in self.prefix.into_iter().chain(asked(continue_last)?) {
            if self.request.history.open_last() {
                self.request.continue_last = true;
            } else {
                self.request.unused.push(unused);
            }
        }
        Ok(())
    }

    /// The text, with the placeholders of Ollama's images.
    fn text(
        &self,
        message: &BodyObject<'_, '_>,
        may_be_missing: bool,
        rules: Unsupported,
    ) -> Result<Texts> {
        let mut texts = self.images(message, rules)?;
        let content = if may_be_missing {
            message.get("content")
        } else {
            Some(message.required("content")?)
        };
        if let Some(content) = content {
            let read = read_content(&content, rules)?;
            if texts.is_empty() {
                return Ok(read);
            }
            texts.0.extend(read.0);
        }
        Ok(texts)
    }

    fn images(&self, message: &BodyObject<'_, '_>, rules: Unsupported) -> Result<Texts> {
        let mut texts = Texts::default();
        if self.is_ollama {
            message.each("images", |image| {
                texts.add(rules.omitted(image, "image")?);
                Ok(())
            })?;
        }
        Ok(texts)
    }

    /// Thought, preamble, calls, in this order; text without calls is the answer.
    fn assistant(&mut self, message: &BodyObject<'_, '_>, rules: Unsupported) -> Result<()> {
        let mut thoughts = self.thoughts(message)?;
        let mut texts = self.images(message, rules)?;
        match message.get("content") {
            Some(content) if content.at().as_array().is_some() => {
                for part in content.items()? {
                    if let Value::String(text) = part.value() {
                        texts.add(text);
                        continue;
                    }
                    let part = part.object()?;
                    match part.text("type")? {
                        Some(key @ ("thinking" | "reasoning")) => {
                            // Some servers put the thought in `text`, as in other parts, or in a list of texts.
                            let places = [key, "text", "summary"].into_iter();
                            let thought = { places }.find_map(|key| part.get(key));
                            let thought = thought.map_or_else(|| part.required(key), Ok)?;
                            thoughts.add(&read_content(&thought, rules)?.joined());
                        }
                        _ => texts.add(read_part(&part, rules)?),
                    }
                }
            }
            Some(content) => texts.add(content.text_or("a string or a list of parts")?),
            None => {}
        }
        texts.add(message.text("refusal")?.unwrap_or_default());
        if let Some(audio) = message.object("audio")? {
            texts.add(rules.placeholder(&audio, "audio")?);
        }
        let mut calls = Vec::new();
        message.each("tool_calls", |call| {
            calls.push(self.call(&call.object()?)?);
            Ok(())
        })?;
        if let Some(call) = message.object("function_call")? {
            calls.push(self.function(&call, &call)?);
            self.request.list_others(&call, OF_CALL);
        }
        for thought in &thoughts.0 {
            self.request.history.thought(thought);
        }
        self.request.history.say_and_call(texts, calls);
        Ok(())
    }

    /// The thoughts in a message's fields. `reasoning_details` repeats them in pieces.
    fn thoughts(&mut self, message: &BodyObject<'_, '_>) -> Result<Thoughts> {
        let mut thoughts = Thoughts::default();
        for key in ["reasoning_content", "reasoning", "thinking"] {
            thoughts.add(message.text(key)?.unwrap_or_default());
        }
        let has_others = !thoughts.0.is_empty();
        let mut pieces = String::new();
        message.each("reasoning_details", |detail| {
            let piece = detail.object()?;
            self.request.list_others(&piece, OF_DETAIL);
            match piece.text("type")? {
                Some("reasoning.text") => pieces.push_str(piece.text("text")?.unwrap_or_default()),
                Some("reasoning.encrypted") => {
                    match read_thought(piece.required("data")?.text()?) {
                        Some(thought) => pieces.push_str(&thought),
                        None => self.request.list(detail, UnusedReason::ForeignThought),
                    }
                }
                Some("reasoning.summary") => self.request.list(detail, UnusedReason::Summary),
                other => {
                    let kind = other.unwrap_or_default().to_owned();
                    self.request.list(detail, UnusedReason::TypeNotUsed(kind));
                }
            }
            Ok(())
        })?;
        if !has_others {
            thoughts.add(&pieces);
        }
        Ok(thoughts)
    }

    /// A call: nested as the API has it, or flat.
    fn call(&mut self, call: &BodyObject<'_, '_>) -> Result<HistoryCall> {
        self.request.list_others(call, OF_CALL);
        for key in ["function", "custom"] {
            if let Some(called) = call.object(key)? {
                self.request.list_others(&called, OF_CALL);
            }
        }
        let Some(custom) = call.object("custom")? else {
            return self.function(&call.nested("function")?, call);
        };
        let tool = ToolId::new(custom.required("name")?.text()?);
        let arguments = custom_arguments(custom.required("input")?.text()?);
        let mut call = HistoryCall::new(&call.field(), call.text("id")?, tool, arguments);
        call.kind = ToolKind::Custom;
        Ok(call)
    }

    fn function(
        &self,
        function: &BodyObject<'_, '_>,
        call: &BodyObject<'_, '_>,
    ) -> Result<HistoryCall> {
        let tool = ToolId::new(function.required("name")?.text()?);
        let arguments = read_arguments(function, "arguments", self.is_ollama)?;
        Ok(HistoryCall::new(&call.field(), call.text("id")?, tool, arguments))
    }
}

/// The entry listed for a flag that asks to continue a last message that cannot be continued.
fn asked(flag: Option<BodyField<'_, '_>>) -> Result<Option<Unused>> {
    let Some(flag) = flag else { return Ok(None) };
    Ok(flag.bool()?.then(|| flag.unused(UnusedReason::NotContinuable)))
}

/// Whether a header can carry a user's name.
fn is_word(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    names::flaw(name).is_none() && name.chars().all(is_plain)
}

/// The thoughts of a message, without empty and repeated ones.
#[derive(Debug, Default)]
struct Thoughts(Vec<String>);

impl Thoughts {
    fn add(&mut self, thought: &str) {
        if !thought.is_empty() && !self.0.iter().any(|one| one == thought) {
            self.0.push(thought.to_owned());
        }
    }
}
