//! The library's parser, set up for a turn.

use crate::chat::Role;
use crate::error::Result;
use crate::interop::{Prefill, Turn};
use crate::parse::{Event, ParseConfig, StreamableParser};
use crate::{HarmonyEncoding, chat::Message};

/// Parses the sampled tokens leniently. What the prompt began, a prefilled header, it is given
/// first.
#[derive(Debug, Clone)]
pub(super) struct Parser {
    inner: StreamableParser,
    /// How many tokens the prompt began the message with.
    prefilled: usize,
    /// What happened in them.
    pending: Vec<Event>,
}

impl Parser {
    pub(super) fn new(turn: &Turn, encoding: HarmonyEncoding) -> Result<Self> {
        let config = ParseConfig::lenient().with_tools(turn.tools.recipients());
        let mut inner = StreamableParser::with_config(encoding, Some(Role::Assistant), &config)?;
        let header = match &turn.prefill {
            Some(prefill) => open_header(prefill, turn, encoding)?,
            None => Vec::new(),
        };
        let pending = inner.feed(&header)?;
        Ok(Self { inner, prefilled: header.len(), pending })
    }

    /// What happened in these tokens. Spans count from the first token sampled.
    ///
    /// # Errors
    ///
    /// After [`Self::finish`].
    pub(super) fn feed(&mut self, tokens: &[u32]) -> Result<Vec<Event>> {
        let events = self.inner.feed(tokens)?;
        Ok(self.since_last(events))
    }

    /// What is left to tell at the end.
    pub(super) fn finish(&mut self) -> Result<Vec<Event>> {
        let events = self.inner.finish()?;
        Ok(self.since_last(events))
    }

    fn since_last(&mut self, events: Vec<Event>) -> Vec<Event> {
        if self.pending.is_empty() {
            return events;
        }
        let mut all = std::mem::take(&mut self.pending);
        all.extend(events);
        all
    }

    /// How many tokens of the prompt come before the first sampled one.
    pub(super) fn prefilled(&self) -> usize {
        self.prefilled
    }

    /// The sampled tokens.
    pub(super) fn tokens(&self) -> &[u32] {
        &self.inner.tokens()[self.prefilled..]
    }

    pub(super) fn messages(&self) -> &[Message] {
        self.inner.messages()
    }
}

/// The header of the message that the prompt began, up to its `<|message|>`.
fn open_header(prefill: &Prefill, turn: &Turn, encoding: HarmonyEncoding) -> Result<Vec<u32>> {
    let header = Prefill { text: None, ..prefill.clone() };
    let mut tokens = encoding.render_with(&header.message(), &turn.config)?;
    // A message that is not over has no stop token yet.
    tokens.pop();
    Ok(tokens)
}
