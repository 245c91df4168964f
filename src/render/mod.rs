//! A conversation to tokens.
//!
//! ```text
//! messages -> history (which are kept) -> header + content -> sink (tokens)
//! ```

mod blocks;
mod developer;
mod history;
mod options;
mod sink;
mod system;
mod view;
mod words;

pub use history::AnalysisPolicy;
pub use options::{RenderConfig, RenderConversationConfig, RenderOptions};
pub(crate) use view::{AsMessage, AsTools, DeveloperFields, Part, SystemFields};

use crate::chat::{FINAL, Role};
use crate::error::{ErrorKind, Result};
use crate::header::{self, HeaderSink, Prefill};
use crate::tokenizer::{Tokenizer, special};
use sink::Sink;

/// What comes behind the messages of a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending<'a> {
    /// Nothing.
    #[default]
    None,
    /// The beginning of the next message, which the model completes.
    Completion(Role),
    /// The same, and more of the next message, behind which the model goes on. The header is
    /// written in the style of the others; a prefill without field or text writes nothing more.
    Prefill(Role, &'a Prefill),
    /// Nothing, but a last message of the assistant on `final` ends as the model itself ends it:
    /// with `<|return|>`.
    Training,
}

/// Renders the messages that the config keeps, and the ending.
pub(crate) fn conversation<'a, M: AsMessage + 'a>(
    tokenizer: Tokenizer,
    messages: impl IntoIterator<Item = &'a M>,
    ending: Ending<'_>,
    mut config: RenderConfig,
    into: &mut Vec<u32>,
) -> Result<()> {
    let messages: Vec<&M> = messages.into_iter().collect();
    config.conversation_has_function_tools |=
        messages.iter().any(|message| has_function_tools(*message));
    let mut sink = Sink::new(tokenizer, into);
    for kept in history::kept(&messages, config.analysis) {
        message_into(kept, config, &mut sink)?;
    }
    let ends_in_final = messages
        .last()
        .is_some_and(|message| message.is_from(Role::Assistant) && message.is_on(FINAL));
    match (ending, ends_in_final) {
        (Ending::Completion(role), _) => sink.next_turn(role),
        (Ending::Prefill(role, prefill), _) => write_prefill(role, prefill, config, &mut sink)?,
        (Ending::Training, true) => sink.replace_last(special::RETURN),
        (Ending::Training, false) | (Ending::None, _) => {}
    }
    Ok(())
}

/// Its fields are always checked: what is written has to be what the parser is told.
fn write_prefill(
    role: Role,
    prefill: &Prefill,
    config: RenderConfig,
    sink: &mut Sink<'_>,
) -> Result<()> {
    prefill.check()?;
    sink.next_turn(role);
    if !prefill.is_empty() {
        header::write_fields(prefill.fields(role), config.header_style, sink);
        sink.text(prefill.text.as_deref().unwrap_or_default());
    }
    Ok(())
}

/// Renders one message.
pub(crate) fn message(
    tokenizer: Tokenizer,
    message: &impl AsMessage,
    config: RenderConfig,
    into: &mut Vec<u32>,
) -> Result<()> {
    message_into(message, config, &mut Sink::new(tokenizer, into))
}

fn message_into(message: &impl AsMessage, config: RenderConfig, sink: &mut Sink<'_>) -> Result<()> {
    let header = message.header();
    if config.validate {
        header::check(header)?;
    }
    header::write(header, config.header_style, sink)?;
    for part in message.parts() {
        part_into(part, header.role, config, sink)?;
    }
    let is_call = header.role == Role::Assistant && header.recipient.is_some();
    sink.special(if is_call { special::CALL } else { special::END });
    Ok(())
}

fn part_into(part: Part<'_>, role: Role, config: RenderConfig, sink: &mut Sink<'_>) -> Result<()> {
    match part {
        Part::Text(text) => sink.text(text),
        Part::System(content) => {
            expect_role("SystemContent", Role::System, role)?;
            let text = system::text(content, config, sink.tool_budget())?;
            sink.text(&text);
        }
        Part::Developer(content) => {
            expect_role("DeveloperContent", Role::Developer, role)?;
            let text = developer::text(content, config, sink.tool_budget())?;
            sink.text(&text);
        }
    }
    Ok(())
}

fn expect_role(content: &'static str, allowed: Role, role: Role) -> Result<()> {
    if role == allowed {
        return Ok(());
    }
    let (allowed, role) = (allowed.as_str(), role.as_str());
    Err(ErrorKind::MisplacedContent { content, allowed, role }.into())
}

/// Whether some developer content of a message has function tools.
fn has_function_tools(message: &impl AsMessage) -> bool {
    message.parts().any(|part| match part {
        Part::Developer(content) => content.tools.is_some_and(AsTools::has_functions),
        _ => false,
    })
}
