//! Options of an answer.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::interop::ReasoningField;
use crate::interop::clock::seconds_since_1970;
use crate::options::{not_in_json, options};
use crate::tokenizer::TokenId;

options! {
    /// Options of [`Turn::reply`](crate::interop::Turn::reply).
    ///
    /// ```
    /// use openai_harmony::interop::ReplyOptions;
    ///
    /// let options = ReplyOptions::new("gpt-oss-20b").with_prompt_tokens(120);
    /// assert_eq!(options.id, None);
    /// ```
    #[derive(Debug, Clone, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct ReplyOptions {
        /// The model's name in the answer.
        pub model: String,
        /// The answer's id; `None` makes one of random bytes, which `wasm32-unknown-unknown` does not have: there it is
        /// required, or [`make_id`](Self::make_id). The ids of calls and items are made from it.
        pub id: Option<String>
            => with_id(id: impl Into<String>) Some(id.into()),
        /// When the answer was created, in seconds since 1970; `None`: now.
        pub created: Option<u64>
            => with_created(created: u64) Some(created),
        /// How many tokens the prompt has; `None` renders it once more to count them.
        pub prompt_tokens: Option<usize>
            => with_prompt_tokens(prompt_tokens: usize) Some(prompt_tokens),
        /// The prompt's tokens, for bodies that ask for them
        /// ([`AnswerOptions::token_ids`](crate::interop::AnswerOptions::token_ids)); `None` renders it once more.
        pub prompt_token_ids: Option<Vec<TokenId>>
            => with_prompt_token_ids(ids: Vec<TokenId>) Some(ids),
        /// How many of the prompt's tokens the engine had cached.
        pub cached_tokens: usize => with_cached_tokens,
        /// The index of this answer among `n`. Only chat completions have more than one.
        pub index: usize => with_index,
        /// Chat: the field in which clients look for thoughts.
        pub reasoning_field: ReasoningField => with_reasoning_field,
        /// How many tokens thoughts may have; `None`: the body's limit
        /// ([`Turn::thinking_budget`](crate::interop::Turn::thinking_budget)).
        pub thinking_budget: Option<usize>
            => with_thinking_budget(tokens: usize) Some(tokens),
        /// Whether markers that ordinary tokens spell are read
        /// ([`ParserOptions::spelled_markers`](crate::ParserOptions::spelled_markers)). The engine does not recognise
        /// such stop tokens: [`Reply::is_ended`](crate::interop::Reply::is_ended) tells when to stop sampling.
        pub spelled_markers: bool => with_spelled_markers,
        /// Makes all ids, in place of those derived from the answer's own.
        pub make_id: Option<MakeId>
            => with_make_id(make_id: MakeId) Some(make_id),
    }
}

not_in_json!(MakeId);

impl ReplyOptions {
    /// The options of an answer by this model.
    pub fn new(model: impl Into<String>) -> Self {
        Self { model: model.into(), ..Self::default() }
    }
}

/// A function from an id's prefix, such as `call_`, to a new id.
#[derive(Clone)]
pub struct MakeId(Arc<dyn Fn(&str) -> String + Send + Sync>);

impl MakeId {
    /// Makes one of a closure.
    pub fn new(make: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    pub(super) fn make(&self, prefix: &str) -> String {
        (self.0)(prefix)
    }
}

/// The current time in seconds since 1970; 0 where there is no clock.
pub(super) fn seconds_now() -> u64 {
    seconds_since_1970().unwrap_or(0)
}
