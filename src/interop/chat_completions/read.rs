//! A request's body -> a turn.

use serde_json::Value;

use crate::error::Result;
use crate::interop::choice::{Choice, Chosen};
use crate::interop::content::{Carrying, Texts, read_content, read_part};
use crate::interop::field::{Field, Object};
use crate::interop::options::BuiltinTool;
use crate::interop::pairs::ToolId;
use crate::interop::past::{NewCall, NewResult};
use crate::interop::request::Request;
use crate::interop::settings::{
    read_count, read_effort, read_penalties, read_response_format, read_sampling, read_stop,
    refuse_logprobs,
};
use crate::interop::tools::{custom_arguments, read_arguments};
use crate::interop::{Dialect, ReadOptions, ToolKind, Turn};

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

/// Reads the body of a chat completion.
///
/// # Errors
///
/// [`ErrorKind::InvalidRequest`](crate::ErrorKind::InvalidRequest) with the path of what is not as the
/// API says, [`ErrorKind::UnsupportedContent`](crate::ErrorKind::UnsupportedContent) with that of
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
pub fn read(body: &Value, options: &ReadOptions) -> Result<Turn> {
    let root = Field::root("", body)?;
    let body = root.object()?;
    let mut request = Request::new(Dialect::ChatCompletions);
    read_messages(&body, options, &mut request)?;
    read_tools(&body, options, &mut request)?;
    read_settings(&body, &mut request)?;
    request.answer.stream = body.bool("stream")?.unwrap_or(false);
    if let Some(stream) = body.get("stream_options") {
        let stream = stream.object()?;
        request.answer.include_usage = stream.bool("include_usage")?.unwrap_or(false);
        let others = stream.others(&["include_usage"]);
        request.unused.extend(others.map(|field| field.unused(NOT_READ)));
    }
    refuse_logprobs(&body)?;
    if let Some(modalities) = body.get("modalities") {
        for modality in modalities.items()? {
            match modality.text()? {
                "text" => {}
                other => return Err(modality.unsupported(format!("answers as {other}"))),
            }
        }
    }
    request.unused.extend(body.others(FIELDS).map(|field| field.unused(NOT_READ)));
    request.into_turn(options)
}

const NOT_READ: &str = "it means nothing to the model";

fn read_settings(body: &Object<'_, '_>, request: &mut Request) -> Result<()> {
    if let Some(effort) = body.get("reasoning_effort") {
        request.effort = Some(read_effort(&effort, &mut request.unused));
    } else if let Some(reasoning) = body.get("reasoning") {
        let reasoning = reasoning.object()?;
        if let Some(effort) = reasoning.get("effort") {
            request.effort = Some(read_effort(&effort, &mut request.unused));
        }
        let others = reasoning.others(&["effort"]);
        request.unused.extend(others.map(|field| field.unused(NOT_READ)));
    }
    if let Some(format) = body.get("response_format") {
        request.response_format = read_response_format(&format)?;
    }
    if let Some(stop) = body.get("stop") {
        request.stop_strings = read_stop(&stop, &mut request.unused)?;
    }
    let sampling = &mut request.sampling;
    read_sampling(body, sampling)?;
    read_penalties(body, sampling)?;
    sampling.repetition_penalty = body.number("repetition_penalty")?;
    let most = body.get("max_completion_tokens").or_else(|| body.get("max_tokens"));
    sampling.max_tokens = most.map(|most| read_count(&most)).transpose()?;
    if let Some(n) = body.get("n") {
        sampling.n = read_count(&n)?;
    }
    if let Some(bias) = body.get("logit_bias") {
        for field in bias.object()?.others(&[]) {
            let token = field.key().and_then(|key| key.parse().ok());
            let token = token.ok_or_else(|| field.invalid("its name is not the id of a token"))?;
            sampling.logit_bias.push((token, field.number()?));
        }
    }
    Ok(())
}

fn read_messages(
    body: &Object<'_, '_>,
    options: &ReadOptions,
    request: &mut Request,
) -> Result<()> {
    let reader = Messages { carrying: Carrying::message(options.unsupported) };
    for (index, message) in options.history.iter().enumerate() {
        let name = format!("history[{index}]");
        reader.message(&Field::root(&name, message)?, request)?;
    }
    let messages = body.required("messages")?;
    let mut last = None;
    for message in messages.items()? {
        reader.message(&message, request)?;
        last = Some(message);
    }
    let flagged = last.map(|message| message.object().and_then(|message| message.bool("prefix")));
    let flagged = flagged.transpose()?.flatten().unwrap_or(false);
    request.continue_last = flagged || body.bool("continue_final_message")?.unwrap_or(false);
    Ok(())
}

