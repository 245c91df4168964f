//! Which messages of a conversation are rendered, and which earlier thoughts are dropped.

use super::AsMessage;
use crate::chat::{ANALYSIS, FINAL, Role};
use crate::header::written_recipient;
use crate::options::choices;

/// Which thoughts of the assistant are rendered. Thoughts are its messages on `analysis`; by the
/// guide they are dropped once they have led to an answer (guide, section "Handling reasoning
/// output in subsequent sampling").
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ThoughtPolicy {
    /// All of them.
    Keep,
    /// What `openai-harmony` 0.0.8 does: if the last message of the assistant is on `final`,
    /// everything on `analysis` before the conversation's first `final` is dropped, calls of built-in
    /// tools and their results too. Later messages stay.
    #[default]
    DropBeforeFirstFinal,
    /// As in the guide: the thoughts of every completed turn are dropped. A turn is completed
    /// when a user message follows its final answer. The running turn and the last turn of a training
    /// example keep their thoughts. No tool call and no tool result is dropped.
    Drop,
}

choices! {
    ThoughtPolicy, "a ThoughtPolicy":
        "keep" Keep,
        "drop_before_first_final" DropBeforeFirstFinal,
        "drop" Drop;
}

impl ThoughtPolicy {
    /// What 0.0.8's `auto_drop_analysis` chooses.
    #[doc(hidden)]
    pub fn of_auto_drop(auto_drop_analysis: bool) -> Self {
        if auto_drop_analysis { Self::DropBeforeFirstFinal } else { Self::Keep }
    }
}

/// The messages that a policy keeps, in order, with their indices.
pub(crate) fn kept<'m, M: AsMessage>(
    messages: &[&'m M],
    policy: ThoughtPolicy,
) -> impl Iterator<Item = (usize, &'m M)> {
    let (end, is_dropped): (usize, fn(&M) -> bool) = match policy {
        ThoughtPolicy::Keep => (0, |_| false),
        ThoughtPolicy::DropBeforeFirstFinal => (before_first_final(messages), is_analysis),
        ThoughtPolicy::Drop => (completed_turns(messages), is_thought),
    };
    let is_kept = move |&(index, message): &(usize, &'m M)| index >= end || !is_dropped(message);
    messages.iter().copied().enumerate().filter(is_kept)
}

/// What 0.0.8 drops: anything on `analysis`, calls and tool results too.
pub(crate) fn is_analysis(message: &impl AsMessage) -> bool {
    message.is_on(ANALYSIS)
}

/// Whether this is a thought. Calls and results are never thoughts; a message to everybody is not a call.
fn is_thought(message: &impl AsMessage) -> bool {
    let header = message.header();
    header.role == Role::Assistant
        && header.channel == Some(ANALYSIS)
        && written_recipient(header.recipient).is_none()
}

/// Where 0.0.8 stops dropping.
fn before_first_final<M: AsMessage>(messages: &[&M]) -> usize {
    let last_of_assistant = messages.iter().rev().find(|message| message.is_from(Role::Assistant));
    if !last_of_assistant.is_some_and(|message| message.is_on(FINAL)) {
        return 0;
    }
    messages.iter().position(|message| message.is_on(FINAL)).unwrap_or(0)
}

/// Where the last completed turn ends: at the user message that follows its final answer.
fn completed_turns<M: AsMessage>(messages: &[&M]) -> usize {
    let is_user = |message: &&M| message.is_from(Role::User);
    let is_answer = |message: &&M| message.is_from(Role::Assistant) && message.is_on(FINAL);
    let last_user = messages.iter().rposition(is_user).unwrap_or(0);
    let Some(answer) = messages[..last_user].iter().rposition(is_answer) else { return 0 };
    messages[answer..].iter().position(is_user).map_or(last_user, |user| answer + user)
}
