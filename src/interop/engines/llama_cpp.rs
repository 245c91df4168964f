//! `/completion` of llama.cpp's server.

use super::{EngineFault, Event, Fault, ids, logprobs};
use crate::interop::FinishReason;
use crate::json::{At, Value};
use crate::{HarmonyEncodingName, load_harmony_encoding};

/// Reads an event that follows `seen` tokens.
///
/// The server sends nothing until a character is complete, and then only the last of its tokens. `tokens_predicted`
/// shows that. The text of the event has the whole character, so it is encoded again, perhaps into more or fewer
/// tokens.
pub(super) fn read(event: At<'_>, seen: usize) -> Fault<Event> {
    let mut tokens = ids(event.get("tokens"))?;
    let counted = event.get("tokens_predicted").and_then(At::number);
    let text = event.get("content").and_then(At::as_str).unwrap_or_default();
    if tokens.is_empty() && !text.is_empty() {
        let what = "sends text without tokens; is it llama.cpp's server?";
        return Err(EngineFault::broke(what));
    }
    let has_more = counted.is_some_and(|counted| counted > seen + tokens.len());
    if has_more && !text.is_empty() {
        let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss);
        let encoding = encoding.map_err(|error| EngineFault::broke(error.to_string()))?;
        tokens = encoding.tokenizer().encode_ordinary(text);
    }
    // The server gives none of a character's other tokens.
    let found = event
        .get("completion_probabilities")
        .filter(|found| found.as_array().is_some_and(|found| found.iter().count() == tokens.len()));
    let logprobs = found.map(|found| logprobs::of_objects(tokens.len(), found, "id"));
    let is_end = event.get("stop").is_some_and(|stop| matches!(stop.value(), Value::Bool(true)));
    let reason = is_end.then(|| match event.get("stop_type").and_then(At::as_str) {
        Some("limit") => FinishReason::Length,
        _ => FinishReason::Stop,
    });
    Ok(Event { tokens, logprobs: logprobs.transpose()?, reason, seen: counted, ..Event::default() })
}
