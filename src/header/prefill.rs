//! The beginning of a message that the caller writes, and the model continues.

use serde::{Deserialize, Serialize};

use super::check;
use super::read::author_of;
use super::write::written_recipient;
use crate::chat::{HeaderFields, Message, Role};
use crate::error::Result;
use crate::options::options;

options! {
    /// How the next message begins: on a channel, as a call of a tool, or with a text.
    ///
    /// Pass it to the renderer, which writes it after `<|start|>` and the role
    /// ([`RenderEnd::Prefill`](crate::RenderEnd::Prefill)), and to the parser of what the model writes after it
    /// ([`ParserOptions::with_prefill`](crate::ParserOptions::with_prefill)). Its header is complete: it ends with
    /// `<|message|>`. An empty prefill writes nothing.
    ///
    /// ```
    /// use openai_harmony::chat::{Message, Role};
    /// use openai_harmony::{
    ///     RenderEnd, HarmonyEncodingName, ParserOptions, Prefill, RenderConfig, load_harmony_encoding,
    /// };
    ///
    /// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let call = Prefill::new()
    ///     .with_channel("commentary")
    ///     .with_recipient("functions.get_weather")
    ///     .with_content_type("<|constrain|>json");
    /// let question = Message::from_role_and_content(Role::User, "Rain?");
    /// let ending = RenderEnd::Prefill(Role::Assistant, &call);
    /// let prompt = encoding.render_conversation_with([&question], ending, &RenderConfig::new())?;
    /// assert!(encoding.tokenizer().decode_utf8(&prompt)?.ends_with(
    ///     "<|start|>assistant to=functions.get_weather<|channel|>commentary \
    ///      <|constrain|>json<|message|>"
    /// ));
    ///
    /// let sampled = encoding.tokenizer().encode_with_special_tokens(r#"{"place":"Oslo"}<|call|>"#);
    /// let options = ParserOptions::strict().with_prefill(call);
    /// let messages = encoding.parse_messages_with(sampled, Some(Role::Assistant), &options)?;
    /// assert_eq!(messages[0].recipient.as_deref(), Some("functions.get_weather"));
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Prefill {
        /// The message's channel.
        pub channel: Option<String>
            => with_channel(channel: impl Into<String>) Some(channel.into()),
        /// Its recipient: the tool that must be called.
        pub recipient: Option<String>
            => with_recipient(recipient: impl Into<String>) Some(recipient.into()),
        /// Its content type, `<|constrain|>json`.
        pub content_type: Option<String>
            => with_content_type(content_type: impl Into<String>) Some(content_type.into()),
        /// The beginning of its content. It is encoded on its own, and the model continues after its last
        /// token. Do not end it inside a word or with a space: the model rarely saw such tokens.
        pub text: Option<String>
            => with_text(text: impl Into<String>) Some(text.into()),
    }
}

impl Prefill {
    /// An empty prefill.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether it writes nothing.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { channel, recipient, content_type, text } = self;
        channel.is_none() && recipient.is_none() && content_type.is_none() && text.is_none()
    }

    /// Refuses fields that could be read as another header: the parser must continue exactly what is
    /// rendered.
    pub(crate) fn check(&self) -> Result<()> {
        check(self.fields(Role::Assistant))
    }

    /// The fields, as of a message of this role.
    pub(crate) fn fields(&self, role: Role) -> HeaderFields<'_> {
        HeaderFields {
            role,
            name: None,
            recipient: self.recipient.as_deref(),
            channel: self.channel.as_deref(),
            content_type: self.content_type.as_deref(),
        }
    }

    /// The header as it would be read: a message without content.
    pub(crate) fn header(&self, role: Role) -> Message {
        Message {
            author: author_of(role.as_str()).unwrap_or(role.into()),
            recipient: written_recipient(self.recipient.as_deref()).map(str::to_owned),
            content: Vec::new(),
            channel: self.channel.clone(),
            content_type: self.content_type.clone(),
        }
    }
}
