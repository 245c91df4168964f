//! The dialect of Responses, `/v1/responses`: what it owns, and its bodies -> turns.

mod client_items;
mod items;
mod tools;
mod write;

use std::collections::HashSet;

use serde_json::Value as Tree;

use self::items::{Items, read_reasoning_and_text};
use self::tools::{Loading, Tools, read_chosen};
use super::answer::{Framing, Prefixes};
use super::chat_completions::{error_body, only_some_models};
use super::choice::Choice;
use super::common::{read_max_tokens, read_penalties, read_sampling, read_stop, read_top_logprobs};
use super::dialect::{Definition, Resends};
use super::field::BodyObject;
use super::request::Request;
use super::{Dialect, Json, ReadOptions, Turn, UnusedReason};
use crate::brief::Brief;
use crate::error::Result;
use crate::options::words;
use crate::path::Path;

pub(super) const DEFINITION: Definition = Definition {
    name: "responses",
    messages: "input",
    instead: &["previous_response_id", "conversation", "prompt"],
    fields: FIELDS,
    repeated: REPEATED,
    known_by: &[],
    collect,
    writer: |head, turn| Box::new(write::Responses::new(head, turn)),
    prefixes: Prefixes {
        thought: Some("rs_"),
        message: Some("msg_"),
        function: Some("fc_"),
        custom: Some("ctc_"),
        ..Prefixes::new("resp_", "call_")
    },
    takes_objects: false,
    resends: Resends::All,
    framing: Framing::NamedEvents,
    last_frame: b"",
    error_body,
    unsupported: |path, content| {
        Some(match content {
            // Codex removes images when it reads these words.
            "images" => format!(
                "The image data you provided does not represent a valid image for this model, which reads text: {path}"
            ),
            "audio" => only_some_models(path, "input_audio"),
            "video" => only_some_models(path, "input_video"),
            "files" => only_some_models(path, "input_file"),
            _ => return None,
        })
    },
    too_long: |tokens, max_tokens| {
        format!(
            "Your input exceeds the context window of this model: {tokens} tokens > {max_tokens} maximum. Please adjust \
             your input and try again."
        )
    },
};

/// The fields of a body that are read; `REPEATED` has more.
const FIELDS: &[&str] = words!(
    "model input instructions tools tool_choice text reasoning temperature top_p top_k min_p"
    "max_output_tokens seed presence_penalty frequency_penalty stop stream stream_options include"
    "previous_response_id prompt_cache_options generate top_logprobs"
);

/// The fields that the response repeats.
const REPEATED: &[&str] = words!(
    "background conversation frequency_penalty instructions max_output_tokens max_tool_calls"
    "metadata parallel_tool_calls presence_penalty previous_response_id prompt prompt_cache_key"
    "prompt_cache_retention reasoning safety_identifier service_tier store temperature text"
    "tool_choice tools top_logprobs top_p truncation user"
);

/// Reads the body of a request for a response. [`ReadOptions::history`] is what the server keeps for
/// its `previous_response_id`.
///
/// # Errors
///
/// [`ErrorKind::InvalidRequest`](crate::ErrorKind::InvalidRequest) with the path of what the API does not allow,
/// [`ErrorKind::UnsupportedContent`](crate::ErrorKind::UnsupportedContent) with the path of what harmony cannot carry.
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

fn collect(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    let previous = read_previous(body, request)?;
    let has_history = request.history_len > 0 || previous.is_some();
    request.history.instructions(body.text("instructions")?.unwrap_or_default().to_owned());
    Tools::read(body, Loading::of_body(body), request)?;
    read_settings(body, request)?;
    Items::read(body, previous.as_ref(), request)?;
    if let Some(choice) = body.get("tool_choice") {
        request.choice = Choice::read(&choice, read_chosen)?;
        request.list_others_of_choice(&choice);
    }
    read_answer(body, request)?;
    if let Some(prompt) = body.get("prompt") {
        request.list(&prompt, UnusedReason::PromptNotStored);
    }
    for key in ["previous_response_id", "conversation"] {
        if let Some(id) = body.get(key).filter(|_| !has_history) {
            request.list(&id, UnusedReason::NoHistory);
        }
    }
    Ok(())
}

/// The items up to the response that this one follows, if the server finds it.
fn read_previous(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<Option<Json>> {
    let Some(id) = body.get("previous_response_id") else { return Ok(None) };
    let text = id.text()?;
    request.previous_response_id = Some(text.to_owned());
    let Some(previous) = &request.options.previous else { return Ok(None) };
    let unknown = || id.invalid(format!("no response with the id {:?} is stored", Brief(text)));
    previous.find(text).ok_or_else(unknown).map(Some)
}

fn read_settings(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    read_reasoning_and_text(body, request)?;
    request.may_truncate = body.one_of("truncation", &["auto", "disabled"])? == Some("auto");
    read_stop(body, "stop", request)?;
    read_sampling(body, &mut request.sampling)?;
    read_penalties(body, &mut request.sampling)?;
    request.sampling.max_tokens = read_max_tokens(body, "max_output_tokens")?;
    let mut samples = body.bool("generate")?.unwrap_or(true);
    if let Some(cache) = body.object("prompt_cache_options")? {
        samples &= !cache.bool("prewarm")?.unwrap_or(false);
        request.list_others(&cache, &["prewarm"]);
    }
    if !samples {
        request.sampling.max_tokens = Some(0);
    }
    Ok(())
}

fn read_answer(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    request.answer.stream = body.bool("stream")?.unwrap_or(false);
    if let Some(stream) = body.object("stream_options")? {
        request.list_others(&stream, &[]);
    }
    let alternatives = read_top_logprobs(body)?.unwrap_or(0);
    body.each("include", |included| {
        match included.text()? {
            "reasoning.encrypted_content" => request.answer.encrypted_thoughts = true,
            "message.output_text.logprobs" => request.sampling.logprobs = Some(alternatives),
            _ => request.list(included, UnusedReason::NotInAnswers),
        }
        Ok(())
    })?;
    // The response repeats these, and clients expect their types there.
    for flag in ["background", "parallel_tool_calls"] {
        body.bool(flag)?;
    }
    body.object("metadata")?;
    let repeated = body.members().iter().filter(|(key, _)| REPEATED.contains(key));
    request.answer.repeated.extend(repeated.map(|(key, at)| (key.to_owned(), at.to_tree())));
    if let Some(Tree::Array(tools)) = request.answer.repeated.get_mut("tools") {
        // A tool that is not run is not active.
        let left_out = request.unused.iter().filter(|unused| unused.is_tool_of_body());
        let left_out: HashSet<_> = left_out.map(|unused| &unused.path).collect();
        let mut paths = (0..).map(|index: usize| Path::of("tools").then(index));
        tools.retain(|_| paths.next().is_none_or(|path| !left_out.contains(&path)));
    }
    let asked = body.bool("store")?;
    request.store = match request.options.stores {
        Some(stores) => Some(stores && asked.unwrap_or(true)),
        None => asked,
    };
    if let Some(store) = request.store {
        request.answer.repeated.insert("store".to_owned(), store.into());
    }
    Ok(())
}
