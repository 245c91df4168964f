//! `HarmonyEncoding` for Python.

use std::borrow::Cow;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use super::arguments::{Argument, LEFT_OUT};
use super::arrays::uint32;
use super::borrowed::BorrowedMessage;
use super::encoded::{MUCH_TEXT, encoded, tokens_of};
use super::errors::{InvalidArgument, OrRaise, OrRaiseAt, quoted};
use super::gil::released_if;
use super::text::{decoded, utf8};
use super::tokens::Form;
use super::{arguments, options, read, tokens, write};
use openai_harmony::machinery::{render, speakers};
use openai_harmony::tokenizer::Tokenizer;
use openai_harmony::{
    HarmonyEncoding, HarmonyEncodingName, MessageSpan, RenderEnd, Rendered, Result,
    load_harmony_encoding,
};

/// The number of tokens from which on parsing, and decoding of anything but a list, releases the GIL.
pub(super) const MANY_TOKENS: usize = 500;

#[doc = text!(HarmonyEncoding)]
#[pyclass(name = "HarmonyEncoding", module = "openai_harmony._lowlevel", subclass, frozen)]
pub(super) struct PyHarmonyEncoding {
    pub(super) inner: HarmonyEncoding,
}

impl PyHarmonyEncoding {
    fn tokenizer(&self) -> Tokenizer {
        self.inner.tokenizer()
    }

    /// The tokens of a conversation rendered with this ending.
    fn rendered_conversation<'py>(
        &self,
        conversation: &Bound<'py, PyAny>,
        ending: RenderEnd<'_>,
        config: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, tokenizer) = (conversation.py(), self.tokenizer());
        let messages = read::conversation(conversation).or_raise(py)?;
        let config = options::config(config).or_raise_at(py, "config")?;
        tokens_of(py, Form::List, is_much(&messages), || {
            Ok(render::conversation(tokenizer, &messages, ending, config)?.tokens)
        })
    }

    /// The tokens of a text by tiktoken's rules.
    fn encoded<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        form: Form,
        allowed_special: Argument<'py>,
        disallowed_special: Argument<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let text = arguments::string(text, "text")?;
        let tokenizer = self.tokenizer();
        arguments::with_special(allowed_special, disallowed_special, |allowed, disallowed| {
            encoded(text, form, |text, ids| {
                tokenizer.encode_checked_into(text, allowed, disallowed, ids)
            })
        })
    }

    /// The bytes of tokens.
    fn bytes_of(&self, tokens: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        let tokenizer = self.tokenizer();
        if let Ok(list) = tokens.cast::<PyList>() {
            // Room for what tokens have on average.
            let mut bytes = Vec::with_capacity(list.len() * 5 + 16);
            let mut result = Ok(());
            let decode = |block: &[u32]| {
                if result.is_ok() {
                    result = tokenizer.decode_bytes_into(block, &mut bytes);
                }
            };
            if tokens::in_blocks(list, decode) && result.is_ok() {
                return Ok(bytes);
            }
        }
        // Other sequences, and errors, which name the token's index.
        on_ids(tokens, |ids| tokenizer.decode_bytes(ids))
    }
}

/// The encoding that is the argument `encoding`.
pub(super) fn argument(object: &Bound<'_, PyAny>) -> PyResult<HarmonyEncoding> {
    match object.cast::<PyHarmonyEncoding>() {
        Ok(encoding) => Ok(encoding.get().inner),
        Err(_) => Err(InvalidArgument::type_of(object, "a HarmonyEncoding")
            .inside("encoding")
            .raised(object.py())),
    }
}

#[pymethods]
impl PyHarmonyEncoding {
    #[new]
    fn new(py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<Self> {
        // Version 0.0.8's constructor took the value of `_inner`.
        if let Ok(encoding) = name.cast::<Self>() {
            return Ok(Self { inner: encoding.get().inner });
        }
        let name = match name.cast::<PyString>() {
            Ok(name) => utf8(name)?.into_owned(),
            Err(_) => name.str()?.to_string(),
        };
        name.parse::<HarmonyEncodingName>()
            .and_then(load_harmony_encoding)
            .map(|inner| Self { inner })
            .or_raise(py)
    }

    /// Itself: a handle on immutable data.
    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// Itself: a handle on immutable data.
    #[pyo3(signature = (memo, /))]
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        let _ = memo;
        slf
    }

    #[doc = text!(HarmonyEncoding.name)]
    #[getter]
    fn name(&self) -> String {
        self.inner.name().to_string()
    }

    #[doc = text!(HarmonyEncoding.n_vocab)]
    #[getter]
    fn n_vocab(&self) -> usize {
        self.tokenizer().n_vocab()
    }

