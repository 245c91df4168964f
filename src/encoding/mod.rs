//! The entry point: an encoding renders (`rendering`) and parses (`parsing`).

mod parsing;
mod rendering;

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};
use crate::parse::STOP_TOKENS;
use crate::tokenizer::{TokenId, Tokenizer, special};

/// The names of the encodings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::Display, strum::IntoStaticStr)]
pub enum HarmonyEncodingName {
    /// The gpt-oss models' harmony format, over the vocabulary `o200k_harmony`.
    HarmonyGptOss,
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
        self.name.into()
    }

    /// The name of the tokenizer's vocabulary: `o200k_harmony`.
    pub fn tokenizer_name(&self) -> &'static str {
        match self.name {
            HarmonyEncodingName::HarmonyGptOss => "o200k_harmony",
        }
    }

    /// 0.0.8's limit of tokens per message: 524,288. This crate has no such limit.
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
    pub fn message_end_token_ids(&self) -> [TokenId; 3] {
        STOP_TOKENS
    }

    /// The tokens at which sampling stops, so that the caller can act: `<|return|>`, `<|call|>`
    /// (guide, section "Special Tokens").
    pub fn stop_token_ids(&self) -> [TokenId; 2] {
        [special::RETURN, special::CALL]
    }

    /// [`Self::message_end_token_ids`] in 0.0.8's type.
    ///
    /// # Errors
    ///
    /// None.
    pub fn stop_tokens(&self) -> Result<HashSet<TokenId>> {
        Ok(self.message_end_token_ids().into())
    }

    /// [`Self::stop_token_ids`] in 0.0.8's type.
    ///
    /// # Errors
    ///
    /// None.
    pub fn stop_tokens_for_assistant_actions(&self) -> Result<HashSet<TokenId>> {
        Ok(self.stop_token_ids().into())
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
