//! Laws that answers keep for any sampled tokens whatever, as checks that panic where one is broken.
//!
//! `tests/interop` runs them on random turns, the fuzz target `reply` on what it finds.
#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a check panics")]

mod accumulate;
mod bodies;

use openai_harmony::chat::{Content, Message, Role};
use openai_harmony::interop::{
    Dialect, FinishReason, Json, Reply, ReplyOptions, ThoughtDisplay, TokenLogprob, Turn,
};
use openai_harmony::{
    HarmonyEncoding, HarmonyEncodingName, Repair, RepairKind, load_harmony_encoding,
};
use serde_json::{Value, json};

pub(crate) use bodies::{bodies, turns};

pub(crate) fn encoding() -> HarmonyEncoding {
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap()
}

/// An answer whose ids and times are always the same.
pub(crate) fn reply(turn: &Turn) -> Reply {
    let options = ReplyOptions::new("gpt-oss-20b")
        .with_id("id-1")
        .with_created(1_751_112_000)
        .with_prompt_tokens(100)
        .with_cached_tokens(60);
    turn.reply(&encoding(), options).unwrap()
}

/// What an engine could have given for these tokens; some have nothing.
pub(crate) fn logprobs(turn: &Turn, tokens: &[u32]) -> Option<Vec<Option<TokenLogprob>>> {
    turn.sampling.logprobs?;
    let given = |&token: &u32| {
        let logprob = -f64::from(token % 7);
        let top = vec![(5, logprob - 1.0), (200_002, f64::NEG_INFINITY), (6, logprob)];
        (token % 11 != 0).then_some(TokenLogprob { logprob, top })
    };
    Some(tokens.iter().map(given).collect())
}

/// All that was sent of tokens that came so many at a time, and the reply.
pub(crate) fn stream(
    turn: &Turn,
    tokens: &[u32],
    size: usize,
    reason: FinishReason,
) -> (Vec<Value>, Reply) {
    let mut reply = reply(turn);
    let mut chunks = Vec::new();
    for piece in tokens.chunks(size) {
        let given = logprobs(turn, piece);
        let new = reply.feed(piece, given.as_deref());
        chunks.extend(new.expect("tokens raise nothing"));
    }
    chunks.extend(reply.finish(reason, None).expect("the end raises nothing"));
    for chunk in &chunks {
        frame_is_the_chunk(chunk, &reply.frame(chunk), turn.dialect);
    }
    let frames: Vec<u8> = chunks.iter().flat_map(|chunk| reply.frame(chunk)).collect();
    let last = if fails(&reply, reason) { b"" } else { reply.last_frame() };
    assert_eq!(bytes(turn, tokens, size, reason), without_durations([&frames, last].concat()));
    (chunks.iter().map(|chunk| timeless(json!(chunk))).collect(), reply)
}

/// What Ollama's API sends, with zero for each duration.
pub(crate) fn without_durations(sent: Vec<u8>) -> String {
    const NAME: &str = "_duration\":";
    let sent = String::from_utf8(sent).expect("what is sent is UTF-8");
    let mut parts = sent.split(NAME);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, rest| {
        all + NAME + "0" + rest.trim_start_matches(|char: char| char.is_ascii_digit())
    })
}

/// The same of one value.
pub(crate) fn timeless(mut value: Value) -> Value {
    for (key, member) in value.as_object_mut().into_iter().flatten() {
        if key.ends_with("_duration") {
            *member = json!(0);
        }
    }
    value
}

/// The response, with zero for each duration.
pub(crate) fn response(reply: &Reply) -> Value {
    timeless(reply.response())
}

