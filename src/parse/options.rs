//! Options of parsing.

use serde::{Deserialize, Serialize};

use crate::header::Prefill;
use crate::options::options;

/// How to parse: the options of `openai-harmony` 0.0.8. [`ParserOptions`] has the newer ones, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ParseOptions {
    /// Whether malformed tokens are an error, the default, or are repaired and reported.
    pub strict: bool,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self { strict: true }
    }
}

options! {
    /// How to parse: all options. The default is strict, as [`ParseOptions`] is.
    ///
    /// ```
    /// use openai_harmony::chat::Role;
    /// use openai_harmony::{HarmonyEncodingName, ParserOptions, StreamableParser, load_harmony_encoding};
    ///
    /// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let options = ParserOptions::lenient().with_tools(["functions.get_weather", "python"]);
    /// let parser = StreamableParser::with_options(encoding, Some(Role::Assistant), &options)?;
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct ParserOptions {
        /// Whether malformed tokens are an error, the default, or are repaired and reported.
        pub strict: bool = true,
        /// The tools that the model was offered, by full or short names (`functions.bash`, `bash`, `python`). Lenient
        /// parsing recognises calls by them; strict parsing ignores them.
        pub tools: Vec<String>
            => with_tools(tools: impl IntoIterator<Item = impl Into<String>>)
                tools.into_iter().map(Into::into).collect(),
        /// The part of the first message, beyond its role, that is in the prompt. The parser begins
        /// after it.
        pub prefill: Option<Prefill>
            => with_prefill(prefill: Prefill) Some(prefill),
        /// Whether lenient parsing reads markers spelled by ordinary tokens, which fine-tuned models write, and reports
        /// each. No text can then contain a marker. Strict parsing never reads them.
        ///
        /// ```
        /// use openai_harmony::chat::Role;
        /// use openai_harmony::{HarmonyEncodingName, ParserOptions, load_harmony_encoding};
        ///
        /// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
        /// let tokens = encoding.tokenizer().encode_ordinary("<|channel|>final<|message|>Hi<|return|>");
        /// let options = ParserOptions::lenient().with_spelled_markers(true);
        /// let messages = encoding.parse_messages_with(tokens, Some(Role::Assistant), &options)?;
        /// assert_eq!(messages[0].channel.as_deref(), Some("final"));
        /// # Ok::<(), openai_harmony::Error>(())
        /// ```
        pub spelled_markers: bool => with_spelled_markers,
    }
}

impl ParserOptions {
    /// Malformed tokens are an error.
    pub fn strict() -> Self {
        ParseOptions { strict: true }.into()
    }

    /// Malformed tokens are repaired and reported.
    pub fn lenient() -> Self {
        ParseOptions { strict: false }.into()
    }
}

impl From<ParseOptions> for ParserOptions {
    fn from(ParseOptions { strict }: ParseOptions) -> Self {
        Self { strict, ..Self::default() }
    }
}
