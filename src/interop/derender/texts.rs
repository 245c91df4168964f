//! Sampled tokens -> completions: their text, as vLLM returns it.
//!
//! In a stream the client carries the end of the text as with vLLM: the last tokens by their names in the tokenizer's
//! file, and up to which of them the text was sent. A character that is split over tokens is sent once it is complete.

use serde_json::{Value, json};

use super::chat::read_choices;
use super::forms::{self, Choice, MOST_CHOICES};
use super::names;
use super::state::StreamState;
use super::text_logprobs::{TextContext, TextLogprobs, shown_candidates};
use super::{
    DerenderOptions, check_context, only_choice, request_id, write_chunk, write_head, write_usage,
};
use crate::HarmonyEncoding;
use crate::error::Result;
use crate::interop::answer::write_object;
use crate::interop::field::BodyObject;
use crate::json::{At, Value as Given};
use crate::tokenizer::{TokenId, Tokenizer, special};

/// The tokens at which an engine stops by itself; it does not report the first one.
const ENDS: [TokenId; 3] = [special::RETURN, special::ENDOFTEXT, special::CALL];

/// The fields of a completion request that concern its text.
struct Wanted {
    tokenizer: Tokenizer,
    skips_special: bool,
    includes_stop: bool,
    ignores_ends: bool,
    min_tokens: usize,
    stop_token_ids: Vec<TokenId>,
    stop: Vec<String>,
    /// How many candidates the answer has for each token; `None`: all.
    candidates: Option<usize>,
}

impl Wanted {
    fn read(
        body: &BodyObject<'_, '_>,
        encoding: HarmonyEncoding,
        options: DerenderOptions<'_>,
    ) -> Result<Self> {
        let mut wanted = Self {
            tokenizer: encoding.into(),
            skips_special: true,
            includes_stop: false,
            ignores_ends: false,
            min_tokens: 0,
            stop_token_ids: Vec::new(),
            stop: Vec::new(),
            candidates: None,
        };
        let Some(asked) = body.object("completion_request")? else { return Ok(wanted) };
        wanted.skips_special = asked.bool("skip_special_tokens")?.unwrap_or(true);
        wanted.includes_stop = asked.bool("include_stop_str_in_output")?.unwrap_or_default();
        wanted.ignores_ends = asked.bool("ignore_eos")?.unwrap_or_default();
        wanted.min_tokens = forms::count(&asked, "min_tokens")?.unwrap_or_default();
        let ids = forms::ids(&asked, "stop_token_ids", options.context)?;
        wanted.stop_token_ids = ids.unwrap_or_default();
        if let Some(stop) = asked.get("stop") {
            wanted.stop = match stop.value() {
                Given::String(text) => vec![text.to_owned()],
                _ => {
                    stop.items()?.map(|one| one.text().map(str::to_owned)).collect::<Result<_>>()?
                }
            };
            wanted.stop.retain(|stop| !stop.is_empty());
        }
        wanted.candidates = shown_candidates(&asked)?;
        Ok(wanted)
    }

