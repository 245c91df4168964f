//! Text to token ids and back: the `o200k_harmony` encoding, with exactly tiktoken's tokens.
//!
//! A text is cut into pieces by a pattern (`split`). A piece that was encoded before is found in a `cache`; any other
//! is encoded by byte pairs (`bpe`). build.rs makes all tables from the published vocabulary; they are in the binary in
//! the form in which they are used, so nothing is loaded. The time is nearly linear in the text, whatever is in it.
//!
//! ```
//! use openai_harmony::tokenizer::Tokenizer;
//!
//! let tokenizer = Tokenizer::o200k_harmony();
//! let tokens = tokenizer.encode_ordinary("Hello, world");
//! assert_eq!(tokens, [13225, 11, 2375]);
//! assert_eq!(tokenizer.decode_utf8(&tokens)?, "Hello, world");
//! # Ok::<(), openai_harmony::Error>(())
//! ```

#[cfg(feature = "training")]
mod batch;
mod bits;
mod bpe;
pub mod cache;
// For threads that share a long text.
#[cfg(feature = "training")]
mod chunk;
mod decode;
pub mod special;
mod special_names;
mod split;
mod tables;
mod vocabulary;

use std::collections::HashSet;
use std::io;

#[cfg(feature = "training")]
pub use batch::{TextError, TokenBatch};
pub use special::SpecialSet;
pub use vocabulary::TokenId;

use crate::{ErrorKind, Result};

/// 0.0.8's name for [`TokenId`].
pub type Rank = TokenId;

/// The tokenizer of the harmony models: a handle on static tables, free to copy and to share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokenizer(());

impl Tokenizer {
    /// The encoding `o200k_harmony`. Nothing is loaded.
    pub const fn o200k_harmony() -> Self {
        Self(())
    }

    /// The size of the vocabulary as the models' configuration states it: 201088.
    ///
    /// That is also an id, the last one: `<|reserved_201088|>`.
    ///
    /// ```
    /// assert_eq!(openai_harmony::tokenizer::Tokenizer::o200k_harmony().n_vocab(), 201_088);
    /// ```
    pub const fn n_vocab(&self) -> usize {
        special_names::LAST as usize
    }

    /// Encodes text without looking for special tokens. Nearly linear in the text.
    pub fn encode_ordinary(&self, text: &str) -> Vec<TokenId> {
        let mut tokens = Vec::new();
        self.encode_ordinary_into(text, &mut tokens);
        tokens
    }

    /// Appends to `tokens` what [`encode_ordinary`](Self::encode_ordinary) returns.
    pub fn encode_ordinary_into(&self, text: &str, tokens: &mut Vec<TokenId>) {
        let text = text.as_bytes();
        // English has about 4.5 bytes per token; with fewer the vector grows.
        tokens.reserve(text.len() / 4 + 1);
        cache::with(|encoder| {
            let (pieces, encoder) = encoder.parts();
            split::cut(text, pieces, |pieces| encoder.encode(text, pieces, tokens));
            encoder.finish(tokens);
        });
    }

    /// Encodes text in which the name of a special token means that token.
    ///
    /// Only for text that may control the conversation, never for text from users or tools.
    pub fn encode_with_special_tokens(&self, text: &str) -> Vec<TokenId> {
        let mut tokens = Vec::new();
        self.encode_allowing(text, &SpecialSet::All, &mut tokens);
        tokens
    }

    /// Encodes text as 0.0.8 does: names of `allowed` special tokens become them, all other names are ordinary text.
    /// Also returns the number of tokens of the last piece, 0 after a special token: these may change if the text
    /// continues.
    ///
    /// ```
    /// # use std::collections::HashSet;
    /// # use openai_harmony::tokenizer::Tokenizer;
    /// let tokenizer = Tokenizer::o200k_harmony();
    /// let allowed = HashSet::from(["<|end|>"]);
    /// assert_eq!(tokenizer.encode("ok<|end|>", &allowed), (vec![525, 200_007], 0));
    /// ```
    pub fn encode(&self, text: &str, allowed: &HashSet<&str>) -> (Vec<TokenId>, usize) {
        let names: Vec<&str> = allowed.iter().copied().collect();
        let mut tokens = Vec::new();
        let last_run = self.encode_allowing(text, &SpecialSet::Names(&names), &mut tokens);
        let mut last_piece = "";
        cache::with(|encoder| {
            let (pieces, _) = encoder.parts();
            split::cut(last_run.as_bytes(), pieces, |pieces| {
                if let [.., start, end] = *pieces.bounds() {
                    last_piece = &last_run[start..end];
                }
            });
        });
        (tokens, self.encode_ordinary(last_piece).len())
    }

