//! What a dialect owns, and what follows from it.
//!
//! A dialect is a folder with a [`Definition`] and a line in the table in `interop/mod.rs`, from which [`dialects`]
//! makes the enum `Dialect`. Code for tools, content and `tool_choice` that dialects share is in `common` and `choice`;
//! Ollama's messages are read with those of chat.

use std::fmt;

use serde_json::Value;

use super::answer::{Framing, Head, Prefixes, Writer};
use super::field::BodyObject;
use super::request::Request;
use super::{Dialect, Turn};
use crate::error::{Error, ErrorKind, Result};
use crate::path::Path;

/// What a stream sends twice, so that a reply which continues it has to keep it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resends {
    Nothing,
    /// A thought, in the signature at its end.
    Thoughts,
    /// The whole answer, in the last event.
    All,
}

/// A dialect.
pub(super) struct Definition {
    /// The name of its module.
    pub(super) name: &'static str,
    /// The field of a body that has the messages.
    pub(super) messages: &'static str,
    /// Fields that name messages which the server has, so that the body needs none.
    pub(super) instead: &'static [&'static str],
    /// The fields of a body that are read; any other that is not `repeated` is listed in [`Turn::unused`].
    pub(super) fields: &'static [&'static str],
    /// Fields that the response repeats; some of them are also read.
    pub(super) repeated: &'static [&'static str],
    /// Fields that no other dialect with the same `messages` has: they tell an error about another API's body which
    /// reader to name.
    pub(super) known_by: &'static [&'static str],
    /// Reads a body.
    pub(super) collect: fn(&BodyObject<'_, '_>, &mut Request<'_>) -> Result<()>,
    /// Begins an answer.
    pub(super) writer: fn(Head, &Turn) -> Box<dyn Writer>,
    /// The prefixes of ids.
    pub(super) prefixes: Prefixes,
    /// Whether clients accept only JSON objects as arguments, so that a reply holds calls until they are complete.
    pub(super) takes_objects: bool,
    /// Which part of an answer its stream sends twice.
    pub(super) resends: Resends,
    /// The form of a stream.
    pub(super) framing: Framing,
    /// What ends a stream after its last chunk.
    pub(super) last_frame: &'static [u8],
    /// The body of an answer with this status, message, path and code.
    pub(super) error_body: fn(u16, &str, Option<&str>, Option<&str>) -> Value,
    /// The message about content (`images`) at a path that harmony cannot carry, in the API's words: clients look for
    /// these words, remove the content and ask again. `None` for content about which the API has no message.
    pub(super) unsupported: fn(path: &str, content: &str) -> Option<String>,
    /// The API's message about a prompt that is too long: its tokens, and the maximum.
    pub(super) too_long: fn(tokens: usize, max_tokens: usize) -> String,
}

/// The enum of all dialects, from their modules.
macro_rules! dialects {
    ($($(#[$doc:meta])* $variant:ident = $module:ident,)*) => {
        /// The APIs that requests are read of and answers written for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Dialect {
            $($(#[$doc])* $variant,)*
        }

        impl Dialect {
            /// Every dialect.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            const fn definition(self) -> &'static dialect::Definition {
                match self {
                    $(Self::$variant => &$module::DEFINITION,)*
                }
            }
        }
    };
}
pub(super) use dialects;

impl Dialect {
    /// The dialect's module: `chat_completions`, `responses`, `anthropic`, `ollama`.
    pub const fn as_str(self) -> &'static str {
        self.definition().name
    }

    /// Whether a body of this API has a field of this name that is read.
    #[cfg(feature = "training")]
    pub(crate) fn reads(self, name: &str) -> bool {
        self.definition().fields.contains(&name)
    }

    /// The field of a body that has the messages.
    pub(crate) const fn messages(self) -> &'static str {
        self.definition().messages
    }

    /// The status and the body of a server's answer to a request that made this library raise an error.
    ///
    /// ```
    /// use openai_harmony::interop::{Dialect, ReadOptions};
    /// use serde_json::json;
    ///
    /// let body = json!({"max_tokens": 9, "messages": "Hello"});
    /// let error = Dialect::Anthropic.read(body, &ReadOptions::default()).unwrap_err();
    /// let (status, body) = Dialect::Anthropic.error_answer(&error);
    /// let message = "Invalid request: messages: expected a list, got a string";
    /// let expected = json!({"type": "invalid_request_error", "message": message});
    /// assert_eq!((status, &body["error"]), (400, &expected));
    /// ```
    pub fn error_answer(self, error: &Error) -> (u16, Value) {
        let kind = error.kind();
        let path = kind.path().filter(|path| !path.is_empty()).map(Path::to_string);
        let message = match kind {
            ErrorKind::UnsupportedContent { path, content } => {
                self.unsupported_message(&path.to_string(), content)
            }
            ErrorKind::PromptTooLong { tokens, max_tokens, .. } => {
                Some(self.too_long_message(*tokens, *max_tokens))
            }
            _ => None,
        };
        let message = message.unwrap_or_else(|| error.to_string());
        let is_of_program = ErrorKind::OF_PROGRAM.contains(&kind.name());
        let status = if is_of_program { 500 } else { 400 };
        (status, self.error_body(status, &message, path.as_deref(), kind.code()))
    }

    /// The message of an error about content that harmony cannot carry, `images` at `messages[3].content[0].source`, in
    /// this API's words, so that its clients can remove the content and ask again.
    #[doc(hidden)]
    pub fn unsupported_message(self, path: &str, content: &str) -> Option<String> {
        (self.definition().unsupported)(path, content)
    }

    /// The message of an error about a prompt that is too long, in this API's words.
    #[doc(hidden)]
    pub fn too_long_message(self, tokens: usize, max_tokens: usize) -> String {
        (self.definition().too_long)(tokens, max_tokens)
    }

    /// The body of an answer with an error's status: 400, 401, 403, 404, 413, 429, or one from 500 on.
    ///
    /// `path` is where the request's body is wrong, and `code` the API's name for the error.
    pub fn error_body(
        self,
        status: u16,
        message: &str,
        path: Option<&str>,
        code: Option<&str>,
    ) -> Value {
        (self.definition().error_body)(status, message, path, code)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
