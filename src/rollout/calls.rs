//! Which sampled calls are pending, and which of them a result answers.

use crate::chat::{HeaderFields, Message, Role};
use crate::error::Result;
use crate::header;

/// Pending calls, in the order in which they were sampled.
#[derive(Debug)]
pub(super) struct Waiting<'m> {
    calls: Vec<(usize, &'m Message)>,
}

impl<'m> Waiting<'m> {
    /// Well-formed output ends with its only call. Damaged output can contain several, all pending; results that the
    /// model made up answer them. If the output ends with another message of the assistant, the model continued without
    /// results, and no result can follow any more.
    pub(super) fn of_sampled(messages: &'m [Message]) -> Self {
        let mut waiting = Self { calls: Vec::new() };
        for (index, message) in messages.iter().enumerate() {
            match message.author.role {
                Role::Assistant if is_call(message) => waiting.calls.push((index, message)),
                Role::Assistant => {}
                Role::Tool => _ = waiting.answer(message),
                Role::User | Role::System | Role::Developer => waiting.close(),
            }
        }
        let ends_in = |last: &Message| last.author.role == Role::Assistant && !is_call(last);
        if messages.last().is_some_and(ends_in) {
            waiting.close();
        }
        waiting
    }

    /// Takes the call that a tool's message answers: one of its name, else one of its namespace, since results of
    /// `browser.search` may come from `browser`.
    pub(super) fn answer(&mut self, result: &Message) -> Option<&'m Message> {
        let name = result.author.name.as_deref().unwrap_or_default();
        let find = |is_it: &dyn Fn(&str) -> bool| {
            self.calls.iter().position(|(_, call)| call.recipient.as_deref().is_some_and(is_it))
        };
        let in_namespace =
            |called: &str| called.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        let answered = find(&|called| called == name).or_else(|| find(&in_namespace))?;
        Some(self.calls.remove(answered).1)
    }

    /// No result can follow.
    pub(super) fn close(&mut self) {
        self.calls.clear();
    }

    /// The indices of the calls among the messages.
    pub(super) fn indices(&self) -> Vec<usize> {
        self.calls.iter().map(|&(index, _)| index).collect()
    }

    /// The names of the calls, for an error.
    pub(super) fn names(&self) -> String {
        let names: Vec<_> =
            self.calls.iter().filter_map(|(_, call)| call.recipient.as_deref()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

/// Whether the assistant addresses a tool. A message to itself or to everybody is not a call.
pub(super) fn is_call(message: &Message) -> bool {
    let recipient = header::written_recipient(message.recipient.as_deref());
    message.author.role == Role::Assistant
        && recipient.is_some_and(|recipient| recipient != Role::Assistant.as_str())
}

/// Refuses header fields that could be read as another header. The fields that a result takes from its call are written
/// as they were sampled.
///
/// # Errors
///
/// [`ErrorKind::UnsafeHeaderField`](crate::ErrorKind::UnsafeHeaderField),
/// [`ErrorKind::ToolWithoutName`](crate::ErrorKind::ToolWithoutName).
pub(super) fn check_header(message: &Message, answered: Option<&Message>) -> Result<()> {
    // A placeholder name that any header can carry.
    const SAFE: &str = "python";
    let mut fields: HeaderFields<'_> = message.header_fields();
    if let Some(call) = answered {
        if fields.name == call.recipient.as_deref() {
            fields.name = Some(SAFE);
        }
        fields.channel = fields.channel.filter(|_| fields.channel != call.channel.as_deref());
    }
    header::check(fields)
}
