//! A conversation to tokens.
//!
//! ```text
//! messages -> history (which are kept) -> header + content -> sink (tokens)
//! ```

mod blocks;
mod developer;
mod history;
mod sink;
mod system;
mod view;
mod words;

pub use history::AnalysisPolicy;
pub(crate) use view::{AsMessage, AsTools, DeveloperFields, Part, SystemFields};

use crate::chat::{FINAL, Role};
use crate::error::{ErrorKind, Result};
use crate::header::{self, HeaderSink, HeaderStyle};
use crate::tokenizer::{Tokenizer, special};
use crate::typescript::ToolSchemaStyle;
use sink::Sink;

/// How to render a conversation. The default is what `openai-harmony` 0.0.8 does.
///
/// ```
/// use openai_harmony::{AnalysisPolicy, RenderConversationConfig};
///
/// let config = RenderConversationConfig {
///     analysis: Some(AnalysisPolicy::DropCompletedTurns),
///     ..RenderConversationConfig::default()
/// };
/// assert!(config.auto_drop_analysis);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenderConversationConfig {
    /// What `analysis: None` means: [`AnalysisPolicy::DropBeforeFirstFinal`] or
    /// [`AnalysisPolicy::KeepAll`].
    pub auto_drop_analysis: bool,
    /// Which of the assistant's earlier thoughts are rendered.
    pub analysis: Option<AnalysisPolicy>,
    /// Where a call's recipient stands.
    pub header_style: HeaderStyle,
    /// How the schemas of tools are written.
    pub tool_schema: ToolSchemaStyle,
    /// Whether header fields that could be read as another header are refused.
    pub validate: bool,
}

impl Default for RenderConversationConfig {
    fn default() -> Self {
        Self {
            auto_drop_analysis: true,
            analysis: None,
            header_style: HeaderStyle::default(),
            tool_schema: ToolSchemaStyle::default(),
            validate: false,
        }
    }
}

impl RenderConversationConfig {
    /// What leaving the config out means in Rust: nothing is dropped.
    const NONE: Self = Self {
        auto_drop_analysis: false,
        analysis: None,
        header_style: HeaderStyle::RecipientInRole,
        tool_schema: ToolSchemaStyle::Compat,
        validate: false,
    };

    fn policy(self) -> AnalysisPolicy {
        self.analysis.unwrap_or(if self.auto_drop_analysis {
            AnalysisPolicy::DropBeforeFirstFinal
        } else {
            AnalysisPolicy::KeepAll
        })
    }
}

/// How to render a single message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RenderOptions {
    /// Whether the conversation that the message belongs to has function tools, which the
    /// system message tells of.
    pub conversation_has_function_tools: bool,
    /// Where a call's recipient stands.
    pub header_style: HeaderStyle,
    /// How the schemas of tools are written.
    pub tool_schema: ToolSchemaStyle,
    /// Whether header fields that could be read as another header are refused.
    pub validate: bool,
}

/// What comes behind the messages of a conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ending {
    /// Nothing.
    None,
    /// The beginning of the next message, which the model completes.
    NextTurn(Role),
    /// Nothing, but a last message of the assistant on `final` ends as the model itself ends it:
    /// with `<|return|>`.
    Return,
}

/// Renders the messages that the config keeps, and the ending.
pub(crate) fn conversation<'a, M: AsMessage + 'a>(
    tokenizer: Tokenizer,
    messages: impl IntoIterator<Item = &'a M>,
    ending: Ending,
    config: Option<&RenderConversationConfig>,
    into: &mut Vec<u32>,
) -> Result<()> {
    let config = config.unwrap_or(&RenderConversationConfig::NONE);
    let messages: Vec<&M> = messages.into_iter().collect();
    let options = RenderOptions {
        conversation_has_function_tools: messages
            .iter()
            .any(|message| has_function_tools(*message)),
        header_style: config.header_style,
        tool_schema: config.tool_schema,
        validate: config.validate,
    };
    let mut sink = Sink::new(tokenizer, into);
    for kept in history::kept(&messages, config.policy()) {
        message_into(kept, options, &mut sink)?;
    }
    let ends_in_final = messages
        .last()
        .is_some_and(|message| message.is_from(Role::Assistant) && message.is_on(FINAL));
    match (ending, ends_in_final) {
        (Ending::NextTurn(role), _) => sink.next_turn(role),
        (Ending::Return, true) => sink.replace_last(special::RETURN),
        (Ending::Return, false) | (Ending::None, _) => {}
    }
    Ok(())
}

/// Renders one message.
pub(crate) fn message(
    tokenizer: Tokenizer,
    message: &impl AsMessage,
    options: RenderOptions,
    into: &mut Vec<u32>,
) -> Result<()> {
    message_into(message, options, &mut Sink::new(tokenizer, into))
}

fn message_into(
    message: &impl AsMessage,
    options: RenderOptions,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let header = message.header();
    if options.validate {
        header::check(header)?;
    }
    header::write(header, options.header_style, sink)?;
    for part in message.parts() {
        part_into(part, header.role, options, sink)?;
    }
    let is_call = header.role == Role::Assistant && header.recipient.is_some();
    sink.special(if is_call { special::CALL } else { special::END });
    Ok(())
}

fn part_into(
    part: Part<'_>,
    role: Role,
    options: RenderOptions,
    sink: &mut Sink<'_>,
) -> Result<()> {
    match part {
        Part::Text(text) => sink.text(text),
        Part::System(content) => {
            expect_role("SystemContent", Role::System, role)?;
            sink.text(&system::text(content, options)?);
        }
        Part::Developer(content) => {
            expect_role("DeveloperContent", Role::Developer, role)?;
            sink.text(&developer::text(content, options)?);
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
