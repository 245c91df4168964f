//! A parser as bytes, to resume it in another process.
//!
//! The saved state is the input: the options and the tokens. Resuming parses them again, so the format contains no
//! internal state except how much of the open message events have reported. A checkpoint contains the internal state
//! instead, which does not grow: at 30,000 tokens it takes a hundredth of the bytes and of the time.

use serde::{Deserialize, Serialize};

use super::checkpoint::Checkpoint;
use super::event::Event;
use super::options::ParserOptions;
use super::state::State;
use super::stream::StreamableParser;
use crate::chat::Role;
use crate::error::Result;
use crate::saved::{invalid, read};
use crate::tokenizer::Tokenizer;

/// The form of the bytes. It changes with the fields of [`SavedParser`].
const VERSION: u32 = 7;

#[derive(Debug, Serialize, Deserialize)]
struct SavedParser {
    version: u32,
    config: ParserOptions,
    first_role: Option<Role>,
    begun: Option<Role>,
    unreported: bool,
    read: Read,
}

/// What the parser has read.
#[derive(Debug, Serialize, Deserialize)]
enum Read {
    /// All tokens.
    Tokens {
        tokens: Vec<u32>,
        ends: Vec<usize>,
        is_finished: bool,
        /// Whether the events of the prefill wait for the first `feed`.
        is_unasked: bool,
        /// For the open message, the number of bytes of its text that events have reported, and the first token that no
        /// event has.
        reported: Option<(usize, usize)>,
    },
    /// Only where it is.
    Checkpoint(Box<Checkpoint>),
}

