//! The incremental parser: how it takes tokens.

use std::sync::Arc;

use super::event::{Event, Repair};
use super::options::{ParseOptions, ParserOptions};
use super::spelling::Spelling;
use super::state::{Begin, Delta, HeaderState, Past, State};
use crate::chat::{Message, Role};
use crate::error::{Error, ErrorKind, Result};
use crate::header::{self, Given, Prefill, Tools, Words};
use crate::tokenizer::Tokenizer;

/// Parses tokens into messages while they arrive.
///
/// The cost of a call depends only on the tokens passed to it, not on the length of the stream; the cost of an accessor
/// depends only on what it returns.
///
/// ```
/// use openai_harmony::chat::Role;
/// use openai_harmony::{HarmonyEncodingName, StreamableParser, load_harmony_encoding};
///
/// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
/// let output = "<|channel|>final<|message|>2 + 2 = 4.<|return|>";
/// let mut parser = StreamableParser::new(encoding, Some(Role::Assistant))?;
/// let mut answer = String::new();
/// for token in encoding.tokenizer().encode_with_special_tokens(output) {
///     parser.process(token)?;
///     answer += parser.delta().unwrap_or_default();
/// }
/// assert_eq!(answer, "2 + 2 = 4.");
/// assert_eq!(parser.messages()[0].channel.as_deref(), Some("final"));
/// # Ok::<(), openai_harmony::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct StreamableParser {
    pub(super) setup: Setup,
    /// The initial role: the constructor's, or the one passed to `reset`.
    pub(super) begun: Option<Role>,
    /// The role of the next header, if the caller knows it.
    pub(super) given_role: Option<Role>,
    /// The tokens that the grammar reads: those that were fed, unless they spell markers.
    pub(super) tokens: Vec<u32>,
    /// The token indices before which `process_eos` was called although more tokens followed.
    pub(super) ends: Vec<usize>,
    pub(super) spelling: Spelling,
    pub(super) state: State,
    /// The words of the header that was read last.
    pub(super) words: Words,
    pub(super) delta: Delta,
    pub(super) made: Made,
    pub(super) reports: Reports,
}

/// What the parser was made with. A reset keeps it.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    pub(super) tokenizer: Tokenizer,
    pub(super) strict: bool,
    /// The tools that were offered; lenient parsing recognises them in any spelling.
    pub(super) tools: Arc<Tools>,
    pub(super) first_role: Option<Role>,
    /// The part of the first message, beyond its role, that is in the prompt.
    pub(super) prefill: Option<Prefill>,
}

/// What has been made of the tokens.
#[derive(Debug, Clone, Default)]
pub(super) struct Made {
    pub(super) messages: Vec<Message>,
    /// For each message, what ended it.
    pub(super) stop_tokens: Vec<Option<u32>>,
    pub(super) repairs: Vec<Repair>,
    /// What came before a checkpoint and is no longer held.
    pub(super) past: Past,
}

/// What is told of it as it happens.
#[derive(Debug, Clone, Default)]
pub(super) struct Reports {
    /// Events not yet handed out.
    pub(super) events: Vec<Event>,
    /// Whether events are recorded: in `feed` and `finish`.
    pub(super) recording: bool,
    /// Whether tokens were processed since the last `feed`; no event reports them.
    pub(super) unreported: bool,
}

impl Made {
    fn clear(&mut self) {
        self.messages.clear();
        self.stop_tokens.clear();
        self.repairs.clear();
        self.past = Past::default();
    }
}

impl Reports {
    fn clear(&mut self) {
        self.events.clear();
        self.unreported = false;
    }
}

impl StreamableParser {
    /// A strict parser. `role` is the role of the first message's author if the tokens begin after
    /// it, as those of a completion do.
    ///
    /// # Errors
    ///
    /// None today; a later encoding may have some.
    pub fn new(encoding: impl Into<Tokenizer>, role: Option<Role>) -> Result<Self> {
        Self::new_with_options(encoding, role, ParseOptions::default())
    }

