//! Sampled tokens -> an API's answer, whole and in chunks.
//!
//! ```text
//! tokens --StreamableParser--> events --Sorter--> segments --Writer--> Sink, response
//! ```
//!
//! * The parser is lenient and knows the turn's tools and the message that the prompt began.
//! * `sort` turns its events into segments (texts and calls, `segment`), the same for all dialects. `route` decides
//!   where a message belongs, `thinking` enforces a thinking budget, `stop` finds the body's stop strings, `input`
//!   decodes the input of custom tools, and `arguments` interprets calls where the API takes objects.
//! * The writers, one in each dialect's module, built on `answer`, make chunks of the changes to segments, and the
//!   response from all segments. Chunks and response are made independently, so tests can compare them.

mod arguments;
mod checkpoint;
mod feed;
mod fits;
mod ids;
mod input;
mod mend;
mod options;
mod route;
mod saved;
mod sort;
mod stop;
mod thinking;
mod timer;

pub use options::{MakeId, ReplyOptions};

use std::fmt::Debug;

use serde::Serialize;
use serde_json::Value;

use self::ids::Ids;
use self::options::seconds_now;
use self::sort::{Made, Sorter};
use self::thinking::ThinkingBudget;
use self::timer::Timer;
use super::answer::{AnswerState, Head, Outcome, Sink, Usage, write_json};
use super::{Dialect, Json, Turn};
use crate::HarmonyEncoding;
use crate::chat::{Message, Role};
use crate::error::Result;
use crate::parse::{ParserOptions, Repair, StreamableParser};

/// A call of a built-in tool, `browser` or `python`, that the request asks for and the server runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BuiltinCall {
    /// The recipient: `python`, `browser.search`.
    pub recipient: String,
    /// Its content: code, or arguments in JSON.
    pub text: String,
    /// Whether the call is complete.
    pub is_complete: bool,
}

impl Turn {
    /// Begins the answer.
    ///
    /// # Errors
    ///
    /// If [`ReplyOptions::prompt_tokens`] is `None`: those of [`Self::prompt`]. More stop strings than a search can
    /// hold; `read` limits them, so no body has that many.
    ///
    /// # Example
    ///
    /// ```
    /// use openai_harmony::interop::{FinishReason, ReadOptions, ReplyOptions, chat_completions};
    /// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
    /// use serde_json::json;
    ///
    /// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let body = json!({"messages": [{"role": "user", "content": "What is 2 + 2?"}]});
    /// let turn = chat_completions::read(&body, &ReadOptions::default())?;
    /// let mut reply = turn.reply(&encoding, ReplyOptions::new("gpt-oss-20b"))?;
    /// let sampled = encoding
    ///     .tokenizer()
    ///     .encode_with_special_tokens("<|channel|>final<|message|>Four.<|return|>");
    /// let mut stream = Vec::new();
    /// for tokens in sampled.chunks(2) {
    ///     reply.feed_into(tokens, None, &mut stream)?;
    /// }
    /// reply.finish_into(FinishReason::Stop, None, &mut stream)?;
    /// assert!(stream.ends_with(b"data: [DONE]\n\n"));
    /// assert_eq!(reply.response()["choices"][0]["message"]["content"], "Four.");
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn reply(&self, encoding: &HarmonyEncoding, options: ReplyOptions) -> Result<Reply> {
        Reply::new(self, *encoding, options)
    }
}

/// An answer under way: takes sampled tokens and returns what its API sends.
///
/// Any tokens at all give a well-formed answer, and none of the assistant's text is lost: text that has no place
/// elsewhere is content. Messages that the model made up for others, such as a user's question or a tool's result, are
/// in [`Self::messages`] and not in the answer; a [repair](Self::repairs) reports them.
#[derive(Debug)]
pub struct Reply {
    dialect: Dialect,
    parser: StreamableParser,
    sorter: Sorter,
    is_open: bool,
    outcome: Option<Outcome>,
    timer: Timer,
    budget: Option<ThinkingBudget>,
    /// The options, complete but for the function.
    options: ReplyOptions,
    /// How many tokens each call of `feed` was given.
    cuts: Vec<usize>,
}

impl Reply {
    fn new(turn: &Turn, encoding: HarmonyEncoding, options: ReplyOptions) -> Result<Self> {
        let mut prompt = options.prompt_token_ids;
        if prompt.is_none() && (turn.answer.token_ids || options.prompt_tokens.is_none()) {
            prompt = Some(turn.prompt(&encoding)?);
        }
        let counted = prompt.as_ref().map_or(0, Vec::len);
        let definition = turn.dialect.definition();
        let make_id = options.make_id;
        let id = match options.id {
            Some(id) => id,
            None => ids::fresh(definition.prefixes.reply, make_id.as_ref())?,
        };
        let created = options.created.unwrap_or_else(seconds_now);
        let timer = Timer::start();
        let options = ReplyOptions {
            id: Some(id.clone()),
            created: Some(created),
            prompt_tokens: options.prompt_tokens.or(Some(counted)),
            prompt_token_ids: prompt.filter(|_| turn.answer.token_ids),
            make_id: None,
            ..options
        };
        let head = Head {
            id: id.clone(),
            created,
            model: options.model.clone(),
            index: options.index,
            reasoning_field: options.reasoning_field,
            prompt_token_ids: options.prompt_token_ids.clone(),
        };
        let config = ParserOptions::lenient().with_tools(turn.tools.recipients());
        let config = config.with_spelled_markers(options.spelled_markers);
        let config = ParserOptions { prefill: turn.prefill.clone(), ..config };
        let parser = StreamableParser::with_options(encoding, Some(Role::Assistant), &config)?;
        let budget = options.thinking_budget.or(turn.thinking_budget);
        let ids = Ids::new(&id, options.index, make_id);
        Ok(Self {
            dialect: turn.dialect,
            sorter: Sorter::new(turn, (definition.writer)(head, turn), ids)?,
            parser,
            options,
            cuts: Vec::new(),
            is_open: false,
            outcome: None,
            timer,
            budget: budget.map(|tokens| ThinkingBudget::new(encoding.tokenizer(), tokens)),
        })
    }

