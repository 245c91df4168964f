//! `OpenAI`'s completions with token ids, and vLLM's `generate`.

use super::{EngineFault, Event, Fault, ids, logprobs};
use crate::interop::FinishReason;
use crate::json::{At, Value};

/// The tokens and the reason of an event's first choice.
pub(super) fn read(event: At<'_>) -> Fault<Event> {
    let choices = event.get("choices").and_then(At::as_array);
    let choices = choices.ok_or_else(|| EngineFault::broke("sends events without choices"))?;
    // The event after the last token has only the usage.
    let Some(choice) = choices.iter().next() else { return Ok(Event::default()) };
    if choice.as_object().is_none() {
        return Err(EngineFault::broke("sends a choice that is not an object"));
    }
    let tokens = ids(choice.get("token_ids"))?;
    let has_text = choice.get("text").and_then(At::as_str).is_some_and(|text| !text.is_empty());
    if has_text && tokens.is_empty() {
        let what = "sends text without token ids; its completions need `return_token_ids`";
        return Err(EngineFault::broke(what));
    }
    let reason = choice.get("finish_reason").and_then(reason);
    let logprobs = match choice.get("logprobs").filter(|found| found.as_object().is_some()) {
        None => None,
        Some(found) => Some(match found.get("content") {
            Some(content) => logprobs::of_objects(tokens.len(), content, "token_id")?,
            None => logprobs::of_completions(tokens.len(), found)?,
        }),
    };
    // Completions have both in the choice, `generate` has the prompt's next to it.
    let named = |of: At<'_>, name| Some((name, of.get(name).filter(|at| !at.is_null())?.to_json()));
    let prompts = ["prompt_logprobs"].into_iter().filter_map(|name| named(event, name));
    let besides = ["routed_experts", "prompt_logprobs"].into_iter();
    let besides = besides.filter_map(|name| named(choice, name)).chain(prompts).collect();
    Ok(Event { tokens, logprobs, reason, seen: None, besides })
}

/// Why the output ends, in the words of vLLM and of servers that imitate it.
fn reason(word: At<'_>) -> Option<FinishReason> {
    match word.value() {
        Value::Null => None,
        Value::String("stop" | "repetition") => Some(FinishReason::Stop),
        Value::String("length") => Some(FinishReason::Length),
        _ => Some(FinishReason::Abort),
    }
}
