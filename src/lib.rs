//! Renderer and parser of the harmony response format, which the gpt-oss models speak.
//!
//! A conversation becomes the exact tokens that the model was trained on, and the model's tokens
//! become messages again, one at a time while they stream. No network, no files, no Python: the
//! vocabulary is in the binary.
//!
//! # Render
//!
//! A [`chat::Conversation`] is a list of [`chat::Message`]s. [`HarmonyEncoding`] renders it, for
//! completion, for training or as it is:
//!
//! ```
//! use openai_harmony::chat::{Conversation, DeveloperContent, Message, Role, SystemContent};
//! use openai_harmony::{HarmonyEncodingName, RenderConversationConfig, load_harmony_encoding};
//!
//! let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
//! let developer = DeveloperContent::new().with_instructions("Answer in riddles.");
//! let conversation = Conversation::from_messages([
//!     Message::from_role_and_content(Role::System, SystemContent::new()),
//!     Message::from_role_and_content(Role::Developer, developer),
//!     Message::from_role_and_content(Role::User, "What is 2 + 2?"),
//! ]);
//! let config = RenderConversationConfig::default();
//! let prompt =
//!     encoding.render_conversation_for_completion(&conversation, Role::Assistant, Some(&config))?;
//! let text = encoding.tokenizer().decode_utf8(&prompt)?;
//! assert!(text.ends_with("<|start|>user<|message|>What is 2 + 2?<|end|><|start|>assistant"));
//! # Ok::<(), openai_harmony::Error>(())
//! ```
//!
//! A config of `None` drops no thoughts; the default one does what `openai-harmony` 0.0.8 does. A
//! [`RenderConfig`] has all options: which chains of thought are rendered ([`ThoughtPolicy`]),
//! where a call's recipient is written ([`HeaderStyle`]), how tools are declared ([`ToolSchemaStyle`]),
//! and whether header fields are checked. [`HarmonyEncoding::render_conversation_with`] takes it.
//!
//! Text is always encoded as ordinary text: a message that spells markers cannot end itself or
//! begin another message.
//!
//! # Parse
//!
//! ```
//! # use openai_harmony::chat::Role;
//! # use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
//! # let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
//! let sampled = encoding
//!     .tokenizer()
//!     .encode_with_special_tokens("<|channel|>final<|message|>Half of eight.<|return|>");
//! let messages =
//!     encoding.parse_messages_from_completion_tokens(sampled, Some(Role::Assistant))?;
//! assert_eq!(messages[0].channel.as_deref(), Some("final"));
//! # Ok::<(), openai_harmony::Error>(())
//! ```
//!
//! # Stream
//!
//! [`StreamableParser`] takes tokens as they come. [`feed`](StreamableParser::feed) returns what
//! happened as [`Event`]s, whose spans account for every token:
//!
//! ```
//! # use openai_harmony::chat::Role;
//! # use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
//! use openai_harmony::{Event, StreamableParser};
//!
//! # let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
//! # let sampled = encoding
//! #     .tokenizer()
//! #     .encode_with_special_tokens("<|channel|>final<|message|>Half of eight.<|return|>");
//! let mut parser = StreamableParser::new(encoding, Some(Role::Assistant))?;
//! let mut shown = String::new();
//! for chunk in sampled.chunks(2) {
//!     for event in parser.feed(chunk)? {
//!         if let Event::ContentDelta { text, .. } = event {
//!             shown += &text;
//!         }
//!     }
//! }
//! parser.finish()?;
//! assert_eq!(shown, "Half of eight.");
//! # Ok::<(), openai_harmony::Error>(())
//! ```
//!
//! # Malformed output
//!
//! Strict parsing returns an [`Error`] with its kind and the token's index, keeps its messages and
//! continues at the next `<|start|>`. Lenient parsing ([`ParserOptions::lenient`], or
//! [`ParseOptions`]` { strict: false }`) returns no error and loses nothing; each [`Repair`] says
//! what was repaired:
//!
//! ```
//! # use openai_harmony::chat::Role;
//! # use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
//! use openai_harmony::{ParserOptions, RepairKind, StreamableParser};
//!
//! # let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
//! let config = ParserOptions::lenient();
//! let mut parser = StreamableParser::with_options(encoding, Some(Role::Assistant), &config)?;
//! let sampled = encoding
//!     .tokenizer()
//!     .encode_with_special_tokens("<|channel|>analysis I must think<|end|>");
//! parser.feed(&sampled)?;
//! parser.finish()?;
//! assert_eq!(parser.messages()[0].channel.as_deref(), Some("analysis"));
//! assert_eq!(parser.repairs()[0].kind, RepairKind::MissingMessage);
//! # Ok::<(), openai_harmony::Error>(())
//! ```
//!
//! # Where things are
//!
//! * [`chat`]: the data model and its JSON form.
//! * [`interop`]: requests of APIs, the prompts that they mean, and the answers in the APIs' forms.
//! * [`grammar`]: what the model may sample in a turn, for engines that constrain it.
//! * [`rollout`]: the next prompt from sampled tokens that stay as they are.
//! * [`training`]: which tokens of a training example the model itself samples; whole data sets.
//! * [`tokenizer`]: text to token ids and back; it knows nothing of chat.
//! * The guides in `docs/`: the format, Rust and Python by task, parsing, tools' schemas, and every
//!   difference from 0.0.8.
//!
//! # Features
//!
//! None is on by default.
//!
//! * `training`: whole data sets on all cores: `training::render`.
//! * `arrow`: `training`, and rows from Arrow arrays: `training::render_array`.
//! * `portable`: no vector instructions in the tokenizer, to test what runs where a processor has none.
mod brief;
mod encoding;
mod error;
mod header;
mod json;
mod names;
mod options;
mod parse;
mod path;
mod render;
mod repair;
mod saved;
mod span;
mod text_grammar;
mod typescript;
#[cfg(feature = "training")]
mod workers;

pub mod chat;
pub mod grammar;
pub mod interop;
#[doc(hidden)]
pub mod machinery;
pub mod rollout;
pub mod tokenizer;
pub mod training;

pub use encoding::{HarmonyEncoding, HarmonyEncodingName, load_harmony_encoding};
pub use error::{Error, ErrorKind, Reason, Result};
pub use header::{HeaderStyle, Prefill};
pub use parse::{
    Event, HeaderData, ParseOptions, ParserOptions, Repair, RepairKind, StateData, StreamState,
    StreamableParser,
};
pub use path::Path;
pub use render::{
    RenderConfig, RenderConversationConfig, RenderEnd, RenderOptions, Rendered, ThoughtPolicy,
};
pub use span::MessageSpan;
pub use typescript::ToolSchemaStyle;

/// The examples of the documents, which run as doctests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    mod readme {}
    #[doc = include_str!("../docs/rust.md")]
    mod rust {}
    #[doc = include_str!("tokenizer/README.md")]
    mod tokenizer {}
    #[doc = include_str!("../docs/training.md")]
    mod training {}
}
