//! A conversation to tokens.
//!
//! ```text
//! messages -> history (which to render) -> header + content -> sink (tokens)
//! ```

mod blocks;
mod developer;
mod exchanges;
mod history;
mod literals;
mod options;
#[cfg_attr(
    not(feature = "training"),
    expect(dead_code, reason = "examples to train on are made of the rest")
)]
mod pieces;
mod sink;
mod system;
mod view;

pub(crate) use exchanges::ExchangeRanges;
pub use history::ThoughtPolicy;
pub(crate) use history::kept;
pub use options::{RenderConfig, RenderConversationConfig, RenderOptions};
pub(crate) use pieces::Pieces;
#[cfg(feature = "training")]
pub(crate) use pieces::Selection;
pub(crate) use system::{announce_function_tools, must_announce_function_tools};
pub use view::{AsMessage, AsTools, ContentPart, DeveloperFields, SystemFields};

use std::borrow::Cow;

use crate::chat::{FINAL, Role};
use crate::error::{ErrorKind, Result};
use crate::header::{self, Prefill};
use crate::span::MessageSpan;
use crate::tokenizer::{TokenId, Tokenizer, special};
use sink::TokenSink;

/// What follows the messages of a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RenderEnd<'a> {
    /// Nothing.
    #[default]
    None,
    /// The beginning of the next message, which the model completes.
    Completion(Role),
    /// The same, and a prefill of the next message, which the model then continues. Its header has the same style as
    /// the others. An empty prefill writes nothing more.
    Prefill(Role, &'a Prefill),
    /// Nothing; but if the last message is the assistant's on `final`, it ends with `<|return|>`, as the model itself
    /// ends it.
    Training,
}

/// Tokens, and where each message is among them.
///
/// `tokens` is what the other renderers return; a message that was dropped has no span.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rendered {
    /// The tokens.
    pub tokens: Vec<TokenId>,
    /// One span for each rendered message, in order, and one for the message that a [`RenderEnd`] begins.
    pub spans: Vec<MessageSpan>,
    /// Who speaks in each of them.
    pub(crate) speakers: Vec<Speaker>,
}

/// The speaker of a rendered message. It cannot be read from the tokens: a tool may be named `assistant`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "their names say it")]
pub struct Speaker {
    pub role: Role,
    /// Without a copy where it is a known one.
    pub channel: Option<Cow<'static, str>>,
}

/// Appends the messages that the config does not drop, and the ending.
///
/// # Errors
///
/// As of [`HarmonyEncoding::render_conversation_with`](crate::HarmonyEncoding::render_conversation_with).
pub fn conversation<'a, M: AsMessage + 'a>(
    tokenizer: Tokenizer,
    messages: impl IntoIterator<Item = &'a M>,
    ending: RenderEnd<'_>,
    mut config: RenderConfig,
) -> Result<Rendered> {
    let messages: Vec<&M> = messages.into_iter().collect();
    config.conversation_has_function_tools |=
        messages.iter().any(|message| has_function_tools(*message));
    let mut sink = TokenSink::new(tokenizer, Vec::new());
    sink.reserve(messages.len() + 1);
    write_messages(history::kept(&messages, config.thoughts), config, &mut sink)?;
    match (ending, ends_in_answer(messages.last().copied())) {
        (RenderEnd::Completion(role), _) => {
            write_beginning(role, &Prefill::new(), config, &mut sink);
        }
        (RenderEnd::Prefill(role, prefill), _) => {
            // Checked even without `validate`: the parser gets the same prefill, and must read the same header.
            prefill.check()?;
            write_beginning(role, prefill, config, &mut sink);
        }
        (RenderEnd::Training, true) => sink.replace_last(special::RETURN),
        (RenderEnd::Training, false) | (RenderEnd::None, _) => {}
    }
    Ok(sink.rendered)
}