struct Messages {
    carrying: Carrying,
}

impl Messages {
    fn message(&self, field: &Field<'_, '_>, request: &mut Request) -> Result<()> {
        let message = field.object()?;
        let role = message.required("role")?;
        request.past.end_group();
        match role.text()? {
            "system" | "developer" => {
                let text = read_content(&message.required("content")?, self.carrying)?;
                request.past.instructions(text);
            }
            "user" => {
                let text = read_content(&message.required("content")?, self.carrying)?;
                let name = message.text("name")?.filter(|name| is_word(name));
                request.past.user(text, name.map(str::to_owned));
                if name.is_some() {
                    return self.unread(&message, request);
                }
            }
            "assistant" => self.assistant(&message, request)?,
            "tool" | "function" => return self.result(&message, request),
            other => return Err(role.unknown("role", other)),
        }
        if let Some(name) = message.get("name") {
            request.unused.push(name.unused("the message's header cannot carry it"));
        }
        self.unread(&message, request)
    }

    fn unread(&self, message: &Object<'_, '_>, request: &mut Request) -> Result<()> {
        request.unused.extend(message.others(OF_MESSAGE).map(|field| field.unused(NOT_READ)));
        Ok(())
    }

    /// Thought, preamble, calls, in this order; text without calls is the answer.
    fn assistant(&self, message: &Object<'_, '_>, request: &mut Request) -> Result<()> {
        let mut thoughts: Vec<&str> = Vec::new();
        for key in ["reasoning_content", "reasoning", "thinking"] {
            let thought = message.text(key)?.unwrap_or_default();
            if !thoughts.contains(&thought) {
                thoughts.push(thought);
            }
        }
        let mut texts = Texts::default();
        let mut more = Vec::new();
        match message.get("content") {
            Some(content) if content.value().is_array() => {
                for part in content.items()? {
                    self.assistant_part(&part, &mut texts, &mut more)?;
                }
            }
            Some(content) => texts.add(content.text_or("a text or a list of parts")?),
            None => {}
        }
        texts.add(message.text("refusal")?.unwrap_or_default());
        if let Some(audio) = message.get("audio") {
            let part = audio.object()?;
            texts.add(&self.carrying.placeholder(&part, "audio")?);
        }
        for thought in thoughts {
            request.past.thought(thought.to_owned());
            more.retain(|other| other != thought);
        }
        more.into_iter().for_each(|thought| request.past.thought(thought));
        let calls = message.get("tool_calls");
        let has_calls = calls.as_ref().is_some_and(|calls| calls.value() != &Value::Array(vec![]));
        let function_call = message.get("function_call");
        let text = texts.into_text();
        if has_calls || function_call.is_some() {
            request.past.preamble(text);
        } else {
            request.past.answer(text);
        }
        if let Some(calls) = &calls {
            for call in calls.items()? {
                read_call(&call, request)?;
            }
        }
        if let Some(call) = &function_call {
            read_function(&call.object()?, call, None, request)?;
        }
        Ok(())
    }

    /// A part of the assistant's content: thoughts may be among them.
    fn assistant_part(
        &self,
        part: &Field<'_, '_>,
        texts: &mut Texts,
        thoughts: &mut Vec<String>,
    ) -> Result<()> {
        if let Value::String(text) = part.value() {
            texts.add(text);
            return Ok(());
        }
        let part = part.object()?;
        match part.text("type")? {
            Some(key @ ("thinking" | "reasoning")) => {
                thoughts.push(read_content(&part.required(key)?, self.carrying)?);
            }
            _ => texts.add(&read_part(&part, self.carrying)?),
        }
        Ok(())
    }

    fn result(&self, message: &Object<'_, '_>, request: &mut Request) -> Result<()> {
        let text = match message.get("content") {
            Some(content) => read_content(&content, Carrying::result())?,
            None => String::new(),
        };
        request.past.result(NewResult {
            path: message.field().path(),
            id: message.text("tool_call_id")?.map(str::to_owned),
            tool: message.text("name")?.map(ToolId::new),
            text,
        })?;
        self.unread(message, request)
    }
}