    /// The tokens without the one that ended them, and its id, unless engines do not report it.
    fn without_end<'c>(&self, choice: &'c Choice<'_>) -> (&'c [TokenId], Option<TokenId>) {
        let all = &choice.tokens[..];
        let (Some("stop"), None, Some((&last, before))) =
            (choice.finish_reason, choice.stop_string(), all.split_last())
        else {
            return (all, None);
        };
        let ends = |ids: &[TokenId]| !self.ignores_ends && ids.contains(&last);
        let (ended, named) = match choice.stop_reason {
            Some(stop) => (stop.to_json() == last.to_string(), None),
            None if ends(&ENDS[..1]) => (true, None),
            None => (self.stop_token_ids.contains(&last) || ends(&ENDS), Some(last)),
        };
        let kept = if ended && !self.includes_stop { before } else { all };
        (kept, named.filter(|_| ended))
    }

    fn decode(&self, tokens: &[TokenId]) -> Result<Vec<u8>> {
        self.tokenizer.decode_bytes(self.shown(tokens).collect::<Vec<_>>())
    }

    fn shown(&self, tokens: &[TokenId]) -> impl Iterator<Item = TokenId> {
        let skips = self.skips_special;
        tokens.iter().copied().filter(move |&token| !skips || token < special::STARTOFTEXT)
    }

    /// The whole text, up to the string at which it stopped, and what stopped it, unless the engine reports that.
    fn whole(&self, choice: &Choice<'_>) -> Result<(String, Option<Value>)> {
        let (tokens, named) = self.without_end(choice);
        let named = named.map(|id| json!(id));
        let bytes = self.decode(tokens)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let reported = choice.stop_string();
        if choice.finish_reason != Some("stop")
            || choice.stop_reason.is_some() && reported.is_none()
        {
            return Ok((text, named));
        }
        // A stop string counts only if it ends after the minimum number of tokens.
        let least = self.decode(tokens.get(..self.min_tokens).unwrap_or(tokens))?.len();
        let stops: Vec<_> = reported
            .map_or_else(|| self.stop.iter().map(String::as_str).collect(), |one| vec![one]);
        let found = stops.iter().filter_map(|stop| {
            let at =
                text.match_indices(stop).map(|(at, _)| at).find(|at| at + stop.len() > least)?;
            Some((at + stop.len(), at, *stop))
        });
        let Some((end, at, stop)) = found.min_by_key(|(end, ..)| *end) else {
            return Ok((text, named));
        };
        let end = if self.includes_stop { end } else { at };
        Ok((text[..end].to_owned(), Some(json!(stop))))
    }

    /// A choice of the whole answer.
    fn choice(&self, choice: &Choice<'_>, index: usize) -> Result<Value> {
        let (text, stopped) = self.whole(choice)?;
        let context = TextContext::default();
        let logprobs = TextLogprobs::of(choice, self.tokenizer, context, self.candidates);
        Ok(as_choice(choice, index, &text, logprobs.as_ref(), stopped))
    }

    /// The choice of a chunk.
    fn next(&self, choice: &Choice<'_>, state: &mut StreamState) -> Result<Value> {
        let text = self.more(choice, state)?;
        let context = TextContext {
            tokens: &state.logprob_context_token_ids,
            offset: state.logprob_text_offset,
        };
        let logprobs = TextLogprobs::of(choice, self.tokenizer, context, self.candidates);
        let after = state.logprob_text_offset + text.chars().count();
        state.logprob_text_offset = logprobs.as_ref().and_then(TextLogprobs::end).unwrap_or(after);
        state.keep_context(&choice.tokens);
        let (_, named) = self.without_end(choice);
        Ok(as_choice(choice, choice.index, &text, logprobs.as_ref(), named.map(Value::from)))
    }

    /// The text that a chunk adds to the state.
    fn more(&self, choice: &Choice<'_>, state: &mut StreamState) -> Result<String> {
        let (tokens, _) = self.without_end(choice);
        let mut known = std::mem::take(&mut state.prev_tokens);
        let (mut prefix, mut read) = (state.prefix_offset, state.read_offset);
        let mut added = String::new();
        for token in self.shown(tokens) {
            known.push(names::name(self.tokenizer, token)?);
            let (sent, all) = (names::text(&known[prefix..read])?, names::text(&known[prefix..])?);
            if !all.ends_with('\u{FFFD}') {
                added.extend(all.chars().skip(sent.chars().count()));
                (prefix, read) = (read, known.len());
            }
        }
        if choice.finish_reason.is_some() {
            let (sent, all) = (names::text(&known[prefix..read])?, names::text(&known[prefix..])?);
            added.extend(all.chars().skip(sent.chars().count()));
            read = known.len();
        }
        known.drain(..prefix);
        state.prev_tokens = known;
        (state.prefix_offset, state.read_offset) = (0, read - prefix);
        Ok(added)
    }
}

