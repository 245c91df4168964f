//! Whether the format allows the sampled tokens to be continued unchanged.

use std::borrow::Borrow;

use super::calls::{self, Waiting};
use super::options::ExtendOptions;
use super::sampled::{End, Sampled, invalid};
use crate::chat::{FINAL, Message, Role};
use crate::error::Result;
use crate::path::Path;
use crate::render::{self, ThoughtPolicy};
use crate::tokenizer::special;

/// Why a prompt cannot be extended, so that the next one is rendered from the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Break {
    /// The policy now drops thoughts that the prompt contains.
    ThoughtsDropped,
    /// The new messages declare function tools, which the system message, at the beginning, must announce.
    ToolsDeclared,
    /// Sampling ended inside a header.
    CutInHeader,
    /// Sampling ended with `<|return|>`, in place of which a conversation that continues has `<|end|>` (guide, section
    /// "Special Tokens"). [`ExtendOptions::keep_return`] keeps the token.
    ReturnSampled,
    /// Sampling ended inside a character: the tokens have only its first bytes.
    CutInCharacter,
    /// The sampled tokens are malformed, and would mean something else with messages after them.
    Ambiguous,
}

impl Break {
    /// The reason's name in Python, in snake case.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Why the prompt cannot continue with these new messages, if it cannot. `held` gives the messages in the prompt. It is
/// called only where they matter: without a new question or answer no policy drops a thought, so a loop of calls need
/// not read the whole prompt.
pub(super) fn find<M: Borrow<Message>>(
    sampled: &Sampled,
    new: &[Message],
    options: &ExtendOptions,
    held: impl FnOnce() -> Result<Vec<M>>,
) -> Result<Option<Break>> {
    let of_end = of_end(sampled.end, options);
    let declares_tools = !options.config.conversation_has_function_tools
        && new.iter().any(render::has_function_tools);
    let may_drop = options.config.thoughts != ThoughtPolicy::Keep
        && sampled.messages.iter().chain(new).any(ends_a_turn);
    if of_end.is_some() || !(declares_tools || may_drop) {
        return Ok(of_end);
    }
    let held = held()?;
    let mut messages: Vec<_> = held.iter().map(Borrow::borrow).chain(&sampled.messages).collect();
    if declares_tools && render::must_announce_function_tools(&messages) {
        return Ok(Some(Break::ToolsDeclared));
    }
    messages.extend(new);
    let kept = render::kept(&messages, options.config.thoughts).count();
    Ok((may_drop && kept < messages.len()).then_some(Break::ThoughtsDropped))
}

/// Why the end of the sampled tokens breaks the prompt, if it does.
fn of_end(end: End, options: &ExtendOptions) -> Option<Break> {
    match end {
        End::InHeader => Some(Break::CutInHeader),
        End::InCharacter => Some(Break::CutInCharacter),
        End::Ambiguous => Some(Break::Ambiguous),
        End::Stopped(special::RETURN) if !options.keep_return => Some(Break::ReturnSampled),
        End::Stopped(_) | End::CutOff(_) => None,
    }
}

/// Whether a message is an answer, or a question, which the model may have made up.
fn ends_a_turn(message: &Message) -> bool {
    message.author.role == Role::User
        || (message.author.role == Role::Assistant && message.channel.as_deref() == Some(FINAL))
}

/// Refuses new messages that cannot follow the sampled ones. Only the new ones are checked; the sampled ones are
/// written as they were read.
///
/// # Errors
///
/// [`ErrorKind::InvalidRollout`](crate::ErrorKind::InvalidRollout): a message of the assistant; the result of a tool
/// that was not called, or a result after a message that is not a result. If rendering validates: a header field that
/// could be read as another header.
pub(super) fn check(new: &[Message], sampled: &Sampled, options: &ExtendOptions) -> Result<()> {
    let mut waiting = Waiting::of_sampled(&sampled.messages);
    for (index, message) in new.iter().enumerate() {
        let answered = follow(message, &mut waiting)
            .map_err(|reason| invalid(Path::of("messages").then(index), reason))?;
        if options.config.validate {
            calls::check_header(message, answered).map_err(|error| error.in_message(index))?;
        }
    }
    Ok(())
}

/// The call that a message answers, if any, or why it cannot follow.
fn follow<'m>(
    message: &Message,
    waiting: &mut Waiting<'m>,
) -> std::result::Result<Option<&'m Message>, String> {
    match message.author.role {
        Role::Assistant => Err("is a message of the assistant, which must be sampled".to_owned()),
        Role::Tool => {
            let answered = waiting.answer(message);
            let name = message.author.name.as_deref().unwrap_or_default();
            let refused = || format!("no pending call to {name:?} (pending: {})", waiting.names());
            answered.map(Some).ok_or_else(refused)
        }
        Role::User | Role::System | Role::Developer => {
            waiting.close();
            Ok(None)
        }
    }
}
