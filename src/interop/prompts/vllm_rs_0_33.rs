//! The prompts of vLLM 0.33 with its front end in Rust (`VLLM_USE_RUST_FRONTEND`).
//!
//! Compared with the other one: calls have their recipient after the channel and `<|constrain|>json`; parts are joined
//! before they are encoded; a tool without a schema takes anything; images and results of unknown calls are errors.

use serde_json::json;

use super::vllm_0_33::{CONFIG, set_effort, turn};
use crate::error::Result;
use crate::interop::texts::Texts;
use crate::interop::{Dialect, Json, ReadOptions, Turn, Unsupported};
use crate::{HeaderStyle, RenderConfig};

pub(super) fn read(dialect: Dialect, body: &Json, options: &ReadOptions) -> Result<Turn> {
    let unsupported = Unsupported::Error;
    let options = ReadOptions { unsupported, strict: true, ..options.clone() };
    let mut request = dialect.request(body, &options)?;
    let template = ["chat_template_kwargs", "reasoning_effort"];
    set_effort(&mut request, body, &[&["reasoning_effort"], &template])?;
    for schema in request.tools.schemas_mut() {
        schema.get_or_insert_with(|| json!({}));
    }
    let contents = |texts: Texts| vec![texts.0.into_iter().map(|part| part.text).collect()];
    let header_style = HeaderStyle::RecipientInChannel;
    turn(request, contents, RenderConfig { header_style, ..CONFIG })
}
