//! Sampled tokens -> chat completions.

use serde_json::{Map, Value as Tree, json};

use super::forms::{Choice, MOST_CHOICES, count, ids};
use super::merge::merged;
use super::state::{Own, StreamState, raw};
use super::{
    DerenderOptions, check_context, only_choice, request_id, write_chunk, write_head, write_usage,
};
use crate::HarmonyEncoding;
use crate::error::Result;
use crate::interop::answer::write_object;
use crate::interop::field::{BodyField, BodyObject};
use crate::interop::{
    FinishReason, Json, ReadOptions, ReasoningField, Reply, ReplyOptions, TokenLogprob, Turn,
    chat_completions,
};
use crate::json::{At, Object};

/// The whole chat completion.
pub(super) fn whole(
    body: &BodyObject<'_, '_>,
    encoding: HarmonyEncoding,
    options: DerenderOptions<'_>,
) -> Result<Vec<u8>> {
    let turn = turn(body)?;
    let prompt = count(body, "prompt_tokens")?.unwrap_or_default();
    ids(body, "prompt_token_ids", options.context)?;
    let field = body.required("generate_response")?;
    let generated = field.object()?;
    let id = request_id(&generated)?;
    let choices = read_choices(&generated, options)?;
    let mut answers = Vec::with_capacity(choices.len());
    for choice in &choices {
        let mut reply = turn.reply(&encoding, reply_options(choice.index, id, options))?;
        reply.feed(&choice.tokens, logprobs(choice, &turn))?;
        let (_, ended) = finish(&mut reply, choice, Some("stop"))?;
        answers.push((reply.full_response(), ended, stop_reason(choice, &reply)));
    }
    let sampled = choices.iter().map(|choice| choice.tokens.len()).sum();
    let mut bytes = Vec::with_capacity(8 * sampled);
    write_object(&mut bytes, |answer| {
        write_head(answer, id, "chat.completion", options);
        answer.objects("choices", &answers, |(response, ended, stop), members| {
            let choices = response.at().get("choices").and_then(At::as_array).unwrap_or_default();
            let choice = choices.iter().next().and_then(At::as_object);
            for (name, value) in choice.into_iter().flat_map(Object::iter) {
                match ended.filter(|_| name == "finish_reason") {
                    Some(word) => members.text(name, word),
                    None => members.value(name, &value),
                };
            }
            members.value("stop_reason", stop);
        });
        write_usage(answer, prompt, sampled);
        let asked = turn.answer.token_ids.then_some("prompt_token_ids");
        for name in ["prompt_logprobs", "kv_transfer_params"].into_iter().chain(asked) {
            answer.value(name, &generated.get(name).map(|field| field.at()));
        }
    });
    Ok(bytes)
}

/// The choices of a whole answer, each with tokens.
pub(super) fn read_choices<'v>(
    generated: &BodyObject<'v, '_>,
    options: DerenderOptions<'_>,
) -> Result<Vec<Choice<'v>>> {
    let list = generated.required("choices")?;
    let given = list.items()?.count();
    if given > MOST_CHOICES {
        return Err(list.invalid(format!("{given} choices, at most {MOST_CHOICES} are allowed")));
    }
    if let Some(prompt) = generated.get("prompt_logprobs") {
        check_context(&prompt, prompt.items()?.count(), options)?;
    }
    let read = |field: BodyField<'v, '_>| {
        let choice = Choice::read(&field, Some("stop"), options.context)?;
        if choice.tokens.is_empty() {
            return Err(field.invalid("token_ids: no tokens"));
        }
        Ok(choice)
    };
    list.items()?.map(read).collect()
}

/// The next chunk and the state after it.
pub(super) fn chunk(
    body: &BodyObject<'_, '_>,
    encoding: HarmonyEncoding,
    options: DerenderOptions<'_>,
) -> Result<Vec<u8>> {
    let turn = turn(body)?;
    let mut state = StreamState::read(body, options.context)?;
    let field = body.required("generate_chunk")?;
    let generated = field.object()?;
    let choice = only_choice(&generated, options)?;
    let given = ids(body, "prompt_token_ids", options.context)?.map(|ids| ids.len());
    let prompt = match (given, &state.harmony) {
        (Some(prompt), _) => prompt,
        // The state has what the earlier tokens are needed for.
        (None, Some(own)) => own.prompt,
        (None, None) => {
            let missing = body.get_or_null("prompt_token_ids");
            return Err(missing.map_or_else(
                || body.field().invalid("prompt_token_ids: missing"),
                |null| null.expected("a list"),
            ));
        }
    };
    let new = choice.as_ref().map_or(0, |choice| choice.tokens.len());
    let tokens = prompt.saturating_add(state.sampled()).saturating_add(new);
    check_context(&body.field(), tokens, options)?;
    let made = match &choice {
        Some(choice) => {
            let id = request_id(&generated)?;
            let mut reply = resumed(&turn, encoding, choice, &state, id, options)?;
            let made = next(&mut reply, choice, &turn, &mut state)?;
            state.add(&choice.tokens);
            let tokens = reply.usage().completion_tokens;
            let reply = raw(String::from_utf8_lossy(&reply.to_checkpoint()?).into_owned())?;
            state.harmony = Some(Own { prompt, tokens, reply });
            Some(Tree::Object(made))
        }
        None => None,
    };
    write_chunk("chat.completion.chunk", body, &generated, made, &state, options)
}