/// Renders every message, whatever the policy, with the config as it is.
pub(crate) fn all_messages<'a, M: AsMessage + 'a>(
    tokenizer: Tokenizer,
    messages: impl IntoIterator<Item = &'a M>,
    config: RenderConfig,
) -> Result<Rendered> {
    let mut sink = TokenSink::new(tokenizer, Vec::new());
    write_messages(messages.into_iter().enumerate(), config, &mut sink)?;
    Ok(sink.rendered)
}

/// Appends one message.
///
/// # Errors
///
/// As of [`HarmonyEncoding::render_with`](crate::HarmonyEncoding::render_with).
pub fn message(
    tokenizer: Tokenizer,
    message: &impl AsMessage,
    config: RenderConfig,
) -> Result<Rendered> {
    let mut sink = TokenSink::new(tokenizer, Vec::new());
    message_into(0, message, config, &mut sink)?;
    Ok(sink.rendered)
}

/// Whether a conversation to train on, of which this is the last message, ends with `<|return|>`.
pub(crate) fn ends_in_answer(last: Option<&impl AsMessage>) -> bool {
    last.is_some_and(|message| message.is_from(Role::Assistant) && message.is_on(FINAL))
}

/// The number of tokens in `<|start|>` and a role, with which a prompt ends.
pub(crate) fn beginning_len(role: Role) -> usize {
    1 + literals::role(role).len()
}

/// The beginning of the next message.
fn write_beginning(role: Role, prefill: &Prefill, config: RenderConfig, sink: &mut TokenSink) {
    let start = sink.len();
    sink.next_turn(role);
    if !prefill.is_empty() {
        sink.pieces(header::fields(prefill.fields(role), config.header_style));
    }
    let content = sink.len();
    sink.text(prefill.text.as_deref().unwrap_or_default());
    let (stop, end) = (sink.len(), sink.len());
    let span = MessageSpan { message: None, start, content, stop, end };
    sink.record(span, prefill.fields(role));
}

/// Messages with their indices in the conversation.
fn write_messages<'a, M: AsMessage + 'a>(
    messages: impl Iterator<Item = (usize, &'a M)>,
    config: RenderConfig,
    sink: &mut TokenSink,
) -> Result<()> {
    for (index, message) in messages {
        message_into(index, message, config, sink).map_err(|error| error.in_message(index))?;
    }
    Ok(())
}

fn message_into(
    index: usize,
    message: &impl AsMessage,
    config: RenderConfig,
    sink: &mut TokenSink,
) -> Result<()> {
    let start = sink.len();
    let header = message.header();
    if config.validate {
        header::check(header)?;
    }
    sink.pieces(header::pieces(header, config.header_style)?);
    let content = sink.len();
    for part in message.parts() {
        part_into(part, header.role, config, sink)?;
    }
    let is_call = header.role == Role::Assistant && header.recipient.is_some();
    let stop = sink.len();
    sink.special(if is_call { special::CALL } else { special::END });
    let span = MessageSpan { message: Some(index), start, content, stop, end: sink.len() };
    sink.record(span, header);
    Ok(())
}

fn part_into(
    part: ContentPart<'_>,
    role: Role,
    config: RenderConfig,
    sink: &mut TokenSink,
) -> Result<()> {
    let text = match part {
        ContentPart::Text(text) => text.into(),
        ContentPart::System(content) => {
            expect_role("SystemContent", Role::System, role)?;
            Cow::from(system::text(content, config, sink.tool_budget())?)
        }
        ContentPart::Developer(content) => {
            expect_role("DeveloperContent", Role::Developer, role)?;
            developer::text(content, config, sink.tool_budget())?.into()
        }
    };
    sink.text(&text);
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
pub(crate) fn has_function_tools(message: &impl AsMessage) -> bool {
    message.parts().any(|part| match part {
        ContentPart::Developer(content) => content.tools.is_some_and(AsTools::has_functions),
        _ => false,
    })
}