    /// A strict or a lenient parser.
    ///
    /// # Errors
    ///
    /// None today, as for [`Self::new`].
    pub fn new_with_options(
        encoding: impl Into<Tokenizer>,
        role: Option<Role>,
        options: ParseOptions,
    ) -> Result<Self> {
        Self::with_options(encoding, role, &options.into())
    }

    /// A parser with all options.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnsafeHeaderField`] for a tool with a name that no header can carry, and for a prefill
    /// that could be read as another header. [`ErrorKind::MissingRole`] for a prefill without a
    /// role: the message it begins would have no author.
    pub fn with_options(
        encoding: impl Into<Tokenizer>,
        role: Option<Role>,
        options: &ParserOptions,
    ) -> Result<Self> {
        let ParserOptions { strict, tools, prefill, spelled_markers } = options;
        let prefill = prefill.clone().filter(|prefill| !prefill.is_empty());
        if let Some(prefill) = &prefill {
            prefill.check()?;
            role.ok_or(ErrorKind::MissingRole)?;
        }
        let tools = if tools.is_empty() { Tools::none() } else { Arc::new(Tools::new(tools)?) };
        let tokenizer = encoding.into();
        let mut parser = Self {
            setup: Setup { tokenizer, strict: *strict, tools, first_role: role, prefill },
            begun: role,
            given_role: role,
            tokens: Vec::new(),
            ends: Vec::new(),
            spelling: Spelling::new(*spelled_markers && !strict),
            state: State::Start,
            words: Words::default(),
            delta: Delta::None,
            made: Made::default(),
            reports: Reports::default(),
        };
        parser.begin(role);
        Ok(parser)
    }

    pub(super) fn begin(&mut self, role: Option<Role>) {
        self.begun = role;
        self.given_role = role;
        self.state = match role {
            Some(_) => State::Header(HeaderState::new(0, Begin::Given)),
            None => State::Start,
        };
        if let Some(role) = role {
            self.begin_prefilled(role);
        }
    }

    /// Resets the parser and keeps its memory. The next stream has this `role`, or the parser's original one. The
    /// options and the prefill stay.
    pub fn reset(&mut self, role: Option<Role>) {
        self.tokens.clear();
        self.ends.clear();
        self.spelling.clear();
        self.delta = Delta::None;
        self.made.clear();
        self.reports.clear();
        self.begin(role.or(self.setup.first_role));
    }

    /// Parses one token and returns the parser.
    ///
    /// # Errors
    ///
    /// If the token is not allowed there; in lenient parsing only after [`Self::finish`]. The parser
    /// keeps its messages and continues at the next `<|start|>`.
    #[inline]
    pub fn process(&mut self, token: u32) -> Result<&mut Self> {
        self.reports.unreported = true;
        self.step(token)?;
        Ok(self)
    }

    /// Declares that the tokens end here: an open message is complete. More tokens may follow.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnexpectedEos`] inside a header, unless the header is `<|start|>` and a role, as at
    /// a prompt's end. None in lenient parsing.
    pub fn process_eos(&mut self) -> Result<&mut Self> {
        self.delta = Delta::None;
        let fed = self.tokens().len();
        // A third end at one place changes nothing.
        if !self.ends.ends_with(&[fed, fed]) {
            self.ends.push(fed);
        }
        self.release_spelled();
        let end = self.tokens.len();
        match &self.state {
            State::Start | State::Finished => {}
            State::Content(_) => self.end_content(end),
            State::Header(header) if self.is_prompt_end(header) => {}
            State::Header(_) if self.setup.strict => {
                return Err(self.error_at(ErrorKind::UnexpectedEos, end));
            }
            State::Header(_) => self.cut_header_at_end(end),
        }
        Ok(self)
    }

    /// Whether a header is a bare `<|start|>` and role.
    fn is_prompt_end(&self, header: &HeaderState) -> bool {
        let is_role = |tokens: &[u32]| {
            let word = self.setup.tokenizer.decode_utf8(tokens);
            word.is_ok_and(|word| Role::try_from(&word[..]).is_ok())
        };
        header.begin == Begin::Start
            && header.broken_off.is_none()
            && is_role(&self.tokens[header.body()..])
    }