/// The reply as it was after the previous chunk: from its checkpoint, or from all tokens so far.
fn resumed(
    turn: &Turn,
    encoding: HarmonyEncoding,
    choice: &Choice<'_>,
    state: &StreamState,
    id: &str,
    options: DerenderOptions<'_>,
) -> Result<Reply> {
    let begun = reply_options(choice.index, id, options);
    let Some(own) = &state.harmony else {
        let mut reply = turn.reply(&encoding, begun)?;
        reply.use_ids(state.last_tool_call_ids.clone());
        let before = state.output_token_ids.as_deref().unwrap_or_default();
        if !before.is_empty() {
            reply.feed(before, None)?;
        }
        return Ok(reply);
    };
    let saved = own.reply.get().as_bytes();
    Reply::from_carried(turn, encoding, saved, (id, choice.index, own.tokens))
}

/// Everything that a chunk adds, merged into one choice.
fn next(
    reply: &mut Reply,
    choice: &Choice<'_>,
    turn: &Turn,
    state: &mut StreamState,
) -> Result<Map<String, Tree>> {
    let mut chunks = Vec::new();
    if !choice.tokens.is_empty() {
        chunks = reply.feed(&choice.tokens, logprobs(choice, turn))?;
    }
    let mut ended = None;
    if choice.finish_reason.is_some() {
        let (more, word) = finish(reply, choice, None)?;
        chunks.extend(more);
        ended = word;
    }
    let mut made = merged(&chunks, choice.index);
    if let Some(word) = ended {
        made.insert("finish_reason".to_owned(), json!(word));
    }
    made.insert("stop_reason".to_owned(), json!(stop_reason(choice, reply)));
    let calls = made["delta"].get("tool_calls").and_then(Tree::as_array);
    state.tools_streamed |= calls.is_some();
    let ids = calls.into_iter().flatten().filter_map(|call| call["id"].as_str());
    state.last_tool_call_ids.extend(ids.map(str::to_owned));
    if !std::mem::replace(&mut state.role_sent, true)
        && let Some(Tree::Object(delta)) = made.get_mut("delta")
    {
        delta.shift_insert(0, "role".to_owned(), json!("assistant"));
    }
    Ok(made)
}

/// Ends the answer. If the engine gives a reason of its own, such as `abort`, the answer repeats that word.
fn finish<'v>(
    reply: &mut Reply,
    choice: &Choice<'v>,
    default: Option<&'v str>,
) -> Result<(Vec<Json>, Option<&'v str>)> {
    let (reason, word) = match choice.finish_reason.or(default) {
        Some("stop" | "repetition") | None => (FinishReason::Stop, None),
        Some("length") => (FinishReason::Length, None),
        other => (FinishReason::Length, other),
    };
    Ok((reply.finish(reason, choice.stop_string())?, word))
}

fn turn(body: &BodyObject<'_, '_>) -> Result<Turn> {
    let request = body.required("chat_request")?;
    chat_completions::read(Json::copy(request.at()), &ReadOptions::default())
}

fn reply_options(index: usize, id: &str, options: DerenderOptions<'_>) -> ReplyOptions {
    ReplyOptions {
        id: Some(id.to_owned()),
        index,
        prompt_tokens: Some(0),
        prompt_token_ids: Some(Vec::new()),
        reasoning_field: ReasoningField::Reasoning,
        ..ReplyOptions::new(options.model)
    }
}

/// The log-probabilities of a choice, if the request asks for them.
fn logprobs<'c>(choice: &'c Choice<'_>, turn: &Turn) -> Option<&'c [Option<TokenLogprob>]> {
    choice.logprobs.as_deref().filter(|_| turn.sampling.logprobs.is_some())
}

/// The stop string of the request that was found, or the one that the engine reports.
fn stop_reason(choice: &Choice<'_>, reply: &Reply) -> Tree {
    match (reply.stop_sequence(), choice.stop_reason) {
        (Some(found), _) => json!(found),
        (None, Some(given)) => given.to_tree(),
        (None, None) => Tree::Null,
    }
}
