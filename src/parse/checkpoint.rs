//! What a parser needs to continue, without its past input, so the size does not grow with the tokens.
//!
//! Complete messages are only counted. The open message keeps its header, but not its text. Of the tokens, those stay
//! that may be read again: all of an open header, and of content at most those that are held back or contain part of a
//! character. Checkpoints come from clients, so everything in them is checked.

use serde::{Deserialize, Serialize};

use super::state::{OpenMessage, Past, State};
use super::stream::StreamableParser;
use crate::chat::Role;
use crate::error::Result;
use crate::saved::{MOST, check};

/// A parser without its options and without what it has read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    state: State,
    given_role: Option<Role>,
    messages: usize,
    stop_token: Option<u32>,
    /// Whether the events of the prefill wait for the first `feed`.
    is_unasked: bool,
    /// The tokens that the grammar holds, the number fed before these, and the number of all.
    tokens: Vec<u32>,
    before: usize,
    fed: usize,
    /// Where markers may be spelled: how far each token reaches, and the beginning of a marker.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reach: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spelled: Vec<(u8, usize)>,
}

/// A character has at most four bytes, and its last token has at least one of them.
const OF_A_CHARACTER: usize = 3;

impl StreamableParser {
    /// The parser's position. Of the events that no call has returned, only the prefill's are kept.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        let mut state = self.state.clone();
        let held = self.held(&mut state);
        let spelling = &self.spelling;
        Checkpoint {
            state,
            given_role: self.given_role,
            messages: self.message_count(),
            stop_token: self.last_stop_token(),
            is_unasked: self.has_events(),
            tokens: self.tokens[held..].to_vec(),
            before: self.fed_at(held),
            fed: self.fed_count(),
            reach: spelling.reach.get(held..).unwrap_or_default().to_vec(),
            spelled: spelling.held.clone(),
        }
    }

    /// The first token that may still be read; the state's indices count from there.
    fn held(&self, state: &mut State) -> usize {
        let end = self.tokens.len();
        match state {
            State::Start | State::Finished => end,
            State::Header(header) => {
                let before = header.broken_off.map_or(0, |first| first.tokens);
                std::mem::replace(&mut header.from, before) - before
            }
            State::Content(open) => {
                if self.reports.unreported {
                    // No event will have the text up to here.
                    open.uncovered = open.held_from.unwrap_or(end);
                }
                let of_character = end.saturating_sub(OF_A_CHARACTER).max(open.from);
                let held =
                    open.uncovered.min(of_character).min(open.held_from.unwrap_or(end)).min(end);
                open.from = open.from.saturating_sub(held);
                open.uncovered -= held;
                open.held_from = open.held_from.map(|index| index - held);
                held
            }
        }
    }

    /// Continues from a checkpoint. This parser has the same options, and is at its beginning.
    ///
    /// # Errors
    ///
    /// [`InvalidState`](crate::ErrorKind::InvalidState) if this is not a checkpoint of such a parser.
    pub(crate) fn resume(&mut self, from: Checkpoint) -> Result<()> {
        check(&[("is_unasked", !from.is_unasked || self.has_events())])?;
        from.check(self.setup.strict, self.spelling.is_read)?;
        if !from.is_unasked {
            self.reports.events.clear();
        }
        let Checkpoint { messages, stop_token, .. } = from;
        self.made.past = Past { is_there: true, messages, stop_token, held: from.tokens.len() };
        (self.spelling.before, self.spelling.fed_before) = (from.before, from.fed);
        (self.spelling.reach, self.spelling.held) = (from.reach, from.spelled);
        (self.state, self.given_role, self.tokens) = (from.state, from.given_role, from.tokens);
        Ok(())
    }
}

impl Checkpoint {
    /// The first token that is held, among those that were fed.
    pub(crate) fn first_held(&self) -> usize {
        self.before
    }

    fn check(&self, strict: bool, is_spelled: bool) -> Result<()> {
        let Self { tokens, reach, spelled, before, fed, .. } = self;
        let reached =
            std::iter::once(before).chain(reach).chain(spelled.iter().map(|(_, end)| end));
        let held = tokens.len();
        check(&[
            ("messages", self.messages <= MOST),
            ("fed", *fed <= MOST && reached.chain([fed]).is_sorted()),
            ("tokens", is_spelled || fed.checked_sub(*before) == Some(held)),
            ("reach", reach.len() == if is_spelled { held } else { 0 }),
            ("spelled", is_spelled || spelled.is_empty()),
        ])?;
        match &self.state {
            State::Start | State::Finished => Ok(()),
            State::Header(header) => {
                let before = header.broken_off.map_or(0, |first| first.tokens);
                let fits = header.from == before && before <= held && header.body() <= held;
                check(&[("header", fits)])
            }
            State::Content(open) => open.check(held, strict),
        }
    }
}

impl OpenMessage {
    fn check(&self, held: usize, strict: bool) -> Result<()> {
        check(&[
            ("from", self.from <= held),
            ("held_from", self.held_from.is_none_or(|index| !strict && index <= held)),
            ("uncovered", self.uncovered <= self.held_from.unwrap_or(held)),
            ("decoder", self.decoder.is_possible()),
        ])
    }
}
