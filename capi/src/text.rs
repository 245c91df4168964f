//! Text and token ids, conversations and messages, whole and token by token.

use std::ffi::c_char;

use openai_harmony::chat::{Conversation, Role};
use openai_harmony::tokenizer::Tokenizer;
use openai_harmony::{
    HarmonyEncoding, HarmonyEncodingName, MessageSpan, ParserOptions, Prefill, RenderConfig,
    RenderConversationConfig, RenderEnd, StreamableParser, load_harmony_encoding,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::error::{Failure, HarmonyError, choice, guarded};
use super::memory::{
    HarmonyBuffer, HarmonyTokens, append, borrowed, extend, free, give, handle, handle_mut, text,
};

/// The version, `"0.0.8+dropin.1"`.
#[unsafe(no_mangle)]
pub extern "C" fn harmony_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Text is only text: names of special tokens in it are encoded as their letters.
pub const HARMONY_ORDINARY: u32 = 0;
/// Names of special tokens in the text become these tokens.
pub const HARMONY_SPECIAL: u32 = 1;

/// Appends the token ids of a text in UTF-8. `special` is [`HARMONY_ORDINARY`] or [`HARMONY_SPECIAL`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_encode(
    data: *const u8, len: usize, special: u32, to: *mut HarmonyTokens,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let (text, tokenizer) = (text(data, len)?, encoding()?.tokenizer());
        let encode = [Tokenizer::encode_ordinary, Tokenizer::encode_with_special_tokens];
        extend(to, &choice(special, "special", encode)?(&tokenizer, text))
    })
}

/// Appends the bytes of token ids, which are UTF-8 unless a character is cut.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_decode(
    tokens: *const u32, len: usize, to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        extend(to, &encoding()?.tokenizer().decode_bytes(borrowed(tokens, len)?)?)
    })
}

/// Appends the token ids at which sampling stops, `<|return|>` and `<|call|>`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_stop_tokens(to: *mut HarmonyTokens) -> *mut HarmonyError {
    guarded(|| unsafe { extend(to, &encoding()?.stop_token_ids()) })
}

/// Appends the names and ids of the special tokens, an object of JSON.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_special_tokens(to: *mut HarmonyBuffer) -> *mut HarmonyError {
    guarded(|| unsafe {
        let tokenizer = encoding()?.tokenizer();
        let all = tokenizer.special_tokens_by_id();
        let all: Map<_, Value> = all.map(|(name, id)| (name.to_owned(), id.into())).collect();
        write_json(to, &all)
    })
}

/// How a conversation is rendered, and where it ends.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RenderingOptions {
    config: Option<RenderConfig>,
    ending: Ending,
    role: Option<Role>,
    prefill: Prefill,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ending {
    #[default]
    Completion,
    Training,
    None,
}

/// Appends the token ids of a conversation: `{"messages": […]}` in harmony's own JSON.
///
/// `options` is an object of JSON, or empty: `ending` (`"completion"`, `"training"` or `"none"`), `role` (the next
/// author, `"assistant"`), `prefill` (`channel`, `recipient`, `content_type`, `text`) and `config` (`thoughts`,
/// `header_style`, `tool_schema`, `validate`), which drops the thoughts before the first answer if it is left out.
/// `spans` may be NULL; otherwise the span of each message is appended, a list of objects with `message`, `start`,
/// `content`, `stop` and `end`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_render(
    conversation: *const u8, conversation_len: usize, options: *const u8, options_len: usize,
    to: *mut HarmonyTokens, spans: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let conversation: Conversation =
            serde_json::from_slice(borrowed(conversation, conversation_len)?)?;
        let options: RenderingOptions = read_options(options, options_len)?;
        let config = options.config.unwrap_or_else(|| RenderConversationConfig::default().into());
        let role = options.role.unwrap_or(Role::Assistant);
        let end = match options.ending {
            Ending::Completion => RenderEnd::Prefill(role, &options.prefill),
            Ending::Training => RenderEnd::Training,
            Ending::None => RenderEnd::None,
        };
        let rendered = encoding()?.render_with_spans(&conversation.messages, end, &config)?;
        extend(to, &rendered.tokens)?;
        append_spans(spans, &rendered.spans)
    })
}

