//! Conversations as trainers and notebooks write them -> text and tokens.

use super::chat_completions::Messages;
use super::field::BodyField;
use super::request::Request;
use super::{Date, Dialect, Json, ReadOptions};
use crate::chat::ReasoningEffort;
use crate::error::Result;
use crate::json::{At, Tape};
use crate::options::options;
use crate::path::Path;
use crate::tokenizer::TokenId;
use crate::{HarmonyEncoding, RenderEnd};

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
        /// The developer's instructions, before those of the messages.
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
/// As [`chat_completions::read`](super::chat_completions::read) gives them, with paths that begin `messages` or
/// `tools`; a schema that cannot be rendered.
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
    let mut read = ReadOptions::new().with_date(options.date.clone());
    read.identity.clone_from(&options.model_identity);
    read.effort = Some(options.reasoning_effort);
    let mut request = Request::new(Dialect::ChatCompletions, &read);
    request.history.instructions(options.developer_instructions.clone().unwrap_or_default());
    let mut reader = Messages::new(&mut request);
    for (index, message) in messages.into_iter().enumerate() {
        let (path, message) = (Path::of("messages").then(index), message.into());
        let message = BodyField::root(&path, &message)?;
        let mut tape = Tape::default();
        reader.read(&message.replaced(thought_in_content(&mut tape, message.at())))?;
    }
    reader.end(None)?;
    for (index, tool) in options.tools.iter().enumerate() {
        request.read_tool(&BodyField::root(&Path::of("tools").then(index), tool)?)?;
    }
    let turn = request.into_turn()?;
    let tokens = if options.add_generation_prompt || turn.prefill.is_some() {
        turn.prompt(encoding)?
    } else {
        encoding.render_conversation_with(&turn.conversation, RenderEnd::None, &turn.config)?
    };
    Ok((encoding.tokenizer().decode_utf8(&tokens)?, tokens))
}

/// Moves the content of an assistant's message to its thought, where the thought is there but empty.
fn thought_in_content<'t>(tape: &'t mut Tape, message: At<'t>) -> At<'t> {
    let is_empty = |thought: At<'_>| thought.is_null() || thought.as_str() == Some("");
    let is_thought = message.get("role").and_then(At::as_str) == Some("assistant")
        && message.get("thinking").is_some_and(is_empty);
    let Some(members) = message.as_object().filter(|_| is_thought) else { return message };
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
    tape.at(0)
}
