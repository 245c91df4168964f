//! The entry point: an encoding renders and parses.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use crate::chat::{Message, Role};
use crate::error::{Error, ErrorKind, Result};
use crate::parse::{self, ParseConfig, ParseOptions, STOP_TOKENS, StreamableParser};
use crate::render::{
    self, AnalysisPolicy, Ending, RenderConfig, RenderConversationConfig, RenderOptions, Rendered,
};
use crate::tokenizer::{TokenId, Tokenizer, special};

/// The names of the encodings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HarmonyEncodingName {
    /// The harmony format over the vocabulary `o200k_harmony`, which the gpt-oss models speak.
    HarmonyGptOss,
}

impl fmt::Display for HarmonyEncodingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HarmonyEncoding { name: *self }.name())
    }
}

impl FromStr for HarmonyEncodingName {
    type Err = Error;

    /// Reads a name; any other is [`ErrorKind::UnknownEncoding`].
    fn from_str(name: &str) -> Result<Self> {
        match name {
            "HarmonyGptOss" => Ok(Self::HarmonyGptOss),
            _ => Err(ErrorKind::UnknownEncoding { name: name.to_owned() }.into()),
        }
    }
}

/// Returns a handle on an encoding. Its data is part of the program: nothing is read, parsed
/// or downloaded, and all handles share it.
///
/// # Errors
///
/// None for today's encodings.
pub fn load_harmony_encoding(name: HarmonyEncodingName) -> Result<HarmonyEncoding> {
    Ok(HarmonyEncoding { name })
}

/// Renders conversations to tokens and parses tokens to messages.
///
/// A handle on shared, immutable data: copying it costs nothing, and threads may share it.
///
/// ```
/// use openai_harmony::chat::{Conversation, Message, Role, SystemContent};
/// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
///
/// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
/// let conversation = Conversation::from_messages([
///     Message::from_role_and_content(Role::System, SystemContent::new()),
///     Message::from_role_and_content(Role::User, "What is 2 + 2?"),
/// ]);
/// let prompt =
///     encoding.render_conversation_for_completion(&conversation, Role::Assistant, None)?;
/// assert!(encoding.tokenizer().decode_utf8(&prompt)?.ends_with("<|start|>assistant"));
/// # Ok::<(), openai_harmony::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HarmonyEncoding {
    name: HarmonyEncodingName,
}

impl fmt::Display for HarmonyEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Renderer({})", self.name)
    }
}

impl HarmonyEncoding {
    /// The encoding's name: that of its [`HarmonyEncodingName`].
    pub fn name(&self) -> &'static str {
        match self.name {
            HarmonyEncodingName::HarmonyGptOss => "HarmonyGptOss",
        }
    }

    /// The name of the tokenizer's vocabulary: `o200k_harmony`.
    pub fn tokenizer_name(&self) -> &'static str {
        match self.name {
            HarmonyEncodingName::HarmonyGptOss => "o200k_harmony",
        }
    }

    /// How many tokens a message may have according to 0.0.8: 524,288. This crate has no such limit.
    pub fn max_message_tokens(&self) -> usize {
        match self.name {
            HarmonyEncodingName::HarmonyGptOss => 1 << 19,
        }
    }

    /// The tokenizer of this encoding.
    pub fn tokenizer(&self) -> Tokenizer {
        match self.name {
            HarmonyEncodingName::HarmonyGptOss => Tokenizer::o200k_harmony(),
        }
    }

    /// The tokens at which a message ends: `<|return|>`, `<|end|>`, `<|call|>`.
    pub fn stop_token_ids(&self) -> [TokenId; 3] {
        STOP_TOKENS
    }

    /// The tokens at which sampling stops, so that the caller can act: `<|return|>`, `<|call|>`
    /// (guide, section "Special Tokens").
    pub fn stop_token_ids_for_assistant_actions(&self) -> [TokenId; 2] {
        [special::RETURN, special::CALL]
    }

    /// [`Self::stop_token_ids`] in 0.0.8's type.
    ///
    /// # Errors
    ///
    /// None.
    pub fn stop_tokens(&self) -> Result<HashSet<TokenId>> {
        Ok(self.stop_token_ids().into())
    }

    /// [`Self::stop_token_ids_for_assistant_actions`] in 0.0.8's type.
    ///
    /// # Errors
    ///
    /// None.
    pub fn stop_tokens_for_assistant_actions(&self) -> Result<HashSet<TokenId>> {
        Ok(self.stop_token_ids_for_assistant_actions().into())
    }
}

/// A parser needs only the tokenizer of an encoding.
impl From<HarmonyEncoding> for Tokenizer {
    fn from(encoding: HarmonyEncoding) -> Self {
        encoding.tokenizer()
    }
}

