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

pub use history::AnalysisPolicy;

use crate::chat::{Content, DeveloperContent, Message, Role};
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

/// Renders the messages that the config keeps.
pub(crate) fn conversation<'a>(
    tokenizer: Tokenizer,
    messages: impl IntoIterator<Item = &'a Message>,
    config: Option<&RenderConversationConfig>,
    into: &mut Vec<u32>,
) -> Result<Rendered> {
    let config = config.unwrap_or(&RenderConversationConfig::NONE);
    let messages: Vec<&Message> = messages.into_iter().collect();
    let options = RenderOptions {
        conversation_has_function_tools: messages.iter().any(|message| has_function_tools(message)),
        header_style: config.header_style,
        tool_schema: config.tool_schema,
        validate: config.validate,
    };
    let mut sink = Sink::new(tokenizer, into);
    for kept in history::kept(&messages, config.policy()) {
        message_into(kept, options, &mut sink)?;
    }
    let ends_in_final = messages.last().is_some_and(|message| {
        message.author.role == Role::Assistant && message.channel.as_deref() == Some("final")
    });
    Ok(Rendered { ends_in_final })
}

/// What the caller of [`conversation`] must know of it.
pub(crate) struct Rendered {
    /// Whether the last message is the assistant's on `final`.
    pub(crate) ends_in_final: bool,
}

/// Renders the beginning of the next message, which the model completes.
pub(crate) fn next_turn(tokenizer: Tokenizer, role: Role, into: &mut Vec<u32>) {
    let mut sink = Sink::new(tokenizer, into);
    sink.special(special::START);
    sink.text(role.as_str());
}

/// Renders one message.
pub(crate) fn message(
    tokenizer: Tokenizer,
    message: &Message,
    options: RenderOptions,
    into: &mut Vec<u32>,
) -> Result<()> {
    message_into(message, options, &mut Sink::new(tokenizer, into))
}

fn message_into(message: &Message, options: RenderOptions, sink: &mut Sink<'_>) -> Result<()> {
    if options.validate {
        header::check(message)?;
    }
    header::write(message, options.header_style, sink)?;
    for content in &message.content {
        content_into(content, message.author.role, options, sink)?;
    }
    let is_call = message.author.role == Role::Assistant && message.recipient.is_some();
    sink.special(if is_call { special::CALL } else { special::END });
    Ok(())
}

fn content_into(
    content: &Content,
    role: Role,
    options: RenderOptions,
    sink: &mut Sink<'_>,
) -> Result<()> {
    match content {
        Content::Text(content) => sink.text(&content.text),
        Content::SystemContent(content) => {
            expect_role("SystemContent", Role::System, role)?;
            sink.text(&system::text(content, options)?);
        }
        Content::DeveloperContent(content) => {
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
fn has_function_tools(message: &Message) -> bool {
    message.content.iter().any(|content| match content {
        Content::DeveloperContent(DeveloperContent { tools: Some(tools), .. }) => {
            tools.get(crate::chat::FUNCTIONS).is_some_and(|functions| !functions.tools.is_empty())
        }
        _ => false,
    })
}
