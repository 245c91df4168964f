//! `HarmonyEncoding` for Python.

use std::cell::Cell;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use super::arguments::{Given, LEFT_OUT, chars};
use super::errors::{brief, raised};
use super::held::HeldMessage;
use super::ints::Known;
use super::lock::Call;
use super::text::utf8;
use super::{arguments, options, read, text, tokens, write};
use crate::render::{self, Ending};
use crate::span::MessageSpan;
use crate::tokenizer::Tokenizer;
use crate::{HarmonyEncoding, HarmonyEncodingName, Result, load_harmony_encoding};

/// Bytes of text from which on work is done without the interpreter's lock: some 5 µs of it.
/// Giving the lock up costs a tenth of that, and more where other threads want it.
const MUCH_TEXT: usize = 2_000;

/// The same in tokens to parse, and to decode where they are no list.
pub(super) const MANY_TOKENS: usize = 500;

/// A handle on the encoding of a name.
#[pyclass(name = "HarmonyEncoding", module = "openai_harmony._lowlevel", subclass, frozen)]
pub(super) struct PyHarmonyEncoding {
    pub(super) inner: HarmonyEncoding,
}

impl PyHarmonyEncoding {
    fn tokenizer(&self) -> Tokenizer {
        self.inner.tokenizer()
    }

    /// The tokens that rendering a conversation with this ending gives.
    fn rendered_conversation<'py>(
        &self,
        conversation: &Bound<'py, PyAny>,
        ending: Ending<'_>,
        config: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (py, tokenizer) = (conversation.py(), self.tokenizer());
        let call = Call::begin(py);
        let messages = read::conversation(conversation).map_err(|misfit| misfit.raised(py))?;
        let config =
            options::config(config).map_err(|misfit| misfit.inside("config").raised(py))?;
        tokens_of(&call, is_much(&messages), |ids| {
            render::conversation(tokenizer, &messages, ending, config, ids, &mut ())
        })
    }

    /// The bytes that tokens stand for.
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
        // Other sequences, and errors, which name the token's place.
        on_ids(&Call::begin(tokens.py()), tokens, |ids| tokenizer.decode_bytes(ids))
    }
}

