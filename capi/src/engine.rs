//! What engines stream.

use openai_harmony::interop::{EngineForm, EngineReader};
use serde_json::json;

use super::error::{HarmonyError, choice, guarded};
use super::memory::{HarmonyBuffer, HarmonyTokens, borrowed, extend, free, give, handle_mut};
use super::text::write_json;

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
    form: u32,
    max_tokens: usize,
    stop_tokens: *const u32,
    stop_tokens_len: usize,
    engine: *mut *mut HarmonyEngine,
) -> *mut HarmonyError {
    guarded(|| unsafe {
        let forms = [
            (HARMONY_COMPLETIONS, EngineForm::Completions),
            (HARMONY_SGLANG, EngineForm::Sglang),
            (HARMONY_LLAMA_CPP, EngineForm::LlamaCpp),
        ];
        let form = choice(form, "form", &forms)?;
        let stops = borrowed(stop_tokens, stop_tokens_len)?;
        give(engine, HarmonyEngine(EngineReader::new(form, max_tokens, stops)))
    })
}

/// Takes bytes of the engine's stream; no bytes are its end. Appends the sampled token ids, and to `end` an object if the
/// output ends here: `reason` (`"stop"`, `"length"`, `"abort"`), or `status` and `message` of what the engine did wrong.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_engine_feed(
    engine: *mut HarmonyEngine,
    bytes: *const u8,
    len: usize,
    to: *mut HarmonyTokens,
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