/// A choice in vLLM's form; `stopped` is what ended it, unless the engine reports that.
fn as_choice(
    choice: &Choice<'_>,
    index: usize,
    text: &str,
    logprobs: Option<&TextLogprobs>,
    stopped: Option<Value>,
) -> Value {
    json!({
        "index": index,
        "text": text,
        "logprobs": logprobs,
        "finish_reason": choice.finish_reason,
        "stop_reason": stopped.or(choice.stop_reason.map(At::to_tree)),
    })
}

/// The whole completion, of one or more prompts.
pub(super) fn whole(
    body: &BodyObject<'_, '_>,
    encoding: HarmonyEncoding,
    options: DerenderOptions<'_>,
) -> Result<Vec<u8>> {
    let wanted = Wanted::read(body, encoding, options)?;
    let list = body.required("generate_responses")?;
    let given = list.items()?.count();
    if given == 0 || given > MOST_CHOICES {
        return Err(list.invalid(format!("{given} answers, expected 1 to {MOST_CHOICES}")));
    }
    let prompt = prompt_tokens(body, given, options)?;
    let (mut ids, mut transfers) = (Vec::new(), Vec::new());
    let (mut choices, mut sampled) = (Vec::new(), 0);
    for field in list.items()? {
        let generated = field.object()?;
        ids.push(request_id(&generated)?);
        transfers.push(generated.get("kv_transfer_params").map(|field| field.at().to_tree()));
        for choice in read_choices(&generated, options)? {
            choices.push(wanted.choice(&choice, choices.len())?);
            sampled += choice.tokens.len();
        }
    }
    // They are of one prompt.
    let is_same = transfers.iter().all(|one| *one == transfers[0]);
    let mut bytes = Vec::with_capacity(8 * sampled);
    write_object(&mut bytes, |answer| {
        write_head(answer, ids[0], "text_completion", options);
        answer.value("choices", &choices);
        write_usage(answer, prompt, sampled);
        answer.value("kv_transfer_params", &transfers[0].as_ref().filter(|_| is_same));
    });
    Ok(bytes)
}

/// How many tokens all prompts have together; a list of prompts has one for each answer.
fn prompt_tokens(
    body: &BodyObject<'_, '_>,
    answers: usize,
    options: DerenderOptions<'_>,
) -> Result<usize> {
    let mut sum = 0_usize;
    for key in ["prompt_tokens", "prompt_token_ids"] {
        let Some(list) = body.get(key) else { continue };
        let given = list.items()?.count();
        if given != answers {
            return Err(list.invalid(format!("{given} items for {answers} answers")));
        }
        for item in list.items()? {
            if key == "prompt_token_ids" {
                forms::item_ids(&item, options.context)?;
            } else {
                sum = sum.saturating_add(forms::item_count(&item)?);
            }
        }
    }
    Ok(sum)
}

/// The next chunk and the state after it.
pub(super) fn chunk(
    body: &BodyObject<'_, '_>,
    encoding: HarmonyEncoding,
    options: DerenderOptions<'_>,
) -> Result<Vec<u8>> {
    let wanted = Wanted::read(body, encoding, options)?;
    if !wanted.stop.is_empty() {
        let field = body.required("completion_request")?;
        let text = "stop: text already sent cannot be cut; leave stop strings to the engine";
        return Err(field.invalid(text));
    }
    let mut state = StreamState::read(body, options.context)?;
    let field = body.required("generate_chunk")?;
    let generated = field.object()?;
    let choice = only_choice(&generated, options)?;
    let prompt = forms::ids(body, "prompt_token_ids", options.context)?.unwrap_or_default();
    let new = choice.as_ref().map_or(0, |choice| choice.tokens.len());
    check_context(&body.field(), prompt.len() + state.sampled() + new, options)?;
    let made = match &choice {
        Some(choice) => Some(wanted.next(choice, &mut state)?),
        None => None,
    };
    write_chunk("text_completion", body, &generated, made, &state, options)
}