#[pymethods]
impl PyHarmonyEncoding {
    #[new]
    fn new(py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<Self> {
        // Version 0.0.8's constructor took what `_inner` gives.
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
            .map_err(|error| raised(py, &error))
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

    /// The encoding's name.
    #[getter]
    fn name(&self) -> String {
        self.inner.name().to_string()
    }

    /// The size of the vocabulary as the models' configuration states it, 201088.
    #[getter]
    fn n_vocab(&self) -> usize {
        self.tokenizer().n_vocab()
    }

    /// The names of all special tokens, by id.
    fn _special_tokens(&self) -> Vec<&'static str> {
        self.tokenizer().special_tokens().map(|(name, _)| name).collect()
    }

    // Text and tokens.

    /// Encodes text by tiktoken's rules.
    ///
    /// The names of special tokens are refused (`HarmonyError`), unless `allowed_special` holds
    /// them: then they stand for the tokens. "all" allows all. Names that `disallowed_special`
    /// leaves out are ordinary text; `()` and `None` leave out all. Lone surrogates become U+FFFD.
    #[pyo3(
        signature = (text, *, allowed_special = LEFT_OUT, disallowed_special = LEFT_OUT),
        text_signature = "($self, text, *, allowed_special=(), disallowed_special='all')"
    )]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        allowed_special: Given<'py>,
        disallowed_special: Given<'py>,
    ) -> PyResult<Bound<'py, PyList>> {
        let call = Call::begin(py);
        let text = chars(text, "text")?;
        let allowed = allowed_special.allowed_special()?;
        let disallowed = disallowed_special.disallowed_special()?;
        let tokenizer = self.tokenizer();
        let encode = |ids: &mut Vec<u32>| {
            let (allowed_names, disallowed_names) = (allowed.borrowed(), disallowed.borrowed());
            tokenizer.encode_into(
                &text.utf8(),
                &allowed.set(&allowed_names),
                &disallowed.set(&disallowed_names),
                ids,
            )
        };
        tokens_of(&call, text.size() >= MUCH_TEXT, encode)
    }

    /// Encodes text in which no special token is looked for.
    fn encode_ordinary<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let call = Call::begin(py);
        let text = chars(text, "text")?;
        let tokenizer = self.tokenizer();
        tokens_of(&call, text.size() >= MUCH_TEXT, |ids| {
            tokenizer.encode_ordinary_into(&text.utf8(), ids);
            Ok(())
        })
    }

    /// The text that tokens stand for. `errors` says what becomes of bytes that are no UTF-8, as
    /// in `bytes.decode`. `HarmonyError` for an id that does not exist.
    #[pyo3(
        signature = (tokens, errors = LEFT_OUT),
        text_signature = "($self, tokens, errors='replace')"
    )]
    fn decode<'py>(
        &self,
        tokens: &Bound<'py, PyAny>,
        errors: Given<'py>,
    ) -> PyResult<Bound<'py, PyString>> {
        let errors = errors.errors()?;
        text::decoded(tokens.py(), &self.bytes_of(tokens)?, &errors)
    }

    /// The text that tokens stand for; `HarmonyError` if their bytes are no UTF-8.
    fn decode_utf8(&self, tokens: &Bound<'_, PyAny>) -> PyResult<String> {
        let tokenizer = self.tokenizer();
        on_ids(&Call::begin(tokens.py()), tokens, |ids| tokenizer.decode_utf8(ids))
    }

    /// The bytes that tokens stand for.
    fn decode_bytes<'py>(&self, tokens: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(tokens.py(), &self.bytes_of(tokens)?))
    }

    /// Whether an id is that of a special token.
    fn is_special_token(&self, token: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.tokenizer().is_special_token(tokens::read_one(token)?))
    }

    /// The id of the special token of a name; `ValueError` where no special token has that name.
    fn special_token(&self, name: &Bound<'_, PyAny>) -> PyResult<u32> {
        let text = chars(name, "name")?;
        let name = text.utf8();
        self.tokenizer().special_token(&name).ok_or_else(|| {
            let shown = brief(format!("{name:?}"));
            PyValueError::new_err(format!(
                "Unknown special token: {shown}; `special_tokens_set` has their names"
            ))
        })
    }

    /// The tokens at which a message ends: `<|return|>`, `<|end|>`, `<|call|>`.
    fn stop_tokens(&self) -> [u32; 3] {
        self.inner.stop_token_ids()
    }

    /// The tokens at which sampling stops for the caller to act: `<|return|>`, `<|call|>`.
    fn stop_tokens_for_assistant_actions(&self) -> [u32; 2] {
        self.inner.stop_token_ids_for_assistant_actions()
    }

    // Conversations and tokens.

    /// Renders a single message.
    #[pyo3(signature = (message, render_options = None))]
    fn render<'py>(
        &self,
        py: Python<'py>,
        message: &Bound<'py, PyAny>,
        render_options: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let call = Call::begin(py);
        let message = read::single_message(message).map_err(|misfit| misfit.raised(py))?;
        let options = options::render_options(render_options)
            .map_err(|misfit| misfit.inside("render_options").raised(py))?;
        let much = is_much(std::slice::from_ref(&message));
        tokens_of(&call, much, |ids| render::message(self.tokenizer(), &message, options, ids))
    }

    /// Renders a conversation and nothing after it.
    #[pyo3(signature = (conversation, config = None))]
    fn render_conversation<'py>(
        &self,
        conversation: &Bound<'py, PyAny>,
        config: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.rendered_conversation(conversation, Ending::None, config)
    }

    /// Renders a conversation and the beginning of the next message, which the model completes.
    ///
    /// `prefill` is more of that message: the model goes on behind it.
    #[pyo3(signature = (conversation, next_turn_role, config = None, *, prefill = None))]
    fn render_conversation_for_completion<'py>(
        &self,
        conversation: &Bound<'py, PyAny>,
        next_turn_role: &Bound<'py, PyAny>,
        config: Option<&Bound<'py, PyAny>>,
        prefill: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let role = arguments::role(next_turn_role, "next_turn_role")?;
        let prefill = options::prefill(prefill)?;
        self.rendered_conversation(conversation, Ending::Prefill(role, &prefill), config)
    }

    /// Renders a conversation to train on: if its last message is the assistant's on `final`, it
    /// ends with `<|return|>`, as the model itself ends it.
    ///
    /// By default the thought that a single turn trains is dropped, by version 0.0.8's rule;
    /// `RenderConversationConfig(analysis=AnalysisPolicy.DROP_COMPLETED_TURNS)` keeps it.
    #[pyo3(signature = (conversation, config = None))]
    fn render_conversation_for_training<'py>(
        &self,
        conversation: &Bound<'py, PyAny>,
        config: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.rendered_conversation(conversation, Ending::Training, config)
    }

    /// The tokens of a conversation as native uint32, and the spans of its messages.
    fn _render_with_spans<'py>(
        &self,
        conversation: &Bound<'py, PyAny>,
        config: Option<&Bound<'py, PyAny>>,
        ending: &str,
        role: &Bound<'py, PyAny>,
        prefill: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyBytes>, Vec<Span>)> {
        let py = conversation.py();
        let role = arguments::role(role, "role")?;
        let prefill = options::prefill(prefill)?;
        let ending = match ending {
            "none" => Ending::None,
            "training" => Ending::Training,
            _ => Ending::Prefill(role, &prefill),
        };
        let call = Call::begin(py);
        let messages = read::conversation(conversation).map_err(|misfit| misfit.raised(py))?;
        let config =
            options::config(config).map_err(|misfit| misfit.inside("config").raised(py))?;
        let (mut ids, mut spans) = (Vec::new(), Vec::new());
        call.unlocked(is_much(&messages), || {
            let tokenizer = self.tokenizer();
            render::conversation(tokenizer, &messages, ending, config, &mut ids, &mut spans)
        })
        .map_err(|error| raised(py, &error))?;
        let bytes: Vec<u8> = ids.into_iter().flat_map(u32::to_ne_bytes).collect();
        let spans = spans.iter().map(fields_of).collect();
        Ok((PyBytes::new(py, &bytes), spans))
    }

    /// Parses a whole sequence of tokens into messages.
    ///
    /// `role` is the author's role of the first message where the tokens begin behind it, as a
    /// completion's do. `strict=False` repairs what is not well-formed instead of raising, and uses
    /// `tools`, the names of those that the model was offered, to tell calls from other words.
    /// `prefill` is what the prompt held of the first message.
    #[pyo3(
        signature = (tokens, role = None, *, strict = LEFT_OUT, tools = None, prefill = None),
        text_signature = "($self, tokens, role=None, *, strict=True, tools=None, prefill=None)"
    )]
    fn parse_messages_from_completion_tokens<'py>(
        &self,
        tokens: &Bound<'py, PyAny>,
        role: Option<&Bound<'py, PyAny>>,
        strict: Given<'py>,
        tools: Option<&Bound<'py, PyAny>>,
        prefill: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = tokens.py();
        let role = role.map(|role| arguments::role(role, "role")).transpose()?;
        let config = arguments::parse_config(strict, tools, prefill)?;
        // Until the messages are made.
        let call = Call::begin(py);
        let messages = on_ids(&call, tokens, |ids| {
            self.inner.parse_messages_with(ids.iter().copied(), role, &config)
        })?;
        write::messages(py, &messages)
    }

    /// Parses text in which the special tokens are spelled by their names.
    #[pyo3(
        signature = (text, role = None, *, strict = LEFT_OUT, tools = None),
        text_signature = "($self, text, role=None, *, strict=False, tools=None)"
    )]
    fn parse_messages_from_text<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        role: Option<&Bound<'py, PyAny>>,
        strict: Given<'py>,
        tools: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = text.py();
        let text = chars(text, "text")?;
        let role = role.map(|role| arguments::role(role, "role")).transpose()?;
        let config = arguments::lenient_parse_config(strict, tools)?;
        let messages = Call::begin(py)
            .unlocked(text.size() >= MUCH_TEXT, || {
                self.inner.parse_messages_from_text(&text.utf8(), role, &config)
            })
            .map_err(|error| raised(py, &error))?;
        write::messages(py, &messages)
    }

    /// Guesses the messages of a text from which an engine dropped the special tokens.
    fn read_stripped_text<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let py = text.py();
        let text = chars(text, "text")?;
        let messages = Call::begin(py)
            .unlocked(text.size() >= MUCH_TEXT, || self.inner.read_stripped_text(&text.utf8()));
        write::messages(py, &messages)
    }
}

