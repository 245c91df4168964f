//! The dialect of chat completions, `/v1/chat/completions`: what it owns, and its bodies -> turns.

mod write;

use std::collections::HashSet;

use serde_json::{Value as Tree, json};

use super::answer::{Framing, Prefixes};
use super::choice::{Choice, Chosen};
use super::common::{
    Texts, read_content, read_count, read_effort, read_logprobs, read_part, read_penalties,
    read_reasoning, read_response_format, read_sampling, read_stop,
};
use super::dialect::Definition;
use super::field::{BodyField, BodyObject};
use super::history::HistoryCall;
use super::names::ToolId;
use super::request::{MessagePlace, Request};
use super::tools::{custom_arguments, read_arguments};
use super::{Dialect, Json, ReadOptions, ToolKind, Turn, Unsupported, Unused, UnusedReason};
use crate::error::Result;
use crate::json::Value;
use crate::names;

pub(super) const DEFINITION: Definition = Definition {
    name: "chat_completions",
    messages: "messages",
    fields: FIELDS,
    repeated: &[],
    // What is nobody else's.
    known_by: &[],
    collect,
    writer: |head, turn| Box::new(write::Chat::new(head, turn)),
    prefixes: Prefixes::new("chatcmpl-", "call_"),
    takes_objects: false,
    framing: Framing::Events,
    last_frame: b"data: [DONE]\n\n",
    error_body,
    unsupported: |path, content| Some(only_some_models(path, part_of(content)?)),
    too_long: |tokens, max_tokens| {
        format!(
            "This model's maximum context length is {max_tokens} tokens. However, your messages resulted in {tokens} \
             tokens. Please reduce the length of the messages."
        )
    },
};

/// The type of a part with this content.
fn part_of(content: &str) -> Option<&'static str> {
    Some(match content {
        "images" => "image_url",
        "audio" => "input_audio",
        "video" => "video_url",
        "files" => "file",
        _ => return None,
    })
}

/// The error about a part that not all models read, as chat completions and Responses word it.
pub(super) fn only_some_models(path: &str, part: &str) -> String {
    format!(
        "Invalid content type. {part} is only supported by certain models, and this one reads text: {path}"
    )
}

/// The fields of a body that are read; any other is listed in [`Turn::unused`].
const FIELDS: &[&str] = &[
    "model",
    "messages",
    "tools",
    "tool_choice",
    "functions",
    "function_call",
    "parallel_tool_calls",
    "response_format",
    "reasoning_effort",
    "reasoning",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "max_tokens",
    "max_completion_tokens",
    "n",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
    "logit_bias",
    "stop",
    "stream",
    "stream_options",
    "logprobs",
    "top_logprobs",
    "web_search_options",
    "modalities",
    "continue_final_message",
];

/// Reads the body of a chat completion.
///
/// # Errors
///
/// [`ErrorKind::InvalidRequest`](crate::ErrorKind::InvalidRequest) with the path of what the API does
/// not allow, [`ErrorKind::UnsupportedContent`](crate::ErrorKind::UnsupportedContent) with that of
/// what harmony cannot carry.
///
/// # Example
///
/// ```
/// use openai_harmony::interop::{ReadOptions, chat_completions};
/// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
/// use serde_json::json;
///
/// let body = json!({"messages": [{"role": "user", "content": "What is 2 + 2?"}]});
/// let turn = chat_completions::read(&body, &ReadOptions::default())?;
/// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
/// let prompt = turn.prompt(&encoding)?;
/// assert!(encoding.tokenizer().decode_utf8(&prompt)?.ends_with(
///     "<|start|>user<|message|>What is 2 + 2?<|end|><|start|>assistant"
/// ));
/// # Ok::<(), openai_harmony::Error>(())
/// ```
pub fn read(body: impl Into<Json>, options: &ReadOptions) -> Result<Turn> {
    Dialect::ChatCompletions.read(body, options)
}