/// Whether a user's name can stand in a header.
fn is_word(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// A call: nested as the API has it, or flat.
fn read_call(call: &Field<'_, '_>, request: &mut Request) -> Result<()> {
    let call = call.object()?;
    let id = call.text("id")?.map(str::to_owned);
    if let Some(custom) = call.get("custom") {
        let custom = custom.object()?;
        request.past.call(NewCall {
            path: call.field().path(),
            id,
            tool: ToolId::new(custom.required("name")?.text()?),
            kind: ToolKind::Custom,
            arguments: custom_arguments(custom.required("input")?.text()?),
        });
        return Ok(());
    }
    match call.get("function") {
        Some(function) => read_function(&function.object()?, &call.field(), id, request),
        None if call.get("name").is_some() => read_function(&call, &call.field(), id, request),
        None => call.required("function").map(|_| ()),
    }
}

fn read_function(
    function: &Object<'_, '_>,
    call: &Field<'_, '_>,
    id: Option<String>,
    request: &mut Request,
) -> Result<()> {
    request.past.call(NewCall {
        path: call.path(),
        id,
        tool: ToolId::new(function.required("name")?.text()?),
        kind: ToolKind::Function,
        arguments: read_arguments(function, "arguments")?,
    });
    Ok(())
}

fn read_tools(body: &Object<'_, '_>, options: &ReadOptions, request: &mut Request) -> Result<()> {
    if let Some(tools) = body.get("tools") {
        for tool in tools.items()? {
            read_tool(&tool, options, request)?;
        }
    }
    if let Some(functions) = body.get("functions") {
        for function in functions.items()? {
            let function = function.object()?;
            request.tools.function(&function, "parameters", None, &mut request.unused)?;
            request.answer.function_call = true;
        }
    }
    if let Some(search) = body.get("web_search_options") {
        search.object()?;
        request.tools.served(BuiltinTool::Browser, &search, options, &mut request.unused);
    }
    let choice = body.get("tool_choice").or_else(|| body.get("function_call"));
    if let Some(choice) = choice {
        request.choice = read_choice(&choice)?;
    }
    Ok(())
}

/// A function, nested or flat, a free-form tool, or a tool that servers run.
fn read_tool(tool: &Field<'_, '_>, options: &ReadOptions, request: &mut Request) -> Result<()> {
    let object = tool.object()?;
    let kind = object.text("type")?;
    let unused = &mut request.unused;
    match kind {
        Some("custom") => {
            let nested = object.get("custom");
            let nested = nested.as_ref().map(Field::object).transpose()?;
            request.tools.custom(nested.as_ref().unwrap_or(&object), None, unused)
        }
        None | Some("function") => {
            let nested = object.get("function");
            let nested = nested.as_ref().map(Field::object).transpose()?;
            let function = nested.as_ref().unwrap_or(&object);
            request.tools.function(function, "parameters", None, unused)
        }
        Some("web_search" | "browser_search" | "browser") => {
            request.tools.served(BuiltinTool::Browser, tool, options, unused);
            Ok(())
        }
        Some("code_interpreter" | "python") => {
            request.tools.served(BuiltinTool::Python, tool, options, unused);
            Ok(())
        }
        Some(_) => {
            unused.push(tool.unused("nobody runs tools of this kind here"));
            Ok(())
        }
    }
}

fn read_choice(choice: &Field<'_, '_>) -> Result<Choice> {
    if let Value::String(word) = choice.value() {
        return Choice::word(word).ok_or_else(|| choice.unknown("choice", word));
    }
    let object = choice.object()?;
    if object.text("type")? == Some("allowed_tools") {
        let nested = object.get("allowed_tools");
        let nested = nested.as_ref().map(Field::object).transpose()?;
        let allowed = nested.as_ref().unwrap_or(&object);
        let tools = allowed.required("tools")?;
        let tools =
            tools.items()?.map(|tool| read_chosen(&tool.object()?)).collect::<Result<_>>()?;
        return Ok(Choice::Allowed { tools, required: allowed.text("mode")? == Some("required") });
    }
    read_chosen(&object).map(Choice::Named)
}

/// `{"type": "function", "function": {"name": ...}}`, or flat as `function_call` has it.
fn read_chosen(chosen: &Object<'_, '_>) -> Result<Chosen> {
    let nested = chosen.get("function").or_else(|| chosen.get("custom"));
    let nested = nested.as_ref().map(Field::object).transpose()?;
    let named = nested.as_ref().unwrap_or(chosen);
    let name = named.required("name")?;
    Ok(Chosen::tool(ToolId::new(name.text()?), &name))
}
