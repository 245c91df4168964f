//! A request's body -> a turn.

use super::messages::Messages;
use super::tools::{read_choice, read_functions, read_tool};
use crate::error::Result;
use crate::interop::field::{BodyField, BodyObject};
use crate::interop::request::Request;
use crate::interop::settings::{
    read_count, read_effort, read_logprobs, read_penalties, read_response_format, read_sampling,
    read_stop, read_thinking_budget,
};
use crate::interop::{Dialect, Json, ReadOptions, Sampling, Turn};
use crate::path::Path;

/// The fields of a body that are read; any other is listed in [`Turn::unused`].
pub(super) const FIELDS: &[&str] = &[
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

pub(super) fn collect(
    body: &BodyObject<'_, '_>,
    options: &ReadOptions,
    request: &mut Request,
) -> Result<()> {
    let mut messages = Messages::new(options, request);
    for (index, message) in options.history.iter().enumerate() {
        let path = Path::of("history").then(index);
        messages.read(&BodyField::root(&path, message)?)?;
    }
    for message in body.required("messages")?.items()? {
        messages.read(&message)?;
    }
    messages.end(body.get("continue_final_message").as_ref())?;
    if let Some(tools) = body.get("tools") {
        for tool in tools.items()? {
            read_tool(&tool, options, request)?;
        }
    }
    read_settings(|key| body.get(key), request)?;
    if let Some(search) = body.get("web_search_options") {
        search.object()?;
        request.tools.server_tool("web_search", &search, options, &mut request.unused);
    }
    if let Some(choice) = body.get("tool_choice").or_else(|| body.get("function_call")) {
        request.choice = read_choice(&choice)?;
    }
    if let Some(stop) = body.get("stop") {
        request.stop_strings = read_stop(&stop, &mut request.unused)?;
    }
    read_all_sampling(body, &mut request.sampling)?;
    request.answer.stream = body.bool("stream")?.unwrap_or(false);
    if let Some(stream) = body.get("stream_options") {
        let stream = stream.object()?;
        request.answer.include_usage = stream.bool("include_usage")?.unwrap_or(false);
        let others = stream.others(&["include_usage"]);
        request.unused.extend(others.map(|field| field.not_read()));
    }
    request.sampling.logprobs = read_logprobs(body)?;
    if let Some(modalities) = body.get("modalities") {
        for modality in modalities.items()? {
            match modality.text()? {
                "text" => {}
                other => return Err(modality.unsupported(format!("answers as {other}"))),
            }
        }
    }
    Ok(())
}

/// Reads what rows of data sets can have beside messages and tools, too; `get` finds it.
pub(crate) fn read_settings<'v, 'p>(
    get: impl Fn(&'static str) -> Option<BodyField<'v, 'p>>,
    request: &mut Request,
) -> Result<()> {
    if let Some(functions) = get("functions") {
        read_functions(&functions, request)?;
    }
    if let Some(effort) = get("reasoning_effort") {
        request.effort = Some(read_effort(&effort, &mut request.unused));
    } else if let Some(reasoning) = get("reasoning") {
        let reasoning = reasoning.object()?;
        if let Some(effort) = reasoning.get("effort") {
            request.effort = Some(read_effort(&effort, &mut request.unused));
        }
        request.thinking_budget = read_thinking_budget(&reasoning, "max_tokens")?;
        let others = reasoning.others(&["effort", "max_tokens"]);
        request.unused.extend(others.map(|field| field.not_read()));
    }
    if let Some(format) = get("response_format") {
        request.response_format = read_response_format(&format)?;
    }
    Ok(())
}

fn read_all_sampling(body: &BodyObject<'_, '_>, sampling: &mut Sampling) -> Result<()> {
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
            let token = token.ok_or_else(|| field.invalid("the key is not a token id"))?;
            sampling.logit_bias.push((token, field.number()?));
        }
    }
    Ok(())
}
