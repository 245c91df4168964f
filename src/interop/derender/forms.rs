//! Request bodies in vLLM 0.33's form: only the fields that are read here, each with its limit.

use crate::error::Result;
use crate::interop::TokenLogprob;
use crate::interop::field::{BodyField, BodyObject};
use crate::json::{At, Value};
use crate::tokenizer::TokenId;

/// vLLM's own limit.
pub(super) const MOST_CHOICES: usize = 16_384;
const MOST_CANDIDATES: usize = 20;

/// The tokens sampled for one answer, or some of them.
pub(super) struct Choice<'v> {
    pub(super) index: usize,
    pub(super) tokens: Vec<TokenId>,
    pub(super) finish_reason: Option<&'v str>,
    /// A stop string or the id of a stop token.
    pub(super) stop_reason: Option<At<'v>>,
    pub(super) logprobs: Option<Vec<Option<TokenLogprob>>>,
}

impl<'v> Choice<'v> {
    /// `default` is the reason it ended, if none is given.
    pub(super) fn read(
        field: &BodyField<'v, '_>,
        default: Option<&'static str>,
        context: usize,
    ) -> Result<Self> {
        let choice = field.object()?;
        let tokens = ids(&choice, "token_ids", context)?.unwrap_or_default();
        let stop_reason = choice.get("stop_reason");
        if let Some(stop) = &stop_reason
            && !matches!(stop.value(), Value::Number(_) | Value::String(_))
        {
            return Err(stop.expected("a string or a token id"));
        }
        let logprobs = match choice.object("logprobs")? {
            Some(logprobs) => read_logprobs(&logprobs, tokens.len())?,
            None => None,
        };
        Ok(Self {
            index: count(&choice, "index")?.unwrap_or_default(),
            finish_reason: match choice.get_or_null("finish_reason") {
                Some(field) => field.text_unless_null()?,
                None => default,
            },
            stop_reason: stop_reason.map(|stop| stop.at()),
            tokens,
            logprobs,
        })
    }

    /// The stop string that the engine reports.
    pub(super) fn stop_string(&self) -> Option<&'v str> {
        self.stop_reason?.as_str()
    }
}

/// One for each token.
fn read_logprobs(
    logprobs: &BodyObject<'_, '_>,
    tokens: usize,
) -> Result<Option<Vec<Option<TokenLogprob>>>> {
    let Some(content) = logprobs.get("content") else { return Ok(None) };
    let given = content.items()?.count();
    if given != tokens {
        return Err(content.invalid(format!("{given} log-probabilities for {tokens} tokens")));
    }
    let one = |field: BodyField<'_, '_>| {
        let entry = field.object()?;
        let mut top = Vec::new();
        if let Some(list) = entry.get("top_logprobs") {
            if list.items()?.count() > MOST_CANDIDATES {
                return Err(list.invalid(format!("more than {MOST_CANDIDATES}")));
            }
            for candidate in list.items()? {
                let candidate = candidate.object()?;
                let id = token_id(&candidate.required("token_id")?)?;
                top.push((id, candidate.required("logprob")?.number()?));
            }
        }
        token_id(&entry.required("token_id")?)?;
        Ok(Some(TokenLogprob { logprob: entry.required("logprob")?.number()?, top }))
    };
    content.items()?.map(one).collect::<Result<_>>().map(Some)
}

/// A list of token ids, unless it is missing or null; at most this many.
pub(super) fn ids(
    object: &BodyObject<'_, '_>,
    key: &str,
    most: usize,
) -> Result<Option<Vec<TokenId>>> {
    let Some(list) = object.get(key) else { return Ok(None) };
    let given = list.items()?.count();
    if given > most {
        return Err(list.invalid(format!("{given} ids, at most {most} are allowed")));
    }
    list.items()?.map(|id| token_id(&id)).collect::<Result<_>>().map(Some)
}

fn token_id(field: &BodyField<'_, '_>) -> Result<TokenId> {
    field.at().number().ok_or_else(|| field.invalid("expected a token id"))
}

/// A count, unless it is missing or null.
pub(super) fn count(object: &BodyObject<'_, '_>, key: &str) -> Result<Option<usize>> {
    let Some(field) = object.get(key) else { return Ok(None) };
    let found = u32::try_from(field.integer()?).ok();
    let found = found.ok_or_else(|| field.invalid("expected a whole number from 0 to 2^32 - 1"));
    found.map(|count| Some(count as usize))
}
