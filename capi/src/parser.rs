//! The incremental parser.

use openai_harmony::StreamableParser;
use serde_json::json;

use super::error::{HarmonyError, guarded};
use super::memory::{HarmonyBuffer, borrowed, extend, free, give, handle, handle_mut};
use super::text::{encoding, parser_of, write_json};

/// A parser that is fed token by token.
pub struct HarmonyParser(StreamableParser);

/// Makes a parser. `options` as for [`crate::harmony_parse`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_parser_new(
    options: *const u8,
    options_len: usize,
    parser: *mut *mut HarmonyParser,
) -> *mut HarmonyError {
    guarded(|| unsafe { give(parser, HarmonyParser(parser_of(options, options_len)?)) })
}

/// Takes token ids, and appends a list of events: `message_start`, `content_delta`, `message_end`, `repair`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_parser_feed(
    parser: *mut HarmonyParser,
    tokens: *const u32,
    len: usize,
    to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe { write_json(to, &handle_mut(parser)?.0.feed(borrowed(tokens, len)?)?) })
}

/// Takes the end of the tokens, and appends a list of the last events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_parser_finish(
    parser: *mut HarmonyParser,
    to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe { write_json(to, &handle_mut(parser)?.0.finish()?) })
}

/// Appends where the parser is, as JSON: `messages`, `repairs`, `state` (`"ExpectStart"`, `"Header"`, `"Content"`), and of
/// the open message `role`, `channel`, `recipient`, `content_type`, `content` and `delta`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_parser_describe(
    parser: *const HarmonyParser,
    to: *mut HarmonyBuffer,
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
    parser: *const HarmonyParser,
    to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let saved = handle(parser)?.0.to_bytes()?;
        extend(to, &saved)
    })
}

/// A parser from its saved state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_parser_restore(
    saved: *const u8,
    len: usize,
    parser: *mut *mut HarmonyParser,
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