    /// The names of all special tokens, by id.
    fn _special_tokens(&self) -> Vec<&'static str> {
        self.tokenizer().special_tokens_by_id().map(|(name, _)| name).collect()
    }

    // Text and tokens.

    #[doc = text!(HarmonyEncoding.encode)]
    #[pyo3(
        signature = (text, *, allowed_special = LEFT_OUT, disallowed_special = LEFT_OUT),
        text_signature = "($self, text, *, allowed_special=(), disallowed_special='all')"
    )]
    fn encode<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed_special: Argument<'py>,
        disallowed_special: Argument<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.encoded(text, Form::List, allowed_special, disallowed_special)
    }

    #[doc = text!(HarmonyEncoding.encode_array)]
    #[pyo3(
        signature = (text, *, allowed_special = LEFT_OUT, disallowed_special = LEFT_OUT),
        text_signature = "($self, text, *, allowed_special=(), disallowed_special='all')"
    )]
    fn encode_array<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed_special: Argument<'py>,
        disallowed_special: Argument<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.encoded(text, Form::Array, allowed_special, disallowed_special)
    }

    #[doc = text!(HarmonyEncoding.encode_ordinary)]
    fn encode_ordinary<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let tokenizer = self.tokenizer();
        encoded(arguments::string(text, "text")?, Form::List, |text, ids| {
            tokenizer.encode_ordinary_into(text, ids);
            Ok(())
        })
    }

    #[doc = text!(HarmonyEncoding.decode)]
    #[pyo3(
        signature = (tokens, errors = LEFT_OUT),
        text_signature = "($self, tokens, errors='replace')"
    )]
    fn decode<'py>(
        &self,
        tokens: &Bound<'py, PyAny>,
        errors: Argument<'py>,
    ) -> PyResult<Bound<'py, PyString>> {
        let errors = errors.errors()?;
        decoded(tokens.py(), &self.bytes_of(tokens)?, &errors)
    }

    #[doc = text!(HarmonyEncoding.decode_utf8)]
    fn decode_utf8(&self, tokens: &Bound<'_, PyAny>) -> PyResult<String> {
        let tokenizer = self.tokenizer();
        on_ids(tokens, |ids| tokenizer.decode_utf8(ids))
    }

    #[doc = text!(HarmonyEncoding.decode_bytes)]
    fn decode_bytes<'py>(&self, tokens: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(tokens.py(), &self.bytes_of(tokens)?))
    }

    #[doc = text!(HarmonyEncoding.is_special_token)]
    fn is_special_token(&self, token: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.tokenizer().is_special_token(tokens::read_one(token)?))
    }

    #[doc = text!(HarmonyEncoding.special_token)]
    fn special_token(&self, name: &Bound<'_, PyAny>) -> PyResult<u32> {
        let (py, name) = (name.py(), utf8(arguments::string(name, "name")?)?);
        self.tokenizer().special_token(&name).ok_or_else(|| {
            let shown = quoted(py, &name);
            PyValueError::new_err(format!(
                "Unknown special token: {shown}; `special_tokens_set` lists the known ones"
            ))
        })
    }

    #[doc = text!(HarmonyEncoding.stop_tokens)]
    fn stop_tokens(&self) -> [u32; 3] {
        self.inner.message_end_token_ids()
    }

    #[doc = text!(HarmonyEncoding.stop_tokens_for_assistant_actions)]
    fn stop_tokens_for_assistant_actions(&self) -> [u32; 2] {
        self.inner.stop_token_ids()
    }

    // Conversations and tokens.

    #[doc = text!(HarmonyEncoding.render)]
    #[pyo3(signature = (message, render_options = None))]
    fn render<'py>(
        &self,
        py: Python<'py>,
        message: &Bound<'py, PyAny>,
        render_options: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let message = read::single_message(message).or_raise(py)?;
        let options = options::render_options(render_options).or_raise_at(py, "render_options")?;
        let much = is_much(std::slice::from_ref(&message));
        tokens_of(py, Form::List, much, || {
            Ok(render::message(self.tokenizer(), &message, options)?.tokens)
        })
    }

    #[doc = text!(HarmonyEncoding.render_conversation)]
    #[pyo3(signature = (conversation, config = None))]
    fn render_conversation<'py>(
        &self,
        conversation: &Bound<'py, PyAny>,
        config: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.rendered_conversation(conversation, RenderEnd::None, config)
    }

    #[doc = text!(HarmonyEncoding.render_conversation_for_completion)]
    #[pyo3(signature = (conversation, next_turn_role, config = None, *, prefill = None))]
    fn render_conversation_for_completion<'py>(
        &self,
        conversation: &Bound<'py, PyAny>,
        next_turn_role: &Bound<'py, PyAny>,
        config: Option<&Bound<'py, PyAny>>,
        prefill: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let role = arguments::role(next_turn_role, "next_turn_role")?;
        let prefill = options::prefill(prefill)?;
        self.rendered_conversation(conversation, RenderEnd::Prefill(role, &prefill), config)
    }

    #[doc = text!(HarmonyEncoding.render_conversation_for_training)]
    #[pyo3(signature = (conversation, config = None))]
    fn render_conversation_for_training<'py>(
        &self,
        conversation: &Bound<'py, PyAny>,
        config: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.rendered_conversation(conversation, RenderEnd::Training, config)
    }

    /// The tokens of a conversation as an array of uint32, the spans of its messages, and who speaks in
    /// each: role and channel.
    fn _render_with_spans<'py>(
        &self,
        conversation: &Bound<'py, PyAny>,
        config: Option<&Bound<'py, PyAny>>,
        ending: &str,
        role: &Bound<'py, PyAny>,
        prefill: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, Vec<Span>, Vec<Speaker>)> {
        let py = conversation.py();
        let role = arguments::role(role, "role")?;
        let prefill = options::prefill(prefill)?;
        let ending = match ending {
            "none" => RenderEnd::None,
            "training" => RenderEnd::Training,
            _ => RenderEnd::Prefill(role, &prefill),
        };
        let messages = read::conversation(conversation).or_raise(py)?;
        let config = options::config(config).or_raise_at(py, "config")?;
        let rendered = released_if(py, is_much(&messages), || {
            render::conversation(self.tokenizer(), &messages, ending, config)
        })
        .or_raise(py)?;
        taken_apart(py, &rendered)
    }

    #[doc = text!(HarmonyEncoding.parse_messages_from_completion_tokens)]
    #[pyo3(
        signature = (
            tokens, role = None, *, strict = LEFT_OUT, tools = None, prefill = None, spelled_markers = LEFT_OUT
        ),
        text_signature = "($self, tokens, role=None, *, strict=True, tools=None, prefill=None, spelled_markers=False)"
    )]
    fn parse_messages_from_completion_tokens<'py>(
        &self,
        tokens: &Bound<'py, PyAny>,
        role: Option<&Bound<'py, PyAny>>,
        strict: Argument<'py>,
        tools: Option<&Bound<'py, PyAny>>,
        prefill: Option<&Bound<'py, PyAny>>,
        spelled_markers: Argument<'py>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = tokens.py();
        let role = role.map(|role| arguments::role(role, "role")).transpose()?;
        let config = arguments::parser_options(strict, tools, prefill, spelled_markers)?;
        let messages = on_ids(tokens, |ids| {
            self.inner.parse_messages_with(ids.iter().copied(), role, &config)
        })?;
        write::messages(py, &messages)
    }

    #[doc = text!(HarmonyEncoding.parse_messages_from_text)]
    #[pyo3(
        signature = (text, role = None, *, strict = LEFT_OUT, tools = None),
        text_signature = "($self, text, role=None, *, strict=False, tools=None)"
    )]
    fn parse_messages_from_text<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        role: Option<&Bound<'py, PyAny>>,
        strict: Argument<'py>,
        tools: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = text.py();
        let text = utf8(arguments::string(text, "text")?)?;
        let role = role.map(|role| arguments::role(role, "role")).transpose()?;
        let config = arguments::lenient_parser_options(strict, tools)?;
        let messages = released_if(py, text.len() >= MUCH_TEXT, || {
            self.inner.parse_messages_from_text(&text, role, &config)
        })
        .or_raise(py)?;
        write::messages(py, &messages)
    }

    #[doc = text!(HarmonyEncoding.read_stripped_text)]
    #[pyo3(signature = (text, *, tools = None), text_signature = "($self, text, *, tools=None)")]
    fn read_stripped_text<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        tools: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = text.py();
        let text = utf8(arguments::string(text, "text")?)?;
        let tools = tools.map(arguments::tool_names).transpose()?.unwrap_or_default();
        let much = text.len() >= MUCH_TEXT;
        let read = || self.inner.read_stripped_text_with_tools(&text, &tools);
        let messages = released_if(py, much, read).or_raise(py)?;
        write::messages(py, &messages)
    }
}

