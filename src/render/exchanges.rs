//! The exchanges of a conversation.

use std::ops::Range;

use super::AsMessage;
use crate::chat::Role;

/// A conversation as exchanges. An exchange begins where messages of others, among them a user's, follow the assistant
/// or a tool. System and developer messages before the user's belong to the same exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExchangeRanges {
    /// The system and developer messages before the first exchange.
    pub(crate) head: Range<usize>,
    /// The messages of each exchange; the first may have no user message.
    pub(crate) exchanges: Vec<Range<usize>>,
}

impl ExchangeRanges {
    pub(crate) fn of<M: AsMessage>(messages: &[M]) -> Self {
        let opens = |message: &M| matches!(message.header().role, Role::System | Role::Developer);
        let is_user = |message: &M| message.is_from(Role::User);
        let head = messages.iter().take_while(|message| opens(message)).count();
        let is_others = |index: &usize| opens(&messages[*index]) || is_user(&messages[*index]);
        let mut starts = Vec::new();
        let mut index = head;
        while index < messages.len() {
            let others = (index..messages.len()).take_while(is_others).count();
            let asks = messages[index..index + others].iter().any(is_user);
            if asks || index == head {
                starts.push(index);
            }
            index += others.max(1);
        }
        let ends = starts.iter().copied().skip(1).chain([messages.len()]);
        let exchanges = starts.iter().zip(ends).map(|(&start, end)| start..end).collect();
        Self { head: 0..head, exchanges }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.exchanges.len()
    }

    /// The messages of some exchanges.
    pub(crate) fn messages(&self, exchanges: Range<usize>) -> Range<usize> {
        match &self.exchanges[exchanges] {
            [first, .., last] => first.start..last.end,
            [only] => only.clone(),
            [] => self.head.end..self.head.end,
        }
    }
}