    /// Parses tokens and returns what happened, after any events that an earlier error held back.
    ///
    /// # Errors
    ///
    /// As [`Self::process`], at the first token that is not allowed; the error has its index. The tokens after it are
    /// not consumed. The events before it are kept: the next call returns them first, and `feed(&[])` returns them now.
    ///
    /// ```
    /// # use openai_harmony::chat::Role;
    /// # use openai_harmony::{Event, HarmonyEncodingName, StreamableParser, load_harmony_encoding};
    /// # let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let mut parser = StreamableParser::new(encoding, Some(Role::Assistant))?;
    /// let output = "<|channel|>final<|message|>Hello<|return|>";
    /// let tokens = encoding.tokenizer().encode_with_special_tokens(output);
    /// let events = parser.feed(&tokens)?;
    /// assert!(matches!(&events[1], Event::ContentDelta { text, .. } if text == "Hello"));
    /// assert_eq!(events[2].span(), 4..5);
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn feed(&mut self, tokens: &[u32]) -> Result<Vec<Event>> {
        self.record(|parser| parser.advance(tokens))
    }

    /// Ends the stream and returns the remaining events. No token can follow.
    ///
    /// # Errors
    ///
    /// As [`Self::process_eos`].
    pub fn finish(&mut self) -> Result<Vec<Event>> {
        self.record(|parser| {
            let result = parser.process_eos().map(|_| ());
            if let State::Header(header) = &parser.state
                && result.is_ok()
            {
                let header = header.clone();
                parser.report_prompt_end(&header);
            }
            parser.state = State::Finished;
            result
        })
    }

    fn record(&mut self, parse: impl FnOnce(&mut Self) -> Result<()>) -> Result<Vec<Event>> {
        if std::mem::take(&mut self.reports.unreported)
            && let State::Content(open) = &mut self.state
        {
            open.reported = open.text.len();
            // Tokens that are held back still need an event.
            open.uncovered = open.held_from.unwrap_or(self.tokens.len());
        }
        self.reports.recording = true;
        let result = parse(self);
        self.report_content(self.tokens.len());
        self.reports.recording = false;
        result.map(|()| std::mem::take(&mut self.reports.events))
    }

    /// The header at a prompt's end begins a message that the prompt does not contain.
    fn report_prompt_end(&mut self, header: &HeaderState) {
        self.words.split(self.setup.tokenizer, &self.tokens[header.body()..]);
        if let Ok(read) = header::read(&self.words, Given::Nothing) {
            self.report_start(header.from..self.tokens.len(), &read);
        }
    }

    /// Parses tokens; records events only if that is enabled.
    ///
    /// Most tokens are content, and runs of content are decoded at once, which halves the instructions for a
    /// conversation of 102 messages (callgrind).
    pub(crate) fn advance(&mut self, mut tokens: &[u32]) -> Result<()> {
        while let [token, rest @ ..] = tokens {
            // The last token is parsed separately: it decides the delta.
            let run = self.content_run(tokens).saturating_sub(1);
            if run > 0 {
                self.push_run(&tokens[..run]);
                tokens = &tokens[run..];
            } else {
                self.step(*token)?;
                tokens = rest;
            }
        }
        Ok(())
    }

    fn step(&mut self, token: u32) -> Result<()> {
        if matches!(self.state, State::Finished) {
            return Err(Error::at(ErrorKind::Finished, self.fed_count()));
        }
        self.delta = Delta::None;
        if self.spelling.is_read {
            self.spell(token);
            return Ok(());
        }
        self.read_token(token)
    }

    /// A token of the grammar.
    pub(super) fn read_token(&mut self, token: u32) -> Result<()> {
        let index = self.tokens.len();
        self.tokens.push(token);
        self.on_token(token, index)
    }

    /// A token, by the state.
    pub(super) fn on_token(&mut self, token: u32, index: usize) -> Result<()> {
        match self.state {
            State::Content(_) => self.on_content(token, index),
            State::Header(_) => return self.on_header(token, index),
            State::Start | State::Finished => return self.on_start(token, index),
        }
        Ok(())
    }
}
