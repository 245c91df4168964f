//! Conversations as trainers and notebooks write them -> text and tokens.

use serde_json::json;

use super::{Date, Json, ReadOptions, chat_completions};
use crate::chat::ReasoningEffort;
use crate::error::Result;
use crate::json::{At, Tape};
use crate::options::options;
use crate::tokenizer::TokenId;
use crate::{Ending, HarmonyEncoding};

options! {
    /// Options of [`encode_conversations_with_harmony`].
    ///
    /// ```
    /// use openai_harmony::interop::ConversationOptions;
    ///
    /// let options = ConversationOptions::new().with_developer_instructions("Be brief.");
    /// assert!(options.add_generation_prompt);
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct ConversationOptions {
        /// The system message's `Reasoning:`; medium by default.
        pub reasoning_effort: ReasoningEffort = ReasoningEffort::Medium => with_reasoning_effort,
        /// Whether the beginning of the assistant's message follows, which the model continues; it does
        /// by default, and always if the messages end with what is to be continued.
        pub add_generation_prompt: bool = true => with_generation_prompt,
        /// The tools, as chat completions declare them.
        pub tools: Vec<Json>
            => with_tools(tools: impl IntoIterator<Item = impl Into<Json>>)
                tools.into_iter().map(Into::into).collect(),
        /// What the developer says, before the messages' own instructions.
        pub developer_instructions: Option<String>
            => with_developer_instructions(instructions: impl Into<String>)
                Some(instructions.into()),
        /// The system message's identity; `None` writes the model's own.
        pub model_identity: Option<String>
            => with_model_identity(identity: impl Into<String>) Some(identity.into()),
        /// The system message's `Current date:`.
        pub date: Date => with_date,
    }
}

impl ConversationOptions {
    /// The default.
    pub fn new() -> Self {
        Self::default()
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
/// let (text, tokens) = encode_conversations_with_harmony(&encoding, messages, &options)?;
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
    messages: impl IntoIterator<Item = impl Into<Json>>,
    options: &ConversationOptions,
) -> Result<(String, Vec<TokenId>)> {
    let body = body(messages, options);
    let instructions = options.developer_instructions.as_ref();
    let history = instructions.map(|text| json!({"role": "developer", "content": text}));
    let mut read_options = ReadOptions::new().with_date(options.date.clone()).with_history(history);
    read_options.identity.clone_from(&options.model_identity);
    let turn = chat_completions::read(body, &read_options)?;
    let tokens = if options.add_generation_prompt || turn.prefill.is_some() {
        turn.prompt(encoding)?
    } else {
        encoding.render_conversation_with(&turn.conversation, Ending::None, &turn.config)?
    };
    Ok((encoding.tokenizer().decode_utf8(&tokens)?, tokens))
}

/// The body of a chat completion with these messages.
fn body(
    messages: impl IntoIterator<Item = impl Into<Json>>,
    options: &ConversationOptions,
) -> Json {
    let mut tape = Tape::default();
    let body = tape.open();
    tape.string("messages");
    let list = tape.open();
    messages.into_iter().for_each(|message| write_message(&mut tape, message.into().at()));
    tape.close_array(list);
    tape.string("reasoning_effort");
    tape.string(options.reasoning_effort.as_str());
    tape.string("tools");
    let list = tape.open();
    options.tools.iter().for_each(|tool| tape.copy(tool.at()));
    tape.close_array(list);
    tape.close_object(body);
    Json::new(tape, 0)
}

/// Writes a message. Where its thought is empty, its content is the thought.
fn write_message(tape: &mut Tape, message: At<'_>) {
    let is_empty = |thought: At<'_>| thought.is_null() || thought.as_str() == Some("");
    let is_thought = message.get("role").and_then(At::as_str) == Some("assistant")
        && message.get("thinking").is_some_and(is_empty);
    let Some(members) = message.as_object().filter(|_| is_thought) else {
        return tape.copy(message);
    };
    let content = members.get("content").unwrap_or(message.nothing());
    let opened = tape.open();
    for (key, value) in members.iter() {
        tape.string(key);
        match key {
            "thinking" => tape.copy(content),
            "content" => tape.null(),
            _ => tape.copy(value),
        }
    }
    tape.close_object(opened);
}
