//! Requests, their answers, and what engines stream.

use openai_harmony::grammar::{GrammarForm, GrammarOptions, TurnGrammar};
use openai_harmony::interop::{
    Dialect, EngineForm, EngineReader, FinishReason, ReadOptions, Reply, ReplyOptions, Turn,
    parse_body,
};
use serde_json::json;

use super::error::{Failure, HarmonyError, choice, guarded};
use super::memory::{
    HarmonyBuffer, HarmonyTokens, append, borrowed, extend, free, give, handle, handle_mut, text,
};
use super::text::{append_spans, encoding, read_options, write_json};

/// A request, ready to be rendered, sampled and answered.
pub struct HarmonyTurn(pub(crate) Turn);

/// `/v1/chat/completions`.
pub const HARMONY_CHAT_COMPLETIONS: u32 = 0;
/// `/v1/responses`.
pub const HARMONY_RESPONSES: u32 = 1;
/// Anthropic's `/v1/messages`.
pub const HARMONY_ANTHROPIC: u32 = 2;
/// Ollama's `/api/chat`.
pub const HARMONY_OLLAMA: u32 = 3;

/// Reads the body of a request, JSON of one of the four APIs ([`HARMONY_CHAT_COMPLETIONS`] and its like).
///
/// `options` is an object of JSON, or empty: those of `ReadOptions`, such as `date` (`"2026-01-31"`, `"today"`, null) or
/// `unsupported`. A host without a clock has to give the date. The error has the API's own answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_turn_read(
    dialect: u32, body: *const u8, body_len: usize, options: *const u8, options_len: usize,
    turn: *mut *mut HarmonyTurn,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let dialect = choice(dialect, "dialect", Dialect::ALL)?;
        let options: ReadOptions = read_options(options, options_len)?;
        let read = parse_body(text(body, body_len)?).and_then(|body| dialect.read(body, &options));
        give(turn, HarmonyTurn(read.map_err(|error| Failure::of_request(error, dialect))?))
    })
}

/// Appends the prompt's token ids and, unless `spans` is NULL, the span of each message ([`crate::harmony_render`]).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_turn_prompt(
    turn: *const HarmonyTurn, to: *mut HarmonyTokens, spans: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let HarmonyTurn(turn) = handle(turn)?;
        let rendered = turn.render_with_spans(&encoding()?);
        let rendered = rendered.map_err(|error| Failure::of_request(error, turn.dialect))?;
        extend(to, &rendered.tokens)?;
        append_spans(spans, &rendered.spans)
    })
}

/// Appends what the request says, as JSON: `model`, `conversation`, `tools`, `tool_choice`, `sampling`, `stop_strings`,
/// `stop_token_ids`, `response_format`, `unused`, and all other members of `Turn`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_turn_describe(
    turn: *const HarmonyTurn, to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe { write_json(to, &handle(turn)?.0) })
}

/// A grammar in Lark's language, for llguidance.
pub const HARMONY_LARK: u32 = 0;
/// A structural tag, for xgrammar (vLLM, `SGLang`).
pub const HARMONY_XGRAMMAR: u32 = 1;
/// GBNF, for llama.cpp.
pub const HARMONY_GBNF: u32 = 2;

/// Appends the grammar of the answer, for an engine that masks what it samples ([`HARMONY_LARK`] and its like).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_turn_grammar(
    turn: *const HarmonyTurn, form: u32, to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let HarmonyTurn(turn) = handle(turn)?;
        let xgrammar = GrammarForm::Xgrammar { stop_token_ids: &turn.stop_token_ids };
        let forms = [GrammarForm::Lark, xgrammar, GrammarForm::Gbnf];
        let form = choice(form, "form", forms)?;
        let written = TurnGrammar::of_turn(turn, GrammarOptions::new())?.write(form)?;
        extend(to, written.text.as_bytes())
    })
}

/// Begins an answer. `options` is an object of JSON with `model`, and more of `ReplyOptions`: `id`, `created`,
/// `prompt_tokens`, `cached_tokens`, `index`, `reasoning_field`. A host without a clock and random numbers has to give
/// `id` and `created`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_turn_reply(
    turn: *const HarmonyTurn, options: *const u8, options_len: usize, reply: *mut *mut HarmonyReply,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let HarmonyTurn(turn) = handle(turn)?;
        let options: ReplyOptions = read_options(options, options_len)?;
        if options.model.is_empty() {
            return Err(Failure::argument("model: expected the model's name in the answer"));
        }
        let begun = turn.reply(&encoding()?, options);
        let begun = begun.map_err(|error| Failure::of_request(error, turn.dialect))?;
        give(reply, HarmonyReply(begun))
    })
}

/// Frees a turn. Its replies stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_turn_free(turn: *mut HarmonyTurn) {
    unsafe { free(turn) };
}

/// The answer to a turn, while it is made.
pub struct HarmonyReply(pub(crate) Reply);

/// The model ended its answer, or a stop token did.
pub const HARMONY_STOP: u32 = 0;
/// The limit of tokens was reached.
pub const HARMONY_LENGTH: u32 = 1;
/// Sampling was aborted.
pub const HARMONY_ABORT: u32 = 2;

