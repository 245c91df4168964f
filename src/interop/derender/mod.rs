//! Tokens that an engine elsewhere sampled -> answers, without state on the server: vLLM's `/derender`.
//!
//! A body has the answer of `/inference/v1/generate` and the request that it answers. `forms` reads it and limits all
//! that is decoded; `chat` turns it into a chat completion, whole or the next chunk of a stream. The client carries the
//! `state` of a stream, so nothing in it is trusted. All errors are the client's.

mod chat;
mod forms;
mod merge;
mod state;

use serde_json::Value as Tree;

use self::forms::Choice;
use self::state::StreamState;
use super::answer::{Members, write_object};
use super::field::{BodyField, BodyObject};
use crate::HarmonyEncoding;
use crate::error::Result;
use crate::interop::Json;
use crate::path::Path;

/// What the server adds to the body.
#[derive(Debug, Clone, Copy)]
pub struct DerenderOptions<'a> {
    /// The model's name in the answer.
    pub model: &'a str,
    /// Now, in seconds since 1970.
    pub created: u64,
    /// How many tokens prompt and output may have together.
    pub context: usize,
}

/// The answer's JSON: the whole answer or, for a body with `"stream": true`, the next chunk and the state after it.
///
/// # Errors
///
/// [`InvalidRequest`](crate::ErrorKind::InvalidRequest) with the path of a value that has another form or is too long:
/// nothing is decoded before all lengths are checked. [`InvalidState`](crate::ErrorKind::InvalidState) for the state of
/// another stream. Also those of [`read`](crate::interop::chat_completions::read).
///
/// # Example
///
/// ```
/// use openai_harmony::interop::{DerenderOptions, derender};
/// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
/// use serde_json::{Value, json};
///
/// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
/// let sampled = "<|channel|>final<|message|>Four.<|return|>";
/// let tokens = encoding.tokenizer().encode_with_special_tokens(sampled);
/// let body = json!({
///     "chat_request": {"messages": [{"role": "user", "content": "2 + 2?"}]},
///     "generate_response": {"request_id": "r", "choices": [{"index": 0, "token_ids": tokens}]},
/// });
/// let options = DerenderOptions { model: "gpt-oss-20b", created: 7, context: 131_072 };
/// let answer = derender(&body.into(), &encoding, options)?;
/// let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
/// assert_eq!(answer["choices"][0]["message"]["content"], "Four.");
/// # Ok::<(), openai_harmony::Error>(())
/// ```
pub fn derender(
    body: &Json,
    encoding: &HarmonyEncoding,
    options: DerenderOptions<'_>,
) -> Result<Vec<u8>> {
    let path = Path::default();
    let body = BodyField::root(&path, body)?.object()?;
    body.text("model")?;
    let stream = body.bool("stream")?.unwrap_or_default();
    if stream {
        chat::chunk(&body, *encoding, options)
    } else {
        chat::whole(&body, *encoding, options)
    }
}

/// Writes the fields that all answers begin with.
fn write_head(answer: &mut Members<'_>, id: &str, object: &str, options: DerenderOptions<'_>) {
    answer.text("id", id).text("object", object).value("created", &options.created);
    answer.text("model", options.model);
}

/// Writes the token counts in vLLM's form.
fn write_usage(answer: &mut Members<'_>, prompt: usize, sampled: usize) {
    answer.object("usage", |usage| {
        usage.value("prompt_tokens", &prompt).value("completion_tokens", &sampled);
        usage.value("total_tokens", &prompt.saturating_add(sampled));
    });
}

/// Writes a chunk of a stream and the state after it.
fn write_chunk(
    object: &str,
    body: &BodyObject<'_, '_>,
    generated: &BodyObject<'_, '_>,
    choice: Option<Tree>,
    state: &StreamState,
    options: DerenderOptions<'_>,
) -> Result<Vec<u8>> {
    let id = request_id(generated)?;
    let prompt = forms::count(body, "prompt_tokens")?;
    let counts = match generated.object("usage")? {
        // The client has counted its own prompt.
        Some(counts) => Some([
            prompt.or(forms::count(&counts, "prompt_tokens")?),
            forms::count(&counts, "completion_tokens")?,
        ]),
        None => None,
    };
    let mut bytes = Vec::with_capacity(2048);
    write_object(&mut bytes, |answer| {
        answer.object("chunk", |chunk| {
            write_head(chunk, id, object, options);
            chunk.value("choices", &Vec::from_iter(choice));
            match counts.map(|counts| counts.map(Option::unwrap_or_default)) {
                Some([prompt, sampled]) => write_usage(chunk, prompt, sampled),
                None => drop(chunk.value("usage", &())),
            }
        });
        answer.value("stream_state", state);
    });
    Ok(bytes)
}

/// The choice of a chunk, which has at most one.
fn only_choice<'v>(
    generated: &BodyObject<'v, '_>,
    options: DerenderOptions<'_>,
) -> Result<Option<Choice<'v>>> {
    let list = generated.required("choices")?;
    let mut choices = list.items()?;
    let first =
        choices.next().map(|choice| Choice::read(&choice, None, options.context)).transpose()?;
    match choices.next() {
        Some(_) => {
            Err(list.invalid("a chunk has at most one choice: each index has a state of its own"))
        }
        None => Ok(first),
    }
}

fn request_id<'v>(generated: &BodyObject<'v, '_>) -> Result<&'v str> {
    generated.required("request_id")?.text()
}

/// Refuses more tokens than the context has.
fn check_context(
    field: &BodyField<'_, '_>,
    tokens: usize,
    options: DerenderOptions<'_>,
) -> Result<()> {
    let most = options.context;
    if tokens > most {
        let reason =
            format!("{tokens} prompt, earlier and new tokens exceed the context of {most}");
        return Err(field.invalid(reason));
    }
    Ok(())
}
