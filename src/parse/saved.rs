//! A parser as bytes, to resume it in another process.
//!
//! The state is what went in: the options and the tokens. Taking the parser up parses them again, which leaves nothing
//! of the inside in the format but what events have reported of the open message.

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::options::ParserOptions;
use super::state::State;
use super::stream::StreamableParser;
use crate::chat::Role;
use crate::error::Result;
use crate::saved::{invalid, read};
use crate::tokenizer::Tokenizer;

/// The form of the bytes. It changes with the fields of [`SavedParser`].
const VERSION: u32 = 4;

#[derive(Debug, Serialize, Deserialize)]
struct SavedParser {
    version: u32,
    config: ParserOptions,
    first_role: Option<Role>,
    begun: Option<Role>,
    tokens: Vec<u32>,
    ends: Vec<usize>,
    is_finished: bool,
    unreported: bool,
    /// Whether the events of the prefill wait for the first `feed`.
    is_unasked: bool,
    /// Of the open message, how many bytes of its text are in events, and the first token that is in none.
    reported: Option<(usize, usize)>,
}

impl StreamableParser {
    /// The parser as bytes, from which [`Self::from_bytes`] resumes it, in this process or in another. They are JSON,
    /// some 8 bytes for each token, and have a version; tokens are not encrypted.
    ///
    /// # Errors
    ///
    /// [`InvalidState`](crate::ErrorKind::InvalidState) while events wait that an error held back: `feed(&[])` returns them.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let is_unasked = !self.events.is_empty();
        if is_unasked && self.events != self.first_events() {
            return Err(invalid("an error held events back; feed(&[]) returns them"));
        }
        let reported = match &self.state {
            State::Content(open) => Some((open.reported, open.uncovered)),
            _ => None,
        };
        let config = ParserOptions {
            strict: self.strict,
            tools: self.tools.given().to_vec(),
            prefill: self.prefill.clone(),
            spelled_markers: self.spelling.is_read,
        };
        let saved = SavedParser {
            version: VERSION,
            config,
            first_role: self.first_role,
            begun: self.begun,
            tokens: self.tokens().to_vec(),
            ends: self.ends.clone(),
            is_finished: matches!(self.state, State::Finished),
            unreported: self.unreported,
            is_unasked,
            reported,
        };
        serde_json::to_vec(&saved).map_err(|error| invalid(error.to_string()))
    }

    /// Goes on with a parser that [`Self::to_bytes`] saved. Costs as much as parsing its tokens.
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
        if !saved.is_unasked {
            parser.events.clear();
        }
        for end in saved.ends {
            let before = saved.tokens.get(parser.tokens().len()..end);
            parser.repeat(before.ok_or_else(|| invalid("its ends are not in its tokens"))?);
            let _raised_before = parser.process_eos();
        }
        parser.repeat(&saved.tokens[parser.tokens().len()..]);
        if saved.is_finished {
            parser.state = State::Finished;
        }
        match (&mut parser.state, saved.reported) {
            (State::Content(open), Some((reported, uncovered)))
                if open.text.is_char_boundary(reported) && uncovered <= parser.tokens.len() =>
            {
                (open.reported, open.uncovered) = (reported, uncovered);
            }
            (State::Content(_), _) | (_, Some(_)) => {
                return Err(invalid("its tokens leave another message open"));
            }
            _ => {}
        }
        parser.unreported = saved.unreported;
        Ok(parser)
    }

    /// The events that the parser began with: of its prefill.
    fn first_events(&self) -> Vec<Event> {
        let mut parser = self.clone();
        parser.reset(self.begun);
        parser.events
    }

    fn restart(&mut self, role: Option<Role>) {
        self.events.clear();
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