/// Takes sampled token ids, and appends the chunks that they complete, as bytes on the wire: server-sent events, or lines
/// of JSON for Ollama. For an answer that is not streamed, set the buffer's `len` to 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_reply_feed(
    reply: *mut HarmonyReply, tokens: *const u32, len: usize, to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let HarmonyReply(reply) = handle_mut(reply)?;
        let tokens = borrowed(tokens, len)?;
        append(to, |bytes| Ok(reply.feed_into(tokens, None, bytes)?))
    })
}

/// Ends the answer ([`HARMONY_STOP`] and its like), and appends the last chunks. `stop_string` is the engine's, or empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_reply_finish(
    reply: *mut HarmonyReply, reason: u32, stop_string: *const u8, stop_string_len: usize,
    to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let HarmonyReply(reply) = handle_mut(reply)?;
        let reasons = [FinishReason::Stop, FinishReason::Length, FinishReason::Abort];
        let reason = choice(reason, "reason", reasons)?;
        let stop = Some(text(stop_string, stop_string_len)?).filter(|stop| !stop.is_empty());
        append(to, |bytes| Ok(reply.finish_into(reason, stop, bytes)?))
    })
}

/// Ends a stream that failed, as the API tells it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_reply_fail(
    reply: *mut HarmonyReply, status: u32, message: *const u8, message_len: usize,
    to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let (HarmonyReply(reply), message) = (handle_mut(reply)?, text(message, message_len)?);
        let status = u16::try_from(status).unwrap_or(500);
        append(to, |bytes| Ok(reply.fail_into(message, status, bytes)?))
    })
}

/// Appends the whole answer as the API's object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_reply_response(
    reply: *const HarmonyReply, to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let HarmonyReply(reply) = handle(reply)?;
        append(to, |bytes| {
            reply.response_into(bytes);
            Ok(())
        })
    })
}

/// Appends what is known of the answer, as JSON: `messages`, `repairs`, `usage`, `builtin_calls`, `is_ended`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_reply_describe(
    reply: *const HarmonyReply, to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let HarmonyReply(reply) = handle(reply)?;
        let described = json!({
            "messages": reply.messages(),
            "repairs": reply.repairs(),
            "usage": reply.usage(),
            "builtin_calls": reply.builtin_calls(),
            "is_ended": reply.is_ended(),
        });
        write_json(to, &described)
    })
}

/// Appends the state of the answer, from which another process continues.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_reply_save(
    reply: *const HarmonyReply, to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe { extend(to, &handle(reply)?.0.to_bytes()) })
}

/// Continues an answer that was saved, for the same request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_reply_restore(
    turn: *const HarmonyTurn, saved: *const u8, saved_len: usize, reply: *mut *mut HarmonyReply,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let (HarmonyTurn(turn), saved) = (handle(turn)?, borrowed(saved, saved_len)?);
        let options = ReplyOptions::default();
        give(reply, HarmonyReply(Reply::from_bytes(turn, &encoding()?, saved, options)?))
    })
}

/// Frees an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_reply_free(reply: *mut HarmonyReply) {
    unsafe { free(reply) };
}

/// Reads the stream of an engine.
pub struct HarmonyEngine(EngineReader);

/// `/v1/completions` with token ids, as vLLM streams it.
pub const HARMONY_COMPLETIONS: u32 = 0;
/// `/generate` of `SGLang`.
pub const HARMONY_SGLANG: u32 = 1;
/// llama.cpp's `/completion`.
pub const HARMONY_LLAMA_CPP: u32 = 2;

/// Makes a reader of an engine's stream ([`HARMONY_COMPLETIONS`] and its like), for an output of at most `max_tokens`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_engine_new(
    form: u32, max_tokens: usize, stop_tokens: *const u32, stop_tokens_len: usize,
    engine: *mut *mut HarmonyEngine,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let forms = [EngineForm::Completions, EngineForm::Sglang, EngineForm::LlamaCpp];
        let form = choice(form, "form", forms)?;
        let stops = borrowed(stop_tokens, stop_tokens_len)?;
        give(engine, HarmonyEngine(EngineReader::new(form, max_tokens, stops)))
    })
}

/// Takes bytes of the engine's stream; no bytes are its end. Appends the sampled token ids, and to `end` an object if the
/// output ends here: `reason` (`"stop"`, `"length"`, `"abort"`), or `status` and `message` of what the engine did wrong.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_engine_feed(
    engine: *mut HarmonyEngine, bytes: *const u8, len: usize, to: *mut HarmonyTokens,
    end: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let HarmonyEngine(reader) = handle_mut(engine)?;
        let output = if len == 0 { reader.finish() } else { reader.feed(borrowed(bytes, len)?) };
        extend(to, &output.tokens)?;
        if let Some(fault) = output.fault {
            return write_json(end, &json!({"status": fault.status, "message": fault.what}));
        }
        match output.reason {
            Some(reason) => write_json(end, &json!({"reason": reason})),
            None => Ok(()),
        }
    })
}

/// Frees a reader.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_engine_free(engine: *mut HarmonyEngine) {
    unsafe { free(engine) };
}
