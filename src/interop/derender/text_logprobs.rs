//! Log-probabilities of completions: lists with one item for each token.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::forms::Choice;
use crate::error::Result;
use crate::interop::field::BodyObject;
use crate::tokenizer::{TokenId, Tokenizer};

/// The tokens and text before the tokens of a choice.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TextContext<'c> {
    /// The last tokens, which may hold the first bytes of a character.
    pub(super) tokens: &'c [TokenId],
    /// How many characters all earlier tokens have.
    pub(super) offset: usize,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct TextLogprobs {
    /// Where each token's text begins, in characters.
    text_offset: Vec<usize>,
    token_logprobs: Vec<f64>,
    tokens: Vec<String>,
    top_logprobs: Vec<Option<Map<String, Value>>>,
    /// Where the last text ends.
    #[serde(skip)]
    end: usize,
}

impl TextLogprobs {
    /// The engine's log-probabilities, with at most this many candidates for each token.
    pub(super) fn of(
        choice: &Choice<'_>,
        tokenizer: Tokenizer,
        before: TextContext<'_>,
        candidates: Option<usize>,
    ) -> Option<Self> {
        let given = choice.logprobs.as_ref()?;
        let mut context = before.tokens.to_vec();
        let mut made = Self { end: before.offset, ..Self::default() };
        for (&token, given) in choice.tokens.iter().zip(given.iter().flatten()) {
            let text = text_after(tokenizer, &context, token);
            let shown = given.top.iter().take(candidates.unwrap_or(usize::MAX));
            let top =
                shown.map(|(id, logprob)| (text_after(tokenizer, &context, *id), json!(logprob)));
            made.top_logprobs.push((!given.top.is_empty()).then(|| top.collect()));
            made.text_offset.push(made.end);
            made.token_logprobs.push(given.logprob);
            made.end += text.chars().count();
            made.tokens.push(text);
            context.push(token);
        }
        Some(made)
    }
}

impl TextLogprobs {
    /// Where the last token ends, if there is any.
    pub(super) fn end(&self) -> Option<usize> {
        (!self.tokens.is_empty()).then_some(self.end)
    }
}

/// How many candidates the request wants for each token besides the sampled one; `None`: all there are.
pub(super) fn shown_candidates(asked: &BodyObject<'_, '_>) -> Result<Option<usize>> {
    if asked.get("logprob_token_ids").is_some() {
        return Ok(None);
    }
    let Some(count) = asked.get("logprobs").map(|field| field.integer()).transpose()? else {
        return Ok(None);
    };
    Ok(if count == -1 { None } else { usize::try_from(count.saturating_add(1)).ok().or(Some(0)) })
}

/// The text of a token. A character split over several tokens belongs to the last of them; the others have no text.
fn text_after(tokenizer: Tokenizer, context: &[TokenId], token: TokenId) -> String {
    /// A character has at most this many tokens before its last one.
    const MOST: usize = 3;
    let decode = |tokens: &[TokenId]| {
        let bytes = tokens.iter().filter_map(|&id| tokenizer.token_bytes(id)).flatten().copied();
        String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned()
    };
    let is_cut = |text: &str| text.ends_with(char::REPLACEMENT_CHARACTER);
    let own = decode(&[token]);
    if !is_cut(&own) {
        return own;
    }
    // This is the smallest number of tokens that completes the end, so the first of them has the character's first
    // byte: all of its text is new, too.
    let counts = 1..=context.len().min(MOST);
    let before = counts.map(|count| &context[context.len() - count..]);
    let mut texts = before.map(|before| decode(&[before, &[token]].concat()));
    texts.find(|text| !is_cut(text)).unwrap_or_default()
}