fn collect(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    body.required("messages")?.items().map(drop)?;
    let options = request.options;
    let mut messages = Messages::new(request);
    options.each_message(body, "messages", |message, place| messages.read_at(message, place))?;
    messages.end(body.get("continue_final_message"))?;
    body.each("tools", |tool| read_tool(tool, request))?;
    read_settings(|key| body.get(key), request)?;
    if let Some(search) = body.get("web_search_options") {
        search.object()?;
        request.server_tool("web_search", &search);
    }
    if let Some(choice) = body.get("tool_choice").or_else(|| body.get("function_call")) {
        request.choice = Choice::read(&choice, Chosen::read)?;
    }
    read_stop(body, "stop", request)?;
    read_all_sampling(body, request)?;
    request.answer.stream = body.bool("stream")?.unwrap_or(false);
    if let Some(stream) = body.object("stream_options")? {
        request.answer.include_usage = stream.bool("include_usage")?.unwrap_or(false);
        request.list_others(&stream, &["include_usage"]);
    }
    body.each("modalities", |modality| match modality.text()? {
        "text" => Ok(()),
        other => Err(modality.unsupported(format!("answers as {other}"))),
    })
}

/// Reads a tool: a function or a free-form tool, nested or flat, or one that servers run.
pub(crate) fn read_tool(tool: &BodyField<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    let object = tool.object()?;
    match object.text("type")?.unwrap_or("function") {
        "function" => {
            request.read_function(&object.nested("function")?, "parameters", None, None)?;
        }
        "custom" => request.read_custom(&object.nested("custom")?, None)?,
        kind => request.server_tool(kind, tool),
    }
    Ok(())
}