/// The fields of a Python `MessageSpan`.
pub(super) type Span = (Option<usize>, usize, usize, usize, usize);

/// The role and the channel of a message.
pub(super) type Speaker = (&'static str, Option<Cow<'static, str>>);

/// A rendering's tokens as an array of uint32, its spans, and who speaks in each.
pub(super) fn taken_apart<'py>(
    py: Python<'py>,
    rendered: &Rendered,
) -> PyResult<(Bound<'py, PyAny>, Vec<Span>, Vec<Speaker>)> {
    let spans = rendered.spans.iter().map(fields_of).collect();
    let speakers = speakers(rendered).iter();
    let speakers = speakers.map(|one| (one.role.as_str(), one.channel.clone())).collect();
    Ok((uint32(py, &rendered.tokens)?, spans, speakers))
}

pub(super) fn fields_of(span: &MessageSpan) -> Span {
    (span.message, span.start, span.content, span.stop, span.end)
}

/// Runs work on the ids in a Python object.
fn on_ids<T: Send>(
    tokens: &Bound<'_, PyAny>,
    work: impl FnOnce(&[u32]) -> Result<T> + Send,
) -> PyResult<T> {
    let ids = tokens::read(tokens)?;
    released_if(tokens.py(), ids.len() >= MANY_TOKENS, || work(&ids)).or_raise(tokens.py())
}

/// Whether messages are large enough to render them with the GIL released.
fn is_much(messages: &[BorrowedMessage]) -> bool {
    messages.iter().map(BorrowedMessage::size).sum::<usize>() >= MUCH_TEXT
}
