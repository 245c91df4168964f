//! `SGLang`'s `/generate`.

use super::{EngineFault, Event, Fault, ids, logprobs, status_of};
use crate::brief::Brief;
use crate::interop::FinishReason;
use crate::json::{At, Value};

/// Reads an event that follows `seen` tokens.
///
/// Depending on version and options, `output_ids` has the tokens of all events so far or only of this one;
/// `completion_tokens` counts all.
pub(super) fn read(event: At<'_>, seen: usize) -> Fault<Event> {
    let about = event.get("meta_info");
    let counted = about.and_then(|about| about.get("completion_tokens")?.number::<usize>());
    let (Some(about), Some(counted)) = (about, counted) else {
        return Err(EngineFault::broke("sends events without `meta_info`"));
    };
    let mut tokens = ids(event.get("output_ids"))?;
    let new = counted.checked_sub(seen).filter(|new| *new <= tokens.len()).ok_or_else(|| {
        let (sent, new) = (tokens.len(), i128::try_from(counted).unwrap_or(i128::MAX));
        let new = new - i128::try_from(seen).unwrap_or_default();
        EngineFault::broke(format!("sends {sent} token ids where {new} are new"))
    })?;
    let reason = match about.get("finish_reason") {
        None => None,
        Some(reason) => reason_of(reason)?,
    };
    tokens.drain(..tokens.len() - new);
    let found = about.get("output_token_logprobs").filter(|found| !found.is_null());
    let logprobs = found
        .map(|found| logprobs::of_lists(tokens.len(), found, about.get("output_top_logprobs")));
    Ok(Event {
        tokens,
        logprobs: logprobs.transpose()?,
        reason,
        seen: Some(counted),
        ..Event::default()
    })
}

fn reason_of(reason: At<'_>) -> Fault<Option<FinishReason>> {
    let kind = match reason.value() {
        // Without a type, the output has not ended.
        Value::Object(_) => reason.get("type").unwrap_or(reason.nothing()),
        _ => reason,
    };
    let is_abort = kind.as_str() == Some("abort");
    if let Some(message) = reason.get("message").and_then(At::as_str)
        && is_abort
        && !message.is_empty()
    {
        let status = status_of(reason.get("status_code").and_then(At::number));
        return Err(EngineFault { status, what: format!("says: {}", Brief(message)) });
    }
    Ok(match kind.value() {
        Value::Null => None,
        Value::String("stop") => Some(FinishReason::Stop),
        Value::String("length") => Some(FinishReason::Length),
        _ => Some(FinishReason::Abort),
    })
}
