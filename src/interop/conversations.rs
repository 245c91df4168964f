//! Conversations as trainers and notebooks write them -> text and tokens.

use serde_json::{Map, Value, json};

use super::{Date, ReadOptions, chat_completions};
use crate::chat::ReasoningEffort;
use crate::error::Result;
use crate::tokenizer::TokenId;
use crate::{Ending, HarmonyEncoding};

/// Options of [`encode_conversations_with_harmony`].
///
/// ```
/// use openai_harmony::interop::ConversationOptions;
///
/// let options = ConversationOptions::new().with_developer_instructions("Be brief.");
/// assert!(options.add_generation_prompt);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ConversationOptions {
    /// The system message's `Reasoning:`; medium by default.
    pub reasoning_effort: ReasoningEffort,
    /// Whether the beginning of the assistant's message follows, which the model continues; it does
    /// by default, and always if the messages end with what is to be continued.
    pub add_generation_prompt: bool,
    /// The tools, as chat completions declare them.
    pub tools: Vec<Value>,
    /// What the developer says, before the messages' own instructions.
    pub developer_instructions: Option<String>,
    /// The system message's identity; `None` writes the model's own.
    pub model_identity: Option<String>,
    /// The system message's `Current date:`.
    pub date: Date,
}

impl Default for ConversationOptions {
    fn default() -> Self {
        Self {
            reasoning_effort: ReasoningEffort::Medium,
            add_generation_prompt: true,
            tools: Vec::new(),
            developer_instructions: None,
            model_identity: None,
            date: Date::default(),
        }
    }
}

impl ConversationOptions {
    /// The default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the effort.
    #[must_use]
    pub fn with_reasoning_effort(mut self, effort: ReasoningEffort) -> Self {
        self.reasoning_effort = effort;
        self
    }

    /// Sets whether the beginning of the assistant's message follows.
    #[must_use]
    pub fn with_generation_prompt(mut self, add_generation_prompt: bool) -> Self {
        self.add_generation_prompt = add_generation_prompt;
        self
    }

    /// Sets the tools, as chat completions declare them.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = Value>) -> Self {
        self.tools = tools.into_iter().collect();
        self
    }

    /// Sets what the developer says.
    #[must_use]
    pub fn with_developer_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.developer_instructions = Some(instructions.into());
        self
    }

    /// Sets the model's identity.
    #[must_use]
    pub fn with_model_identity(mut self, identity: impl Into<String>) -> Self {
        self.model_identity = Some(identity.into());
        self
    }

    /// Sets the system message's date.
    #[must_use]
    pub fn with_date(mut self, date: Date) -> Self {
        self.date = date;
        self
    }
}

/// The text and the tokens of a conversation, for those who know the function of this name from
/// notebooks that fine-tune.
///
/// `messages` are those of chat completions, with `thinking` for thoughts, and calls either nested
/// or flat (`{"name": ..., "arguments": ...}`). Where `thinking` is there but empty, `content` is the
/// thought. Arguments given as text are not escaped again.
///
/// # Errors
///
/// As [`chat_completions::read`] gives them, with paths that begin `messages` or `tools`; a schema
/// that cannot be rendered.
///
/// # Example
///
/// ```
/// use openai_harmony::interop::{ConversationOptions, encode_conversations_with_harmony};
/// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
/// use serde_json::json;
///
/// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
/// let messages = [
///     json!({"role": "user", "content": "Is it warm?"}),
///     json!({"role": "assistant", "content": "Ask the tool.", "thinking": ""}),
///     json!({"role": "assistant", "tool_calls": [{"name": "t", "arguments": r#"{"at": "SF"}"#}]}),
/// ];
/// let options = ConversationOptions::new().with_generation_prompt(false);
/// let (text, tokens) = encode_conversations_with_harmony(&encoding, &messages, &options)?;
/// assert!(text.ends_with(
///     "<|start|>assistant<|channel|>analysis<|message|>Ask the tool.<|end|>\
///      <|start|>assistant<|channel|>commentary to=functions.t <|constrain|>json<|message|>\
///      {\"at\": \"SF\"}<|call|>"
/// ));
/// assert_eq!(encoding.tokenizer().decode_utf8(&tokens)?, text);
/// # Ok::<(), openai_harmony::Error>(())
/// ```
pub fn encode_conversations_with_harmony(
    encoding: &HarmonyEncoding,
    messages: &[Value],
    options: &ConversationOptions,
) -> Result<(String, Vec<TokenId>)> {
    let messages: Vec<Value> = messages.iter().map(with_thought).collect();
    let body = json!({
        "messages": messages,
        "reasoning_effort": options.reasoning_effort.as_str(),
        "tools": options.tools,
    });
    let instructions = options.developer_instructions.as_ref();
    let history = instructions.map(|text| json!({"role": "developer", "content": text}));
    let mut read_options = ReadOptions::new().with_date(options.date.clone()).with_history(history);
    read_options.identity.clone_from(&options.model_identity);
    let turn = chat_completions::read_owned(body, &read_options)?;
    let tokens = if options.add_generation_prompt || turn.prefill.is_some() {
        turn.prompt(encoding)?
    } else {
        encoding.render_conversation_with(&turn.conversation, Ending::None, &turn.config)?
    };
    Ok((encoding.tokenizer().decode_utf8(&tokens)?, tokens))
}

/// The message with its thought in `thinking`.
fn with_thought(message: &Value) -> Value {
    let is_thought =
        message["role"] == "assistant" && message.get("thinking").is_some_and(is_empty);
    let Value::Object(fields) = message else { return message.clone() };
    if !is_thought {
        return message.clone();
    }
    let mut fields: Map<String, Value> = fields.clone();
    let content = fields.insert("content".to_owned(), Value::Null);
    fields.insert("thinking".to_owned(), content.unwrap_or(Value::Null));
    Value::Object(fields)
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value == ""
}
