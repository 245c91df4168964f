//! Log-probabilities of sampled tokens, in the forms of the engines.

use super::{EngineFault, Fault};
use crate::interop::TokenLogprob;
use crate::json::{Array, At, Value};

type Logprobs = Vec<Option<TokenLogprob>>;

/// Objects with `logprob` and `top_logprobs`, and token ids of this name: one for each of `count` tokens.
pub(super) fn of_objects(count: usize, found: At<'_>, id_name: &str) -> Fault<Logprobs> {
    let pair =
        |entry: At<'_>| Some((entry.get(id_name)?.number()?, number(entry.get("logprob")?)?));
    let of_object = |entry: At<'_>| {
        let top = items(entry.get("top_logprobs")).iter().filter_map(pair).collect();
        Some(TokenLogprob { logprob: number(entry.get("logprob")?)?, top })
    };
    of_tokens(count, items(Some(found)).iter().map(of_object).collect())
}

/// The lists of `OpenAI`'s completions, where alternatives are named `token_id:5`.
pub(super) fn of_completions(count: usize, found: At<'_>) -> Fault<Logprobs> {
    let mut tops = items(found.get("top_logprobs")).iter();
    let pair = |(name, logprob): (&str, At<'_>)| {
        Some((name.strip_prefix("token_id:")?.parse().ok()?, number(logprob)?))
    };
    let of_number = |logprob: At<'_>| {
        let top = tops.next().and_then(At::as_object);
        let top = top.map(|top| top.iter().filter_map(pair).collect()).unwrap_or_default();
        Some(TokenLogprob { logprob: number(logprob)?, top })
    };
    of_tokens(count, items(found.get("token_logprobs")).iter().map(of_number).collect())
}

/// `SGLang`'s `[logprob, token id, text]`; the last entries belong to the tokens.
pub(super) fn of_lists(count: usize, found: At<'_>, tops: Option<At<'_>>) -> Fault<Logprobs> {
    let mut tops = last(tops, count);
    let first = |entry: At<'_>| number(items(Some(entry)).iter().next()?);
    let pair = |entry: At<'_>| Some((items(Some(entry)).iter().nth(1)?.number()?, first(entry)?));
    let of_list = |entry: At<'_>| {
        let top = items(tops.next()).iter().filter_map(pair).collect();
        Some(TokenLogprob { logprob: first(entry)?, top })
    };
    of_tokens(count, last(Some(found), count).map(of_list).collect())
}

fn of_tokens(count: usize, logprobs: Logprobs) -> Fault<Logprobs> {
    if logprobs.len() == count {
        return Ok(logprobs);
    }
    let sent = logprobs.len();
    Err(EngineFault::broke(format!("sends {sent} log-probabilities for {count} tokens")))
}

/// The last items of a list.
fn last(at: Option<At<'_>>, count: usize) -> impl Iterator<Item = At<'_>> {
    let all: Vec<_> = items(at).iter().collect();
    let before = all.len().saturating_sub(count);
    all.into_iter().skip(before)
}

fn items(at: Option<At<'_>>) -> Array<'_> {
    at.and_then(At::as_array).unwrap_or_default()
}

/// A number other than infinity and NaN. Minus infinity is a log-probability.
fn number(at: At<'_>) -> Option<f64> {
    match at.value() {
        Value::Number("-Infinity") => Some(f64::NEG_INFINITY),
        Value::Number(digits) => digits.parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}
