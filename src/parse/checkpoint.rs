//! What a parser needs to continue, without what it has read: its size does not grow with the tokens.
//!
//! Complete messages are counted. Of the open one the header stays, but not its text; of the tokens those that a
//! later one may still read: of an open header all, of content at most those that are held back or hold a part of a
//! character. Checkpoints come from clients, so nothing of them is believed.

use serde::{Deserialize, Serialize};

use super::state::{Begin, HeaderState, OpenMessage, Past, State};
use super::stream::StreamableParser;
use crate::chat::Role;
use crate::error::Result;
use crate::saved::invalid;

/// A parser without its options and without what it has read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    state: State,
    given_role: Option<Role>,
    messages: usize,
    stop_token: Option<u32>,
    /// Whether the events of the prefill wait for the first `feed`.
    is_unasked: bool,
    /// The tokens that the grammar holds, how many were fed before these, and how many in all.
    tokens: Vec<u32>,
    before: usize,
    fed: usize,
    /// Where markers may be spelled: how far each token reaches, and the beginning of a marker.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reach: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spelled: Vec<(u8, usize)>,
}

/// More tokens and messages than any stream has: sums of such counts do not overflow.
const MOST: usize = (u32::MAX >> 2) as usize;
/// A character has at most four bytes, of which the last token has one.
const OF_A_CHARACTER: usize = 3;

impl StreamableParser {
    /// Where the parser is. Of events that no call has returned those of the prefill are kept.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        let mut state = self.state.clone();
        let held = self.held(&mut state);
        let spelling = &self.spelling;
        Checkpoint {
            state,
            given_role: self.given_role,
            messages: self.message_count(),
            stop_token: self.last_stop_token(),
            is_unasked: !self.events.is_empty(),
            tokens: self.tokens[held..].to_vec(),
            before: self.fed_at(held),
            fed: self.fed_count(),
            reach: spelling.reach.get(held..).unwrap_or_default().to_vec(),
            spelled: spelling.held.clone(),
        }
    }

    /// The first token that may still be read. The indices of the state count from there.
    fn held(&self, state: &mut State) -> usize {
        let end = self.tokens.len();
        match state {
            State::Start | State::Finished => end,
            State::Header(header) => {
                let from = std::mem::take(&mut header.from);
                header.unknown = header.unknown.map(|index| index - from);
                from
            }
            State::Content(open) => {
                if self.unreported {
                    // No event will have the text up to here.
                    open.uncovered = open.held_from.unwrap_or(end);
                }
                let of_character = end.saturating_sub(OF_A_CHARACTER).max(open.from);
                let held =
                    open.uncovered.min(of_character).min(open.held_from.unwrap_or(end)).min(end);
                (open.text, open.reported) = (String::new(), 0);
                open.from = open.from.saturating_sub(held);
                open.uncovered -= held;
                open.held_from = open.held_from.map(|index| index - held);
                held
            }
        }
    }

    /// Continues from a checkpoint. The options are those that this parser was made with, and it is at its beginning.
    ///
    /// # Errors
    ///
    /// [`InvalidState`](crate::ErrorKind::InvalidState) for what is not a checkpoint of such a parser.
    pub(crate) fn resume(&mut self, from: Checkpoint) -> Result<()> {
        let has_events = !from.is_unasked || !self.events.is_empty();
        if !has_events || !from.is_possible(self.strict, self.spelling.is_read) {
            return Err(invalid("its parts do not belong together"));
        }
        if !from.is_unasked {
            self.events.clear();
        }
        let Checkpoint { messages, stop_token, .. } = from;
        self.past = Past { is_there: true, messages, stop_token, held: from.tokens.len() };
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

    /// Whether a parser can have left this.
    fn is_possible(&self, strict: bool, is_spelled: bool) -> bool {
        let Self { tokens, before, fed, reach, spelled, .. } = self;
        let ends = reach.iter().chain(spelled.iter().map(|(_, end)| end));
        self.messages <= MOST
            && *fed <= MOST
            && before <= fed
            && if is_spelled {
                reach.len() == tokens.len()
            } else {
                reach.is_empty() && spelled.is_empty() && tokens.len() == fed - before
            }
            && std::iter::once(before).chain(ends).chain([fed]).is_sorted()
            && match &self.state {
                State::Start | State::Finished => tokens.is_empty(),
                State::Header(header) => header.is_possible(tokens.len(), strict),
                State::Content(open) => open.is_possible(tokens.len(), strict),
            }
    }
}

impl HeaderState {
    fn is_possible(&self, tokens: usize, strict: bool) -> bool {
        let begins = match self.begin {
            Begin::Given | Begin::Start => true,
            Begin::StartOver => strict,
            Begin::Unmarked | Begin::InContent | Begin::Stray => !strict,
        };
        begins
            && self.from == 0
            && self.body() <= tokens
            && self.next_check <= MOST
            && self.unknown.is_none_or(|index| strict && index < tokens)
    }
}

impl OpenMessage {
    fn is_possible(&self, tokens: usize, strict: bool) -> bool {
        let end = self.held_from.unwrap_or(tokens);
        self.text.is_empty()
            && self.reported == 0
            && self.message.content.is_empty()
            && self.from <= end
            && self.uncovered <= end
            && end <= tokens
            && self.held_from.is_none_or(|index| !strict && index < tokens)
            && (!strict || !self.headerless)
            && self.decoder.is_possible()
    }
}
