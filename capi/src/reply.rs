//! Answers.

use openai_harmony::interop::{FinishReason, Reply, ReplyOptions};
use serde_json::json;

use super::error::{HarmonyError, choice, guarded};
use super::memory::{
    HarmonyBuffer, append, borrowed, extend, free, give, handle, handle_mut, text,
};
use super::text::{encoding, read_options, write_json};
use super::turn::HarmonyTurn;

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
    reply: *mut HarmonyReply,
    tokens: *const u32,
    len: usize,
    to: *mut HarmonyBuffer,
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
    reply: *mut HarmonyReply,
    reason: u32,
    stop_string: *const u8,
    stop_string_len: usize,
    to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let HarmonyReply(reply) = handle_mut(reply)?;
        let reasons = [
            (HARMONY_STOP, FinishReason::Stop),
            (HARMONY_LENGTH, FinishReason::Length),
            (HARMONY_ABORT, FinishReason::Abort),
        ];
        let reason = choice(reason, "reason", &reasons)?;
        let stop = Some(text(stop_string, stop_string_len)?).filter(|stop| !stop.is_empty());
        append(to, |bytes| Ok(reply.finish_into(reason, stop, bytes)?))
    })
}

/// Ends a stream that failed, as the API tells it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_reply_fail(
    reply: *mut HarmonyReply,
    status: u32,
    message: *const u8,
    message_len: usize,
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
    reply: *const HarmonyReply,
    to: *mut HarmonyBuffer,
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
    reply: *const HarmonyReply,
    to: *mut HarmonyBuffer,
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
    reply: *const HarmonyReply,
    to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe { extend(to, &handle(reply)?.0.to_bytes()) })
}

/// Continues an answer that was saved, for the same request. `options` as for [`crate::harmony_turn_reply`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_reply_restore(
    turn: *const HarmonyTurn,
    saved: *const u8,
    saved_len: usize,
    options: *const u8,
    options_len: usize,
    reply: *mut *mut HarmonyReply,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let (HarmonyTurn(turn), saved) = (handle(turn)?, borrowed(saved, saved_len)?);
        let options: ReplyOptions = read_options(options, options_len)?;
        give(reply, HarmonyReply(Reply::from_bytes(turn, &encoding()?, saved, options)?))
    })
}

/// Frees an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_reply_free(reply: *mut HarmonyReply) {
    unsafe { free(reply) };
}