/// A parser by its options in JSON: those of `ParserOptions`, lenient unless they say `strict`, and `role`.
pub(crate) unsafe fn parser_of(data: *const u8, len: usize) -> Result<StreamableParser, Failure> {
    // SAFETY: the caller's pointer is valid for its length.
    let mut given: Map<String, Value> = unsafe { read_options(data, len) }?;
    let role = given.remove("role").map_or(Ok(Some(Role::Assistant)), serde_json::from_value)?;
    given.entry("strict").or_insert(Value::Bool(false));
    let options: ParserOptions = serde_json::from_value(Value::Object(given))?;
    Ok(StreamableParser::with_options(encoding()?, role, &options)?)
}

/// Appends what token ids say: an object with `messages` and `repairs`.
///
/// `options` is an object of JSON, or empty: `role` (the author of the first message, `"assistant"`; null if the tokens
/// begin with `<|start|>`), `strict` (true: an error instead of repairs), `tools` (the recipients that were offered),
/// `prefill` and `spelled_markers`. Without options parsing is lenient.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_parse(
    tokens: *const u32, len: usize, options: *const u8, options_len: usize, to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let tokens = borrowed(tokens, len)?;
        let mut parser = parser_of(options, options_len)?;
        parser.feed(tokens)?;
        parser.finish()?;
        let found = json!({"messages": parser.messages(), "repairs": parser.repairs()});
        write_json(to, &found)
    })
}

/// A parser that is fed token by token.
pub struct HarmonyParser(StreamableParser);

/// Makes a parser. `options` as for [`crate::harmony_parse`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_parser_new(
    options: *const u8, options_len: usize, parser: *mut *mut HarmonyParser,
) -> *mut HarmonyError {
    guarded(|| unsafe { give(parser, HarmonyParser(parser_of(options, options_len)?)) })
}

/// Takes token ids, and appends a list of events: `message_start`, `content_delta`, `message_end`, `repair`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_parser_feed(
    parser: *mut HarmonyParser, tokens: *const u32, len: usize, to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe { write_json(to, &handle_mut(parser)?.0.feed(borrowed(tokens, len)?)?) })
}

/// Takes the end of the tokens, and appends a list of the last events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_parser_finish(
    parser: *mut HarmonyParser, to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe { write_json(to, &handle_mut(parser)?.0.finish()?) })
}

/// Appends where the parser is, as JSON: `messages`, `repairs`, `state` (`"ExpectStart"`, `"Header"`, `"Content"`), and of
/// the open message `role`, `channel`, `recipient`, `content_type`, `content` and `delta`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_parser_describe(
    parser: *const HarmonyParser, to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let HarmonyParser(parser) = handle(parser)?;
        let described = json!({
            "messages": parser.messages(),
            "repairs": parser.repairs(),
            "state": format!("{:?}", parser.state()),
            "role": parser.current_role(),
            "channel": parser.channel(),
            "recipient": parser.recipient(),
            "content_type": parser.content_type(),
            "content": parser.content(),
            "delta": parser.delta(),
        });
        write_json(to, &described)
    })
}

/// Appends the state of the parser, from which another process continues.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_parser_save(
    parser: *const HarmonyParser, to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe { extend(to, &handle(parser)?.0.to_bytes()?) })
}

/// A parser from its saved state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_parser_restore(
    saved: *const u8, len: usize, parser: *mut *mut HarmonyParser,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let saved = StreamableParser::from_bytes(encoding()?, borrowed(saved, len)?)?;
        give(parser, HarmonyParser(saved))
    })
}

/// Frees a parser.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_parser_free(parser: *mut HarmonyParser) {
    unsafe { free(parser) };
}

pub(crate) fn encoding() -> Result<HarmonyEncoding, Failure> {
    Ok(load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?)
}

/// Options in JSON; empty for the default.
pub(crate) unsafe fn read_options<'a, T: Deserialize<'a> + Default>(
    data: *const u8, len: usize,
) -> Result<T, Failure> {
    // SAFETY: the caller's pointer is valid for its length.
    let bytes = unsafe { borrowed(data, len) }?;
    if bytes.is_empty() { Ok(T::default()) } else { Ok(serde_json::from_slice(bytes)?) }
}

pub(crate) unsafe fn write_json(
    to: *mut HarmonyBuffer, value: &impl Serialize,
) -> Result<(), Failure> {
    // SAFETY: the caller's buffer.
    unsafe { append(to, |bytes| Ok(serde_json::to_writer(bytes, value)?)) }
}

pub(crate) unsafe fn append_spans(
    to: *mut HarmonyBuffer, spans: &[MessageSpan],
) -> Result<(), Failure> {
    // SAFETY: NULL, or the caller's buffer.
    if to.is_null() { Ok(()) } else { unsafe { write_json(to, &spans) } }
}
