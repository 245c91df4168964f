//! Bodies that are complete conversations, as data sets keep them: nothing is continued.

use super::request::Request;
use super::{Dialect, Json, ReadOptions, Turn, anthropic, chat_completions, ollama, responses};
use crate::error::Result;

/// Reads a body whose last message is whole.
pub(crate) fn read_complete(dialect: Dialect, body: &Json, options: &ReadOptions) -> Result<Turn> {
    let mut request: Request = match dialect {
        Dialect::ChatCompletions => chat_completions::collect(body, options),
        Dialect::Responses => responses::collect(body, options),
        Dialect::Anthropic => anthropic::collect(body, options),
        Dialect::Ollama => ollama::collect(body, options),
    }?;
    request.continue_last = false;
    request.into_turn(options)
}

/// Whether a body of this API has a field of this name that is read.
pub(crate) fn reads(dialect: Dialect, name: &str) -> bool {
    let fields = match dialect {
        Dialect::ChatCompletions => chat_completions::FIELDS,
        Dialect::Responses => responses::FIELDS,
        Dialect::Anthropic => anthropic::FIELDS,
        Dialect::Ollama => ollama::FIELDS,
    };
    fields.contains(&name)
}