/// Reads what rows of data sets can have beside messages and tools, too; `get` finds it.
pub(crate) fn read_settings<'v, 'p>(
    get: impl Fn(&'static str) -> Option<BodyField<'v, 'p>>,
    request: &mut Request<'_>,
) -> Result<()> {
    if let Some(functions) = get("functions") {
        for function in functions.items()? {
            request.read_function(&function.object()?, "parameters", None, None)?;
            request.answer.function_call = true;
        }
    }
    if let Some(effort) = get("reasoning_effort") {
        request.effort = Some(read_effort(&effort, request));
    } else if let Some(reasoning) = get("reasoning") {
        read_reasoning(&reasoning.object()?, request)?;
    }
    if let Some(format) = get("response_format") {
        request.response_format = read_response_format(&format)?;
    }
    Ok(())
}

fn read_all_sampling(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    let sampling = &mut request.sampling;
    read_sampling(body, sampling)?;
    read_penalties(body, sampling)?;
    sampling.repetition_penalty = body.number("repetition_penalty")?;
    let newer = body.get("max_completion_tokens").map(|_| "max_completion_tokens");
    sampling.max_tokens = read_count(body, newer.unwrap_or("max_tokens"))?;
    sampling.n = read_count(body, "n")?.unwrap_or(sampling.n);
    sampling.logprobs = read_logprobs(body)?;
    if let Some(bias) = body.object("logit_bias")? {
        for field in bias.others(&[]) {
            let token = field.key().and_then(|key| key.parse().ok());
            let token = token.ok_or_else(|| field.invalid("the key is not a token id"))?;
            sampling.logit_bias.push((token, field.number()?));
        }
    }
    Ok(())
}

/// Errors as chat completions and Responses write them.
pub(super) fn error_body(
    status: u16,
    message: &str,
    path: Option<&str>,
    code: Option<&str>,
) -> Tree {
    let kind = match status {
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    json!({"error": {"message": message, "type": kind, "param": path, "code": code}})
}

/// What a message may have; what is not read has no meaning to the model.
const OF_MESSAGE: &[&str] = &[
    "role",
    "content",
    "name",
    "tool_calls",
    "tool_call_id",
    "function_call",
    "refusal",
    "audio",
    "reasoning_content",
    "reasoning",
    "thinking",
    "prefix",
    "annotations",
    "cache_control",
    "id",
];

/// What one of Ollama may have besides.
const OF_OLLAMA: &[&str] = &["images", "tool_name"];

const ROLES: &[&str] = &["system", "developer", "user", "assistant", "tool", "function"];

/// Reads messages one after the other: those of a request's body, or of a row of a data set. Ollama's are read here,
/// too: they have images beside their text, and objects as arguments.
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

    pub(super) fn of_ollama(request: &'r mut Request<'o>) -> Self {
        Self { is_ollama: true, ..Self::new(request) }
    }

    /// Reads the next message of a body.
    pub(super) fn read_at(&mut self, field: &BodyField<'_, '_>, place: MessagePlace) -> Result<()> {
        self.request.unsupported = place.unsupported;
        self.read(field)
    }

    /// Reads the next message.
    pub(crate) fn read(&mut self, field: &BodyField<'_, '_>) -> Result<()> {
        let message = field.object()?;
        let role = message.required("role")?;
        let unsupported = self.request.unsupported;
        self.request.history.next_message();
        self.request.history.end_group();
        let mut reads_name = false;
        match role.text()? {
            "system" | "developer" => {
                let text = self.text(&message, self.is_ollama, unsupported)?;
                self.request.history.instructions(text);
            }
            "user" => {
                let text = self.text(&message, self.is_ollama, unsupported)?;
                let name = message.text("name")?.filter(|name| is_word(name));
                reads_name = name.is_some();
                self.request.history.user(text, name.map(str::to_owned));
            }
            "assistant" => self.assistant(&message, unsupported)?,
            "tool" | "function" => {
                let text = self.text(&message, true, Unsupported::Placeholder)?;
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
        self.prefix = asked(message.get("prefix"))?;
        Ok(())
    }

    /// No message follows. `continue_last`: the body's flag to continue the last one.
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

    /// The text, and what becomes of Ollama's images.
    fn text(
        &self,
        message: &BodyObject<'_, '_>,
        may_be_missing: bool,
        unsupported: Unsupported,
    ) -> Result<String> {
        let mut texts = self.images(message, unsupported)?;
        let content = if may_be_missing {
            message.get("content")
        } else {
            Some(message.required("content")?)
        };
        if let Some(content) = content {
            texts.add(&read_content(&content, unsupported)?);
        }
        Ok(texts.into_text())
    }

    fn images(&self, message: &BodyObject<'_, '_>, unsupported: Unsupported) -> Result<Texts> {
        let mut texts = Texts::default();
        if self.is_ollama {
            message.each("images", |image| {
                texts.add(&unsupported.omitted(image, "image")?);
                Ok(())
            })?;
        }
        Ok(texts)
    }

    /// Thought, preamble, calls, in this order; text without calls is the answer.
    fn assistant(&mut self, message: &BodyObject<'_, '_>, unsupported: Unsupported) -> Result<()> {
        let (mut thoughts, mut seen) = (Vec::new(), HashSet::new());
        let mut think = |thought: &str| {
            if seen.insert(thought.to_owned()) {
                thoughts.push(thought.to_owned());
            }
        };
        for key in ["reasoning_content", "reasoning", "thinking"] {
            think(message.text(key)?.unwrap_or_default());
        }
        let mut texts = self.images(message, unsupported)?;
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
                            think(&read_content(&part.required(key)?, unsupported)?);
                        }
                        _ => texts.add(&read_part(&part, unsupported)?),
                    }
                }
            }
            Some(content) => texts.add(content.text_or("a string or a list of parts")?),
            None => {}
        }
        texts.add(message.text("refusal")?.unwrap_or_default());
        if let Some(audio) = message.object("audio")? {
            texts.add(&unsupported.placeholder(&audio, "audio")?);
        }
        let mut calls = Vec::new();
        message.each("tool_calls", |call| {
            calls.push(self.call(&call.object()?)?);
            Ok(())
        })?;
        if let Some(call) = message.object("function_call")? {
            calls.push(self.function(&call, &call)?);
        }
        for thought in &thoughts {
            self.request.history.thought(thought);
        }
        self.request.history.say_and_call(texts.into_text(), calls);
        Ok(())
    }

    /// A call: nested as the API has it, or flat.
    fn call(&self, call: &BodyObject<'_, '_>) -> Result<HistoryCall> {
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

/// What is listed of a flag that asks to continue the last message if that cannot be continued.
fn asked(flag: Option<BodyField<'_, '_>>) -> Result<Option<Unused>> {
    let Some(flag) = flag else { return Ok(None) };
    Ok(flag.bool()?.then(|| flag.unused(UnusedReason::NotContinuable)))
}

/// Whether a user's name can stand in a header.
fn is_word(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    names::flaw(name).is_none() && name.chars().all(is_plain)
}
