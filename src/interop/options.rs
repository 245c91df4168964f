//! A server's decisions about reading requests.

use std::sync::Arc;

use serde::{Deserialize, Deserializer};

use super::clock::seconds_since_1970;
use super::{BuiltinTool, Json};
use crate::RenderConfig;
use crate::chat::ReasoningEffort;
use crate::options::{choices, not_in_json, options};

options! {
    /// Options of the four `read` functions. The defaults suit serving.
    ///
    /// ```
    /// use openai_harmony::interop::{Date, ReadOptions};
    ///
    /// let options = ReadOptions::new().with_date(Date::Given("2025-06-28".to_owned()));
    /// assert!(options.builtin_tools.is_empty());
    /// ```
    #[derive(Debug, Clone, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct ReadOptions {
        /// The system message's `Current date:`.
        pub date: Date => with_date,
        /// The system message's identity; `None` writes the model's own. Of bodies, only chat completions set it, in
        /// `chat_template_kwargs`.
        pub identity: Option<String>
            => with_identity(identity: impl Into<String>) Some(identity.into()),
        /// How to render; `None` is [`Turn::default_config`](super::Turn::default_config).
        pub config: Option<RenderConfig>
            => with_config(config: RenderConfig) Some(config),
        /// The messages before the body's first one, in the same form: for Responses, what the server keeps for
        /// `previous_response_id`, without its `instructions`.
        pub history: Vec<Json>
            => with_history(history: impl IntoIterator<Item = impl Into<Json>>)
                history.into_iter().map(Into::into).collect(),
        /// Finds the item of an `item_reference` that `history` does not have.
        pub resolve: Option<Resolve>
            => with_resolve(resolve: Resolve) Some(resolve),
        /// Finds the messages before those of a body with a `previous_response_id`: a list in the form of
        /// [`history`](Self::history), after which they come.
        pub previous: Option<Resolve>
            => with_previous(previous: Resolve) Some(previous),
        /// Responses: whether the server keeps responses. If it does, it keeps those whose body does not forbid it;
        /// [`Turn::store`](super::Turn::store) and the answer report the outcome. `None` leaves both to the body.
        pub stores: Option<bool> => with_stores(stores: bool) Some(stores),
        /// The tools that the model was trained with and that this server runs. One is declared if the body also asks
        /// for web search or code execution.
        pub builtin_tools: Vec<BuiltinTool>
            => with_builtin_tools(tools: impl IntoIterator<Item = BuiltinTool>)
                tools.into_iter().collect(),
        /// How a call of the tool that `tool_choice` names is forced.
        pub named: NamedToolChoice => with_named,
        /// Whose prompts the turn renders: this library's, or those of an engine that reads the same body.
        pub prompts: Prompts => with_prompts,
        /// What happens to images, audio and files in the newest message of the user.
        pub unsupported: Unsupported => with_unsupported,
        /// Whether to raise an error for problems that otherwise become something that the model can read, so that a
        /// session survives them: images, audio and files in older messages and in tool results (for the newest see
        /// [`unsupported`](Self::unsupported)), and tool results that answer no call.
        pub strict: bool => with_strict,
        /// The effort of a body without one; `None` is medium.
        pub(crate) effort: Option<ReasoningEffort>,
    }
}

impl ReadOptions {
    /// The default.
    pub fn new() -> Self {
        Self::default()
    }
}

/// The date in the system message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Date {
    /// Today's, in UTC. On `wasm32-unknown-unknown`, which has no clock, there is no line with a date.
    #[default]
    Today,
    /// This text; the guide writes dates like `2025-06-28`.
    Given(String),
    /// No line with a date.
    Omitted,
}

not_in_json!(Resolve);

impl<'de> Deserialize<'de> for Date {
    /// `"today"`, a date, or null.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(match Option::<String>::deserialize(from)? {
            None => Self::Omitted,
            Some(word) if word == "today" => Self::Today,
            Some(date) => Self::Given(date),
        })
    }
}

impl Date {
    /// The text after `Current date: `, if there is to be one.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Today => today(),
            Self::Given(text) => Some(text.clone()),
            Self::Omitted => None,
        }
    }
}

/// Today's date in UTC as `2025-06-28`.
fn today() -> Option<String> {
    const SECONDS_OF_A_DAY: u64 = 86_400;
    let (year, month, day) = civil(seconds_since_1970()? / SECONDS_OF_A_DAY);
    Some(format!("{year:04}-{month:02}-{day:02}"))
}

/// Year, month and day of a count of days since 1970-01-01, in the Gregorian calendar.
pub(super) fn civil(days: u64) -> (u64, u64, u64) {
    // From March of the year 0 on, so that a leap day ends its year; 400 years have as many days as any others.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let march = (5 * day + 2) / 153;
    let month = if march < 10 { march + 3 } else { march - 9 };
    (era * 400 + year + u64::from(month < 3), month, day - (153 * march + 2) / 5 + 1)
}

/// How a call of the tool that `tool_choice` names is forced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NamedToolChoice {
    /// The prompt ends inside the call's content, so the model can only call it.
    #[default]
    Prefill,
    /// The prompt is unchanged; a grammar made from [`Turn::tool_choice`](super::Turn::tool_choice) forces the call.
    Grammar,
}

/// Whose prompts a turn has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Prompts {
    /// This library's: for engines that are given the tokens.
    #[default]
    Harmony,
    /// The prompts that vLLM 0.33 makes of the same body: for routers in front of it, and for caches that it fills.
    Vllm0_33,
    /// Those of vLLM 0.33 with its front end in Rust.
    VllmRs0_33,
}

/// What happens to content that harmony cannot carry (images, audio, files) in the newest message of the user. In older
/// messages, in those of others and in tool results it becomes a placeholder, so that one screenshot does not end a
/// session: clients send it again with every request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unsupported {
    /// [`ErrorKind::UnsupportedContent`](crate::ErrorKind::UnsupportedContent) with the content's path.
    #[default]
    Error,
    /// A text in its place, such as `[image omitted]`.
    Placeholder,
}

choices! {
    NamedToolChoice, "'prefill' or 'grammar'": "prefill" Prefill, "grammar" Grammar;
    Prompts, "'harmony', 'vllm-0.33' or 'vllm-rs-0.33'":
        "harmony" Harmony, "vllm-0.33" Vllm0_33, "vllm-rs-0.33" VllmRs0_33;
    Unsupported, "'error' or 'placeholder'": "error" Error, "placeholder" Placeholder;
}

/// A function from an item's id to the item, or from a response's id to a list of items.
#[derive(Clone)]
pub struct Resolve(Arc<Find>);

type Find = dyn Fn(&str) -> Option<Json> + Send + Sync;

impl Resolve {
    /// Makes one of a closure.
    pub fn new<J: Into<Json>>(find: impl Fn(&str) -> Option<J> + Send + Sync + 'static) -> Self {
        Self(Arc::new(move |id| find(id).map(Into::into)))
    }

    /// The item of an id.
    pub(super) fn find(&self, id: &str) -> Option<Json> {
        (self.0)(id)
    }
}