impl From<&HarmonyEncoding> for Tokenizer {
    fn from(encoding: &HarmonyEncoding) -> Self {
        encoding.tokenizer()
    }
}

/// Rendering.
///
/// A config of `None` drops nothing, and the default one drops earlier thoughts by 0.0.8's rule.
impl HarmonyEncoding {
    /// Renders a conversation with any of the options, and with any ending.
    ///
    /// ```
    /// use openai_harmony::chat::{Message, Role};
    /// use openai_harmony::{Ending, HarmonyEncodingName, HeaderStyle, RenderConfig};
    ///
    /// let encoding = openai_harmony::load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let call = Message::from_role_and_content(Role::Assistant, "{}")
    ///     .with_channel("commentary")
    ///     .with_recipient("functions.f");
    /// let config = RenderConfig::new().with_header_style(HeaderStyle::RecipientInChannel);
    /// let tokens =
    ///     encoding.render_conversation_with(&[call], Ending::Completion(Role::Tool), &config)?;
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
    pub fn render_conversation_with<'a, I>(
        &self,
        conversation: I,
        ending: Ending<'_>,
        config: &RenderConfig,
    ) -> Result<Vec<TokenId>>
    where
        I: IntoIterator<Item = &'a Message>,
    {
        let mut tokens = Vec::new();
        render::conversation(
            self.tokenizer(),
            conversation,
            ending,
            *config,
            &mut tokens,
            &mut (),
        )?;
        Ok(tokens)
    }

    /// Renders a conversation, and returns where each message is among the tokens.
    ///
    /// ```
    /// use openai_harmony::chat::{Message, Role};
    /// use openai_harmony::{Ending, HarmonyEncodingName, RenderConfig};
    ///
    /// let encoding = openai_harmony::load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let messages = [
    ///     Message::from_role_and_content(Role::Assistant, "Easy.").with_channel("analysis"),
    ///     Message::from_role_and_content(Role::Assistant, "Four.").with_channel("final"),
    /// ];
    /// // By default the thought before the answer is dropped.
    /// let config = RenderConfig::new();
    /// let rendered = encoding.render_with_spans(&messages, Ending::Training, &config)?;
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
    pub fn render_with_spans<'a, I>(
        &self,
        conversation: I,
        ending: Ending<'_>,
        config: &RenderConfig,
    ) -> Result<Rendered>
    where
        I: IntoIterator<Item = &'a Message>,
    {
        let mut tokens = Vec::new();
        let mut spans = (Vec::new(), Vec::new());
        render::conversation(
            self.tokenizer(),
            conversation,
            ending,
            *config,
            &mut tokens,
            &mut spans,
        )?;
        let (spans, speakers) = spans;
        Ok(Rendered { tokens, spans, speakers })
    }

    /// Renders a conversation and the beginning of the next message, which the model completes.
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_with`].
    pub fn render_conversation_for_completion<'a, I>(
        &self,
        conversation: I,
        next_turn_role: Role,
        config: Option<&RenderConversationConfig>,
    ) -> Result<Vec<TokenId>>
    where
        I: IntoIterator<Item = &'a Message>,
    {
        let ending = Ending::Completion(next_turn_role);
        self.render_conversation_with(conversation, ending, &all_options(config))
    }

    /// Renders a conversation to train on: if its last message is the assistant's on `final`,
    /// it ends with `<|return|>`, as the model itself ends it.
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_with`].
    pub fn render_conversation_for_training<'a, I>(
        &self,
        conversation: I,
        config: Option<&RenderConversationConfig>,
    ) -> Result<Vec<TokenId>>
    where
        I: IntoIterator<Item = &'a Message>,
    {
        self.render_conversation_with(conversation, Ending::Training, &all_options(config))
    }

    /// Renders a conversation and nothing after it.
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_with`].
    pub fn render_conversation<'a, I>(
        &self,
        conversation: I,
        config: Option<&RenderConversationConfig>,
    ) -> Result<Vec<TokenId>>
    where
        I: IntoIterator<Item = &'a Message>,
    {
        self.render_conversation_with(conversation, Ending::None, &all_options(config))
    }

    /// Appends to a collection what [`Self::render_conversation`] returns.
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_with`]; nothing has been appended then.
    pub fn render_conversation_into<'a, I, B>(
        &self,
        conversation: I,
        into: &mut B,
        config: Option<&RenderConversationConfig>,
    ) -> Result<()>
    where
        I: IntoIterator<Item = &'a Message>,
        B: Extend<TokenId>,
    {
        into.extend(self.render_conversation(conversation, config)?);
        Ok(())
    }

    /// Appends to a collection what [`Self::render_conversation_for_completion`] returns.
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_with`]; nothing has been appended then.
    pub fn render_conversation_for_completion_into<'a, I, B>(
        &self,
        conversation: I,
        next_turn_role: Role,
        into: &mut B,
        config: Option<&RenderConversationConfig>,
    ) -> Result<()>
    where
        I: IntoIterator<Item = &'a Message>,
        B: Extend<TokenId>,
    {
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
        let mut tokens = Vec::new();
        render::message(self.tokenizer(), message, *config, &mut tokens)?;
        Ok(tokens)
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
    pub fn render_into<B: Extend<TokenId>>(
        &self,
        message: &Message,
        into: &mut B,
        options: Option<&RenderOptions>,
    ) -> Result<()> {
        into.extend(self.render(message, options)?);
        Ok(())
    }
}

/// What leaving the config out means in Rust: nothing is dropped.
fn all_options(config: Option<&RenderConversationConfig>) -> RenderConfig {
    config
        .map_or(RenderConfig::new().with_analysis(AnalysisPolicy::KeepAll), |&config| config.into())
}

/// Parsing.
impl HarmonyEncoding {
    /// Parses a whole sequence of tokens, strictly. `role` is the role of the first message's
    /// author if the tokens begin after it, as those of a completion do.
    ///
    /// # Errors
    ///
    /// Where the tokens are not well-formed; [`StreamableParser`] keeps the messages before.
    pub fn parse_messages_from_completion_tokens<I>(
        &self,
        tokens: I,
        role: Option<Role>,
    ) -> Result<Vec<Message>>
    where
        I: IntoIterator<Item = TokenId>,
    {
        self.parse_messages_with(tokens, role, &ParseConfig::strict())
    }

    /// Parses a whole sequence of tokens, strictly or leniently.
    ///
    /// # Errors
    ///
    /// Strict parsing, where the tokens are not well-formed; lenient parsing, never.
    pub fn parse_messages_from_completion_tokens_with_options<I>(
        &self,
        tokens: I,
        role: Option<Role>,
        options: ParseOptions,
    ) -> Result<Vec<Message>>
    where
        I: IntoIterator<Item = TokenId>,
    {
        self.parse_messages_with(tokens, role, &options.into())
    }

    /// Parses a whole sequence of tokens with any of the options.
    ///
    /// # Errors
    ///
    /// Strict parsing, where the tokens are not well-formed; lenient parsing, never.
    pub fn parse_messages_with<I>(
        &self,
        tokens: I,
        role: Option<Role>,
        config: &ParseConfig,
    ) -> Result<Vec<Message>>
    where
        I: IntoIterator<Item = TokenId>,
    {
        let mut parser = StreamableParser::with_config(*self, role, config)?;
        let tokens: Vec<u32> = tokens.into_iter().collect();
        parser.advance(&tokens)?;
        parser.process_eos()?;
        Ok(parser.into_messages())
    }

    /// Parses text in which the special tokens are spelled by their names, as logs and engines
    /// that decode them show it. `role` is as for
    /// [`Self::parse_messages_from_completion_tokens`].
    ///
    /// The markers that the text spells count as such: it is for the model's output, never for
    /// text of others.
    ///
    /// # Errors
    ///
    /// Strict parsing, where the tokens are not well-formed; a tool whose name no header can carry.
    ///
    /// ```
    /// # use openai_harmony::chat::Role;
    /// # use openai_harmony::{HarmonyEncodingName, ParseConfig, load_harmony_encoding};
    /// # let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let text = "<|channel|>final<|message|>Hello<|return|>";
    /// let config = ParseConfig::lenient();
    /// let messages = encoding.parse_messages_from_text(text, Some(Role::Assistant), &config)?;
    /// assert_eq!(messages[0].channel.as_deref(), Some("final"));
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn parse_messages_from_text(
        &self,
        text: &str,
        role: Option<Role>,
        config: &ParseConfig,
    ) -> Result<Vec<Message>> {
        let tokens = self.tokenizer().encode_with_special_tokens(text);
        let mut parser = StreamableParser::with_config(*self, role, config)?;
        parser.advance(&tokens)?;
        parser.process_eos()?;
        Ok(parser.into_messages())
    }

    /// Guesses the messages of a text from which an engine dropped the special tokens, as vLLM and
    /// others do by default: `analysisI must add.assistantfinal4`.
    ///
    /// Nothing in such a text says where a header ends, so this is a guess, for text that cannot be
    /// had in tokens. It loses nothing: all text is in a content or in a header's field. Text
    /// without any header is an answer on `final`.
    ///
    /// ```
    /// # use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
    /// # let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let messages = encoding.read_stripped_text("analysisI must add.assistantfinal4");
    /// assert_eq!(messages[0].channel.as_deref(), Some("analysis"));
    /// assert_eq!(messages[1].channel.as_deref(), Some("final"));
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn read_stripped_text(&self, text: &str) -> Vec<Message> {
        parse::read_stripped(text)
    }
}
