//! The turns of a conversation.

use std::ops::Range;

use super::AsMessage;
use crate::chat::Role;

/// A conversation as turns: each begins where the assistant, or a tool, is followed by messages of others,
/// of which one is the user's. What the system or the developer says in front of that belongs to the turn
/// that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TurnRanges {
    /// The messages of the system and the developer in front of the first turn.
    pub(crate) head: Range<usize>,
    /// The messages of each turn, of which the first may have no user.
    pub(crate) turns: Vec<Range<usize>>,
}

impl TurnRanges {
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
        let turns = starts.iter().zip(ends).map(|(&start, end)| start..end).collect();
        Self { head: 0..head, turns }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.turns.len()
    }

    /// The messages of some turns.
    pub(crate) fn messages(&self, turns: Range<usize>) -> Range<usize> {
        match &self.turns[turns] {
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

    fn turns(roles: &str) -> TurnRanges {
        let role = |letter| match letter {
            's' => Role::System,
            'd' => Role::Developer,
            'u' => Role::User,
            't' => Role::Tool,
            _ => Role::Assistant,
        };
        let message = |letter| Message::from_author_and_content(Author::from(role(letter)), "");
        TurnRanges::of(&roles.chars().map(message).collect::<Vec<_>>())
    }

    #[test]
    fn a_turn_begins_with_the_users_first_message() {
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
            let TurnRanges { head: found, turns } = turns(roles);
            assert_eq!(found, 0..*head, "{roles}");
            let expected: Vec<_> = expected.iter().map(|&(start, end)| start..end).collect();
            assert_eq!(turns, expected, "{roles}");
        }
    }
}
