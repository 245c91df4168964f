//! The front door: an encoding renders and parses.

use std::fmt;
use std::str::FromStr;

use crate::chat::{Message, Role};
use crate::error::{Error, ErrorKind, Result};
use crate::parse::{ParseOptions, STOP_TOKENS, StreamableParser};
use crate::render::{self, Ending, RenderConversationConfig, RenderOptions};
use crate::tokenizer::{Tokenizer, special};

/// The names of the encodings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HarmonyEncodingName {
    /// The harmony format over the vocabulary `o200k_harmony`, which the gpt-oss models speak.
    HarmonyGptOss,
}

impl fmt::Display for HarmonyEncodingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HarmonyGptOss => "HarmonyGptOss",
        })
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
/// or downloaded, and every handle shares it.
///
/// # Errors
///
/// None for the encodings of today.
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

impl HarmonyEncoding {
    /// The encoding's name.
    pub fn name(&self) -> HarmonyEncodingName {
        self.name
    }

    /// The tokenizer underneath.
    pub fn tokenizer(&self) -> Tokenizer {
        match self.name {
            HarmonyEncodingName::HarmonyGptOss => Tokenizer::o200k_harmony(),
        }
    }

    /// The tokens at which a message ends: `<|return|>`, `<|end|>`, `<|call|>`.
    pub fn stop_tokens(&self) -> [u32; 3] {
        STOP_TOKENS
    }

    /// The tokens at which sampling stops for the caller to act: `<|return|>`, `<|call|>`
    /// (guide, section "Special Tokens").
    pub fn stop_tokens_for_assistant_actions(&self) -> [u32; 2] {
        [special::RETURN, special::CALL]
    }
}

/// A parser needs no more of an encoding than its tokenizer.
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
impl HarmonyEncoding {
    /// Renders a conversation and the beginning of the next message, which the model completes.
    ///
    /// # Errors
    ///
    /// A tool message without a name, content in a message of the wrong role, a schema or a
    /// header field that cannot be rendered.
    pub fn render_conversation_for_completion<'a>(
        &self,
        conversation: impl IntoIterator<Item = &'a Message>,
        next_turn_role: Role,
        config: Option<&RenderConversationConfig>,
    ) -> Result<Vec<u32>> {
        self.conversation(conversation, Ending::NextTurn(next_turn_role), config)
    }

    /// Renders a conversation to train on: if its last message is the assistant's on `final`,
    /// it ends with `<|return|>`, as the model itself ends it.
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_for_completion`].
    pub fn render_conversation_for_training<'a>(
        &self,
        conversation: impl IntoIterator<Item = &'a Message>,
        config: Option<&RenderConversationConfig>,
    ) -> Result<Vec<u32>> {
        self.conversation(conversation, Ending::Return, config)
    }

    /// Renders a conversation and nothing after it.
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_for_completion`].
    pub fn render_conversation<'a>(
        &self,
        conversation: impl IntoIterator<Item = &'a Message>,
        config: Option<&RenderConversationConfig>,
    ) -> Result<Vec<u32>> {
        self.conversation(conversation, Ending::None, config)
    }

    fn conversation<'a>(
        self,
        conversation: impl IntoIterator<Item = &'a Message>,
        ending: Ending,
        config: Option<&RenderConversationConfig>,
    ) -> Result<Vec<u32>> {
        let mut tokens = Vec::new();
        render::conversation(self.tokenizer(), conversation, ending, config, &mut tokens)?;
        Ok(tokens)
    }

    /// Renders a single message.
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_for_completion`].
    pub fn render(&self, message: &Message, options: Option<&RenderOptions>) -> Result<Vec<u32>> {
        let mut tokens = Vec::new();
        self.render_into(message, &mut tokens, options)?;
        Ok(tokens)
    }

    /// Renders a single message behind the tokens that are there.
    ///
    /// # Errors
    ///
    /// As [`Self::render_conversation_for_completion`]; `into` is then as it was.
    pub fn render_into(
        &self,
        message: &Message,
        into: &mut Vec<u32>,
        options: Option<&RenderOptions>,
    ) -> Result<()> {
        let options = options.copied().unwrap_or_default();
        let before = into.len();
        render::message(self.tokenizer(), message, options, into)
            .inspect_err(|_| into.truncate(before))
    }
}

/// Parsing.
impl HarmonyEncoding {
    /// Parses a whole sequence of tokens, strictly. `role` is the author's role of the first
    /// message where its tokens begin behind it, as a completion's do.
    ///
    /// # Errors
    ///
    /// Where the tokens are not well-formed; [`StreamableParser`] keeps the messages before.
    pub fn parse_messages_from_completion_tokens(
        &self,
        tokens: impl IntoIterator<Item = u32>,
        role: Option<Role>,
    ) -> Result<Vec<Message>> {
        self.parse_messages_from_completion_tokens_with_options(
            tokens,
            role,
            ParseOptions::default(),
        )
    }

    /// Parses a whole sequence of tokens.
    ///
    /// # Errors
    ///
    /// Strict parsing, where the tokens are not well-formed; lenient parsing, never.
    pub fn parse_messages_from_completion_tokens_with_options(
        &self,
        tokens: impl IntoIterator<Item = u32>,
        role: Option<Role>,
        options: ParseOptions,
    ) -> Result<Vec<Message>> {
        let mut parser = StreamableParser::new_with_options(*self, role, options)?;
        let tokens: Vec<u32> = tokens.into_iter().collect();
        parser.advance(&tokens)?;
        parser.process_eos()?;
        Ok(parser.into_messages())
    }
}