/// The same as bytes on the wire, without chunks in between.
fn bytes(turn: &Turn, tokens: &[u32], size: usize, reason: FinishReason) -> String {
    let mut reply = reply(turn);
    let mut bytes = Vec::new();
    for piece in tokens.chunks(size) {
        let given = logprobs(turn, piece);
        let fed = reply.feed_into(piece, given.as_deref(), &mut bytes);
        fed.expect("tokens raise nothing");
    }
    reply.finish_into(reason, None, &mut bytes).expect("the end raises nothing");
    let length = bytes.len();
    reply.finish_into(reason, None, &mut bytes).expect("a second end raises nothing");
    assert_eq!(bytes.len(), length, "a second end writes nothing");
    without_durations(bytes)
}

/// A frame has the chunk, and no line break but those that the protocol has, whatever a client takes
/// for one.
fn frame_is_the_chunk(chunk: &Json, frame: &[u8], dialect: Dialect) {
    let text = std::str::from_utf8(frame).expect("frames are UTF-8");
    let end = if dialect == Dialect::Ollama { "\n" } else { "\n\n" };
    let text = text.strip_suffix(end).expect("a frame ends as its protocol says");
    let text = match dialect {
        Dialect::Responses | Dialect::Anthropic => {
            let (event, data) = text.split_once('\n').expect("a frame names its event");
            let data = data.strip_prefix("data: ").expect("a frame has data");
            let kind = serde_json::from_str::<Value>(data).expect("data is JSON")["type"].clone();
            assert_eq!(event.strip_prefix("event: "), kind.as_str());
            data
        }
        Dialect::ChatCompletions => text.strip_prefix("data: ").expect("a frame has data"),
        Dialect::Ollama => text,
        other => panic!("{other} is new"),
    };
    assert_eq!(serde_json::from_str::<Value>(text).expect("data is JSON"), json!(chunk));
    assert!(!text.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']), "{text:?}");
}

/// All laws, for one turn's tokens.
pub(crate) fn check(turn: &Turn, tokens: &[u32], size: usize, reason: FinishReason) {
    let whole = check_chunks(turn, tokens, size, reason);
    if turn.stop_strings.is_empty() {
        no_text_is_lost(turn, &whole, &whole.response());
    }
}

/// However tokens are cut, the answer is the same, and its chunks together are the response.
pub(crate) fn check_chunks(
    turn: &Turn,
    tokens: &[u32],
    size: usize,
    reason: FinishReason,
) -> Reply {
    let (chunks, streamed) = stream(turn, tokens, size, reason);
    let (_, whole) = stream(turn, tokens, tokens.len().max(1), reason);
    let response = response(&whole);
    assert_eq!(self::response(&streamed), response, "the cut of chunks changes the answer");
    assert_eq!(streamed.repairs(), whole.repairs());
    assert_eq!(streamed.builtin_calls(), whole.builtin_calls());
    assert_eq!(streamed.messages(), whole.messages());
    assert_eq!(streamed.usage(), whole.usage());
    assert_eq!(whole.usage().completion_tokens, tokens.len());
    if fails(&streamed, reason) && turn.dialect != Dialect::Responses {
        is_no_answer(turn, tokens, size, chunks);
    } else {
        let together = accumulate::accumulate(turn, &chunks);
        assert_eq!(together, accumulate::comparable(turn, response.clone()), "{chunks:#?}");
    }
    if turn.answer.token_ids {
        assert_eq!(response["choices"][0]["token_ids"], json!(tokens));
        assert_eq!(response["prompt_token_ids"], json!(turn.prompt(&encoding()).unwrap()));
    }
    if (turn.answer.token_ids || turn.answer.tokens_as_ids)
        && let Some(entries) = response["choices"][0]["logprobs"]["content"].as_array()
    {
        assert_eq!(entries.len(), tokens.len(), "each token has an entry");
    }
    let mut ended = streamed;
    assert!(ended.finish(FinishReason::Abort, None).unwrap().is_empty(), "the end comes once");
    assert!(ended.feed(&[], None).is_err());
    whole
}

fn fails(reply: &Reply, reason: FinishReason) -> bool {
    reason == FinishReason::Abort && reply.stop_sequence().is_none()
}

/// A stream that failed is what was said, and an error at its end.
fn is_no_answer(turn: &Turn, tokens: &[u32], size: usize, mut chunks: Vec<Value>) {
    let message = "The answer was aborted before its end.";
    assert_eq!(chunks.pop(), Some(turn.dialect.error_body(500, message, None, None)));
    let (cut_off, _) = stream(turn, tokens, size, FinishReason::Length);
    assert!(cut_off.starts_with(&chunks), "{chunks:#?}");
    let ends = |chunk: &Value| {
        let reason = &chunk["choices"][0]["finish_reason"];
        !reason.is_null() || chunk["done"] == true || chunk["type"] == "message_delta"
    };
    assert!(!chunks.iter().any(ends), "{chunks:#?}");
}

/// What the assistant said is in the answer, unless the request hides thoughts. Arguments may be written again,
/// with other escapes, so the letters between escapes are what is compared, in their order.
fn no_text_is_lost(turn: &Turn, reply: &Reply, response: &Value) {
    let mut texts = Vec::new();
    strings(response, &mut texts);
    texts.extend(reply.builtin_calls().iter().map(|call| letters(&call.text)));
    let hides = turn.answer.thought_display != ThoughtDisplay::Shown;
    let begun = turn.prefill.as_ref().and_then(|prefill| prefill.text.as_deref());
    for (index, message) in reply.messages().iter().enumerate() {
        let has = |kind: RepairKind| {
            let is_it = |repair: &Repair| repair.kind == kind && repair.index == Some(index);
            reply.repairs().iter().any(is_it)
        };
        let is_of_others = message.author.role != Role::Assistant;
        assert_eq!(has(RepairKind::ForeignAuthor), is_of_others, "{message:?}");
        // Several calls in one are taken out of what was around them.
        if is_of_others || has(RepairKind::RepairedArguments) {
            continue;
        }
        let text = said(message);
        // The prompt's part of it is not the answer's.
        let begun = begun.filter(|_| index == 0).unwrap_or_default();
        let pieces = between_escapes(text.strip_prefix(begun).unwrap_or(&text));
        let is_hidden = hides && message.channel.as_deref() != Some("final");
        let is_said = |said: &String| {
            let behind = |rest: &str, piece: &String| Some(rest.split_once(&**piece)?.1.to_owned());
            pieces.iter().try_fold(said.clone(), |rest, piece| behind(&rest, piece)).is_some()
        };
        assert!(is_hidden || texts.iter().any(is_said), "{pieces:?}: {texts:?}");
    }
}

pub(crate) fn said(message: &Message) -> String {
    let texts = message.content.iter().map(|content| match content {
        Content::Text(content) => content.text.as_str(),
        other => panic!("a parsed message has texts, not {other:?}"),
    });
    texts.collect()
}

fn letters(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphabetic).collect()
}

/// The letters of each stretch without escapes.
fn between_escapes(text: &str) -> Vec<String> {
    let mut stretches = text.split('\\');
    let mut pieces: Vec<String> = stretches.next().map(letters).into_iter().collect();
    pieces.extend(stretches.map(|stretch| {
        let mut rest = stretch.chars();
        let is_long = rest.next() == Some('u');
        letters(&rest.as_str()[if is_long { hex(rest.as_str()) } else { 0 }..])
    }));
    pieces
}

/// How many of the first four bytes are digits of an escape.
fn hex(text: &str) -> usize {
    text.bytes().take(4).take_while(u8::is_ascii_hexdigit).count()
}

/// The letters of each string; those of an object's keys and members as one.
fn strings(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(letters(text)),
        Value::Array(items) => items.iter().for_each(|item| strings(item, texts)),
        Value::Object(members) => {
            // With and without the letters of its own escapes.
            let text = value.to_string();
            texts.extend([letters(&text), between_escapes(&text).concat()]);
            members.values().for_each(|member| strings(member, texts));
        }
        _ => {}
    }
}
