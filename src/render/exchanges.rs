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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Author, Message};

    fn exchanges(roles: &str) -> ExchangeRanges {
        let role = |letter| match letter {
            's' => Role::System,
            'd' => Role::Developer,
            'u' => Role::User,
            't' => Role::Tool,
            _ => Role::Assistant,
        };
        let message = |letter| Message::from_author_and_content(Author::from(role(letter)), "");
        ExchangeRanges::of(&roles.chars().map(message).collect::<Vec<_>>())
    }

    #[test]
    fn an_exchange_begins_with_the_users_first_message() {
        type Case<'c> = (&'c str, usize, &'c [(usize, usize)]);
        let cases: &[Case<'_>] = &[
            ("", 0, &[]),
            ("sd", 2, &[]),
            ("u", 0, &[(0, 1)]),
            ("sduaua", 2, &[(2, 4), (4, 6)]),
            ("suuaata", 1, &[(1, 7)]),
            ("sauau", 1, &[(1, 2), (2, 4), (4, 5)]),
            ("auda", 0, &[(0, 1), (1, 4)]),
            ("uadua", 0, &[(0, 2), (2, 5)]),
            ("uadaua", 0, &[(0, 4), (4, 6)]),
        ];
        for (roles, head, expected) in cases {
            let ExchangeRanges { head: found, exchanges } = exchanges(roles);
            assert_eq!(found, 0..*head, "{roles}");
            let expected: Vec<_> = expected.iter().map(|&(start, end)| start..end).collect();
            assert_eq!(exchanges, expected, "{roles}");
        }
    }
}