impl StreamableParser {
    /// The parser as bytes, from which [`Self::from_bytes`] resumes it, in this process or in another. They are
    /// unencrypted JSON with a version, about 8 bytes per token. A parser that was resumed from a
    /// [checkpoint](Self::to_checkpoint) gives another checkpoint.
    ///
    /// # Errors
    ///
    /// [`InvalidState`](crate::ErrorKind::InvalidState) while events wait that an error held back: `feed(&[])` returns them.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        if self.is_continued() {
            return self.to_checkpoint();
        }
        let reported = match &self.state {
            State::Content(open) => Some((open.reported, open.uncovered)),
            _ => None,
        };
        self.saved(Read::Tokens {
            tokens: self.tokens().to_vec(),
            ends: self.ends.clone(),
            is_finished: matches!(self.state, State::Finished),
            is_unasked: self.has_events(),
            reported,
        })
    }

    /// Like [`Self::to_bytes`], but only what is needed to continue: a few hundred bytes and a few microseconds, however
    /// much was read. Later events are the same. The parser that [`Self::from_bytes`] restores lacks earlier messages,
    /// repairs, tokens and text, though its spans and indices count them.
    ///
    /// # Errors
    ///
    /// [`InvalidState`](crate::ErrorKind::InvalidState) while events wait that an error held back.
    ///
    /// # Example
    ///
    /// ```
    /// use openai_harmony::chat::Role;
    /// use openai_harmony::{HarmonyEncodingName, StreamableParser, load_harmony_encoding};
    ///
    /// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let encode = |text| encoding.tokenizer().encode_with_special_tokens(text);
    /// let mut parser = StreamableParser::new(encoding, Some(Role::Assistant))?;
    /// parser.feed(&encode("<|channel|>final<|message|>2 + 2"))?;
    ///
    /// let mut parser = StreamableParser::from_bytes(encoding, &parser.to_checkpoint()?)?;
    /// assert_eq!(parser.channel(), Some("final"));
    /// let events = parser.feed(&encode(" = 4."))?;
    /// assert_eq!(events[0].span(), 7..11);
    /// assert_eq!(parser.content(), " = 4.");
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn to_checkpoint(&self) -> Result<Vec<u8>> {
        self.saved(Read::Checkpoint(Box::new(self.checkpoint())))
    }

    fn saved(&self, read: Read) -> Result<Vec<u8>> {
        if self.has_events() && self.reports.events != self.first_events() {
            return Err(invalid("an error held events back; feed(&[]) returns them"));
        }
        let config = ParserOptions {
            strict: self.setup.strict,
            tools: self.setup.tools.given().to_vec(),
            prefill: self.setup.prefill.clone(),
            spelled_markers: self.spelling.is_read,
        };
        let saved = SavedParser {
            version: VERSION,
            config,
            first_role: self.setup.first_role,
            begun: self.begun,
            unreported: self.reports.unreported,
            read,
        };
        serde_json::to_vec(&saved).map_err(|error| invalid(error.to_string()))
    }

    /// Resumes a parser that [`Self::to_bytes`] saved. Costs as much as parsing its tokens.
    ///
    /// # Errors
    ///
    /// [`InvalidState`](crate::ErrorKind::InvalidState) for bytes of another version, or that [`Self::to_bytes`] did not write.
    ///
    /// # Example
    ///
    /// ```
    /// use openai_harmony::chat::{Content, Role};
    /// use openai_harmony::{HarmonyEncodingName, StreamableParser, load_harmony_encoding};
    ///
    /// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let encode = |text| encoding.tokenizer().encode_with_special_tokens(text);
    /// let mut parser = StreamableParser::new(encoding, Some(Role::Assistant))?;
    /// parser.feed(&encode("<|channel|>final<|message|>2 + 2"))?;
    /// let saved = parser.to_bytes()?;
    ///
    /// let mut parser = StreamableParser::from_bytes(encoding, &saved)?;
    /// parser.feed(&encode(" = 4.<|return|>"))?;
    /// let [Content::Text(answer)] = &parser.messages()[0].content[..] else { panic!() };
    /// assert_eq!(answer.text, "2 + 2 = 4.");
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn from_bytes(encoding: impl Into<Tokenizer>, saved: &[u8]) -> Result<Self> {
        let saved: SavedParser = read(saved, "parser", VERSION)?;
        let mut parser = Self::with_options(encoding, saved.first_role, &saved.config)
            .map_err(|error| invalid(error.to_string()))?;
        parser.restart(saved.begun);
        match saved.read {
            Read::Tokens { tokens, ends, is_finished, is_unasked, reported } => {
                let first = std::mem::take(&mut parser.reports.events);
                parser.read_again(&tokens, &ends)?;
                if is_finished {
                    parser.state = State::Finished;
                }
                parser.report_again(reported)?;
                if is_unasked {
                    if first.is_empty() {
                        return Err(invalid("nothing was there to report before its tokens"));
                    }
                    parser.reports.events = first;
                }
            }
            Read::Checkpoint(checkpoint) => parser.resume(*checkpoint)?,
        }
        parser.reports.unreported = saved.unreported;
        Ok(parser)
    }

    /// Parses tokens again, with their ends.
    fn read_again(&mut self, tokens: &[u32], ends: &[usize]) -> Result<()> {
        for &end in ends {
            let before = tokens.get(self.tokens().len()..end);
            self.repeat(before.ok_or_else(|| invalid("its ends are not in its tokens"))?);
            let _raised_before = self.process_eos();
        }
        self.repeat(&tokens[self.tokens().len()..]);
        Ok(())
    }

    /// Sets what events have reported of the open message.
    fn report_again(&mut self, reported: Option<(usize, usize)>) -> Result<()> {
        match (&mut self.state, reported) {
            (State::Content(open), Some((reported, uncovered)))
                if open.text.is_char_boundary(reported) && uncovered <= self.tokens.len() =>
            {
                (open.reported, open.uncovered) = (reported, uncovered);
            }
            (State::Content(_), _) | (_, Some(_)) => {
                return Err(invalid("its tokens leave another message open"));
            }
            _ => {}
        }
        Ok(())
    }

    /// The events that the parser began with: of its prefill.
    fn first_events(&self) -> Vec<Event> {
        let mut parser = self.clone();
        parser.reset(self.begun);
        parser.reports.events
    }

    fn restart(&mut self, role: Option<Role>) {
        self.reports.events.clear();
        self.begin(role);
    }

    /// Parses tokens again; what raised, has raised.
    fn repeat(&mut self, tokens: &[u32]) {
        let from = self.tokens().len();
        while self.tokens().len() - from < tokens.len() {
            let _raised_before = self.advance(&tokens[self.tokens().len() - from..]);
        }
    }
}