    /// The full response, for a request that did not ask for a stream. Before [`Self::finish`], the response so far.
    ///
    /// A [`Value`] turns integers of more than 64 bits into floats. Anthropic's and Ollama's calls can have such
    /// integers in their arguments; [`Self::response_into`] writes all their digits.
    pub fn response(&self) -> Value {
        self.full_response().to_value()
    }

    /// Appends [`Self::response`] to a buffer as JSON on one line, with every number in a call's arguments as the model
    /// wrote it.
    pub fn response_into(&self, bytes: &mut Vec<u8>) {
        let Sorter { made: Made { segments, past, .. }, writer, visible, .. } = &self.sorter;
        let state = AnswerState {
            past: *past,
            segments,
            tokens: self.parser.tokens(),
            logprobs: visible.logprobs.as_ref(),
            usage: self.usage(),
            outcome: self.outcome.as_ref(),
        };
        writer.response(&state, bytes);
    }

    #[doc(hidden)]
    pub fn full_response(&self) -> Json {
        let mut bytes = Vec::new();
        self.response_into(&mut bytes);
        Json::written(&bytes)
    }

    /// A chunk's bytes on the wire: an event of a stream (SSE), or for Ollama a line of JSON.
    pub fn frame(&self, chunk: &Json) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(256);
        self.frame_into(chunk, &mut bytes);
        bytes
    }

    /// [`Self::frame`] that appends to a buffer.
    pub fn frame_into(&self, chunk: &Json, bytes: &mut Vec<u8>) {
        let name =
            chunk.text("type").filter(|name| !name.contains(['\r', '\n'])).unwrap_or_default();
        let mut sink = Sink::new(bytes, self.dialect.definition().framing);
        sink.chunk(name, |bytes| write_json(chunk, bytes));
    }

    /// The end of the stream after the last chunk, unless the answer failed: chat's `data: [DONE]`, empty for others.
    pub fn last_frame(&self) -> &'static [u8] {
        self.dialect.definition().last_frame
    }

    /// The media type of the stream: `text/event-stream`, for Ollama `application/x-ndjson`.
    pub fn media_type(&self) -> &'static str {
        self.dialect.definition().framing.media_type()
    }

    /// The stop string of the body that ended the visible answer. The engine can stop; further tokens are counted but
    /// add nothing.
    pub fn stop_sequence(&self) -> Option<&str> {
        let found = self.sorter.visible.stopped.as_deref();
        found.or_else(|| self.outcome.as_ref()?.stop_sequence.as_deref())
    }

    /// Whether the model ended its turn, by `<|return|>` or `<|call|>`. The engine can stop: with
    /// [`ReplyOptions::spelled_markers`] it may not know that these are stop tokens.
    pub fn is_ended(&self) -> bool {
        self.parser.is_turn_ended()
    }

    #[doc(hidden)]
    pub fn reads_spelled_markers(&self) -> bool {
        self.options.spelled_markers
    }

    /// The complete messages, as the parser gives them.
    pub fn messages(&self) -> &[Message] {
        self.parser.messages()
    }

    /// All tokens that were fed; in a reply resumed from a [checkpoint](Self::to_checkpoint), those fed since.
    pub fn tokens(&self) -> &[u32] {
        self.parser.tokens()
    }

    /// The repairs, including calls that were delivered as text or as other calls, and messages of other authors. Spans
    /// count from the first token fed.
    pub fn repairs(&self) -> &[Repair] {
        &self.sorter.made.repairs
    }

    /// The calls of built-in tools, in their order.
    pub fn builtin_calls(&self) -> &[BuiltinCall] {
        &self.sorter.made.builtin_calls
    }

    /// How many tokens the turn has taken so far.
    pub fn usage(&self) -> Usage {
        let sampled = self.parser.fed_count();
        let thoughts = self.sorter.made.thought_tokens + self.sorter.open_thought_tokens(sampled);
        Usage { completion_tokens: sampled, reasoning_tokens: thoughts, ..self.prompt_usage() }
    }

    /// The usage before the first token.
    fn prompt_usage(&self) -> Usage {
        let ReplyOptions { prompt_tokens, cached_tokens, .. } = self.options;
        let prompt_tokens = prompt_tokens.unwrap_or_default();
        Usage { prompt_tokens, cached_tokens, ..Usage::default() }
    }
}