/// The fields of a Python `MessageSpan`.
type Span = (Option<usize>, usize, usize, usize, usize);

fn fields_of(span: &MessageSpan) -> Span {
    (span.message, span.start, span.content, span.stop, span.end)
}

/// Does work on the ids that a Python object holds.
fn on_ids<T: Send>(
    call: &Call<'_>,
    tokens: &Bound<'_, PyAny>,
    work: impl FnOnce(&[u32]) -> Result<T> + Send,
) -> PyResult<T> {
    let ids = tokens::read(tokens)?;
    call.unlocked(ids.len() >= MANY_TOKENS, || work(&ids))
        .map_err(|error| raised(call.py(), &error))
}

/// The list of the tokens that `write` appends to an empty vector.
fn tokens_of<'py>(
    call: &Call<'py>,
    much: bool,
    write: impl FnOnce(&mut Vec<u32>) -> Result<()> + Send,
) -> PyResult<Bound<'py, PyList>> {
    // A thread may be past the end of its storage.
    let Room { mut ids, mut ints } = ROOM.try_with(Cell::take).unwrap_or_default();
    ids.clear();
    ints.clear();
    let written = call.unlocked(much, || {
        write(&mut ids)?;
        if much && ids.len() <= KEPT {
            ints.extend(ids.iter().map(|&id| Known::of(id)));
        }
        Ok(())
    });
    let list = match written {
        Ok(()) => tokens::list_of_known(call.py(), &ids, &ints),
        Err(error) => Err(raised(call.py(), &error)),
    };
    if ids.capacity() <= KEPT {
        let _ = ROOM.try_with(|room| room.set(Room { ids, ints }));
    }
    list
}

/// Most ids for which a thread keeps the room, 192 KiB. Of more, the ints are not looked up ahead:
/// the system would have to provide memory for it each time.
const KEPT: usize = 1 << 14;

thread_local! {
    /// Room for the ids of short texts: getting it anew is a tenth of encoding two words.
    static ROOM: Cell<Room> = const { Cell::new(Room { ids: Vec::new(), ints: Vec::new() }) };
}

#[derive(Default)]
struct Room {
    ids: Vec<u32>,
    ints: Vec<Known>,
}

/// Whether messages hold so much that they are better rendered without the lock.
fn is_much(messages: &[HeldMessage]) -> bool {
    messages.iter().map(HeldMessage::size).sum::<usize>() >= MUCH_TEXT
}
