//! Text and token ids, conversations and messages.

use std::ffi::c_char;

use openai_harmony::chat::{Conversation, Role};
use openai_harmony::{
    HarmonyEncoding, HarmonyEncodingName, MessageSpan, ParserOptions, Prefill, RenderConfig,
    RenderConversationConfig, RenderEnd, StreamableParser, load_harmony_encoding,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::error::{Failure, HarmonyError, choice, guarded};
use super::memory::{HarmonyBuffer, HarmonyTokens, append, borrowed, extend, text};

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
    data: *const u8,
    len: usize,
    special: u32,
    to: *mut HarmonyTokens,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let (text, tokenizer) = (text(data, len)?, encoding()?.tokenizer());
        let names = [(HARMONY_ORDINARY, false), (HARMONY_SPECIAL, true)];
        let tokens = if choice(special, "special", &names)? {
            tokenizer.encode_with_special_tokens(text)
        } else {
            tokenizer.encode_ordinary(text)
        };
        extend(to, &tokens)
    })
}

/// Appends the bytes of token ids, which are UTF-8 unless a character is cut.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_decode(
    tokens: *const u32,
    len: usize,
    to: *mut HarmonyBuffer,
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
        let all: Map<String, Value> = tokenizer
            .special_tokens_by_id()
            .map(|(name, id)| (name.to_owned(), id.into()))
            .collect();
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
    conversation: *const u8,
    conversation_len: usize,
    options: *const u8,
    options_len: usize,
    to: *mut HarmonyTokens,
    spans: *mut HarmonyBuffer,
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
    tokens: *const u32,
    len: usize,
    options: *const u8,
    options_len: usize,
    to: *mut HarmonyBuffer,
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

pub(crate) fn encoding() -> Result<HarmonyEncoding, Failure> {
    Ok(load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?)
}

/// Options in JSON; empty for the default.
pub(crate) unsafe fn read_options<'a, T: Deserialize<'a> + Default>(
    data: *const u8,
    len: usize,
) -> Result<T, Failure> {
    // SAFETY: the caller's pointer is valid for its length.
    let bytes = unsafe { borrowed(data, len) }?;
    if bytes.is_empty() { Ok(T::default()) } else { Ok(serde_json::from_slice(bytes)?) }
}

pub(crate) unsafe fn write_json(
    to: *mut HarmonyBuffer,
    value: &impl Serialize,
) -> Result<(), Failure> {
    // SAFETY: the caller's buffer.
    unsafe { append(to, |bytes| Ok(serde_json::to_writer(bytes, value)?)) }
}

pub(crate) unsafe fn append_spans(
    to: *mut HarmonyBuffer,
    spans: &[MessageSpan],
) -> Result<(), Failure> {
    // SAFETY: NULL, or the caller's buffer.
    if to.is_null() { Ok(()) } else { unsafe { write_json(to, &spans) } }
}
