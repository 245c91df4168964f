//! The state that a client carries from one chunk of a stream to the next.
//!
//! The fields are vLLM's, so replicas of it and of this library may take turns: each ignores and omits the fields that
//! only the other has. vLLM's state for chat has all tokens, which are parsed again for each chunk. `harmony` is this
//! library's addition: a checkpoint of the reply, which does not grow. A client that only uses this library may omit
//! the tokens; then the answers have none either.

use serde::Serialize;
use serde_json::value::RawValue;

use super::forms;
use crate::error::Result;
use crate::interop::field::{BodyField, BodyObject};
use crate::saved::invalid;
use crate::tokenizer::TokenId;

/// How many of the last tokens are kept: they may hold the first bytes of a character.
const CONTEXT: usize = 4;

#[derive(Debug, Default, Serialize)]
pub(super) struct StreamState {
    pub(super) role_sent: bool,
    pub(super) logprob_context_token_ids: Vec<TokenId>,
    /// All tokens so far, and how many each chunk had. `None`: the client omits them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_token_ids: Option<Vec<TokenId>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_chunk_lens: Option<Vec<usize>>,
    pub(super) tools_streamed: bool,
    pub(super) last_tool_call_ids: Vec<String>,
    /// What this library needs instead of the tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) harmony: Option<Own>,
}

/// The part that only this library reads.
#[derive(Debug, Serialize)]
pub(super) struct Own {
    /// How many tokens the prompt has, and how many came since.
    pub(super) prompt: usize,
    pub(super) tokens: usize,
    pub(super) reply: Box<RawValue>,
}

impl StreamState {
    /// The state of a stream that begins.
    pub(super) fn first() -> Self {
        Self {
            output_token_ids: Some(Vec::new()),
            output_chunk_lens: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// Reads a body's state and checks its lengths and sums.
    pub(super) fn read(body: &BodyObject<'_, '_>, context: usize) -> Result<Self> {
        let Some(field) = body.get("stream_state") else { return Ok(Self::first()) };
        let state = field.object()?;
        let harmony = state.object("harmony")?.map(|own| Own::read(&own)).transpose()?;
        let tokens = forms::ids(&state, "output_token_ids", context)?.unwrap_or_default();
        let lens = lens(&state, tokens.len())?;
        // Without a token so far, the client may still omit either.
        let is_left_out = tokens.is_empty() && harmony.as_ref().is_some_and(|own| own.tokens > 0);
        if let Some(own) = &harmony
            && !is_left_out
            && own.tokens != tokens.len()
        {
            let (theirs, ours) = (tokens.len(), own.tokens);
            let reason = format!(
                "for {ours} tokens, but output_token_ids has {theirs}: two states were mixed up"
            );
            return Err(state.required("harmony")?.invalid(reason));
        }
        Ok(Self {
            role_sent: state.bool("role_sent")?.unwrap_or_default(),
            logprob_context_token_ids: forms::ids(&state, "logprob_context_token_ids", CONTEXT)?
                .unwrap_or_default(),
            output_token_ids: (!is_left_out).then_some(tokens),
            output_chunk_lens: (!is_left_out).then_some(lens),
            tools_streamed: state.bool("tools_streamed")?.unwrap_or_default(),
            last_tool_call_ids: texts(&state, "last_tool_call_ids", context)?,
            harmony,
        })
    }

    /// How many tokens were sampled before.
    pub(super) fn sampled(&self) -> usize {
        let given = self.output_token_ids.as_ref().map_or(0, Vec::len);
        self.harmony.as_ref().map_or(given, |own| own.tokens)
    }

    /// Adds the tokens of a chunk.
    pub(super) fn add(&mut self, tokens: &[TokenId]) {
        let context = &mut self.logprob_context_token_ids;
        context.extend(tokens);
        context.drain(..context.len().saturating_sub(CONTEXT));
        if let Some(all) = &mut self.output_token_ids {
            all.extend(tokens);
        }
        if let Some(lens) = self.output_chunk_lens.as_mut().filter(|_| !tokens.is_empty()) {
            lens.push(tokens.len());
        }
    }
}

impl Own {
    fn read(own: &BodyObject<'_, '_>) -> Result<Self> {
        let required = |key: &str| {
            let found = forms::count(own, key)?;
            found.map_or_else(|| own.required(key).map(|_| 0), Ok)
        };
        let reply = own.required("reply")?.at().to_json();
        Ok(Self { prompt: required("prompt")?, tokens: required("tokens")?, reply: raw(reply)? })
    }
}

/// JSON copied as it is.
pub(super) fn raw(json: String) -> Result<Box<RawValue>> {
    RawValue::from_string(json).map_err(|error| invalid(error.to_string()))
}

/// The lengths of the chunks, which add up to all tokens.
fn lens(state: &BodyObject<'_, '_>, tokens: usize) -> Result<Vec<usize>> {
    let missing = state.field();
    let list = state.get("output_chunk_lens");
    let field = list.as_ref().unwrap_or(&missing);
    let lens = match &list {
        Some(list) => list.items()?.map(|len| length(&len)).collect::<Result<_>>()?,
        None => Vec::new(),
    };
    let sum = lens.iter().sum::<usize>();
    if sum != tokens {
        let reason = format!("output_chunk_lens add up to {sum}, output_token_ids has {tokens}");
        return Err(field.invalid(reason));
    }
    Ok(lens)
}

fn length(field: &BodyField<'_, '_>) -> Result<usize> {
    let length = u32::try_from(field.integer()?).ok().filter(|&length| length > 0);
    length.map(|length| length as usize).ok_or_else(|| field.invalid("expected a number of tokens"))
}

fn texts(state: &BodyObject<'_, '_>, key: &str, most: usize) -> Result<Vec<String>> {
    let Some(list) = state.get(key) else { return Ok(Vec::new()) };
    if list.items()?.count() > most {
        return Err(list.invalid(format!("more than {most} texts")));
    }
    list.items()?.map(|text| text.text().map(str::to_owned)).collect()
}
