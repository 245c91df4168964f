//! Conversations and messages to tokens.

use super::HarmonyEncoding;
use crate::chat::{Message, Role};
use crate::error::Result;
use crate::render::{
    self, RenderConfig, RenderConversationConfig, RenderEnd, RenderOptions, Rendered, ThoughtPolicy,
};
use crate::tokenizer::TokenId;

/// Rendering.
///
/// A config of `None` drops nothing, and the default one drops earlier thoughts by 0.0.8's rule.
impl HarmonyEncoding {
    /// Renders a conversation with all options and any ending.
    ///
    /// ```
    /// use openai_harmony::chat::{Message, Role};
    /// use openai_harmony::{RenderEnd, HarmonyEncodingName, HeaderStyle, RenderConfig};
    ///
    /// let encoding = openai_harmony::load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let call = Message::from_role_and_content(Role::Assistant, "{}")
    ///     .with_channel("commentary")
    ///     .with_recipient("functions.f");
    /// let config = RenderConfig::new().with_header_style(HeaderStyle::RecipientInChannel);
    /// let tokens =
    ///     encoding.render_conversation_with(&[call], RenderEnd::Completion(Role::Tool), &config)?;
    /// assert_eq!(
    ///     encoding.tokenizer().decode_utf8(tokens)?,
    ///     "<|start|>assistant<|channel|>commentary to=functions.f<|message|>{}<|call|><|start|>tool",
    /// );
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A tool message without a name, content in a message of the wrong role, a schema or a
    /// header field that cannot be rendered.
    pub fn render_conversation_with<'a>(
        &self,
        conversation: impl IntoIterator<Item = &'a Message>,
        ending: RenderEnd<'_>,
        config: &RenderConfig,
    ) -> Result<Vec<TokenId>> {
        Ok(self.render_with_spans(conversation, ending, config)?.tokens)
    }

    /// Renders a conversation, and returns the span of each message.
    ///
    /// ```
    /// use openai_harmony::chat::{Message, Role};
    /// use openai_harmony::{RenderEnd, HarmonyEncodingName, RenderConfig};
    ///
    /// let encoding = openai_harmony::load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let messages = [
    ///     Message::from_role_and_content(Role::Assistant, "Easy.").with_channel("analysis"),
    ///     Message::from_role_and_content(Role::Assistant, "Four.").with_channel("final"),
    /// ];
    /// // By default the thought before the answer is dropped.
    /// let config = RenderConfig::new();
    /// let rendered = encoding.render_with_spans(&messages, RenderEnd::Training, &config)?;
    /// let [answer] = rendered.spans[..] else { panic!("one message") };
    /// assert_eq!(answer.message, Some(1));
    /// let content = &rendered.tokens[answer.content_tokens()];
    /// assert_eq!(encoding.tokenizer().decode_utf8(content)?, "Four.");
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_with`].
    pub fn render_with_spans<'a>(
        &self,
        conversation: impl IntoIterator<Item = &'a Message>,
        ending: RenderEnd<'_>,
        config: &RenderConfig,
    ) -> Result<Rendered> {
        render::conversation(self.tokenizer(), conversation, ending, *config)
    }

    /// Renders a conversation and the beginning of the next message, which the model completes.
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_with`].
    pub fn render_conversation_for_completion<'a>(
        &self,
        conversation: impl IntoIterator<Item = &'a Message>,
        next_turn_role: Role,
        config: Option<&RenderConversationConfig>,
    ) -> Result<Vec<TokenId>> {
        let ending = RenderEnd::Completion(next_turn_role);
        self.render_conversation_with(conversation, ending, &all_options(config))
    }

    /// Renders a training example: if its last message is the assistant's on `final`, it ends with `<|return|>`, as the
    /// model itself ends it.
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_with`].
    pub fn render_conversation_for_training<'a>(
        &self,
        conversation: impl IntoIterator<Item = &'a Message>,
        config: Option<&RenderConversationConfig>,
    ) -> Result<Vec<TokenId>> {
        self.render_conversation_with(conversation, RenderEnd::Training, &all_options(config))
    }

    /// Renders a conversation and nothing after it.
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_with`].
    pub fn render_conversation<'a>(
        &self,
        conversation: impl IntoIterator<Item = &'a Message>,
        config: Option<&RenderConversationConfig>,
    ) -> Result<Vec<TokenId>> {
        self.render_conversation_with(conversation, RenderEnd::None, &all_options(config))
    }

    /// Appends to a collection what [`Self::render_conversation`] returns.
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_with`]; nothing has been appended then.
    pub fn render_conversation_into<'a>(
        &self,
        conversation: impl IntoIterator<Item = &'a Message>,
        into: &mut impl Extend<TokenId>,
        config: Option<&RenderConversationConfig>,
    ) -> Result<()> {
        into.extend(self.render_conversation(conversation, config)?);
        Ok(())
    }

    /// Appends to a collection what [`Self::render_conversation_for_completion`] returns.
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_with`]; nothing has been appended then.
    pub fn render_conversation_for_completion_into<'a>(
        &self,
        conversation: impl IntoIterator<Item = &'a Message>,
        next_turn_role: Role,
        into: &mut impl Extend<TokenId>,
        config: Option<&RenderConversationConfig>,
    ) -> Result<()> {
        into.extend(self.render_conversation_for_completion(
            conversation,
            next_turn_role,
            config,
        )?);
        Ok(())
    }

    /// Renders a single message with any of the options.
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_with`].
    pub fn render_with(&self, message: &Message, config: &RenderConfig) -> Result<Vec<TokenId>> {
        Ok(render::message(self.tokenizer(), message, *config)?.tokens)
    }

    /// Renders a single message.
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_with`].
    pub fn render(
        &self,
        message: &Message,
        options: Option<&RenderOptions>,
    ) -> Result<Vec<TokenId>> {
        self.render_with(message, &options.copied().unwrap_or_default().into())
    }

    /// Appends to a collection what [`Self::render`] returns.
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_with`]; nothing has been appended then.
    pub fn render_into(
        &self,
        message: &Message,
        into: &mut impl Extend<TokenId>,
        options: Option<&RenderOptions>,
    ) -> Result<()> {
        into.extend(self.render(message, options)?);
        Ok(())
    }
}

/// In Rust a missing config drops nothing.
fn all_options(config: Option<&RenderConversationConfig>) -> RenderConfig {
    config.map_or(RenderConfig::new().with_thoughts(ThoughtPolicy::Keep), |&config| config.into())
}
