//! A turn: the whole content of a request, ready to be rendered, sampled and answered.

use std::slice;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Dialect, ToolNames, Unused};
use crate::chat::{Content, Conversation, Message, ResponseFormat, Role};
use crate::error::{ErrorKind, Result};
use crate::path::Path;
use crate::render::{self, ExchangeRanges, Pieces};
use crate::tokenizer::TokenId;
use crate::{
    HarmonyEncoding, HeaderStyle, Prefill, RenderConfig, RenderEnd, Rendered, ThoughtPolicy,
    ToolSchemaStyle,
};

/// What a request means in harmony.
///
/// Its JSON has all fields but the sources.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Turn {
    /// The API that the request was written in, and the answer will be.
    #[serde(serialize_with = "as_name")]
    pub dialect: Dialect,
    /// The model that the body names.
    pub model: Option<String>,
    /// Responses: whether to keep the response. The body decides, unless the server has said whether it keeps any
    /// ([`ReadOptions::stores`](super::ReadOptions::stores)).
    pub store: Option<bool>,
    /// Responses: the response that this one follows.
    pub previous_response_id: Option<String>,
    /// The messages, the system message first. The message that [`prefill`](Self::prefill) begins is not among them.
    pub conversation: Conversation,
    /// The number of the body's message that each message comes from, those of the history first.
    #[serde(skip)]
    pub(crate) sources: Vec<Option<usize>>,
    /// How many messages the history has.
    #[serde(skip)]
    pub(crate) history_len: usize,
    /// How to render them.
    pub config: RenderConfig,
    /// The names of the tools, in the API and in harmony.
    pub tools: ToolNames,
    /// Which of the tools may or must be called.
    pub tool_choice: ToolChoice,
    /// The schema that the answer must follow; it is in the developer message, too.
    pub response_format: Option<ResponseFormat>,
    /// Whether the body wants that schema enforced: `strict`.
    pub strict_format: bool,
    /// The beginning of the assistant's message that the model continues.
    pub prefill: Option<Prefill>,
    /// The tokens at which the engine stops: `<|return|>`, `<|call|>`.
    pub stop_token_ids: Vec<u32>,
    /// Their names, for engines that stop at text.
    pub stop_token_names: Vec<String>,
    /// The body's own stop strings. They apply only to visible text, so they are left to the reply, not the engine.
    pub stop_strings: Vec<String>,
    /// The most tokens of thoughts, if the body has a limit: Anthropic's `thinking.budget_tokens`, `max_tokens` in
    /// the `reasoning` of chat and Responses. [`Reply::force`](super::Reply::force) ends them.
    pub thinking_budget: Option<usize>,
    /// Whether the server may leave out the oldest turns of a conversation that is too long
    /// ([`Self::prompt_within`]): Responses' `truncation` is `auto`, Ollama's `truncate` is not false. Otherwise that is
    /// an error.
    pub may_truncate: bool,
    /// How to sample: the body's values, else those recommended for gpt-oss.
    pub sampling: Sampling,
    /// The parts of the body that nothing used.
    pub unused: Vec<Unused>,
    /// Those of [`unused`](Self::unused) without which the answer would be taken for another: the body's tools if none
    /// of them can be used, or the tools of which it demands a call. A server refuses such a body.
    pub unmet: Vec<Unused>,
    /// The form of the answer that the body asks for.
    pub answer: AnswerOptions,
}

impl Turn {
    /// How turns are rendered unless the server decides otherwise: the thoughts of completed turns are dropped,
    /// recipients follow the channel, as in the guide and from the model, tools' schemas are written in full,
    /// and header fields are checked.
    pub fn default_config() -> RenderConfig {
        RenderConfig::new()
            .with_thoughts(ThoughtPolicy::Drop)
            .with_header_style(HeaderStyle::RecipientInChannel)
            .with_tool_schema(ToolSchemaStyle::Full)
            .with_validate(true)
    }

    /// The path in the body of the message or item that a message of the conversation comes from: `messages[3]`,
    /// `input[2]`, or `history[0]` for [`ReadOptions::history`](super::ReadOptions::history). `None` for the first
    /// system and developer message, which are made from several fields, and for a text that is the whole `input`.
    ///
    /// A [`MessageSpan`](crate::MessageSpan) names its message in the conversation, so this leads from each rendered
    /// token to its place in the body.
    ///
    /// ```
    /// use openai_harmony::interop::{ReadOptions, chat_completions};
    /// use serde_json::json;
    ///
    /// let body = json!({"messages": [
    ///     {"role": "system", "content": "Be brief."},
    ///     {"role": "user", "content": "Hi"},
    ///     {"role": "assistant", "reasoning": "A greeting.", "content": "Hello!"},
    /// ]});
    /// let turn = chat_completions::read(&body, &ReadOptions::default())?;
    /// let sources = (0..turn.conversation.messages.len()).map(|index| turn.source(index));
    /// let sources: Vec<_> = sources.map(|source| source.map(|path| path.to_string())).collect();
    /// let [system, developer, user, thought, answer] = &sources[..] else { panic!() };
    /// assert_eq!((system, developer), (&None, &None));
    /// assert_eq!(user.as_deref(), Some("messages[1]"));
    /// assert!(thought == answer && thought.as_deref() == Some("messages[2]"));
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn source(&self, message: usize) -> Option<Path> {
        let number = (*self.sources.get(message)?)?;
        Some(match number.checked_sub(self.history_len) {
            Some(index) => Path::of(self.dialect.messages()).then(index),
            None => Path::of("history").then(number),
        })
    }

