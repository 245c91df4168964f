//! A request's body -> a turn.

use super::messages::read_messages;
use super::tools::read_tools;
use crate::error::Result;
use crate::interop::field::BodyObject;
use crate::interop::request::Request;
use crate::interop::settings::{
    read_count, read_effort, read_logprobs, read_penalties, read_response_format, read_sampling,
    read_stop, read_thinking_budget,
};
use crate::interop::{Dialect, Json, ReadOptions, Turn};

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
pub fn read(body: impl Into<Json>, options: &ReadOptions) -> Result<Turn> {
    Dialect::ChatCompletions.read(body, options)
}

pub(super) fn collect(
    body: &BodyObject<'_, '_>,
    options: &ReadOptions,
    request: &mut Request,
) -> Result<()> {
    read_messages(body, options, request)?;
    read_tools(body, options, request)?;
    read_settings(body, request)?;
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

fn read_settings(body: &BodyObject<'_, '_>, request: &mut Request) -> Result<()> {
    if let Some(effort) = body.get("reasoning_effort") {
        request.effort = Some(read_effort(&effort, &mut request.unused));
    } else if let Some(reasoning) = body.get("reasoning") {
        let reasoning = reasoning.object()?;
        if let Some(effort) = reasoning.get("effort") {
            request.effort = Some(read_effort(&effort, &mut request.unused));
        }
        request.thinking_budget = read_thinking_budget(&reasoning, "max_tokens")?;
        let others = reasoning.others(&["effort", "max_tokens"]);
        request.unused.extend(others.map(|field| field.not_read()));
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
            let token = token.ok_or_else(|| field.invalid("the key is not a token id"))?;
            sampling.logit_bias.push((token, field.number()?));
        }
    }
    Ok(())
}
