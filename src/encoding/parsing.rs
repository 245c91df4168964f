//! Tokens and text to messages.

use super::HarmonyEncoding;
use crate::chat::{Message, Role};
use crate::error::Result;
use crate::header::Tools;
use crate::parse::{self, ParseOptions, ParserOptions, StreamableParser};
use crate::tokenizer::TokenId;

/// Parsing.
impl HarmonyEncoding {
    /// Parses a whole sequence of tokens, strictly. `role` is the role of the first message's
    /// author if the tokens begin after it, as those of a completion do.
    ///
    /// # Errors
    ///
    /// Where the tokens are not well-formed; [`StreamableParser`] keeps the messages before.
    pub fn parse_messages_from_completion_tokens(
        &self,
        tokens: impl IntoIterator<Item = TokenId>,
        role: Option<Role>,
    ) -> Result<Vec<Message>> {
        self.parse_messages_with(tokens, role, &ParserOptions::strict())
    }

    /// Parses a whole sequence of tokens, strictly or leniently.
    ///
    /// # Errors
    ///
    /// Strict parsing, where the tokens are not well-formed; lenient parsing, never.
    pub fn parse_messages_from_completion_tokens_with_options(
        &self,
        tokens: impl IntoIterator<Item = TokenId>,
        role: Option<Role>,
        options: ParseOptions,
    ) -> Result<Vec<Message>> {
        self.parse_messages_with(tokens, role, &options.into())
    }

    /// Parses a whole sequence of tokens with any of the options.
    ///
    /// # Errors
    ///
    /// Strict parsing, where the tokens are not well-formed; lenient parsing, never.
    pub fn parse_messages_with(
        &self,
        tokens: impl IntoIterator<Item = TokenId>,
        role: Option<Role>,
        options: &ParserOptions,
    ) -> Result<Vec<Message>> {
        let mut parser = StreamableParser::with_options(*self, role, options)?;
        let tokens: Vec<TokenId> = tokens.into_iter().collect();
        parser.advance(&tokens)?;
        parser.process_eos()?;
        Ok(parser.into_messages())
    }

    /// Parses text that spells special tokens by name, as in logs and the output of engines that decode them. `role` is
    /// as for [`Self::parse_messages_from_completion_tokens`].
    ///
    /// Every spelled marker counts, so use it only for the model's output, never for other text.
    ///
    /// # Errors
    ///
    /// Strict parsing, where the tokens are not well-formed; a tool with a name that no header can carry.
    ///
    /// ```
    /// # use openai_harmony::chat::Role;
    /// # use openai_harmony::{HarmonyEncodingName, ParserOptions, load_harmony_encoding};
    /// # let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let text = "<|channel|>final<|message|>Hello<|return|>";
    /// let options = ParserOptions::lenient();
    /// let messages = encoding.parse_messages_from_text(text, Some(Role::Assistant), &options)?;
    /// assert_eq!(messages[0].channel.as_deref(), Some("final"));
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn parse_messages_from_text(
        &self,
        text: &str,
        role: Option<Role>,
        options: &ParserOptions,
    ) -> Result<Vec<Message>> {
        self.parse_messages_with(self.tokenizer().encode_with_special_tokens(text), role, options)
    }

    /// Guesses the messages of a text from which an engine dropped the special tokens, as vLLM and
    /// others do by default: `analysisI must add.assistantfinal4`.
    ///
    /// Nothing in such a text marks where a header ends, so this is a guess, for output without its tokens. No text
    /// is lost: all of it is in a content or in a header's field. Text without any header is an answer on `final`.
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
        parse::read_stripped(text, &Tools::none())
    }

    /// [`Self::read_stripped_text`] with the tools that were offered, which distinguish calls from words: a known name
    /// ends even if text is glued to it, and needs no channel.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnsafeHeaderField`](crate::ErrorKind::UnsafeHeaderField) for a tool with a name that no header can
    /// carry.
    ///
    /// ```
    /// # use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
    /// # let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let text = r#"analysisLook.assistant to=bash{"command":"ls"}"#;
    /// let messages = encoding.read_stripped_text_with_tools(text, ["functions.bash"])?;
    /// assert_eq!(messages[1].recipient.as_deref(), Some("functions.bash"));
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn read_stripped_text_with_tools<S: AsRef<str>>(
        &self,
        text: &str,
        tools: impl IntoIterator<Item = S>,
    ) -> Result<Vec<Message>> {
        Ok(parse::read_stripped(text, &Tools::new(tools)?))
    }
}
