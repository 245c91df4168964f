//! A request's body -> a turn.

use super::items::Items;
use super::tools::{read_choice, read_tools};
use crate::error::Result;
use crate::interop::field::BodyObject;
use crate::interop::request::Request;
use crate::interop::settings::{
    read_count, read_effort, read_penalties, read_response_format, read_sampling, read_stop,
    read_thinking_budget, read_top_logprobs,
};
use crate::interop::{Dialect, Json, ReadOptions, Turn, UnusedReason};

/// The fields of a body that are read or that the response repeats; any other is listed in
/// [`Turn::unused`].
pub(super) const FIELDS: &[&str] = &[
    "model",
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "text",
    "reasoning",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "max_output_tokens",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "stop",
    "stream",
    "stream_options",
    "include",
    "previous_response_id",
    "top_logprobs",
];

/// The fields that the response repeats.
pub(super) const REPEATED: &[&str] = &[
    "background",
    "conversation",
    "frequency_penalty",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "parallel_tool_calls",
    "presence_penalty",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

/// Reads the body of a request for a response. [`ReadOptions::history`] is what the server keeps for
/// its `previous_response_id`.
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
/// use openai_harmony::interop::{ReadOptions, responses};
/// use serde_json::json;
///
/// let body = json!({"input": "What is 2 + 2?", "reasoning": {"effort": "high"}});
/// let turn = responses::read(&body, &ReadOptions::default())?;
/// assert_eq!(turn.conversation.messages.len(), 2);
/// # Ok::<(), openai_harmony::Error>(())
/// ```
pub fn read(body: impl Into<Json>, options: &ReadOptions) -> Result<Turn> {
    Dialect::Responses.read(body, options)
}

pub(super) fn collect(
    body: &BodyObject<'_, '_>,
    options: &ReadOptions,
    request: &mut Request,
) -> Result<()> {
    request.history.instructions(body.text("instructions")?.unwrap_or_default().to_owned());
    if let Some(tools) = body.get("tools") {
        read_tools(&tools, options, request)?;
    }
    read_settings(body, request)?;
    // One of these has the messages, whether the server gave them back or not.
    let sources = ["input", "previous_response_id", "conversation", "prompt"];
    if options.history.is_empty() && sources.iter().all(|key| body.get(key).is_none()) {
        body.required("input")?;
    }
    Items::read(body, options, request)?;
    if let Some(choice) = body.get("tool_choice") {
        request.choice = read_choice(&choice)?;
    }
    read_answer(body, request)?;
    list_unused(body, options, request);
    Ok(())
}

fn list_unused(body: &BodyObject<'_, '_>, options: &ReadOptions, request: &mut Request) {
    if let Some(prompt) = body.get("prompt") {
        request.unused.push(prompt.unused(UnusedReason::PromptNotStored));
    }
    for key in ["previous_response_id", "conversation"] {
        if let Some(id) = body.get(key).filter(|_| options.history.is_empty()) {
            request.unused.push(id.unused(UnusedReason::NoHistory));
        }
    }
}

fn read_settings(body: &BodyObject<'_, '_>, request: &mut Request) -> Result<()> {
    if let Some(reasoning) = body.get("reasoning") {
        let reasoning = reasoning.object()?;
        if let Some(effort) = reasoning.get("effort") {
            request.effort = Some(read_effort(&effort, &mut request.unused));
        }
        request.keep_thoughts = reasoning.text("context")? == Some("all_turns");
        request.thinking_budget = read_thinking_budget(&reasoning, "max_tokens")?;
        let others = reasoning.others(&["effort", "context", "max_tokens"]);
        request.unused.extend(others.map(|field| field.not_read()));
    }
    if let Some(text) = body.get("text") {
        let text = text.object()?;
        if let Some(format) = text.get("format") {
            request.response_format = read_response_format(&format)?;
        }
        request.unused.extend(text.others(&["format"]).map(|field| field.not_read()));
    }
    if let Some(truncation) = body.get("truncation") {
        request.may_truncate = match truncation.text()? {
            "auto" => true,
            "disabled" => false,
            other => return Err(truncation.unknown("truncation", other, &["auto", "disabled"])),
        };
    }
    if let Some(stop) = body.get("stop") {
        request.stop_strings = read_stop(&stop, &mut request.unused)?;
    }
    read_sampling(body, &mut request.sampling)?;
    read_penalties(body, &mut request.sampling)?;
    let most = body.get("max_output_tokens");
    request.sampling.max_tokens = most.map(|most| read_count(&most)).transpose()?;
    Ok(())
}

fn read_answer(body: &BodyObject<'_, '_>, request: &mut Request) -> Result<()> {
    request.answer.stream = body.bool("stream")?.unwrap_or(false);
    if let Some(stream) = body.get("stream_options") {
        let others = stream.object()?;
        request.unused.extend(others.others(&[]).map(|field| field.not_read()));
    }
    let alternatives = read_top_logprobs(body)?.unwrap_or(0);
    if let Some(include) = body.get("include") {
        for included in include.items()? {
            match included.text()? {
                "reasoning.encrypted_content" => request.answer.encrypted_thoughts = true,
                "message.output_text.logprobs" => request.sampling.logprobs = Some(alternatives),
                _ => request.unused.push(included.unused(UnusedReason::NotInAnswers)),
            }
        }
    }
    let repeated = body.members().iter().filter(|(key, _)| REPEATED.contains(key));
    request.answer.repeated.extend(repeated.map(|(key, at)| (key.to_owned(), at.to_tree())));
    Ok(())
}
