//! Requests.

use openai_harmony::grammar::{GrammarForm, GrammarOptions, TurnGrammar};
use openai_harmony::interop::{Dialect, ReadOptions, ReplyOptions, Turn, parse_body};

use super::error::{Failure, HarmonyError, choice, guarded};
use super::memory::{HarmonyBuffer, HarmonyTokens, extend, free, give, handle, text};
use super::reply::HarmonyReply;
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
    dialect: u32,
    body: *const u8,
    body_len: usize,
    options: *const u8,
    options_len: usize,
    turn: *mut *mut HarmonyTurn,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let dialect = dialect_of(dialect)?;
        let options: ReadOptions = read_options(options, options_len)?;
        let read = parse_body(text(body, body_len)?).and_then(|body| dialect.read(body, &options));
        give(turn, HarmonyTurn(read.map_err(|error| Failure::of_request(error, dialect))?))
    })
}

/// Appends the prompt's token ids and, unless `spans` is NULL, the span of each message ([`crate::harmony_render`]).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_turn_prompt(
    turn: *const HarmonyTurn,
    to: *mut HarmonyTokens,
    spans: *mut HarmonyBuffer,
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
    turn: *const HarmonyTurn,
    to: *mut HarmonyBuffer,
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
    turn: *const HarmonyTurn,
    form: u32,
    to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let HarmonyTurn(turn) = handle(turn)?;
        let forms = [
            (HARMONY_LARK, GrammarForm::Lark),
            (HARMONY_XGRAMMAR, GrammarForm::Xgrammar { stop_token_ids: &turn.stop_token_ids }),
            (HARMONY_GBNF, GrammarForm::Gbnf),
        ];
        let form = choice(form, "form", &forms)?;
        let written = TurnGrammar::of_turn(turn, GrammarOptions::new())?.write(form)?;
        extend(to, written.text.as_bytes())
    })
}

/// Begins an answer. `options` is an object of JSON with `model`, and more of `ReplyOptions`: `id`, `created`,
/// `prompt_tokens`, `cached_tokens`, `index`, `reasoning_field`. A host without a clock and random numbers has to give
/// `id` and `created`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_turn_reply(
    turn: *const HarmonyTurn,
    options: *const u8,
    options_len: usize,
    reply: *mut *mut HarmonyReply,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let HarmonyTurn(turn) = handle(turn)?;
        let options: ReplyOptions = read_options(options, options_len)?;
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

/// Appends an error as this API answers it, for failures of the server's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_error_body(
    dialect: u32,
    status: u32,
    message: *const u8,
    message_len: usize,
    to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let (dialect, message) = (dialect_of(dialect)?, text(message, message_len)?);
        let status = u16::try_from(status).unwrap_or(500);
        write_json(to, &dialect.error_body(status, message, None, None))
    })
}

fn dialect_of(number: u32) -> Result<Dialect, Failure> {
    let dialects = [
        (HARMONY_CHAT_COMPLETIONS, Dialect::ChatCompletions),
        (HARMONY_RESPONSES, Dialect::Responses),
        (HARMONY_ANTHROPIC, Dialect::Anthropic),
        (HARMONY_OLLAMA, Dialect::Ollama),
    ];
    choice(number, "dialect", &dialects)
}