    /// Encodes text by tiktoken's rules: names of `allowed` special tokens become them, names
    /// of `disallowed` ones are refused, all other names are ordinary text.
    ///
    /// A name in `allowed` that is not a special token's is ignored; one in `disallowed` is refused all the
    /// same, and also if it is allowed.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::DisallowedSpecial`] with the first disallowed name in the text.
    pub fn encode_checked(
        &self,
        text: &str,
        allowed: &SpecialSet<'_>,
        disallowed: &SpecialSet<'_>,
    ) -> Result<Vec<TokenId>> {
        let mut tokens = Vec::new();
        self.encode_checked_into(text, allowed, disallowed, &mut tokens).map(|()| tokens)
    }

    /// Appends to `tokens` what [`encode_checked`](Self::encode_checked) returns.
    ///
    /// # Errors
    ///
    /// As [`encode_checked`](Self::encode_checked); nothing has been appended then.
    ///
    /// ```
    /// use openai_harmony::tokenizer::{SpecialSet, Tokenizer, special};
    ///
    /// let tokenizer = Tokenizer::o200k_harmony();
    /// let mut tokens = vec![special::START];
    /// tokenizer.encode_checked_into("user", &SpecialSet::None, &SpecialSet::All, &mut tokens)?;
    /// assert_eq!(tokens, [special::START, 1428]);
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn encode_checked_into(
        &self,
        text: &str,
        allowed: &SpecialSet<'_>,
        disallowed: &SpecialSet<'_>,
        tokens: &mut Vec<TokenId>,
    ) -> Result<()> {
        if let Some(name) = special::find_disallowed(text, allowed, disallowed) {
            return Err(ErrorKind::DisallowedSpecial { token: name.to_owned() }.into());
        }
        self.encode_allowing(text, allowed, tokens);
        Ok(())
    }

    /// Each run of text between special tokens is encoded separately. Returns the last one.
    fn encode_allowing<'a>(
        self,
        text: &'a str,
        allowed: &SpecialSet<'_>,
        tokens: &mut Vec<TokenId>,
    ) -> &'a str {
        let mut start = 0;
        while let Some(found) = special::find_allowed(text, start, allowed) {
            self.encode_ordinary_into(&text[start..found.start], tokens);
            tokens.push(found.token);
            start = found.end();
        }
        self.encode_ordinary_into(&text[start..], tokens);
        &text[start..]
    }

    /// The bytes of a token, or a special token's name; `None` for an id that does not exist.
    ///
    /// A token may begin or end inside a character. One read of a table, two for tokens of more than 15 bytes.
    #[inline]
    pub fn token_bytes(&self, token: TokenId) -> Option<&'static [u8]> {
        vocabulary::token_bytes(token)
    }

    /// The bytes of the tokens.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidToken`] with the index of the first id that does not exist.
    pub fn decode_bytes(&self, tokens: impl AsRef<[TokenId]>) -> Result<Vec<u8>> {
        decode::bytes(tokens.as_ref())
    }

    /// Appends to `bytes` what [`decode_bytes`](Self::decode_bytes) returns.
    ///
    /// # Errors
    ///
    /// As [`decode_bytes`](Self::decode_bytes); what precedes the id has been appended.
    pub fn decode_bytes_into(
        &self,
        tokens: impl AsRef<[TokenId]>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        decode::append(tokens.as_ref(), bytes)
    }

    /// The text of the tokens.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidToken`] as [`decode_bytes`](Self::decode_bytes), and [`ErrorKind::InvalidUtf8`] if the bytes
    /// are not UTF-8, for example because the tokens end inside a character.
    pub fn decode_utf8(&self, tokens: impl AsRef<[TokenId]>) -> Result<String> {
        String::from_utf8(self.decode_bytes(tokens)?).map_err(|error| {
            ErrorKind::InvalidUtf8 { valid_up_to: error.utf8_error().valid_up_to() }.into()
        })
    }

    /// The text of the tokens, with U+FFFD for bytes that are not UTF-8: one for each maximal beginning of a character,
    /// as the Unicode standard recommends.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidToken`] as [`decode_bytes`](Self::decode_bytes).
    pub fn decode_lossy(&self, tokens: impl AsRef<[TokenId]>) -> Result<String> {
        let bytes = self.decode_bytes(tokens)?;
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// Whether the id is that of a special token.
    #[inline]
    pub fn is_special_token(&self, token: TokenId) -> bool {
        special::is_special(token)
    }

    /// The token of a single byte.
    pub(crate) fn byte_token(byte: u8) -> TokenId {
        bpe::byte_token(byte)
    }

    /// The names of all 1,091 special tokens.
    pub fn special_tokens(&self) -> HashSet<&'static str> {
        special::all().map(|(name, _)| name).collect()
    }

    /// All special tokens, names and ids, by id.
    pub fn special_tokens_by_id(&self) -> impl Iterator<Item = (&'static str, TokenId)> {
        special::all()
    }

    /// The special token of that name, such as `<|start|>`.
    pub fn special_token(&self, name: &str) -> Option<TokenId> {
        special::by_name(name)
    }

    /// Writes the vocabulary in the form of the file `o200k_base.tiktoken`, for tools that need it: 3.6 MB. The writer
    /// should be buffered.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_vocabulary(&self, to: impl io::Write) -> io::Result<()> {
        vocabulary::write(to)
    }
}
