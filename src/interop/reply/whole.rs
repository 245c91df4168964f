//! A whole answer, before it is JSON.

use serde::Serialize;
use serde_json::Value;

use crate::interop::anthropic::MessageObject;
use crate::interop::ollama::ChatLine;

/// A whole answer. Those of the APIs whose arguments are objects are not a [`Value`], which cannot hold all
/// their numbers.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Whole {
    Json(Value),
    Anthropic(MessageObject),
    Ollama(ChatLine),
}

impl From<Value> for Whole {
    fn from(response: Value) -> Self {
        Self::Json(response)
    }
}

impl From<MessageObject> for Whole {
    fn from(message: MessageObject) -> Self {
        Self::Anthropic(message)
    }
}

impl From<ChatLine> for Whole {
    fn from(line: ChatLine) -> Self {
        Self::Ollama(line)
    }
}