    /// The prompt's tokens: the conversation and the beginning of the assistant's message.
    ///
    /// # Errors
    ///
    /// A schema that cannot be rendered. All other errors in a request are found by reading it.
    pub fn prompt(&self, encoding: &HarmonyEncoding) -> Result<Vec<TokenId>> {
        Ok(self.render_with_spans(encoding)?.tokens)
    }

    /// [`Self::prompt`] with the span of each message; [`Self::source`] is its place in the body.
    ///
    /// # Errors
    ///
    /// Those of [`Self::prompt`].
    ///
    /// # Example
    ///
    /// ```
    /// use openai_harmony::interop::{ReadOptions, chat_completions};
    /// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
    /// use serde_json::json;
    ///
    /// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let body = json!({"messages": [{"role": "user", "content": "Hi"}]});
    /// let turn = chat_completions::read(&body, &ReadOptions::default())?;
    /// let rendered = turn.render_with_spans(&encoding)?;
    /// let hi = &rendered.spans[1];
    /// assert_eq!(encoding.tokenizer().decode_utf8(&rendered.tokens[hi.content..hi.stop])?, "Hi");
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn render_with_spans(&self, encoding: &HarmonyEncoding) -> Result<Rendered> {
        self.render(*encoding, &self.conversation)
    }

    /// [`Self::prompt`] with at most this many tokens: a longer conversation loses its oldest turns, as few as
    /// possible. A turn is left out whole, from the user's message to the last before the next one, so that no result
    /// remains without its call. The system and developer messages in front of the first turn always stay, and so does
    /// the last turn.
    ///
    /// The body asks for this if [`may_truncate`](Self::may_truncate) is set.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::PromptTooLong`] if the prompt has too many tokens even with only the last turn; those of
    /// [`Self::prompt`].
    ///
    /// # Example
    ///
    /// ```
    /// use openai_harmony::interop::{ReadOptions, chat_completions};
    /// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
    /// use serde_json::json;
    ///
    /// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let [hi, hello] = [("user", "Hi"), ("assistant", "Hello!")].map(|(role, text)| json!({"role": role, "content": text}));
    /// let read = |messages| chat_completions::read(&json!({"messages": messages}), &ReadOptions::default());
    /// let long = read(json!([hi, hello, hi, hello, hi]))?;
    /// let short = read(json!([hi, hello, hi]))?.prompt(&encoding)?;
    /// assert_eq!(long.prompt_within(&encoding, short.len())?, short);
    /// assert!(long.prompt_within(&encoding, 10).is_err());
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn prompt_within(
        &self,
        encoding: &HarmonyEncoding,
        max_tokens: usize,
    ) -> Result<Vec<TokenId>> {
        let whole = self.prompt(encoding)?;
        if whole.len() <= max_tokens {
            return Ok(whole);
        }
        let messages = &self.conversation.messages;
        let exchanges = ExchangeRanges::of(messages);
        let end = exchanges.len();
        let pieces = Pieces::new(encoding.tokenizer(), self.config, messages, exchanges)?;
        let nothing = std::iter::empty::<&Message>();
        let begun = self.render(*encoding, nothing)?.tokens.len();
        let kept = match max_tokens.checked_sub(begun) {
            Some(max_tokens) => pieces.last_exchanges(end, max_tokens),
            None => end..end,
        };
        if kept.is_empty() {
            let last = pieces.select(end.saturating_sub(1)..end).tokens;
            let (path, tokens) = (Path::of(self.dialect.messages()), last + begun);
            return Err(ErrorKind::PromptTooLong { path, tokens, max_tokens }.into());
        }
        let head = &messages[pieces.exchanges.head.clone()];
        let kept = head.iter().chain(&messages[pieces.exchanges.messages(kept)]);
        Ok(self.render(*encoding, kept)?.tokens)
    }

    /// Messages, and the beginning of the assistant's.
    /// The schemas of the tools that the conversation declares, with their recipients.
    pub(crate) fn schemas(&self) -> impl Iterator<Item = (String, Option<&Value>)> {
        let contents = self.conversation.messages.iter().flat_map(|message| &message.content);
        let namespaces = contents.filter_map(|content| match content {
            Content::SystemContent(system) => system.tools.as_ref(),
            Content::DeveloperContent(developer) => developer.tools.as_ref(),
            Content::Text(_) => None,
        });
        namespaces.flat_map(|namespaces| namespaces.values()).flat_map(|namespace| {
            let tools = namespace.tools.iter();
            tools
                .map(|tool| ([&namespace.name, ".", &tool.name].concat(), tool.parameters.as_ref()))
        })
    }

