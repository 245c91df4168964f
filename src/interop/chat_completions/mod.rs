//! The dialect of chat completions, `/v1/chat/completions`: what it owns, and its bodies -> turns.

mod messages;
mod other_servers;
mod write;

use serde_json::{Value as Tree, json};

pub(crate) use self::messages::Messages;

use super::answer::{Framing, Prefixes};
use super::choice::{Choice, Chosen};
use super::common::{
    read_count, read_effort, read_logprobs, read_max_tokens, read_penalties, read_reasoning,
    read_sampling, read_stop,
};
use super::dialect::{Definition, Resends};
use super::field::{BodyField, BodyObject};
use super::request::Request;
use super::{Dialect, Json, ReadOptions, Turn};
use crate::error::Result;
use crate::json::Value;
use crate::options::words;

pub(super) const DEFINITION: Definition = Definition {
    name: "chat_completions",
    messages: "messages",
    instead: &[],
    fields: FIELDS,
    repeated: &[],
    // Fields that no other API has.
    known_by: &[],
    collect,
    writer: |head, turn| Box::new(write::Chat::new(head, turn)),
    prefixes: Prefixes::new("chatcmpl-", "call_"),
    takes_objects: false,
    resends: Resends::Nothing,
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
const FIELDS: &[&str] = words!(
    "model messages tools tool_choice functions function_call parallel_tool_calls response_format"
    "reasoning_effort reasoning temperature top_p top_k min_p max_tokens max_completion_tokens n"
    "seed presence_penalty frequency_penalty repetition_penalty logit_bias stop stream"
    "stream_options logprobs top_logprobs return_token_ids return_tokens_as_token_ids"
    "web_search_options modalities continue_final_message"
    // Fields of other servers.
    "chat_template_kwargs enable_thinking think include_reasoning thinking thinking_budget_tokens"
    "thinking_token_budget guided_json json_schema structured_outputs n_predict repeat_penalty"
);

/// Reads the body of a chat completion.
///
/// # Errors
///
/// [`ErrorKind::InvalidRequest`](crate::ErrorKind::InvalidRequest) with the path of what the API does not allow,
/// [`ErrorKind::UnsupportedContent`](crate::ErrorKind::UnsupportedContent) with the path of what harmony cannot carry.
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
    let options = request.options;
    let mut messages = Messages::new(request);
    options.each_message(body, "messages", |message, place| messages.read_at(message, place))?;
    messages.end(body.get("continue_final_message"))?;
    body.each("tools", |tool| read_tool(tool, request))?;
    read_settings(|key| body.get(key), request)?;
    other_servers::read(body, request)?;
    if let Some(search) = body.get("web_search_options") {
        search.object()?;
        request.server_tool("web_search", &search);
    }
    if let Some(choice) = body.get("tool_choice").or_else(|| body.get("function_call")) {
        request.choice = Choice::read(&choice, Chosen::read)?;
        request.list_others_of_choice(&choice);
    }
    read_stop(body, "stop", request)?;
    read_all_sampling(body, request)?;
    request.answer.stream = body.bool("stream")?.unwrap_or(false);
    request.answer.token_ids = body.bool("return_token_ids")?.unwrap_or(false);
    request.answer.tokens_as_ids = body.bool("return_tokens_as_token_ids")?.unwrap_or(false);
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
            request.list_beside(&object, "function");
        }
        "custom" => {
            request.read_custom(&object.nested("custom")?, None, None)?;
            request.list_beside(&object, "custom");
        }
        kind => request.server_tool(kind, tool),
    }
    Ok(())
}

/// Reads the fields that rows of data sets can also have besides messages and tools; `get` finds them.
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
    if let Some(reasoning) = get("reasoning") {
        read_reasoning(&reasoning.object()?, request, &["enabled", "exclude"])?;
    }
    if let Some(effort) = get("reasoning_effort") {
        request.effort = Some(match effort.value() {
            // As LiteLLM writes it.
            Value::Object(_) => read_effort(&effort.object()?.required("effort")?, request),
            _ => read_effort(&effort, request),
        });
    }
    if let Some(format) = get("response_format") {
        request.read_response_format(&format)?;
    }
    Ok(())
}

fn read_all_sampling(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    let sampling = &mut request.sampling;
    read_sampling(body, sampling)?;
    read_penalties(body, sampling)?;
    let penalty = body.number("repetition_penalty")?;
    sampling.repetition_penalty = penalty.or(body.number("repeat_penalty")?);
    let given = ["n_predict", "max_completion_tokens"].into_iter();
    let given = { given }.find(|key| body.get(key).is_some());
    sampling.max_tokens = read_max_tokens(body, given.unwrap_or("max_tokens"))?;
    sampling.n = read_count(body, "n")?.unwrap_or(sampling.n);
    sampling.logprobs = read_logprobs(body)?;
    body.bool("parallel_tool_calls")?;
    if let Some(bias) = body.object("logit_bias")? {
        for field in bias.others(&[]) {
            let token = field.key().and_then(|key| key.parse().ok());
            let token = token.ok_or_else(|| field.invalid("the key is not a token id"))?;
            sampling.logit_bias.push((token, field.number()?));
        }
    }
    Ok(())
}

/// Errors in the form that chat completions and Responses share.
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