    fn render<'a>(
        &self,
        encoding: HarmonyEncoding,
        messages: impl IntoIterator<Item = &'a Message>,
    ) -> Result<Rendered> {
        let ending = match &self.prefill {
            Some(prefill) => RenderEnd::Prefill(Role::Assistant, prefill),
            None => RenderEnd::Completion(Role::Assistant),
        };
        let tokenizer = encoding.tokenizer();
        render::conversation(tokenizer, messages, ending, self.config)
    }
}

/// Which tools may or must be called. Tools are named by their recipients in harmony.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No tool: if the model samples a call anyway, it becomes content.
    None,
    /// Any tool, but at least one.
    Required,
    /// This tool.
    Named {
        /// The tool's recipient, `functions.get_weather`.
        recipient: String,
    },
    /// Only some of the tools.
    Allowed {
        /// The tools' recipients, at least one.
        recipients: Vec<String>,
        /// Whether one of them must be called.
        required: bool,
    },
}

impl ToolChoice {
    /// Whether the turn must end with a call.
    pub fn is_required(&self) -> bool {
        match self {
            Self::Required | Self::Named { .. } => true,
            Self::Allowed { required, .. } => *required,
            Self::Auto | Self::None => false,
        }
    }

    /// The recipients of the tools that may be called; `None` for all.
    pub fn recipients(&self) -> Option<&[String]> {
        match self {
            Self::Auto | Self::Required => None,
            Self::None => Some(&[]),
            Self::Named { recipient } => Some(slice::from_ref(recipient)),
            Self::Allowed { recipients, .. } => Some(recipients),
        }
    }
}

/// How to sample: the body's values, else those recommended for gpt-oss. Values for which engines have their own
/// defaults are `None` unless the body sets them, and then not in the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Sampling {
    /// 1.0 unless the body says otherwise.
    pub temperature: f64,
    /// 1.0 unless the body says otherwise.
    pub top_p: f64,
    /// 0, which is off, unless the body says otherwise.
    pub top_k: u64,
    /// 0.0, which is off, unless the body says otherwise.
    pub min_p: f64,
    /// How many answers to sample: `n`.
    pub n: u64,
    /// As in the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    /// As in the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
    /// The body's `repetition_penalty`, Ollama's `repeat_penalty`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repetition_penalty: Option<f64>,
    /// The most tokens to sample, thoughts included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Makes sampling repeatable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// How many of the most likely tokens the answer lists at each position, besides the log-probability of the sampled
    /// one; `None` if the body does not ask for log-probabilities. The engine has to give them
    /// ([`Reply::feed`](super::Reply::feed)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<usize>,
    /// Token ids and the values added to their logits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logit_bias: Vec<(u32, f64)>,
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            temperature: 1.0,
            top_p: 1.0,
            top_k: 0,
            min_p: 0.0,
            max_tokens: None,
            n: 1,
            seed: None,
            presence_penalty: None,
            frequency_penalty: None,
            repetition_penalty: None,
            logit_bias: Vec::new(),
            logprobs: None,
        }
    }
}

/// The form of the answer that the body asks for.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of some request")]
#[non_exhaustive]
pub struct AnswerOptions {
    /// Whether to stream the answer. Ollama streams by default.
    pub stream: bool,
    /// Chat: `stream_options.include_usage`, a last chunk with the usage.
    pub include_usage: bool,
    /// Chat: `return_token_ids`, the ids of the prompt's tokens and of all sampled ones.
    pub token_ids: bool,
    /// Chat: `return_tokens_as_token_ids`, the tokens of log-probabilities are written as `token_id:5`.
    pub tokens_as_ids: bool,
    /// Whether thoughts are shown.
    pub thought_display: ThoughtDisplay,
    /// Responses: reasoning items carry `encrypted_content`, since `include` asks for it.
    pub encrypted_thoughts: bool,
    /// Chat: tools came as `functions`, so a call is answered as `function_call`.
    pub function_call: bool,
    /// Responses: the fields of the request that the response repeats, as they were given, such as
    /// `instructions`, `metadata`, `tools`, `tool_choice`, `parallel_tool_calls`.
    pub repeated: Map<String, Value>,
}

/// Whether thoughts are shown in the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThoughtDisplay {
    /// With their text.
    #[default]
    Shown,
    /// As blocks with an empty text and a signature: Anthropic's `display: omitted`.
    Omitted,
    /// Not at all: Anthropic without `thinking`, Ollama's `think: false`, chat's `include_reasoning: false`.
    Hidden,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn as_name<S: Serializer>(dialect: &Dialect, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(dialect.as_str())
}
